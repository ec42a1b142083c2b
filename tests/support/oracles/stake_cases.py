"""A table of 1,000 surebets to divide, the same each time, and every way to divide a small total."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from random import Random

from msgspec import Struct

from actors.markets.stakes import Legs, StakedLeg

CASES = 1_000


class StakeCase(Struct, frozen=True):
    """The legs of a case, and a total in cents."""

    legs: Legs
    total: int


def stake_cases(outcomes: int = 3, seed: int = 58) -> Iterator[StakeCase]:
    """Yield the cases: from losses of 2 % to gains of 8 %, and totals from 1 to 1,000,000.

    A third has two legs on one market; commissions and fees are as bookmakers take them.
    """
    random = Random(f"{seed}/{outcomes}")
    for _ in range(CASES):
        weights = [random.uniform(1, 5) for _ in range(outcomes)]
        gain = random.choice((-0.02, 0.0001, 0.002, 0.01, 0.03, 0.08))
        markets = [f"market{at}" for at in range(outcomes)]
        if random.random() < 1 / 3:
            markets[random.randrange(1, outcomes)] = markets[0]
        taken = {market: random.choice((0.0, 0.0, 0.02, 0.05)) for market in markets}
        fees = {market: random.choice((0.0, 0.0, 0.0, 0.03)) for market in markets}
        legs = []
        for market, weight in zip(markets, weights, strict=True):
            net = sum(weights) / weight * (1 + gain)
            odds = 1 + (net - 1) / (1 - taken[market])
            legs.append(StakedLeg(market, round(odds, random.choice((2, 3))), taken[market], fees[market]))
        yield StakeCase(tuple(legs), round(100 * 10 ** random.uniform(0, 6)))


def paid(legs: Legs, amounts: tuple[int, ...]) -> list[Fraction]:
    """Return what is paid out for each outcome, with numbers as they are written."""
    found = []
    for leg, amount in zip(legs, amounts, strict=True):
        cost, commission = terms(leg)
        gross = amount / cost
        staked = sum(
            other for on, other in zip(legs, amounts, strict=True) if on.bookmaker == leg.bookmaker
        )
        found.append(gross - commission * max(gross - staked, Fraction(0)) if commission else gross)
    return found


@lru_cache(maxsize=64)
def terms(leg: StakedLeg) -> tuple[Fraction, Fraction]:
    """Return the cost of a payment of 1 with its fee, and the commission on the gain."""
    share = 1 / Fraction(str(leg.odds))
    return share + Fraction(str(leg.fee_rate)) * share * (1 - share), Fraction(str(leg.commission))


def ways(outcomes: int, steps: int) -> Iterator[tuple[int, ...]]:
    """Yield every way to divide `steps` steps."""
    if outcomes == 1:
        yield (steps,)
        return
    for first in range(steps + 1):
        for others in ways(outcomes - 1, steps - first):
            yield (first, *others)
