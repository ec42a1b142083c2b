"""The prices of a market, in the order of its outcomes, for any number of outcomes. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from actors.markets.market import ONE_X_TWO, Market

Odds: TypeAlias = tuple[float, ...]
"""The decimal prices of one market, in the order of its outcomes."""


def book_sum(prices: Iterable[float]) -> float:
    """Return the sum of 1 / price: above 1 by the bookmaker's margin, below 1 in a surebet."""
    return sum([1 / price for price in prices])


def after_fee(price: float, fee_rate: float) -> float:
    """Return a price after the fee: for p = 1 / price and fee_rate x p x (1 - p) a share pays 1."""
    return price / (1 + fee_rate * (1 - 1 / price)) if fee_rate else price


def scaled(shares: Sequence[float]) -> tuple[float, ...]:
    """Return the shares divided by their sum, so that they add up to 1."""
    total = sum(shares)
    return tuple([share / total for share in shares])


def of_one_winner(market: Market, prices: Odds) -> Odds:
    """Return prices as if one outcome was won: for double chance, twice its prices.

    Two outcomes of double chance are won together. Stakes of 1 / (2 o) return 1/2 each, together 1 whatever
    happens, as do stakes of 1 / p at the prices p = 2 o where one outcome is won. So book sums, fair odds
    and surebets of such prices are computed as for any other market; fair chances add up to 1.
    """
    if market is ONE_X_TWO or (winners := market.winners) == 1:
        return prices
    return tuple([winners * price for price in prices])


def of_all_winners(market: Market, chances: Odds) -> Odds:
    """Return the chances of the outcomes to be won, from chances that add up to 1.

    The chances of double chance add up to 2, and none may exceed 1: the other chances get an excess,
    in proportion.
    """
    winners = market.winners
    if winners == 1:
        return chances
    every = [winners * chance for chance in chances]
    if (highest := max(every)) > 1:
        rest = (winners - 1) / (winners - highest)
        every = [1.0 if chance == highest else chance * rest for chance in every]
    return tuple(every)
