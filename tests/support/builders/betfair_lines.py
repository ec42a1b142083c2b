"""Hand-written Asian handicap markets of the exchange, for tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tests.support.builders.betfair import AWAY, HOME, Json, definition, market, runner

EVENT = "34000001"
LINES = (-0.75, -0.5, -0.25, 0.0, 0.25)
ODDS: Mapping[float, tuple[float, float]] = {-0.5: (2.1, 1.85), 0.0: (1.6, 2.6), 0.25: (1.45, 3.0)}
"""The offer of each line to home and away; 1X2 prices are no part of it."""


def handicap_definition(lines: Iterable[float] = LINES, **changes: Any) -> Json:
    """Return the definition of an open handicap market: a line of 0 is not written."""
    runners: list[Json] = []
    for line in lines:
        for team, handicap in ((HOME, line), (AWAY, -line)):
            runners.append(runner(team, len(runners) + 1, **hc_of(handicap)))
    return definition(
        **{
            "marketType": "ASIAN_HANDICAP",
            "bettingType": "ASIAN_HANDICAP_DOUBLE_LINE",
            "eventId": EVENT,
            "runners": runners,
            **changes,
        }
    )


def hc_of(handicap: float) -> Json:
    """Return a handicap as the exchange writes it."""
    return {"hc": handicap} if handicap else {}


def back(team: int, handicap: float, price: float, size: float = 10.0) -> Json:
    """Return a change of a runner's best price to back; a size of 0 removes it."""
    return {"id": team, **hc_of(handicap), "batb": [[0, price, size]]}


def lay(team: int, handicap: float, price: float, size: float = 10.0) -> Json:
    """Return a change of a runner's best price to lay."""
    return {"id": team, **hc_of(handicap), "batl": [[0, price, size]]}


def line_offers(odds: Mapping[float, tuple[float, float]] = ODDS) -> list[Json]:
    """Return the runner changes that offer these odds."""
    return [
        back(team, handicap, price)
        for line, (home, away) in odds.items()
        for team, handicap, price in ((HOME, line, home), (AWAY, -line, away))
    ]


def handicaps(
    market_id: str = "1.9", odds: Mapping[float, tuple[float, float]] = ODDS, **changes: Any
) -> Json:
    """Return the image of a handicap market; the changes apply to its definition."""
    return {
        "id": market_id,
        "img": True,
        "marketDefinition": handicap_definition(**changes),
        "rc": line_offers(odds),
    }


def result(market_id: str = "1.1", **changes: Any) -> Json:
    """Return the image of the market of the result for the same match."""
    return market(market_id, **{"eventId": EVENT, **changes})


def total(market_id: str = "1.7") -> Json:
    """Return the image of a market of 2.5 goals, whose definition names its outcomes."""
    runners = [runner(4, 1, name="Under 2.5 Goals"), runner(5, 2, name="Over 2.5 Goals")]
    defined = definition(marketType="OVER_UNDER_25", eventId=EVENT, runners=runners)
    offers = [{"id": 5, "batb": [[0, 1.9, 9]]}, {"id": 4, "batb": [[0, 2.0, 9]]}]
    return {"id": market_id, "img": True, "marketDefinition": defined, "rc": offers}
