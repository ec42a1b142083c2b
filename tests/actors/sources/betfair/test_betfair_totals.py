"""Totals and "both teams to score" of the exchange: outcomes by name, and what makes a market doubtful."""

from __future__ import annotations

from typing import Any

import pytest

from actors.core.messages import Extract
from actors.markets.market import Kind
from actors.sources.betfair.market import MarketNames
from tests.support.builders.betfair import Json, Stage, change, definition, delta, image, live, runner
from tests.support.builders.betfair_lines import EVENT, result

ON: dict[str, Any] = {"markets": (Kind.ONE_X_TWO, Kind.OVER_UNDER, Kind.BTTS)}
UNDER, OVER = 47972, 47973
NAMES = MarketNames({UNDER: "Under 2.5 Goals", OVER: "Over 2.5 Goals"})
LINE = "1.1 over_under:2.5"


def _total(market_type: str = "OVER_UNDER_25", **changes: Any) -> Json:
    runners = [runner(UNDER, 1), runner(OVER, 2)]
    defined = definition(**{"marketType": market_type, "eventId": EVENT, "runners": runners, **changes})
    offers = [{"id": OVER, "batb": [[0, 1.9, 9]]}, {"id": UNDER, "batb": [[0, 2.0, 9]]}]
    return {"id": "1.7", "img": True, "marketDefinition": defined, "rc": offers}


def _told(extract: Extract | None) -> tuple[dict[str, tuple[float, ...]], dict[str, str]]:
    """Return the lines of an extract, and its removals."""
    assert extract is not None
    lines = {str(match.source_match_id): match.prices for match in extract.matches if match.odds}
    return lines, {str(removal.source_match_id): removal.reason for removal in extract.removals}


def _named(
    *markets: Json, names: MarketNames = NAMES
) -> tuple[dict[str, tuple[float, ...]], dict[str, str]]:
    """Return what is on offer once the names of the other market are known."""
    stage = live(*markets, **ON)
    return _told(stage.session.name({"1.7": names}))


def test_outcomes_are_told_by_name() -> None:
    """Names are asked for; before they come nothing is shown."""
    stage = Stage(**ON)
    stage.connect()
    first = stage.receive(image(result(), _total()))

    named = stage.session.name({"1.7": NAMES})
    then = stage.receive(delta(change("1.7", {"id": OVER, "batb": [[0, 1.95, 9]]})))

    assert (({}, {}), ("1.1", "1.7")) == (_told(first.image), first.unnamed)
    assert ({LINE: (1.9, 2.0)}, {}) == _told(named)
    assert (({LINE: (1.95, 2.0)}, {}), ()) == (_told(then.changes), then.unnamed)


def test_outcomes_may_be_in_another_order() -> None:
    """Selection ids of 4.5 goals are the other way round than those of other lines."""
    names = MarketNames({1222347: "Under 4.5 Goals", 1222346: "Over 4.5 Goals"})
    market = _total("OVER_UNDER_45", runners=[runner(1222346, 1), runner(1222347, 2)])
    market["rc"] = [{"id": 1222346, "batb": [[0, 4.0, 9]]}, {"id": 1222347, "batb": [[0, 1.25, 9]]}]

    assert ({"1.1 over_under:4.5": (4.0, 1.25)}, {}) == _named(result(), market, names=names)


@pytest.mark.parametrize("no", [30247, 110503, 5])
def test_both_teams_to_score_is_yes_or_no(no: int) -> None:
    """The id of "No" has changed over the years."""
    market = _total("BOTH_TEAMS_TO_SCORE", runners=[runner(30246, 1), runner(no, 2)])
    market["rc"] = [{"id": 30246, "batb": [[0, 1.8, 9]]}, {"id": no, "batb": [[0, 2.1, 9]]}]

    assert ({"1.1 btts": (1.8, 2.1)}, {}) == _named(
        result(), market, names=MarketNames({30246: "Yes", no: "No"})
    )


@pytest.mark.parametrize("goals", range(9))
def test_type_has_the_line_in_its_name(goals: int) -> None:
    """From 0.5 to 8.5 goals."""
    names = MarketNames({1: f"Over {goals}.5 Goals", 2: f"Under {goals}.5 Goals"})
    market = _total(f"OVER_UNDER_{goals}5", runners=[runner(1, 2), runner(2, 1)])
    market["rc"] = [{"id": 1, "batb": [[0, 1.9, 9]]}, {"id": 2, "batb": [[0, 2.0, 9]]}]

    assert {f"1.1 over_under:{goals}.5": (1.9, 2.0)} == _named(result(), market, names=names)[0]


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({}, {UNDER: "Over 2.5 Goals", OVER: "Under 2.5 Goals"}),
        ({}, {UNDER: "Under 3.5 Goals", OVER: "Over 3.5 Goals"}),
        ({}, {UNDER: "Under 2.5 Goals", OVER: "Under 2.5 Goals"}),
        ({}, {UNDER: "Under 2.5 Cards", OVER: "Over 2.5 Cards"}),
        ({"bettingType": "ASIAN_HANDICAP_DOUBLE_LINE"}, {}),
        ({"runners": [runner(UNDER, 1)]}, {}),
        ({"runners": [runner(UNDER, 1), runner(OVER, 2), runner(5, 3)]}, {}),
        ({"runners": [runner(UNDER, 1), runner(OVER, 2, hc=0.5)]}, {}),
        ({"runners": [runner(UNDER, 1), runner(OVER, 2, status="REMOVED")]}, {}),
    ],
)
def test_market_of_another_form_is_refused(changes: Json, names: dict[int, str]) -> None:
    """Also where a name is another than the exchange documents for the id."""
    known = MarketNames(names or dict(NAMES.runners))

    assert ({}, {"1.7": "outcome"}) == _named(result(), _total(**changes), names=known)


@pytest.mark.parametrize(
    "market_type", ["FIRST_HALF_GOALS_25", "OVER_UNDER_25_CARDS", "TEAM_A_OVER_UNDER_15", "OVER_UNDER_95"]
)
def test_look_alikes_are_not_read(market_type: str) -> None:
    """A type is told by its whole name."""
    assert ({}, {}) == _named(result(), _total(market_type))


def test_match_without_a_result_has_no_names() -> None:
    """Its totals name no team, so that they cannot be shown."""
    assert ({}, {"1.7": "no_result"}) == _named(_total())


def test_suspended_total_leaves_alone() -> None:
    """By its own id."""
    stage = live(result(), _total(), **ON)
    stage.session.name({"1.7": NAMES})
    suspended = {"id": "1.7", "marketDefinition": _total(status="SUSPENDED")["marketDefinition"]}

    assert ({}, {LINE: "suspended"}) == _told(stage.receive(delta(suspended)).changes)


def test_names_outlive_an_image() -> None:
    """They are not asked for again."""
    stage = live(result(), _total(), **ON)
    stage.session.name({"1.7": NAMES})

    reaction = stage.receive(image(result(), _total()))

    assert ({LINE: (1.9, 2.0)}, {}) == _told(reaction.image)
    assert "1.7" not in reaction.unnamed


def test_subscription_asks_for_every_line() -> None:
    """A type of market for each."""
    stage = live(**ON)
    types = stage.sent[-1]["marketFilter"]["marketTypes"]

    totals = [f"OVER_UNDER_{goals}5" for goals in range(9)]
    assert ["MATCH_ODDS", *totals, "BOTH_TEAMS_TO_SCORE"] == types
