"""The Odds API, prices that the API itself has not refreshed for long: none of them is shown as live.

By the API's own clock alone: when a bookmaker's prices were refreshed against when it answered.
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime

import pytest

from actors.core.cooperative import run_now
from actors.core.errors import PayloadError
from actors.core.messages import BookmakerId, ListId, Payload, Scope, SourceName
from actors.core.validation import Admission, Bounds, admit
from actors.pipeline.fanout import complete_batch, document_of
from actors.sources.the_odds_api.kind import KIND
from actors.sources.the_odds_api.options import TheOddsApiOptions
from tests.support.builders.the_odds_api import API_KEY, event, market
from tests.support.recordings import the_odds_api

OPTIONS = TheOddsApiOptions(kind=KIND.name, api_key=API_KEY, sports=("soccer_epl",))
ANSWERED_AT = 1_780_000_000.0
STALE_AFTER_S = 180.0
DAY_S = 86_400.0
IN_2099 = 4_070_908_800.0


def written(age_s: float) -> str:
    """Write the time that was so long before the answer."""
    return f"{datetime.fromtimestamp(ANSWERED_AT - age_s, UTC):%Y-%m-%dT%H:%M:%SZ}"


def answer(*ages_s: float | str | None) -> bytes:
    """Write an answer with a match for each time since its prices were refreshed, m0 and so on."""
    listed = []
    for number, age_s in enumerate(ages_s):
        updated = age_s if age_s is None or isinstance(age_s, str) else written(age_s)
        one = event(f"m{number}", "Home", "Away", {"some": [market("Home", "Away", (2.1, 3.4, 3.6))]})
        one["bookmakers"][0]["last_update"] = one["bookmakers"][0]["markets"][0]["last_update"] = updated
        listed.append(one)
    return json.dumps(listed).encode()


def admitted(body: bytes, answered_at: float | None = ANSWERED_AT, key: str = "some") -> Admission:
    """Take an answer the whole way to the board. Raises: PayloadError."""
    payload = Payload(
        *(SourceName("api"), Scope("soccer_epl"), ListId("l"), body, 0.0, 0.0),
        answered_at=answered_at,
        stale_after_s=STALE_AFTER_S,
    )
    document = document_of(payload, run_now(KIND.decode(payload, OPTIONS)))
    extract = run_now(KIND.extract(document.content, key, OPTIONS))
    return run_now(admit(complete_batch(BookmakerId("some"), document, extract), Bounds()))


def shown(body: bytes, answered_at: float | None = ANSWERED_AT) -> list[str]:
    """Name the matches that are let through."""
    return [one.source_match_id for one in admitted(body, answered_at).batch.matches]


def test_a_match_that_was_not_refreshed_for_too_long_is_a_removal_of_its_own() -> None:
    """The others of its list are shown, and it is counted."""
    admission = admitted(answer(0.0, STALE_AFTER_S, STALE_AFTER_S + 1, 21 * DAY_S))

    assert ["m0", "m1"] == [one.source_match_id for one in admission.batch.matches]
    assert {"m2": "lagging", "m3": "lagging"} == {
        one.source_match_id: one.reason for one in admission.batch.removals
    }
    assert {"lagging": 2} == admission.rejected


@pytest.mark.parametrize(
    "ages_s", [(STALE_AFTER_S + 1, 9 * DAY_S), (ANSWERED_AT, ANSWERED_AT), (ANSWERED_AT + DAY_S,)]
)
def test_a_list_of_which_nothing_was_refreshed_is_refused(ages_s: tuple[float, ...]) -> None:
    """Also where its times are zero, the beginning of Unix time, or before it."""
    with pytest.raises(PayloadError) as caught:
        admitted(answer(*ages_s))

    assert "lagging" == caught.value.reason


@pytest.mark.parametrize("ahead_s", [61.0, DAY_S, IN_2099 - ANSWERED_AT])
def test_a_time_in_the_future_vouches_for_nothing(ahead_s: float) -> None:
    """A list that is old but for it is refused as a whole, and no price is dated by it."""
    with pytest.raises(PayloadError):
        admitted(answer(-ahead_s, 21 * DAY_S))

    (alone,) = admitted(answer(-ahead_s)).batch.matches
    assert alone.source_time is None


def test_clocks_may_differ_by_a_minute() -> None:
    """The answer's Date is in whole seconds, and not read at the same time."""
    (one,) = json.loads(answer(-60.0))
    lines = one["bookmakers"][0]
    for table in (lines, lines["markets"][0]):  # either of them alone is enough
        text = json.dumps([one]).replace(json.dumps(table["last_update"]), "null", 1)
        assert [ANSWERED_AT + 60] == [each.source_time for each in admitted(text.encode()).batch.matches]
        lines["markets"][0]["last_update"], lines["last_update"] = None, written(-60.0)


@pytest.mark.parametrize("of_market", [written(-DAY_S), "soon"])
def test_where_a_markets_time_cannot_be_the_bookmakers_is_taken(of_market: str) -> None:
    """As in older answers, which have no other."""
    (one,) = json.loads(answer(21 * DAY_S))
    one["bookmakers"][0]["markets"][0]["last_update"] = of_market

    with pytest.raises(PayloadError):
        admitted(json.dumps([one]).encode())


def test_what_has_no_time_does_not_lag() -> None:
    """Nor does anything in an answer that says nothing of its own time."""
    assert ["m0"] == shown(answer(None, 21 * DAY_S, 0.0))[:1]
    assert ["m0", "m1"] == shown(answer(21 * DAY_S, 0.0), None)


@pytest.mark.recordings
def test_few_recorded_prices_lag() -> None:
    """Had they been answered when their newest price was refreshed, with polls a minute apart."""
    counted: Counter[str] = Counter()
    for path in [*the_odds_api(), *the_odds_api("in_play*")]:
        body = path.read_bytes()
        listed = [lines for one in json.loads(body) for lines in one["bookmakers"]]
        times = [one["last_update"] for lines in listed for one in lines["markets"]]
        newest = max(datetime.fromisoformat(time).timestamp() for time in times)
        for key in sorted({lines["key"] for lines in listed}):
            try:
                admission = admitted(body, newest, key)
            except PayloadError:
                counted["lists"] += 1
                continue
            counted["shown"] += len(admission.batch.matches)
            counted["lagging"] += admission.rejected["lagging"]

    assert {"shown": 4054, "lagging": 66, "lists": 25} == counted
