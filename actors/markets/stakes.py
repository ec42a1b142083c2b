"""Stakes in whole steps of cents on each outcome of a surebet, which lose in no outcome. Pure, exact.

Over any number of outcomes. web/static/board/stakes.js has the same arithmetic for the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from msgspec import Struct

MAX_TOTALS = 100
"""Sums that are tried in steps of more than a cent, the largest first."""


class NoStakes(StrEnum):
    """Why a total cannot be divided."""

    ROUNDING = "rounding"  # whatever the division in whole steps, an outcome may lose
    LIMIT = "limit"  # a stake is larger than what its price is known to be good for


class StakedLeg(Struct, frozen=True, gc=False):
    """An outcome: its price, and the market that it is on, which takes `commission` of what is won net.

    `fee_rate` is that of `Match`, before which the price is; `max_stake` is in whole units of the currency.
    """

    market: str
    odds: float
    commission: float = 0.0
    fee_rate: float = 0.0
    max_stake: float | None = None


Legs: TypeAlias = tuple[StakedLeg, ...]
"""A leg for each outcome, in their order."""


class Stakes(Struct, frozen=True):
    """The stake on each outcome, and what is returned at least, whatever wins; in cents."""

    amounts: tuple[int, ...]
    returned: int

    @property
    def gain(self) -> int:
        """The least gain."""
        return self.returned - sum(self.amounts)


@lru_cache(maxsize=1024)
def stakes(legs: Legs, total: int, step: int = 1) -> Stakes | NoStakes:
    """Return how a total, in cents, is divided in whole steps of so many cents; or why it cannot be.

    In steps of a cent the total is staked and the smallest return is as large as it can be. In larger steps
    up to the total is staked: of the hundred largest sums the one that gains most.
    """
    terms = [_Terms.of_leg(leg, legs) for leg in legs]
    most = total // step
    counts = range(most, max(most - MAX_TOTALS, 0), -1) if step > 1 else (total,)
    best: Stakes | None = None
    for count in counts:
        best = _divided(terms, count, step, 0 if best is None else best.gain + 1) or best
    if best is None:
        return NoStakes.ROUNDING
    for amount, leg in zip(best.amounts, legs, strict=True):
        if leg.max_stake is not None and amount > 100 * leg.max_stake:
            return NoStakes.LIMIT
    return best


class _Terms(Struct, frozen=True):
    """Price p / q after the fee, commission t / u; net / of is the return of a stake of 1 that is alone.

    Several legs on one market are `together`; if it takes a commission, they `share` it.
    """

    p: int
    q: int
    t: int
    u: int
    net: int
    of: int
    is_together: bool
    is_sharing: bool

    @classmethod
    def of_leg(cls, leg: StakedLeg, legs: Legs) -> _Terms:
        """Return the terms of a leg; with several such markets no leg counts as one that shares."""
        price, taken, fee = (Fraction(str(value)) for value in (leg.odds, leg.commission, leg.fee_rate))
        paid = price / (1 + fee * (1 - 1 / price))
        (p, q), (t, u) = paid.as_integer_ratio(), taken.as_integer_ratio()
        together = [other.market for other in legs if other.commission]
        sharing = {market for market in together if together.count(market) > 1}
        is_together = sum(other.market == leg.market for other in legs) > 1
        is_sharing = sharing == {leg.market}
        return cls(p, q, t, u, q * u + (p - q) * (u - t), q * u, is_together, is_sharing)


def _divided(terms: Sequence[_Terms], count: int, step: int, gain: int) -> Stakes | None:
    """Divide so many steps, all of them; None if no division gains so much whatever wins."""
    goal, more = count * step + gain, 1
    amounts = _least(terms, count, step, goal) if count else None
    if amounts is None:
        return None
    while (found := _least(terms, count, step, goal + more)) is not None:
        goal, amounts, more = goal + more, found, 2 * more
    while more := more // 2:
        if (found := _least(terms, count, step, goal + more)) is not None:
            goal, amounts = goal + more, found
    _spread(terms, amounts, count - sum(amounts))
    return Stakes(tuple(amount * step for amount in amounts), goal)


def _least(terms: Sequence[_Terms], count: int, step: int, goal: int) -> list[int] | None:
    """Return the smallest stakes in steps that return `goal` cents each; None if these are over `count`.

    What the other legs do not need is staked on the market that legs share: the larger its sum, the less
    each of them needs.
    """
    amounts = [0 if it.is_sharing else -(-goal * it.of // (it.net * step)) for it in terms]
    staked = (count - sum(amounts)) * step
    for place, it in enumerate(terms):
        if it.is_sharing:
            needed = (goal * it.u - it.t * staked) * it.q
            amounts[place] = max(-(-needed // (it.p * (it.u - it.t) * step)), 0)
    return amounts if sum(amounts) <= count else None


def _spread(terms: Sequence[_Terms], amounts: list[int], left: int) -> None:
    """Add the steps that are left, one by one, to what returns least; to legs on one market, if any are."""
    places = [place for place, it in enumerate(terms) if it.is_together] or range(len(terms))
    for _ in range(left):
        lowest = min(places, key=lambda place: Fraction(amounts[place] * terms[place].net, terms[place].of))
        amounts[lowest] += 1
