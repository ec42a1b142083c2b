"""The oracle of prices that disagree with all others, by the definitions in docs/fixtures.md as written."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from statistics import median

from actors.core.messages import BookmakerId
from actors.markets.odds import Odds
from actors.matches.fair import Method, fair

Prices = Mapping[BookmakerId, Odds]


def median_of(prices: Collection[Odds], method: Method) -> list[float]:
    """Return the median of the fair chances of some prices, scaled to the sum 1."""
    home, draw, away = (median(of) for of in zip(*[fair(method, some) for some in prices], strict=True))
    return [chance / (home + draw + away) for chance in (home, draw, away)]


def overpriced_of(
    prices: Prices, counted: Collection[BookmakerId], method: Method, ratio: float, fewest: int
) -> set[BookmakerId]:
    """Return the bookmakers with a price above `ratio` times the fair price of at least `fewest` others."""
    found = set()
    for name, own in prices.items():
        others = [prices[other] for other in counted if other != name]
        if len(others) >= fewest:
            fair_prices = [1 / chance for chance in median_of(others, method)]
            if any(price / fair_price > ratio for price, fair_price in zip(own, fair_prices, strict=True)):
                found.add(name)
    return found


def crossed_of(prices: Prices, counted: Collection[BookmakerId], method: Method) -> set[BookmakerId]:
    """Return the bookmakers within 0.06 of the others with home and away exchanged, and 0.02 nearer."""
    found = set()
    for name, own in prices.items():
        if others := [prices[other] for other in counted if other != name]:
            home, draw, away = median_of(others, method)
            ours = fair(method, own)
            as_they_are = max(abs(x - y) for x, y in zip(ours, (home, draw, away), strict=True))
            exchanged = max(abs(x - y) for x, y in zip(ours, (away, draw, home), strict=True))
            if exchanged <= 0.06 and as_they_are - exchanged > 0.02:
                found.add(name)
    return found
