"""The markets of a match beside its result: from the runners of a definition to the lines of a market.

Pure. A definition of Asian handicaps (cut): every line has a runner of each team, whose handicaps are
opposite, and 0 is not said.

    {"marketType": "ASIAN_HANDICAP", "bettingType": "ASIAN_HANDICAP_DOUBLE_LINE", "eventId": "34",
     "runners": [{"id": 11, "hc": -4, "sortPriority": 1, "status": "ACTIVE"},
      {"id": 22, "hc": 4, "sortPriority": 2, "status": "ACTIVE"}, ...,
      {"id": 11, "sortPriority": 33, "status": "ACTIVE"}, ...]}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from msgspec import Struct

from actors.markets.market import FORMS, QUARTERS, Kind
from actors.markets.market import Market as Line
from actors.sources.betfair.market import (
    ACTIVE,
    AWAY_PRIORITY,
    HOME_PRIORITY,
    MATCH_ODDS,
    Key,
    Sides,
    key_of,
)
from actors.sources.betfair.wire import MarketDefinition, RunnerDefinition

Teams = tuple[RunnerDefinition, RunnerDefinition]  # home and away


class Pair(Struct, frozen=True):
    """A line, and the runners of its two outcomes in their order."""

    line: Line
    keys: tuple[Key, Key]


class Lines(Struct, frozen=True):
    """All lines of a market, and the teams that it names."""

    pairs: tuple[Pair, ...]
    teams: Teams


class MarketType(Struct, frozen=True):
    """A type of market as the exchange names it; `read` returns None for a definition of another form.

    `read` takes the definition, and the sides of the match's result where these are known.
    """

    kind: Kind
    betting_type: str
    read: Callable[[MarketDefinition, Sides | None], Lines | None]


def _handicaps(definition: MarketDefinition, sides: Sides | None) -> Lines | None:
    """Return the lines of an Asian handicap; the home team's handicap is the line."""
    teams = _teams(definition, sides)
    if teams is None:
        return None
    home, away = (int(team.id) for team in teams)
    lines: dict[int, set[int]] = {home: set(), away: set()}
    for runner in definition.runners or ():
        team, handicap = key_of(runner)
        quarters = _quarters(handicap)
        if team not in lines or quarters is None:
            return None
        if runner.status == ACTIVE:
            lines[team].add(quarters if team == home else -quarters)
    both = sorted(lines[home] & lines[away])
    return Lines(tuple(_pair(line, home, away) for line in both), teams)


MARKET_TYPES: Final[Mapping[str, MarketType]] = {
    "ASIAN_HANDICAP": MarketType(Kind.ASIAN_HANDICAP, "ASIAN_HANDICAP_DOUBLE_LINE", _handicaps),
}
"""The types of market that are read beside the result: a new one is a row here."""


def types_of(kinds: Iterable[Kind]) -> list[str]:
    """Return the types of market to ask for, that of the result first."""
    asked = {*kinds}
    return [MATCH_ODDS, *(name for name, row in MARKET_TYPES.items() if row.kind in asked)]


def _teams(definition: MarketDefinition, sides: Sides | None) -> Teams | None:
    """Return the teams by their first runners; None if the result has others, or has them the other way."""
    first: dict[int | float | None, RunnerDefinition] = {}
    for runner in definition.runners or ():
        if runner.sortPriority in {HOME_PRIORITY, AWAY_PRIORITY}:
            if runner.sortPriority in first:
                return None
            first[runner.sortPriority] = runner
    home, away = first.get(HOME_PRIORITY), first.get(AWAY_PRIORITY)
    if home is None or away is None or int(home.id) == int(away.id):
        return None
    if sides is not None and (int(sides[0].id), int(sides[2].id)) != (int(home.id), int(away.id)):
        return None
    return home, away


def _quarters(handicap: float) -> int | None:
    """Return a handicap in quarters of a goal; None if it is no line of ours."""
    least, most = FORMS[Kind.ASIAN_HANDICAP].lines or (0, 0)
    quarters = handicap * QUARTERS
    return int(quarters) if least <= quarters <= most and quarters == int(quarters) else None


def _pair(line: int, home: int, away: int) -> Pair:
    goals = line / QUARTERS
    return Pair(Line(Kind.ASIAN_HANDICAP, line), ((home, goals), (away, -goals or 0.0)))
