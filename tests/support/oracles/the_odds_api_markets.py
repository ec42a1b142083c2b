"""Totals and handicaps of recorded answers of The Odds API, read a second time, with `json` alone.

An independent reading: it shares nothing with the source, and reads only answers like the recorded
ones.
"""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple

LEAST_SUM, MOST_SUM, MOST_OF_EXCHANGE = Decimal("0.97"), Decimal("1.20"), Decimal("1.12")
QUARTER = Decimal("0.25")

Key = tuple[str, str]
"""The id of a match, and the market as it is spelled."""


class Reading(NamedTuple):
    """The other markets of a bookmaker that may be shown, and how many are refused, by reason."""

    shown: dict[Key, tuple[float, ...]]
    refused: Counter[str]


def reading(body: bytes, key: str) -> Reading:
    """Read the totals and handicaps of a bookmaker."""
    found = Reading({}, Counter())
    most = MOST_OF_EXCHANGE if key in {"matchbook", "smarkets"} or "betfair_ex" in key else MOST_SUM
    for match in _matches(body):
        names = {"totals": ("Over", "Under"), "spreads": (match["home_team"], match["away_team"])}
        for bookmaker in match["bookmakers"]:
            for market in bookmaker["markets"] if bookmaker["key"] == key else ():
                if market["key"] not in names:
                    continue
                sides = {outcome["name"]: outcome for outcome in market["outcomes"]}
                first, second = (sides[name] for name in names[market["key"]])
                kind, opposite = ("over_under", 1) if market["key"] == "totals" else ("asian_handicap", -1)
                if reason := _fault(first, second, opposite, most):
                    found.refused[reason] += 1
                else:
                    line = first["point"].normalize() + 0
                    found.shown[match["id"], f"{kind}:{line:f}"] = (
                        float(first["price"]),
                        float(second["price"]),
                    )
    return found


@lru_cache(maxsize=1)
def _matches(body: bytes) -> Any:
    return json.loads(body, parse_float=Decimal, parse_int=Decimal)


def _fault(first: Any, second: Any, opposite: int, most: Decimal) -> str:
    """Return why two sides do not make a line that may be shown."""
    prices = (first["price"], second["price"])
    if first["point"] != opposite * second["point"]:
        return "pair"  # no recording has such a pair
    if first["point"] % QUARTER:
        return "line"
    if min(prices) <= 1:
        return "price"
    return "" if LEAST_SUM <= sum(1 / price for price in prices) <= most else "book_sum"
