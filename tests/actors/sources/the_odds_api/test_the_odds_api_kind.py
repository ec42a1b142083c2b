"""The Odds API, one bookmaker's part of an answer: outcomes by name, reasons, times, and old prices."""

from __future__ import annotations

import itertools
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from actors.core.cooperative import run_now
from actors.core.errors import PayloadError
from actors.core.messages import BookmakerId, Extract, ListId, Payload, Scope, SourceName
from actors.core.validation import Admission, Reason, admit
from actors.pipeline.fanout import complete_batch, document_of
from actors.source_api.kinds import bounds_of
from actors.sources.the_odds_api.kind import KIND, check_key
from actors.sources.the_odds_api.options import TheOddsApiOptions
from tests.support.builders import reading
from tests.support.builders.the_odds_api import API_KEY, event, market

OPTIONS = TheOddsApiOptions(kind=KIND.name, api_key=API_KEY, sports=("soccer_epl",))
HOME, AWAY = "Alder Town", "Birch United"
ODDS = (2.1, 3.4, 3.6)
GOOD = event("m1", HOME, AWAY, {"some": [market(HOME, AWAY, ODDS)]})
UPDATED_AT, KICK_OFF_AT = 1_779_999_600.0, 1_780_149_600


def extracted(*events: Any, key: str = "some", answered_at: float | None = None) -> Extract:
    """Read one bookmaker's part of an answer with these matches."""
    body = json.dumps(events).encode()
    return reading.extracted(KIND, key, OPTIONS, body, "soccer_epl", answered_at=answered_at)


def altered(event_: Any = GOOD, /, **changes: Any) -> Any:
    """Return a match with other fields; None removes a field."""
    return {name: value for name, value in {**event_, **changes}.items() if value is not None}


def listing(*outcomes: tuple[str, float], key: str = "h2h", **fields: Any) -> Any:
    """Return the match with one market that has these outcomes."""
    listed = [{"name": name, "price": price} for name, price in outcomes]
    lines = {"key": "some", "title": "Some", "markets": [{"key": key, "outcomes": listed}]}
    return altered(bookmakers=[lines], **fields)


def reasons(extract: Extract) -> list[str]:
    """Return the reasons why the match is rejected."""
    assert () == extract.matches
    return [removal.reason for removal in extract.removals]


@pytest.mark.parametrize(
    "keys", [(), ("totals",), ("h2h_lay",), ("spreads", "outrights"), ("h2h_3_way",), ("H2H",), ("",)]
)
def test_match_without_a_market_of_the_result_is_counted(keys: tuple[str, ...]) -> None:
    """The bookmaker lists the match without prices of home, draw and away."""
    listed = event("m1", HOME, AWAY, {"some": [market(HOME, AWAY, ODDS, key=key) for key in keys]})

    assert ["no_result"] == reasons(extracted(listed))


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_outcomes_are_identified_by_name(order: tuple[int, ...]) -> None:
    """In any order of outcomes, each price belongs to the team with its name."""
    outcomes = [(HOME, 2.1), ("Draw", 3.4), (AWAY, 3.6)]

    (match,) = extracted(listing(*(outcomes[place] for place in order))).matches

    assert (HOME, AWAY, ODDS) == (
        *(match.home, match.away),
        (match.home_price, match.draw_price, match.away_price),
    )


def test_match_has_all_fields_of_the_answer() -> None:
    """A match has id, league, kick-off, and the refresh time of its prices."""
    (match,) = extracted(GOOD).matches

    assert ("m1", "EPL", KICK_OFF_AT, UPDATED_AT) == (
        *(match.source_match_id, match.league),
        *(match.start_time, match.source_time),
    )


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        pytest.param((HOME, AWAY), Reason.TWO_WAY, id="no draw"),
        pytest.param((AWAY, HOME), Reason.TWO_WAY, id="no draw, the other way round"),
        pytest.param((HOME, "Draw", "Birch Utd"), Reason.OUTCOME, id="another name for a team"),
        pytest.param((HOME, "draw", AWAY), Reason.OUTCOME, id="another word for the draw"),
        pytest.param((HOME, "Draw", HOME), Reason.OUTCOME, id="a team twice"),
        pytest.param((HOME, "Draw", AWAY, AWAY), Reason.OUTCOME, id="an outcome too many"),
        pytest.param((HOME, "Draw", AWAY, "Tie"), Reason.OUTCOME, id="an unknown fourth"),
        pytest.param((HOME, "Draw"), Reason.OUTCOME, id="only one team"),
        pytest.param((), Reason.OUTCOME, id="none at all"),
    ],
)
def test_other_outcomes_are_rejected(names: tuple[str, ...], reason: Reason) -> None:
    """Any outcome but the two teams and the draw is rejected with its own reason."""
    assert [reason] == reasons(extracted(listing(*((name, 3.0) for name in names))))


