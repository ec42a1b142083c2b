"""Lines on offer at Polymarket by the rules of its page, read from its answers and nothing else.

An independent reading: it shares nothing with the source.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from decimal import ROUND_FLOOR, Decimal
from typing import Any, NamedTuple

OURS = {"totals": "over_under", "spreads": "asian_handicap", "both_teams_to_score": "btts"}
PRICES = (Decimal("0.005"), Decimal("0.995"))
BOOK_SUM = (Decimal("0.97"), Decimal("1.12"))


class Side(NamedTuple):
    """A market in our form: its text, and the tokens of its outcomes in our order."""

    market: str
    tokens: tuple[str, str]


def sides(markets: Iterable[Mapping[str, Any]], home: str) -> list[Side]:
    """Return an event's markets in our form, by their slugs and the name of the home team alone."""
    found = []
    for market in markets:
        kind = OURS.get(market["sportsMarketType"])
        slug = market["slug"]
        first, second = json.loads(market["clobTokenIds"])
        goals = re.search(r"-(\d+)pt(\d+)$", slug)
        text = "" if goals is None else f"{goals[1]}.{goals[2]}"
        if kind == "asian_handicap":
            is_home = json.loads(market["outcomes"])[0] == home
            tokens = (first, second) if is_home else (second, first)
            found.append(Side(f"{kind}:{'-' if is_home else ''}{text}", tokens))
        elif kind is not None:
            found.append(Side(f"{kind}:{text}" if text else kind, (first, second)))
    return found


def verdict(side: Side, asks: Mapping[str, Decimal | None]) -> tuple[tuple[float, ...] | None, str | None]:
    """Return the odds of a market at these asks, and why it may not be shown; None if it may be shown."""
    prices = [asks.get(token) for token in side.tokens]
    known = [price for price in prices if price is not None]
    if len(known) < len(prices):
        return None, "incomplete"
    if not all(PRICES[0] < price < PRICES[1] for price in known):
        return None, "price"
    odds = [(1 / price).quantize(Decimal("0.0001"), ROUND_FLOOR) for price in known]
    is_one_offer = BOOK_SUM[0] <= sum(1 / each for each in odds) <= BOOK_SUM[1]
    return tuple(map(float, odds)), None if is_one_offer else "book_sum"
