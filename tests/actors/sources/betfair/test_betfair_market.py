"""One market of the exchange: its ladders, its outcomes, and when it has odds."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from actors.core.messages import Match, Removal
from actors.core.validation import Reason
from actors.sources.betfair.market import Market, MarketNames, Runner
from actors.sources.betfair.wire import MarketChange, RunnerChange
from tests.support.builders.betfair import (
    AWAY,
    DRAW,
    HOME,
    OPTIONS,
    PRICES,
    Json,
    definition,
    market,
    offers,
    runner,
)

PUBLISHED_MS = 1_780_000_000_123
NAMES = MarketNames({HOME: "Alder Town", AWAY: "Birch United", DRAW: "The Draw"}, "League")


def _runner(*changes: Json) -> Runner:
    """Return a runner after these changes."""
    changed = Runner()
    for each in changes:
        changed.apply(msgspec.convert({"id": HOME, **each}, RunnerChange))
    return changed


def _market(*changes: Json, pt: int | None = PUBLISHED_MS) -> Market:
    """Return a market after these changes."""
    book = Market("1.1")
    for each in changes:
        book.apply(msgspec.convert({"id": "1.1", **each}, MarketChange), pt)
    return book


def _odds(*changes: Json, names: MarketNames | None = None, **options: Any) -> Match | Removal:
    return _market(*changes).odds(msgspec.structs.replace(OPTIONS, **options), names)


def _prices(*changes: Json, **options: Any) -> tuple[float, float, float] | str:
    odds = _odds(*changes, **options)
    return odds.reason if isinstance(odds, Removal) else (odds.home_price, odds.draw_price, odds.away_price)


def test_ladders_are_kept_by_level_or_by_price() -> None:
    """By level, only level 0 is the best; by price, the highest is; a size not above 0 removes an entry."""
    cases: list[tuple[list[Json], tuple[float, float] | None]] = [
        ([], None),
        ([{"batb": [[0, 2.0, 5]]}], (2.0, 5.0)),
        ([{"batb": [[2, 1.8, 5], [0, 2.0, 5], [1, 1.9, 9]]}], (2.0, 5.0)),
        ([{"batb": [[0, 2.0, 5], [1, 1.9, 9]]}, {"batb": [[0, 1.95, 4]]}], (1.95, 4.0)),
        ([{"batb": [[0, 2.0, 5], [1, 2.1, 9]]}], (2.0, 5.0)),
        ([{"batb": [[0, 2.0, 5], [1, 1.9, 9]]}, {"batb": [[0, 0, 0]]}], None),
        ([{"batb": [[0, 2.0, 5]]}, {"batb": [[0, 2.0, -1]]}], None),
        ([{"batb": [[0, 0, 0]]}], None),
        ([{"batb": [[1, 1.9, 9]]}], None),
        ([{"batb": [[0, 2.0, 5], [0, 2.2, 6]]}], (2.2, 6.0)),
        ([{"batb": [[0, 2.0, 5]]}, {"batb": None}, {"batb": []}, {}], (2.0, 5.0)),
        ([{"atb": [[1.9, 9], [2.02, 3], [2.0, 5]]}], (2.02, 3.0)),
        ([{"atb": [[1.9, 9], [2.02, 3]]}, {"atb": [[2.02, 0]]}], (1.9, 9.0)),
        ([{"atb": [[1.9, 9], [2.02, 3]]}, {"atb": [[2.02, -0.01]]}], (1.9, 9.0)),
        ([{"atb": [[1.9, 9]]}, {"atb": [[1.9, 4]]}], (1.9, 4.0)),
        ([{"atb": [[1.9, 9]]}, {"atb": [[1.9, 0]]}], None),
        ([{"atb": [[3.0, 0]]}], None),
        ([{"atb": [[1.9, 9]]}, {"atb": None}, {"ltp": 2.0}], (1.9, 9.0)),
    ]
    for changes, best in cases:
        assert best == _runner(*changes).best_back(), (changes, best)


@pytest.mark.parametrize(
    ("named", "home"),
    [
        *(({"id": selection}, 2.5) for selection in ("11", 11, "0011")),
        *(({"id": selection}, 2.0) for selection in ("12", -11)),
        *(({"id": HOME, "hc": handicap}, 2.5) for handicap in (None, 0)),
        ({"id": HOME, "hc": -0.5}, 2.0),
    ],
)
def test_runner_is_its_id_and_its_handicap(named: Json, home: float) -> None:
    """An id may be a number or a string; a handicap that is absent, null or 0 means the runner itself."""
    assert (home, 3.5, 4.0) == _prices(market(), {"rc": [{"batb": [[0, 2.5, 5]], **named}]})


@pytest.mark.parametrize(
    ("min_size", "is_offer"), [(0.0, True), (9.99, True), (10.0, True), (10.01, False)]
)
def test_small_amounts_are_not_offered(min_size: float, *, is_offer: bool) -> None:
    """The amount at the best price must reach the configured minimum; no worse price replaces it."""
    worse = {"rc": [{"id": HOME, "batb": [[1, 1.9, 99]]}]}

    assert (PRICES if is_offer else Reason.INCOMPLETE) == _prices(market(), worse, min_size=min_size)


def test_last_traded_prices_are_used_if_configured() -> None:
    """Last traded prices replace the best prices to back only if configured."""
    traded = {"rc": [{"id": HOME, "ltp": 2.1}, {"id": AWAY, "ltp": 3.9}, {"id": DRAW, "ltp": 3.3}]}
    alone = {**market(), "rc": traded["rc"]}

    assert Reason.INCOMPLETE == _prices(alone)
    assert (2.1, 3.3, 3.9) == _prices(market(), traded, price="last_traded")
    assert (2.1, 3.3, 3.9) == _prices(
        market(), traded, {"rc": [{"id": HOME, "ltp": None}]}, price="last_traded"
    )
    assert Reason.INCOMPLETE == _prices(market(), price="last_traded")


def test_outcomes_are_identified_by_priority_and_the_draw_by_its_id() -> None:
    """The order of the runners in the list does not matter."""
    shuffled = [runner(DRAW, 3), runner(HOME, 2), runner(str(AWAY), 1)]

    assert (4.0, 3.5, 2.0) == _prices(market(runners=shuffled))


def test_unidentified_outcomes_are_refused() -> None:
    """A match result has exactly one home team, one away team and the draw."""
    for runners in [
        None,
        [],
        [runner(HOME, 1), runner(AWAY, 2)],
        [runner(HOME, 1), runner(AWAY, 2), runner(33, 3)],
        [runner(HOME, 1), runner(AWAY, 2), runner(DRAW, 3), runner(33, 4)],
        [runner(HOME, 1), runner(AWAY, 1), runner(DRAW, 3)],
        [runner(HOME, None), runner(AWAY, 2), runner(DRAW, 3)],
        [runner(HOME, 2), runner(AWAY, 3), runner(DRAW, 1)],
        [runner(HOME, 1), runner(DRAW, 2), runner(DRAW, 3)],
        [runner(HOME, 1, hc=-0.5), runner(AWAY, 2), runner(DRAW, 3)],
        [runner(HOME, 1, status="REMOVED"), runner(AWAY, 2), runner(DRAW, 3)],
    ]:
        assert Reason.OUTCOME == _prices(market(runners=runners)), runners


def test_only_active_runners_count() -> None:
    """An open market may have inactive runners beside the three, but not in place of one of them."""
    for status in ["HIDDEN", "REMOVED_VACANT", "LOSER", "WINNER", "REMOVED", None]:
        runners = [runner(HOME, 1), runner(AWAY, 2), runner(DRAW, 3)]
        other = runner(33, 1, status=status)

        assert PRICES == _prices(market(runners=[*runners, other])), status
        assert Reason.OUTCOME == _prices(market(runners=[{**runners[0], "status": status}, *runners[1:]]))


def test_other_sports_are_refused() -> None:
    """A recorded file has no filter: only football counts, and a missing sport counts as football."""
    for sport in ({"eventTypeId": "1"}, {"eventTypeId": 1}, {}):
        assert PRICES == _prices(market(**sport)), sport
    for other in ("7522", 2, ""):
        assert "undefined" == _prices(market(eventTypeId=other)), other


def test_virtual_bets_are_a_separate_ladder() -> None:
    """If configured, the prices with virtual bets are used, and no prices of the other ladders."""
    better = (2.1, 3.6, 4.1)
    shown = [{**entry, "bdatb": [[0, price, 5]]} for entry, price in zip(offers(), better, strict=True)]
    both = {**market(), "rc": shown}
    gone = {"rc": [{"id": HOME, "bdatb": [[0, 0, 0]]}]}

    assert PRICES == _prices(both)
    assert better == _prices(both, virtual_bets=True)
    assert Reason.INCOMPLETE == _prices(both, gone, virtual_bets=True)
    assert Reason.INCOMPLETE == _prices(market(), virtual_bets=True)
    assert Reason.INCOMPLETE == _prices(both, virtual_bets=True, min_size=6.0)


@pytest.mark.parametrize("missing", [HOME, DRAW, AWAY])
def test_missing_price_is_incomplete(missing: int) -> None:
    """All three outcomes must have a price."""
    known = [offer for offer in offers() if offer["id"] != missing]

    assert Reason.INCOMPLETE == _prices({**market(), "rc": known})
    assert Reason.INCOMPLETE == _prices(market(), {"rc": [{"id": missing, "batb": [[0, 0, 0]]}]})


@pytest.mark.parametrize(
    ("status", "reason"),
    [("SUSPENDED", "suspended"), ("CLOSED", "closed"), ("INACTIVE", "inactive"), (None, "undefined")],
)
def test_only_an_open_market_has_odds(status: str | None, reason: str) -> None:
    """A market that is not open has no odds, even with full ladders; the reason is its status."""
    assert reason == _prices(market(status=status))


def test_market_without_a_definition_has_no_odds() -> None:
    """Without a definition the market is not known to be a match."""
    assert "undefined" == _prices({"rc": offers()})


def test_kick_off_and_play_follow_the_definition() -> None:
    """The newest definition has the two values; a kick-off that cannot be read removes the match."""
    for time, in_play, start in [("2026-06-01T15:02:00.000Z", True, 1_780_326_120), (None, None, None)]:
        odds = _odds(market(), {"marketDefinition": definition(marketTime=time, inPlay=in_play)})

        assert isinstance(odds, Match)
        assert (start, in_play) == (odds.start_time, odds.in_play)
    assert Reason.START_TIME == _prices(market(), {"marketDefinition": definition(marketTime="soon")})


def test_match_has_the_id_of_its_market() -> None:
    """A match has the id of its market, and the time of the message as its source time."""
    odds = _odds(market(), names=NAMES)

    assert (
        Match(
            source_match_id="1.1",  # type: ignore[arg-type]  # a plain string, as on the wire
            home="Alder Town",
            away="Birch United",
            league="League",
            home_price=2.0,
            draw_price=3.5,
            away_price=4.0,
            start_time=1_780_326_000,
            source_time=1_780_000_000.123,
            in_play=False,
        )
        == odds
    )


def _named(home: Json, away: Json, **changes: Any) -> Market:
    book = Market("1.1")
    runners = [runner(HOME, 1, **home), runner(AWAY, 2, **away), runner(DRAW, 3, name="The Draw")]
    image = market(runners=runners, **changes)
    book.apply(msgspec.convert(image, MarketChange), None)
    return book


def _teams(book: Market, names: MarketNames | None) -> tuple[str, str, str | None]:
    match = book.odds(OPTIONS, names)
    assert isinstance(match, Match)
    return match.home, match.away, match.league


@pytest.mark.parametrize(
    ("home", "away", "names", "expected"),
    [
        ({"name": "Elm"}, {"name": "Fir"}, None, ("Elm", "Fir", None)),
        ({"name": "Elm"}, {"name": "Fir"}, NAMES, ("Elm", "Fir", "League")),
        ({}, {}, NAMES, ("Alder Town", "Birch United", "League")),
        ({"name": None}, {"name": ""}, NAMES, ("Alder Town", "Birch United", "League")),
        ({"name": "Elm"}, {}, NAMES, ("Elm", "Birch United", "League")),
        ({}, {}, None, ("", "", None)),
        ({}, {}, MarketNames({HOME: "Alder Town"}), ("Alder Town", "", None)),
        ({}, {}, MarketNames({}, "League"), ("", "", "League")),
    ],
)
def test_names_of_the_definition_take_precedence(
    home: Json, away: Json, names: MarketNames | None, expected: tuple[str, str, str | None]
) -> None:
    """Each name has its own precedence; unknown names are empty, the competition is the catalogue's."""
    assert expected == _teams(_named(home, away), names)


@pytest.mark.parametrize(
    ("home", "changes", "known", "is_unnamed"),
    [
        ({"name": "Elm"}, {}, None, False),
        ({}, {}, None, True),
        ({"status": "REMOVED"}, {}, None, False),
        ({"name": ""}, {}, None, True),
        *(({}, {"status": status}, None, False) for status in ("SUSPENDED", "CLOSED")),
        ({}, {"marketType": "OVER_UNDER_25"}, None, False),
        ({}, {}, MarketNames({AWAY: "Away"}), True),
        ({}, {}, MarketNames({HOME: "Home"}), False),
    ],
)
def test_names_are_needed_for_open_matches_only(
    home: Json, changes: Json, known: MarketNames | None, *, is_unnamed: bool
) -> None:
    """The catalogue is not requested for markets that are not shown, or whose names are known."""
    assert is_unnamed is _named(home, {"name": "Fir"}, **changes).is_unnamed_by(known)
