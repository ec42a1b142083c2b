"""Stakes on each outcome of a surebet, in whole steps of cents, that never lose. Pure, exact.

web/static/board/stakes.js has the same arithmetic for markets of any size where one outcome is won and the
other outcomes are lost. Where bets may be half won, or several outcomes are won together, every result of
the market is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache, partial
from itertools import product
from math import lcm
from operator import le
from typing import TypeAlias

from msgspec import Struct

from actors.markets.covers import needed
from actors.markets.market import ONE_X_TWO, Market
from actors.markets.returns import Result, gaining_results

MAX_TOTALS = 100
"""The most sums tried in steps of more than a cent, the largest first."""
_NEAR = 3
"""Whole stakes are searched within this number of steps of the best stakes in fractions of cents."""


class NoStakes(StrEnum):
    """Why a total cannot be divided."""

    ROUNDING = "rounding"  # in any division into whole steps an outcome may lose
    LIMIT = "limit"  # a stake exceeds the stake for which its price is known to hold


class StakedLeg(Struct, frozen=True, gc=False):
    """The bet on an outcome, at a bookmaker that takes `commission` of the market's net win.

    `fee_rate` is the fee of `Match`; the odds are before it. `max_stake` is in whole units of the currency.
    """

    bookmaker: str
    odds: float
    commission: float = 0.0
    fee_rate: float = 0.0
    max_stake: float | None = None

    @property
    def paid(self) -> float:
        """The price after the fee."""
        return float(self.exactly_paid)

    @property
    def exactly_paid(self) -> Fraction:
        """The price after the fee as a fraction, from numbers as they are written: 2.1 is 21/10."""
        price, fee = Fraction(str(self.odds)), Fraction(str(self.fee_rate))
        return price / (1 + fee * (1 - 1 / price))


Legs: TypeAlias = tuple[StakedLeg, ...]
"""A leg for each outcome, in their order."""


class Stakes(Struct, frozen=True):
    """The stake on each outcome and the least return, in cents.

    A result that returns all stakes does not count for the least return.
    """

    amounts: tuple[int, ...]
    returned: int

    @property
    def gain(self) -> int:
        """The least gain."""
        return self.returned - sum(self.amounts)


@lru_cache(maxsize=1024)
def stakes(legs: Legs, total: int, step: int = 1, market: Market = ONE_X_TWO) -> Stakes | NoStakes:
    """Return the division of a total (cents) into whole steps of `step` cents, or why it is impossible.

    In steps of one cent the whole total is staked, so that the smallest return of any result is as large as
    possible. In larger steps a part may stay unstaked: of the hundred largest sums that fit into the total,
    the one with the highest gain is staked.
    """
    division, most = _division(market, legs), total // step
    counts = range(most, max(most - MAX_TOTALS, 0), -1) if step > 1 else (total,)
    best: Stakes | None = None
    for count in counts:
        best = _divided(division, count, step, 0 if best is None else best.gain + 1) or best
    if best is None:
        return NoStakes.ROUNDING
    for amount, leg in zip(best.amounts, legs, strict=True):
        if leg.max_stake is not None and amount > 100 * leg.max_stake:
            return NoStakes.LIMIT
    return best


class _Terms(Struct, frozen=True):
    """The terms of a leg as whole numbers.

    p / q is the price after the fee, t / u the commission; net / whole is the return of a stake of 1 as the
    only bet at its bookmaker. `is_together`: several legs are on this market; `is_sharing`: the market
    takes a commission, which they share.
    """

    p: int
    q: int
    t: int
    u: int
    net: int
    whole: int
    is_together: bool
    is_sharing: bool

    @classmethod
    def of_leg(cls, leg: StakedLeg, legs: Legs) -> _Terms:
        """Return the terms of a leg; with several shared markets no leg counts as sharing."""
        taken = Fraction(str(leg.commission))
        (p, q), (t, u) = leg.exactly_paid.as_integer_ratio(), taken.as_integer_ratio()
        together = [other.bookmaker for other in legs if other.commission]
        sharing = {bookmaker for bookmaker in together if together.count(bookmaker) > 1}
        is_together = sum(other.bookmaker == leg.bookmaker for other in legs) > 1
        is_sharing = sharing == {leg.bookmaker}
        return cls(p, q, t, u, q * u + (p - q) * (u - t), q * u, is_together, is_sharing)


class _Division(Struct, frozen=True):
    """The two functions that divide stakes on the outcomes of a market.

    `least` takes a count of steps, their size and a goal (both in cents). It returns the smallest stakes,
    in steps, that return the goal after every result, None if they exceed the count. `spread` adds so many
    steps.
    """

    least: Callable[[int, int, int], list[int] | None]
    spread: Callable[[list[int], int], None]


def _division(market: Market, legs: Legs) -> _Division:
    terms = [_Terms.of_leg(leg, legs) for leg in legs]
    spread = partial(_spread, terms)
    if market.quarters is not None:
        return _Division(partial(_least_of_line, _conditions(market, legs)), spread)
    if market.winners > 1:
        return _Division(partial(_least_nearby, _conditions(market, legs), needed(market, legs)), spread)
    return _Division(partial(_least, terms), spread)


def _divided(division: _Division, count: int, step: int, gain: int) -> Stakes | None:
    """Divide all of `count` steps; None if no division gains at least `gain` after every result."""
    goal, more = count * step + gain, 1
    amounts = division.least(count, step, goal) if count else None
    if amounts is None:
        return None
    while (found := division.least(count, step, goal + more)) is not None:
        goal, amounts, more = goal + more, found, 2 * more
    while more := more // 2:
        if (found := division.least(count, step, goal + more)) is not None:
            goal, amounts = goal + more, found
    division.spread(amounts, count - sum(amounts))
    return Stakes(tuple(amount * step for amount in amounts), goal)


def _least(terms: Sequence[_Terms], count: int, step: int, goal: int) -> list[int] | None:
    """Return the smallest stakes in steps that return `goal` cents each; None if they exceed `count`.

    Money that the other legs do not need goes on the market that legs share: the larger the sum on it, the
    less each of its legs needs.
    """
    amounts = [0 if leg.is_sharing else -(-goal * leg.whole // (leg.net * step)) for leg in terms]
    staked = (count - sum(amounts)) * step
    for place, leg in enumerate(terms):
        if leg.is_sharing:
            needed = (goal * leg.u - leg.t * staked) * leg.q
            amounts[place] = max(-(-needed // (leg.p * (leg.u - leg.t) * step)), 0)
    return amounts if sum(amounts) <= count else None


Condition: TypeAlias = tuple[tuple[int, ...], int]
"""The returns of stakes of 1 on the outcomes after a result, multiplied by the second number."""


def _conditions(market: Market, legs: Legs) -> list[Condition]:
    """Return the conditions under which every result returns a goal.

    A bookmaker pays the smaller of two sums: the gross return of its bets, and that return less commission
    on their net winnings (which may be negative). Both sums are linear in the stakes, so each gives a
    condition. A condition that another condition implies is left out, and so is the result that returns all
    stakes: it never loses.
    """
    names, rows = [leg.bookmaker for leg in legs], dict[tuple[Fraction, ...], None]()
    for together in gaining_results(market):
        of_legs = [_returns(leg, result) for leg, result in zip(legs, together, strict=True)]
        for some in product(*of_legs):
            charged = {(name, is_charged) for name, (_, is_charged) in zip(names, some, strict=True)}
            if len(charged) == len({*names}):
                rows[tuple([value for value, _ in some])] = None
    needed_rows = [
        row for row in rows if not any(other != row and all(map(le, other, row)) for other in rows)
    ]
    scales = [lcm(*[value.denominator for value in row]) for row in needed_rows]
    return [
        (tuple([int(value * scale) for value in row]), scale)
        for row, scale in zip(needed_rows, scales, strict=True)
    ]


def _returns(leg: StakedLeg, result: Result) -> list[tuple[Fraction, bool]]:
    """Return the return of a stake of 1 after a result, without commission and with it."""
    half = Fraction(int(result), 2)
    gross = 1 + (leg.exactly_paid - 1) * half if half > 0 else 1 + half
    taken = Fraction(str(leg.commission))
    return [(gross, False), (gross - taken * (gross - 1), True)] if taken else [(gross, False)]


def _least_of_line(conditions: Sequence[Condition], count: int, step: int, goal: int) -> list[int] | None:
    """Return stakes on two outcomes that use all steps: each condition limits the first stake."""
    least, most = 0, count
    for (first, second), scale in conditions:
        left, slope = goal * scale - second * count * step, (first - second) * step
        if slope > 0:
            least = max(least, -(-left // slope))
        elif slope < 0:
            most = min(most, left // slope)
        elif left > 0:
            return None
    return [least, count - least] if least <= most else None


def _least_nearby(
    conditions: Sequence[Condition], shares: Sequence[float], count: int, step: int, goal: int
) -> list[int] | None:
    """Return the smallest whole stakes near the exact solution in fractions of cents."""
    exact = [share * goal / step for share in shares]
    if sum(exact) > count * (1 + 1e-9):
        return None  # whole stakes cannot need less than fractions
    ranges = [range(max(int(stake) - _NEAR, 0), int(stake) + _NEAR + 2) for stake in exact[:-1]]
    found = [
        (sum(stakes), stakes)
        for some in product(*ranges)
        if (stakes := _completed(conditions, some, step, goal))
    ]
    least, stakes = min(found, default=(count + 1, []))
    return stakes if least <= count else None


def _completed(
    conditions: Sequence[Condition], some: Sequence[int], step: int, goal: int
) -> list[int] | None:
    """Return stakes with the smallest last stake that returns the goal, None if none does."""
    last = 0
    for (*others, of_last), scale in conditions:
        left = goal * scale - step * sum(
            [stake * returns for stake, returns in zip(some, others, strict=True)]
        )
        if left > 0 and not of_last:
            return None
        if left > 0:
            last = max(last, -(-left // (of_last * step)))
    return [*some, last]


def _spread(terms: Sequence[_Terms], amounts: list[int], left: int) -> None:
    """Add the remaining steps, one by one, to the lowest return; only to shared legs, if any."""
    places = [place for place, leg in enumerate(terms) if leg.is_together] or range(len(terms))
    for _ in range(left):
        lowest = min(
            places, key=lambda place: Fraction(amounts[place] * terms[place].net, terms[place].whole)
        )
        amounts[lowest] += 1
