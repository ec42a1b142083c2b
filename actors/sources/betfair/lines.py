"""Reads the lines of markets other than the result from the runners of their definitions.

Pure. A definition of Asian handicaps (cut): every line has a runner of each team, with opposite handicaps;
a handicap of 0 is left out.

    {"marketType": "ASIAN_HANDICAP", "bettingType": "ASIAN_HANDICAP_DOUBLE_LINE", "eventId": "34",
     "runners": [{"id": 11, "hc": -4, "sortPriority": 1, "status": "ACTIVE"},
      {"id": 22, "hc": 4, "sortPriority": 2, "status": "ACTIVE"}, ...,
      {"id": 11, "sortPriority": 33, "status": "ACTIVE"}, ...]}

In other types the names of the runners in a catalogue ("Over 2.5 Goals", "Yes") identify the outcomes:
neither the order of the runners nor their ids are fixed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from msgspec import Struct

from actors.markets.market import FORMS, QUARTERS, Kind, market_of
from actors.markets.market import Market as Line
from actors.sources.betfair.market import (
    ACTIVE,
    AWAY_PRIORITY,
    HOME_PRIORITY,
    MATCH_ODDS,
    Key,
    MarketNames,
    Sides,
    key_of,
    name_of,
)
from actors.sources.betfair.wire import MarketDefinition, RunnerDefinition

Teams = tuple[RunnerDefinition, RunnerDefinition]  # home and away


class Pair(Struct, frozen=True):
    """A line, and the runners of its two outcomes, in order."""

    line: Line
    keys: tuple[Key, Key]


class Lines(Struct, frozen=True):
    """All lines of a market, and its teams, if it has any.

    `is_named` is false while names are missing that identify the outcomes.
    """

    pairs: tuple[Pair, ...]
    teams: Teams | None = None
    is_named: bool = True


class MarketType(Struct, frozen=True):
    """A type of market, named as by the exchange.

    `read` takes the definition, the sides of the match's result if known, and the market's names from a
    catalogue; it returns None for a definition of another form.
    """

    kind: Kind
    betting_type: str
    read: Callable[[MarketDefinition, Sides | None, MarketNames | None], Lines | None]


def _handicaps(
    definition: MarketDefinition, sides: Sides | None, names: MarketNames | None
) -> Lines | None:
    """Return the lines of an Asian handicap; the home team's handicap is the line."""
    del names
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


def _two(line: Line, *outcomes: str) -> MarketType:
    """Return a type of market with one line and two outcomes of these names."""

    def read(definition: MarketDefinition, sides: Sides | None, names: MarketNames | None) -> Lines | None:
        del sides
        active = [runner for runner in definition.runners or () if runner.status == ACTIVE]
        found = {name_of(runner, names): key_of(runner) for runner in active}
        if len(active) == len(outcomes) and "" in found:
            return Lines((), is_named=False)
        if (
            len(active) != len(outcomes)
            or found.keys() != {*outcomes}
            or any(hc for _, hc in found.values())
        ):
            return None
        if any(KNOWN.get(selection, name) != name for name, (selection, _) in found.items()):
            return None
        return Lines((Pair(line, (found[outcomes[0]], found[outcomes[1]])),))

    return MarketType(line.kind, "ODDS", read)


def _total(goals: float) -> MarketType:
    return _two(market_of(Kind.OVER_UNDER, goals), f"Over {goals:g} Goals", f"Under {goals:g} Goals")


KNOWN: Final[Mapping[int, str]] = {
    1221385: "Under 1.5 Goals",
    1221386: "Over 1.5 Goals",
    47972: "Under 2.5 Goals",
    47973: "Over 2.5 Goals",
    1222344: "Under 3.5 Goals",
    1222345: "Over 3.5 Goals",
    1222347: "Under 4.5 Goals",
    1222346: "Over 4.5 Goals",
    1485567: "Under 5.5 Goals",
    1485568: "Over 5.5 Goals",
    30246: "Yes",
    30247: "No",
    110503: "No",
}
"""The documented selection ids; a runner with such an id and another name is not believed."""

MARKET_TYPES: Final[Mapping[str, MarketType]] = {
    **{f"OVER_UNDER_{goals}5": _total(goals + 0.5) for goals in range(9)},
    "ASIAN_HANDICAP": MarketType(Kind.ASIAN_HANDICAP, "ASIAN_HANDICAP_DOUBLE_LINE", _handicaps),
    "BOTH_TEAMS_TO_SCORE": _two(market_of(Kind.BTTS), "Yes", "No"),
}
"""The types of market other than the result; add a row for a new type."""


def types_of(kinds: Iterable[Kind]) -> list[str]:
    """Return the types of market to ask for, the result first."""
    asked = {*kinds}
    return [MATCH_ODDS, *(name for name, row in MARKET_TYPES.items() if row.kind in asked)]


def _teams(definition: MarketDefinition, sides: Sides | None) -> Teams | None:
    """Return the first runner of home and of away; None if they differ from the 1X2 market's `sides`."""
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
    """Return a handicap in quarters of a goal; None if it is not one of our lines."""
    least, most = FORMS[Kind.ASIAN_HANDICAP].lines or (0, 0)
    quarters = handicap * QUARTERS
    return int(quarters) if least <= quarters <= most and quarters == int(quarters) else None


def _pair(line: int, home: int, away: int) -> Pair:
    goals = line / QUARTERS
    return Pair(Line(Kind.ASIAN_HANDICAP, line), ((home, goals), (away, -goals or 0.0)))
