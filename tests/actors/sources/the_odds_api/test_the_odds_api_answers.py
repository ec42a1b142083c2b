"""Whole answers of The Odds API: errors, hostile bytes and numbers, the list of sports."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from time import process_time
from typing import Any

import pytest

from actors.core.cooperative import run_now
from actors.core.errors import PayloadError, TransportError
from actors.core.validation import Admission, Reason
from actors.sources.the_odds_api.answers import OddsAnswer, Sports
from actors.sources.the_odds_api.kind import KIND, explain
from actors.sources.the_odds_api.options import SPORTS_SCOPE, TheOddsApiOptions
from tests.support.builders import reading
from tests.support.builders.the_odds_api import API_KEY, event, market

OPTIONS = TheOddsApiOptions(kind=KIND.name, api_key=API_KEY, sports="football")
ODDS = (2.1, 3.4, 3.6)
KEYS = ("some", "other")
DEEP = b"[" * 100_000 + b"]" * 100_000


def match(number: int = 1, **prices: tuple[float, ...]) -> Any:
    """Return a match with prices of both bookmakers by default."""
    home, away = f"Home {number}", f"Away {number}"
    offers = {key: [market(home, away, prices.get(key, ODDS))] for key in KEYS}
    return event(f"m{number}", home, away, offers)


BODY = json.dumps([match(1), match(2)]).encode()


def decoded(body: bytes, scope: str = "soccer_epl") -> OddsAnswer | Sports:
    """Decode an answer. Raises: PayloadError."""
    slate = reading.decoded(KIND, OPTIONS, body, scope)
    assert isinstance(slate, OddsAnswer | Sports)
    return slate


def judged(body: bytes, key: str = "some") -> Admission:
    """Return the result of the integrity gate for one bookmaker's part."""
    return reading.judged(KIND, key, OPTIONS, run_now(KIND.extract(decoded(body), key, OPTIONS)))


def shown(body: bytes, key: str = "some") -> list[str]:
    """Return the ids of the matches that the board would show."""
    return [listed.source_match_id for listed in judged(body, key).batch.matches]


def trouble(body: bytes, scope: str = "soccer_epl") -> PayloadError:
    """Return the error that an answer causes."""
    with pytest.raises(PayloadError) as caught:
        decoded(body, scope)
    return caught.value


def with_price(price: str) -> bytes:
    """Return the two matches, the first with that JSON as a price of the first bookmaker."""
    return BODY.replace(b'"price": 2.1', b'"price": ' + price.encode(), 1)


def test_error_is_identified_by_its_code() -> None:
    """An object with a message, shown without invisible characters; unknown codes share a reason."""
    cases: list[tuple[dict[str, Any], str]] = [
        ({"message": "API key is missing", "error_code": "MISSING_KEY"}, "missing_key"),
        (
            {"message": "Gone", "error_code": "OUT_OF_USAGE_CREDITS", "details_url": "x"},
            "out_of_usage_credits",
        ),
        ({"message": "Eh", "error_code": "BRAND_NEW"}, "error_answer"),
        ({"message": "Eh"}, "error_answer"),
        ({"message": "Eh", "error_code": ["x"]}, "error_answer"),
        ({"message": "Eh", "error_code": None}, "error_answer"),
    ]
    for error, reason in cases:
        for scope in ["soccer_epl", SPORTS_SCOPE]:
            found = trouble(json.dumps(error).encode(), scope)

            assert (reason, True) == (found.reason, str(found).endswith(f": {error['message']}")), error
    assert str(trouble(json.dumps({"message": "\u202e\x1b[31mred\n"}).encode())).isprintable()


@pytest.mark.parametrize(("size", "reason"), [(65_536, "error_answer"), (65_537, "unreadable")])
def test_long_error_is_not_read(size: int, reason: str) -> None:
    """The API's own errors have a line or two."""
    body = b'{"message": "%b"}'

    assert reason == trouble(body % (b"x" * (size - len(body) + 2))).reason