@pytest.mark.parametrize(
    ("teams", "names"),
    [
        pytest.param(("Draw", AWAY), ("Draw", "Draw", AWAY), id="a team called Draw"),
        pytest.param(("Draw", AWAY), ("Draw", AWAY, HOME), id="and a third name"),
        pytest.param((HOME, "Draw"), (HOME, "Draw", AWAY), id="the other team called Draw"),
        pytest.param((HOME, HOME), (HOME, "Draw", HOME), id="two teams of one name"),
        pytest.param((None, AWAY), (HOME, "Draw", AWAY), id="a team without a name"),
        pytest.param((None, None), (HOME, "Draw", AWAY), id="no teams"),
        pytest.param(("", AWAY), ("", "Draw", AWAY, "x"), id="an empty name"),
        pytest.param(("", AWAY), ("", "Draw", AWAY), id="an empty name of an outcome"),
        pytest.param((HOME, " \u200b"), (HOME, "Draw", " \u200b"), id="an invisible name"),
        pytest.param((HOME, HOME + " "), (HOME, "Draw", HOME + " "), id="names that look alike"),
        pytest.param(("Draw ", AWAY), ("Draw ", "Draw", AWAY), id="a team that looks like the draw"),
    ],
)
def test_ambiguous_teams_are_rejected(teams: tuple[str | None, str | None], names: tuple[str, ...]) -> None:
    """If a name does not identify an outcome, no price is accepted."""
    answered = listing(*((name, 3.0) for name in names), home_team=teams[0], away_team=teams[1])

    assert [Reason.OUTCOME] == reasons(extracted(answered))


def test_other_sports_are_rejected() -> None:
    """The sport must be football, even with a draw; a match with two outcomes has its own reason."""
    basketball = listing((HOME, 1.9), (AWAY, 1.9), sport_key="basketball_nba")

    assert [Reason.SPORT] == reasons(extracted(altered(sport_key="rugbyleague_nrl")))
    assert [Reason.TWO_WAY] == reasons(extracted(basketball))


@pytest.mark.parametrize(
    ("kick_off", "start"),
    [
        (None, None),
        ("2026-05-30T16:00:00+02:00", KICK_OFF_AT),
        ("2026-05-30T14:00:00.75Z", KICK_OFF_AT),
        *(
            (odd, Reason.START_TIME)
            for odd in ("tomorrow", "", "2026-05-30T14:00:00", "2026-13-01T00:00:00Z")
        ),
    ],
)
def test_kick_off_is_in_whole_seconds_of_utc(kick_off: str | None, start: int | None) -> None:
    """A match may lack a kick-off; a kick-off that cannot be read, or has no zone, rejects the match."""
    extract = extracted(altered(commence_time=kick_off))

    found: list[Any] = [match.start_time for match in extract.matches] or reasons(extract)
    assert [(start, type(start))] == [(it, type(it)) for it in found]


def test_refresh_time_is_the_markets_or_else_the_bookmakers() -> None:
    """Older answers have only the bookmaker's refresh time."""
    for of_market, of_bookmaker, expected in [
        ("2026-05-28T20:20:00Z", "2026-05-28T20:00:00Z", UPDATED_AT),
        (None, "2026-05-28T20:20:00Z", UPDATED_AT),
        (None, None, None),
        (None, "soon", None),
    ]:
        answered = json.loads(json.dumps(GOOD))
        answered["bookmakers"][0]["last_update"] = of_bookmaker
        answered["bookmakers"][0]["markets"][0]["last_update"] = of_market

        assert [expected] == [match.source_time for match in extracted(answered).matches], of_market


def test_lag_is_that_of_the_newest_prices() -> None:
    """Lag is measured by the API's own clock, over all matches of the bookmaker."""
    old = market(HOME, AWAY, ODDS, updated="2026-05-28T19:00:00Z")
    slate = (event("m1", HOME, AWAY, {"some": [old]}), altered(id="m2"))

    lags = [extracted(*slate, answered_at=at).lag_s for at in (UPDATED_AT + 90, UPDATED_AT - 5, None)]

    assert [90.0, -5.0, None] == lags
    assert extracted(GOOD, key="other", answered_at=UPDATED_AT).lag_s is None


