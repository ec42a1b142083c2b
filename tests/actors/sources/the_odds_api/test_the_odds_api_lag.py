"""The Odds API: prices that the API itself has not refreshed for long are not shown.

The API's own clock alone counts: a bookmaker's refresh times compared with the time of the answer.
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime

import pytest

from actors.core.cooperative import run_now
from actors.core.errors import PayloadError
from actors.core.messages import BookmakerId, ListId, Payload, Scope, SourceName
from actors.core.validation import Admission, admit
from actors.pipeline.fanout import complete_batch, document_of
from actors.source_api.kinds import bounds_of
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
    """Return the time that long before the answer, as the API writes it."""
    return f"{datetime.fromtimestamp(ANSWERED_AT - age_s, UTC):%Y-%m-%dT%H:%M:%SZ}"


def answer(*ages_s: float | str | None) -> bytes:
    """Return an answer with a match (m0, m1, ...) for each time since the refresh of its prices."""
    listed = []
    for number, age_s in enumerate(ages_s):
        updated = age_s if age_s is None or isinstance(age_s, str) else written(age_s)
        offer = event(f"m{number}", "Home", "Away", {"some": [market("Home", "Away", (2.1, 3.4, 3.6))]})
        offer["bookmakers"][0]["last_update"] = offer["bookmakers"][0]["markets"][0]["last_update"] = (
            updated
        )
        listed.append(offer)
    return json.dumps(listed).encode()


def admitted(body: bytes, answered_at: float | None = ANSWERED_AT, key: str = "some") -> Admission:
    """Process an answer up to the integrity gate. Raises: PayloadError."""
    payload = Payload(
        *(SourceName("api"), Scope("soccer_epl"), ListId("l"), body, 0.0, 0.0),
        answered_at=answered_at,
        stale_after_s=STALE_AFTER_S,
    )
    document = document_of(payload, run_now(KIND.decode(payload, OPTIONS)))
    extract = run_now(KIND.extract(document.content, key, OPTIONS))
    return run_now(
        admit(complete_batch(BookmakerId("some"), document, extract), bounds_of(KIND, key, OPTIONS))
    )


def shown(body: bytes, answered_at: float | None = ANSWERED_AT) -> list[str]:
    """Return the ids of the admitted matches."""
    return [match.source_match_id for match in admitted(body, answered_at).batch.matches]


def test_match_with_old_prices_becomes_a_removal() -> None:
    """The other matches of its list are shown, and it is counted."""
    admission = admitted(answer(0.0, STALE_AFTER_S, STALE_AFTER_S + 1, 21 * DAY_S))

    assert ["m0", "m1"] == [match.source_match_id for match in admission.batch.matches]
    assert {"m2": "lagging", "m3": "lagging"} == {
        removal.source_match_id: removal.reason for removal in admission.batch.removals
    }
    assert {"lagging": 2} == admission.rejected


def test_list_with_old_prices_only_is_refused() -> None:
    """A list with old prices only is refused, also if their times are zero (1970) or before."""
    for ages_s in [(STALE_AFTER_S + 1, 9 * DAY_S), (ANSWERED_AT, ANSWERED_AT), (ANSWERED_AT + DAY_S,)]:
        with pytest.raises(PayloadError) as caught:
            admitted(answer(*ages_s))

        assert "lagging" == caught.value.reason, ages_s


@pytest.mark.parametrize("ahead_s", [61.0, DAY_S, IN_2099 - ANSWERED_AT])
def test_refresh_time_in_the_future_is_ignored(ahead_s: float) -> None:
    """A list that is old otherwise is refused, and no price has that time."""
    with pytest.raises(PayloadError):
        admitted(answer(-ahead_s, 21 * DAY_S))

    (alone,) = admitted(answer(-ahead_s)).batch.matches
    assert alone.source_time is None


def test_clocks_may_differ_by_a_minute() -> None:
    """The answer's Date is in whole seconds and is read at another time."""
    (offer,) = json.loads(answer(-60.0))
    lines = offer["bookmakers"][0]
    for table in (lines, lines["markets"][0]):  # either time alone is enough
        text = json.dumps([offer]).replace(json.dumps(table["last_update"]), "null", 1)
        assert [ANSWERED_AT + 60] == [each.source_time for each in admitted(text.encode()).batch.matches]
        lines["markets"][0]["last_update"], lines["last_update"] = None, written(-60.0)


@pytest.mark.parametrize("of_market", [written(-DAY_S), "soon"])
def test_unusable_time_of_a_market_is_replaced_by_the_bookmakers(of_market: str) -> None:
    """If the time of a market is impossible, the bookmaker's counts, as in answers without the former."""
    (offer,) = json.loads(answer(21 * DAY_S))
    offer["bookmakers"][0]["markets"][0]["last_update"] = of_market

    with pytest.raises(PayloadError):
        admitted(json.dumps([offer]).encode())


def test_prices_without_a_time_do_not_lag() -> None:
    """Without a time of the answer no prices lag either."""
    assert ["m0"] == shown(answer(None, 21 * DAY_S, 0.0))[:1]
    assert ["m0", "m1"] == shown(answer(21 * DAY_S, 0.0), None)


@pytest.mark.recordings
def test_few_recorded_prices_lag() -> None:
    """The time of the answer is taken as that of its newest price, with polls a minute apart."""
    counted: Counter[str] = Counter()
    for path in [*the_odds_api(), *the_odds_api("in_play*")]:
        body = path.read_bytes()
        listed = [lines for offer in json.loads(body) for lines in offer["bookmakers"]]
        times = [table["last_update"] for lines in listed for table in lines["markets"]]
        newest = max(datetime.fromisoformat(time).timestamp() for time in times)
        for key in sorted({lines["key"] for lines in listed}):
            try:
                admission = admitted(body, newest, key)
            except PayloadError:
                counted["lists"] += 1
                continue
            counted["shown"] += len(admission.batch.matches)
            counted["lagging"] += admission.rejected["lagging"]

    assert {"shown": 4031, "lagging": 66, "lists": 25} == counted