def test_kick_offs_are_the_known_ones() -> None:
    """Each once; a match without one does not affect the plan, whose work is limited by their number."""
    listed = [match(1), match(2), *({**match(3), "commence_time": time} for time in (None, "soon"))]
    days = [datetime(2026, 6, 1, tzinfo=UTC) + timedelta(hours=5 * number) for number in range(4000)]
    many = [{"id": f"m{number}", "commence_time": day.isoformat()} for number, day in enumerate(days)]
    slate, long = decoded(json.dumps(listed).encode()), decoded(json.dumps(many).encode())

    assert isinstance(slate, OddsAnswer)
    assert isinstance(long, OddsAnswer)
    assert ([1_780_149_600], 1000) == ([*slate.kick_offs], len(long.kick_offs))


UNREADABLE = {
    "nothing": b"",
    "blank": b" \r\n",
    "html": b"<!DOCTYPE html><html><body>Down</body></html>",
    "text": b"Service Unavailable",
    "null": b"null",
    "a number": b"3",
    "a string": b'"[]"',
    "an object": b'{"data": []}',
    "an object with another message": b'{"message": 3}',
    "cut": BODY[:-1],
    "two answers": BODY + BODY,
    "bad utf-8 outside of strings": b"[\xff]",
    "a byte order mark": b"\xef\xbb\xbf" + BODY,
    "utf-16": BODY.decode().encode("utf-16"),
    "nested without end": DEEP[:-1],
    "nested objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
}


def test_answer_that_is_no_list_is_an_error() -> None:
    """An answer that is no list is counted as unreadable, with a text of bounded length."""
    for case, body in UNREADABLE.items():
        for scope in ["soccer_epl", SPORTS_SCOPE]:
            found = trouble(body, scope)

            assert ("unreadable", True) == (found.reason, len(str(found)) < 400), (case, scope)


