"""The prices of a market, in the order of its outcomes, however many these are. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

Odds: TypeAlias = tuple[float, ...]
"""The decimal prices of one market, in the order of its outcomes."""


def book_sum(prices: Iterable[float]) -> float:
    """Return the sum of 1 / price: above 1 by the bookmaker's margin, below 1 if all of them gain."""
    return sum([1 / price for price in prices])


def scaled(shares: Sequence[float]) -> tuple[float, ...]:
    """Return the shares divided by their sum, so that they add up to 1."""
    total = sum(shares)
    return tuple([share / total for share in shares])