def test_title_is_the_last_that_is_not_empty() -> None:
    """The API has the display names of its bookmakers."""
    untitled = json.loads(json.dumps(altered(id="m2")))
    untitled["bookmakers"][0]["title"] = ""
    renamed = json.loads(json.dumps(altered(id="m3")))
    renamed["bookmakers"][0]["title"] = "Some Other"

    assert ("Some", None) == (extracted(GOOD, untitled).title, extracted(GOOD, key="other").title)
    assert "Some Other" == extracted(GOOD, renamed, untitled).title


def test_key_is_that_of_a_bookmaker() -> None:
    """Letters, digits and underscores: characters that would change the address are never accepted."""
    for key in ["williamhill", "betfair_ex_eu", "sport888", "A", "x" * 64]:
        check_key(key)
    for key in ["", "x" * 65, "william hill", "a,b", "a&b", "ä", "pinnacle\n", "a-b"]:
        with pytest.raises(ValueError, match="must be a bookmaker's key") as caught:
            check_key(key)

        assert repr(key) in str(caught.value), key


PAGE = "https://some.example/7"


def _linked(of_bookmaker: object, of_market: object, of_outcomes: object) -> Any:
    """Return a match with a link in each place."""
    offered = market("Home", "Away", (2.0, 3.5, 4.0)) | {"link": of_market}
    offered["outcomes"] = [outcome | {"link": of_outcomes} for outcome in offered["outcomes"]]
    found = event("m1", "Home", "Away", {"some": [offered]})
    found["bookmakers"][0]["link"] = of_bookmaker
    return found


@pytest.mark.parametrize(
    ("links", "url"),
    [
        ((PAGE, None, None), PAGE),
        ((PAGE, "https://some.example/1x2", "https://bet.example/2"), PAGE),
        ((None, "https://some.example/1x2", None), None),
        ((7, None, None), None),
        (('https://some.example/"7"', None, None), 'https://some.example/"7"'),
    ],
)
def test_match_has_the_page_that_its_bookmaker_gives(links: tuple[Any, Any, Any], url: str | None) -> None:
    """Links of a market or an outcome lead to a betting slip and are unused; a bad link costs no price."""
    (match,) = extracted(_linked(*links)).matches

    assert (url, 2.0, 3.5, 4.0) == (match.url, match.home_price, match.draw_price, match.away_price)


ANSWERED_AT = 1_780_000_000.0
STALE_AFTER_S = 180.0
DAY_S = 86_400.0
IN_2099 = 4_070_908_800.0


def written(age_s: float) -> str:
    """Return the time so many seconds before the answer, as the API writes it."""
    return f"{datetime.fromtimestamp(ANSWERED_AT - age_s, UTC):%Y-%m-%dT%H:%M:%SZ}"


def answer(*ages_s: float | str | None) -> bytes:
    """Return an answer with a match (m0, m1, ...) for each age of prices (seconds)."""
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
    """The other matches of its list are shown, and the old match is counted."""
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
    """A list whose other prices are old is refused, and no price has the future time."""
    with pytest.raises(PayloadError):
        admitted(answer(-ahead_s, 21 * DAY_S))

    (alone,) = admitted(answer(-ahead_s)).batch.matches
    assert alone.source_time is None


def test_clocks_may_differ_by_a_minute() -> None:
    """The answer's Date has whole seconds, and the prices' time is read from another clock."""
    (offer,) = json.loads(answer(-60.0))
    lines = offer["bookmakers"][0]
    for table in (lines, lines["markets"][0]):  # one of the two times is enough
        text = json.dumps([offer]).replace(json.dumps(table["last_update"]), "null", 1)
        assert [ANSWERED_AT + 60] == [each.source_time for each in admitted(text.encode()).batch.matches]
        lines["markets"][0]["last_update"], lines["last_update"] = None, written(-60.0)


@pytest.mark.parametrize("of_market", [written(-DAY_S), "soon"])
def test_unusable_time_of_a_market_is_replaced_by_the_bookmakers(of_market: str) -> None:
    """If a market's time is impossible, the bookmaker's time counts, as if the market had none."""
    (offer,) = json.loads(answer(21 * DAY_S))
    offer["bookmakers"][0]["markets"][0]["last_update"] = of_market

    with pytest.raises(PayloadError):
        admitted(json.dumps([offer]).encode())


def test_prices_without_a_time_do_not_lag() -> None:
    """If the answer has no time, no prices lag either."""
    assert ["m0"] == shown(answer(None, 21 * DAY_S, 0.0))[:1]
    assert ["m0", "m1"] == shown(answer(21 * DAY_S, 0.0), None)