HOSTILE = {
    "marks in an unfinished text": b'[{"id": "' + b'\\"' * 2**17,
    "marks": b'[{"id": "a"}, "' + b'"' * 2**20,
    "brackets": b"[" * 2**20,
    "matches in matches": b'[{"id":' * 2**18,
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_answer_is_refused_at_once(case: str) -> None:
    """A long text without an end or deep lists take no additional time."""
    began = process_time()
    trouble(HOSTILE[case])

    assert process_time() - began < 1.0


def test_answer_cut_anywhere_is_an_error() -> None:
    """A truncated answer is never read as a shorter list."""
    for length in range(len(BODY.rstrip())):
        with pytest.raises(PayloadError):
            shown(BODY[:length])


def test_invalid_price_rejects_one_match_of_one_bookmaker() -> None:
    """The other match and the other bookmaker keep their prices."""
    for price in [
        *("null", "true", "false", '"2,50"', '"2.50"', '"NaN"', '""', "[]", "{}", "[2.5]"),
        *("0", "-0.0", "-2.5", "1", "1.0", "1e-400", "9" * 27, "1e27", "1e308", "5e-324"),
    ]:
        body = with_price(price)
        admission = judged(body)

        assert (["m2"], ["m1", "m2"]) == (shown(body), shown(body, "other")), price
        assert 1 == admission.rejected[Reason.PRICE] + admission.rejected[Reason.BOOK_SUM], price


@pytest.mark.parametrize("price", ["1001.01", "1002", "1e6", "1e30", "1e308"])
def test_implausible_price_is_rejected(price: str) -> None:
    """A price above 1001 is rejected, even if the other two make a possible book sum."""
    body = json.dumps([match(1, some=(1.3, 5.0, 77.0)), match(2)]).encode()

    assert ["m2"] == shown(body.replace(b"77.0", price.encode()))
    assert ["m1", "m2"] == shown(body.replace(b"77.0", b"1001"))


def test_price_that_is_no_json_loses_at_most_the_answer() -> None:
    """Either the whole answer is refused, or that price is not accepted."""
    for price in ["NaN", "Infinity", "-Infinity", "1e400", "-1e400", "2,50", "02", ".5", "2."]:
        try:
            found = shown(with_price(price))
        except PayloadError:
            found = ["m2"]

        assert ["m2"] == found, price


@pytest.mark.parametrize("place", ["id", "home_team", "commence_time", "bookmakers", "extra"])
def test_deep_nesting_does_not_affect_the_other_match(place: str) -> None:
    """For any field, read or skipped, the other match is shown, or the answer is refused."""
    hostile = json.dumps(match(1)).encode()[:-1] + b', "' + place.encode() + b'": ' + DEEP + b"}"
    body = b"[" + hostile + b", " + json.dumps(match(2)).encode() + b"]"
    try:
        found = shown(body)[-1:]
    except PayloadError:
        found = ["m2"]

    assert ["m2"] == found


def test_invalid_item_does_not_affect_the_others() -> None:
    """Of 500 items 499 are shown and one is counted as unreadable."""
    for item in [b"null", b"3", b'"x"', b"[]", b"{}", b'{"id": 3}', b'{"id": null, "bookmakers": []}']:
        items = [json.dumps(match(number)).encode() for number in range(500)]
        items[250] = item
        slate = decoded(b"[" + b",".join(items) + b"]")
        extract = run_now(KIND.extract(slate, "some", OPTIONS))

        assert (499, {Reason.UNREADABLE: 1}) == (len(extract.matches), extract.passed_over), item


def test_invalid_bookmaker_does_not_affect_the_others() -> None:
    """All others keep their prices of the same match."""
    every: list[Any] = [
        *(None, 3, "x", [], {}, {"key": 3}, {"key": "some"}, {"key": "some", "markets": 3}),
        *({"key": "some", "markets": [3, None]}, {"key": "some", "title": 3, "markets": {}}),
        {"key": "some", "markets": [{"key": "h2h", "outcomes": [{"name": "Home 1", "price": []}]}]},
        {"key": "some", "last_update": 3, "markets": [{"key": "h2h", "outcomes": "none"}]},
    ]
    for nonsense in every:
        spoiled = match(1)
        spoiled["bookmakers"][0] = nonsense
        body = json.dumps([spoiled, match(2)]).encode()

        assert (["m2"], ["m1", "m2"]) == (shown(body), shown(body, "other")), nonsense


def sport(key: str, **fields: Any) -> Any:
    """Return an entry of the list of sports."""
    return {"key": key, "group": "Soccer", "title": "X", "active": True, "has_outrights": False, **fields}


def test_only_active_football_is_requested() -> None:
    """Other sports, inactive ones, outrights and invalid entries are left out."""
    listed = [
        *(sport("soccer_epl"), sport("basketball_nba"), sport("soccer_off", active=False)),
        *(sport("soccer_winner", has_outrights=True), sport("soccer_SPL"), sport("soccer_../x"), 3, {}),
        *(sport("soccer_epl"), {"key": "soccer_short"}, sport("soccer_x", active="yes"), sport("soccer_")),
    ]

    assert Sports(("soccer_epl", "soccer_short")) == decoded(json.dumps(listed).encode(), SPORTS_SCOPE)
    for empty in ([], listed[1:3]):  # the sports known so far are then still requested
        assert "no_football" == trouble(json.dumps(empty).encode(), SPORTS_SCOPE).reason


def test_refusal_has_the_text_of_its_body() -> None:
    """The error has the status and the API's own text; a body without a text adds nothing."""
    body = b'{"message": "Usage quota has been reached", "error_code": "OUT_OF_USAGE_CREDITS"}'
    told = TransportError("status was 401", reason="status_401", status=401, body=body)
    mute = TransportError("status was 502", reason="status_502", status=502, body=b"<html>")
    explain(told)
    explain(mute)

    assert ("out_of_usage_credits", True) == (told.reason, "quota has been reached" in str(told))
    assert ("status_502", "status was 502") == (mute.reason, str(mute))
