"""The names of a market of the exchange: from its definition, from the catalogue, or none yet."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from actors.core.messages import Match
from actors.sources.betfair.market import Market, MarketNames
from actors.sources.betfair.wire import MarketChange
from tests.support.builders.betfair import AWAY, DRAW, HOME, OPTIONS, Json, market, runner

NAMES = MarketNames({HOME: "Alder Town", AWAY: "Birch United", DRAW: "The Draw"}, "League")


def _market(home: Json, away: Json, **changes: Any) -> Market:
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
    assert expected == _teams(_market(home, away), names)


@pytest.mark.parametrize(
    ("home", "changes", "is_unnamed"),
    [
        ({"name": "Elm"}, {}, False),
        ({}, {}, True),
        ({"status": "REMOVED"}, {}, False),
        ({"name": ""}, {}, True),
        ({}, {"status": "SUSPENDED"}, False),
        ({}, {"status": "CLOSED"}, False),
        ({}, {"marketType": "OVER_UNDER_25"}, False),
    ],
)
def test_names_are_needed_for_open_matches_only(home: Json, changes: Json, *, is_unnamed: bool) -> None:
    """The catalogue is not requested for markets that are not shown."""
    assert is_unnamed is _market(home, {"name": "Fir"}, **changes).is_unnamed_by(None)


def test_missing_name_is_needed_even_if_others_are_known() -> None:
    """A runner that replaces another one needs a name, even if the other names are known."""
    book = _market({}, {})

    some = MarketNames({HOME: "Home"}, None)
    every = MarketNames({HOME: "Home", AWAY: "Away", DRAW: "The Draw"}, None)
    assert [True, False] == [book.is_unnamed_by(some), book.is_unnamed_by(every)]
