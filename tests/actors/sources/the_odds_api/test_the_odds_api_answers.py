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
    """Return a match with prices of two bookmakers by default."""
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
    """Return the two matches, the first with this JSON as a price of the first bookmaker."""
    return BODY.replace(b'"price": 2.1', b'"price": ' + price.encode(), 1)


def test_error_is_identified_by_its_code() -> None:
    """An error has a message, shown without invisible characters; unknown codes share a reason."""
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
    """The API's own errors have one or two lines."""
    body = b'{"message": "%b"}'

    assert reason == trouble(body % (b"x" * (size - len(body) + 2))).reason


def test_kick_offs_are_the_known_ones() -> None:
    """Each kick-off counts once; a match without one is ignored; the number of kick-offs is limited."""
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
    "bad utf-8 in what is not read": BODY.replace(b"{", b'{"more": "\xff", ', 1),
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
    """A price above 1001 is rejected, even if its book sum with the two other prices is possible."""
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


ODD: list[Any] = [3, 1.5, True, [], {}, ["2026-05-28T20:20:00Z"]]
BOOK = ("bookmakers", 0)
OFFER = (*BOOK, "markets", 0)
MARKETS: list[Any] = [3, {}, None, "x", [3], [{"key": 3}], [None, []]]
BOOKMAKERS: list[Any] = [
    *(None, 3, "x", [], {}, {"key": 3}, {"key": "some"}, {"key": "some", "markets": 3}),
    *({"key": "some", "markets": [3, None]}, {"key": "some", "title": 3, "markets": {}}),
    {"key": "some", "markets": [{"key": "h2h", "outcomes": [{"name": "Home 1", "price": []}]}]},
    {"key": "some", "last_update": 3, "markets": [{"key": "h2h", "outcomes": "none"}]},
]
NAMES = ("commence_time", "sport_key", "sport_title", "home_team", "away_team")


def _with(place: tuple[str | int, ...], value: Any) -> bytes:
    """Return the two matches with this value in a place of the first match."""
    content = [match(1), match(2)]
    parent: Any = content[0]
    for step in place[:-1]:
        parent = parent[step]
    parent[place[-1]] = value
    return json.dumps(content).encode()


@pytest.mark.parametrize(
    ("place", "values", "left", "reason"),
    [
        *(((name,), ODD, (), Reason.TYPE) for name in NAMES),
        *(((*part, "last_update"), ODD, ("other",), Reason.TYPE) for part in (BOOK, OFFER)),
        ((*BOOK, "markets"), MARKETS, ("other",), Reason.TYPE),
        (BOOK, BOOKMAKERS, ("other",), None),
        *(((name,), [None], KEYS, None) for name in ("commence_time", "sport_title")),
        *(((*part, "sid"), ["x", None, {"price": 3}], KEYS, None) for part in ((), BOOK, OFFER)),
        ((*BOOK, "markets"), [[match(1)["bookmakers"][0]["markets"][0], {"key": 3}]], KEYS, None),
    ],
    ids=str,
)
def test_odd_part_costs_itself_alone(
    place: tuple[str | int, ...], values: list[Any], left: tuple[str, ...], reason: Reason | None
) -> None:
    """The price's age or its market is then unknown; null and unknown fields cost nothing."""
    for value in values:
        body = _with(place, value)
        extract = run_now(KIND.extract(decoded(body), "some", OPTIONS))

        for key in KEYS:
            assert (["m1", "m2"] if key in left else ["m2"]) == shown(body, key), (key, value)
        if reason is not None:
            assert {"m1": reason} == {gone.source_match_id: gone.reason for gone in extract.removals}, value


@pytest.mark.parametrize(
    ("parts", "lost"), [([3], 1), ([None, {"key": 7}, {}], 3), (None, 1)], ids=["one", "three", "no list"]
)
def test_part_of_an_unknown_bookmaker_is_counted(parts: list[Any] | None, lost: int) -> None:
    """All bookmakers count it, as they count a match without an id."""
    listed = {} if parts is None else [*match(1)["bookmakers"], *parts]
    extract = run_now(KIND.extract(decoded(_with(("bookmakers",), listed)), "some", OPTIONS))

    assert {Reason.UNREADABLE: lost} == extract.passed_over


ANSWER = BODY.decode()


def test_part_with_a_repeated_field_is_left_out() -> None:
    """Nobody knows which value is right, even if they are equal; the answer's other parts are read."""
    for is_first in [True, False]:
        for field, others in [
            ('"price": 2.1', ["m1", "m2"]),
            ('"name": "Home"', ["m1", "m2"]),
            ('"outcomes": []', ["m1", "m2"]),
            ('"key": "h2h"', ["m1", "m2"]),
            ('"last_update": "2026-05-28T20:20:00Z"', ["m1", "m2"]),
            ('"key": "other"', ["m1", "m2"]),
            ('"markets": []', ["m1", "m2"]),
            ('"title": "Other"', ["m1", "m2"]),
            ('"id": "m3"', ["m2"]),
            ('"home_team": "Home"', ["m2"]),
            ('"commence_time": "2026-05-31T14:00:00Z"', ["m2"]),
            ('"bookmakers": []', ["m2"]),
        ]:
            name = '"key": "some"' if field == '"key": "other"' else field
            at = ANSWER.index(name if name.startswith('"key"') else name.partition(" ")[0])
            begin = ANSWER.rindex("{", 0, at) + 1 if is_first else at
            if not is_first and ANSWER[begin - 1] == "{":
                begin = ANSWER.index(", ", at) + 2
            text = f"{ANSWER[:begin]}{field}, {ANSWER[begin:]}"

            assert (["m2"], others) == (shown(text.encode()), shown(text.encode(), "other")), (
                is_first,
                field,
            )


@pytest.mark.parametrize("prices", [ODDS, (2.2, 3.3, 3.5)])
def test_bookmaker_twice_in_a_match_is_rejected(prices: tuple[float, ...]) -> None:
    """Nobody knows which offer is right: the match is rejected once, and other bookmakers are shown."""
    body = _with(("bookmakers",), [*match(1)["bookmakers"], match(1, some=prices)["bookmakers"][0]])

    assert (["m2"], ["m1", "m2"]) == (shown(body), shown(body, "other"))
    assert [("m1", Reason.DUPLICATE)] == [
        (removal.source_match_id, removal.reason) for removal in judged(body).batch.removals
    ]


def test_match_twice_in_an_answer_is_rejected() -> None:
    """A match that occurs twice is rejected for all bookmakers."""
    body = json.dumps([match(1), match(2), match(1)]).encode()

    assert (["m2"], ["m2"]) == (shown(body), shown(body, "other"))


def sport(key: str, **fields: Any) -> Any:
    """Return an entry of the list of sports."""
    return {"key": key, "group": "Soccer", "title": "X", "active": True, "has_outrights": False, **fields}


def test_only_active_football_is_requested() -> None:
    """Other sports, inactive sports, outrights and invalid entries are left out."""
    listed = [
        *(sport("soccer_epl"), sport("basketball_nba"), sport("soccer_off", active=False)),
        *(sport("soccer_winner", has_outrights=True), sport("soccer_SPL"), sport("soccer_../x"), 3, {}),
        *(sport("soccer_epl"), {"key": "soccer_short"}, sport("soccer_x", active="yes"), sport("soccer_")),
    ]

    assert Sports(("soccer_epl", "soccer_short")) == decoded(json.dumps(listed).encode(), SPORTS_SCOPE)
    for empty in ([], listed[1:3]):  # known sports are then still requested
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
