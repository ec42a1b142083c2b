"""The lines of a market of The Odds API: totals of goals, and handicaps of either team. Pure.

A real market of handicaps (cut), and a market of totals:

    {"key": "spreads", "outcomes": [{"name": "Away United", "price": 1.95, "point": 0.25},
                                    {"name": "Home Town", "price": 1.89, "point": -0.25}]}
    {"key": "totals", "outcomes": [{"name": "Over", "price": 1.9, "point": 2.5},
                                   {"name": "Under", "price": 1.94, "point": 2.5}]}

The point of a handicap is the number of goals added to the named team: for the home team it is our line,
for the away team the opposite line. Outcomes come in any order, and a list may have several lines. An
outcome with a `description` (a team, a player) belongs to another bet. Format: the API's documentation of
v4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from actors.core.validation import Reason
from actors.markets.market import Kind, Market, market_of
from actors.markets.odds import Odds
from actors.sources.the_odds_api.wire import OddMarket, OddsMarket

KINDS: Final[Mapping[str, Kind]] = {
    "h2h": Kind.ONE_X_TWO,
    "totals": Kind.OVER_UNDER,
    "spreads": Kind.ASIAN_HANDICAP,
}
"""The keys of the markets to read, in the order of requests."""
_OVER_UNDER: Final = ("Over", "Under")


class Line(Struct, frozen=True):
    """A line with its odds in the order of the outcomes, or the reason of its rejection.

    The market is None if the line is unknown.
    """

    market: Market | None
    odds: Odds = ()
    reason: Reason | None = None


def lines_of(listed: OddsMarket, kind: Kind, home: str, away: str) -> Iterator[Line]:
    """Yield the lines of a market; only a reason if one of its outcomes belongs to another bet."""
    names = _OVER_UNDER if kind is Kind.OVER_UNDER else (home, away)
    if isinstance(listed, OddMarket):
        yield Line(None, reason=Reason.TYPE)
        return
    if not listed.outcomes or any(each.name not in names or each.description for each in listed.outcomes):
        yield Line(None, reason=Reason.OUTCOME)
        return
    prices: dict[float | None, tuple[list[float], list[float]]] = {}
    for outcome in listed.outcomes:
        side = names.index(outcome.name)
        line = outcome.point if isinstance(outcome.point, float) else None
        if line is not None and names[side] == away and kind is Kind.ASIAN_HANDICAP:
            line = -line
        prices.setdefault(line, ([], []))[side].append(outcome.price)
    for line, sides in prices.items():
        yield _line(kind, line, sides)


def _line(kind: Kind, line: float | None, sides: tuple[list[float], list[float]]) -> Line:
    try:
        market = market_of(kind, line)
    except ValueError:
        return Line(None, reason=Reason.LINE)
    first, second = sides
    if not first or not second:
        return Line(market, reason=Reason.INCOMPLETE)
    if len(first) > 1 or len(second) > 1:
        return Line(market, reason=Reason.DUPLICATE)
    return Line(market, (first[0], second[0]))
