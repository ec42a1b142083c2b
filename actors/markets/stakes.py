"""Stakes in whole steps of cents on each outcome of a surebet, which never lose. Pure, exact.

Where one outcome is won and the others are lost, over any number of them: web/static/board/stakes.js has
the same arithmetic for the page. Where bets may be half won, or several outcomes are won together, every
result of the market is looked at.
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
"""Sums that are tried in steps of more than a cent, the largest first."""
_NEAR = 3
"""So many steps around the stakes that gain most, if cents were divided, the whole ones are looked for."""


class NoStakes(StrEnum):
    """Why a total cannot be divided."""

    ROUNDING = "rounding"  # whatever the division in whole steps, an outcome may lose
    LIMIT = "limit"  # a stake is larger than what its price is known to be good for


class StakedLeg(Struct, frozen=True, gc=False):
    """An outcome: its price, and the bookmaker whose market takes `commission` of what is won net.

    `fee_rate` is that of `Match`, before which the price is; `max_stake` is in whole units of the currency.
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
        """The same, with numbers as they are written: 2.1 is 21/10."""
        price, fee = Fraction(str(self.odds)), Fraction(str(self.fee_rate))
        return price / (1 + fee * (1 - 1 / price))


Legs: TypeAlias = tuple[StakedLeg, ...]
"""A leg for each outcome, in their order."""


class Stakes(Struct, frozen=True):
    """The stake on each outcome, and what is returned at least, whatever wins; in cents.

    Where all stakes may be returned, it is what every other result returns at least.
    """

    amounts: tuple[int, ...]
    returned: int

    @property
    def gain(self) -> int:
        """The least gain."""
        return self.returned - sum(self.amounts)


@lru_cache(maxsize=1024)
def stakes(legs: Legs, total: int, step: int = 1, market: Market = ONE_X_TWO) -> Stakes | NoStakes:
    """Return how a total, in cents, is divided in whole steps of so many cents; or why it cannot be.

    In steps of a cent the total is staked and the smallest return is as large as it can be. In larger steps
    up to the total is staked: of the hundred largest sums the one that gains most.
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
        taken = Fraction(str(leg.commission))
        (p, q), (t, u) = leg.exactly_paid.as_integer_ratio(), taken.as_integer_ratio()
        together = [other.bookmaker for other in legs if other.commission]
        sharing = {bookmaker for bookmaker in together if together.count(bookmaker) > 1}
        is_together = sum(other.bookmaker == leg.bookmaker for other in legs) > 1
        is_sharing = sharing == {leg.bookmaker}
        return cls(p, q, t, u, q * u + (p - q) * (u - t), q * u, is_together, is_sharing)


class _Division(Struct, frozen=True):
    """How stakes are divided on the outcomes of a market.

    `least` takes a count of steps, their size and a goal, in cents: it returns the smallest stakes, in
    steps, that return the goal whatever happens, None if these are more. `spread` adds so many steps.
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
    """Divide so many steps, all of them; None if no division gains so much whatever wins."""
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
    """Return the smallest stakes in steps that return `goal` cents each; None if these are over `count`.

    Money that the other legs do not need goes on the market that legs share: the larger its sum, the less
    each of them needs.
    """
    amounts = [0 if it.is_sharing else -(-goal * it.of // (it.net * step)) for it in terms]
    staked = (count - sum(amounts)) * step
    for place, it in enumerate(terms):
        if it.is_sharing:
            needed = (goal * it.u - it.t * staked) * it.q
            amounts[place] = max(-(-needed // (it.p * (it.u - it.t) * step)), 0)
    return amounts if sum(amounts) <= count else None


Condition: TypeAlias = tuple[tuple[int, ...], int]
"""The returns of stakes of 1 on the outcomes after a result, in whole parts, and the parts that 1 has."""


def _conditions(market: Market, legs: Legs) -> list[Condition]:
    """Return what has to return a goal so that every result does.

    A bookmaker pays the less of two sums: what its bets return gross, and that less commission on their net
    winnings, as if there were some. Both are in stakes times constants, so both have to do. A condition
    that another implies is left out, and so is the result that gives all stakes back: it never loses.
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
        (tuple([int(value * of) for value in row]), of) for row, of in zip(needed_rows, scales, strict=True)
    ]


def _returns(leg: StakedLeg, result: Result) -> list[tuple[Fraction, bool]]:
    """Return what a stake of 1 returns after a result, without commission and with it."""
    half = Fraction(int(result), 2)
    gross = 1 + (leg.exactly_paid - 1) * half if half > 0 else 1 + half
    taken = Fraction(str(leg.commission))
    return [(gross, False), (gross - taken * (gross - 1), True)] if taken else [(gross, False)]


def _least_of_line(conditions: Sequence[Condition], count: int, step: int, goal: int) -> list[int] | None:
    """Return stakes on two outcomes, all the steps: each condition leaves the first a range."""
    least, most = 0, count
    for (first, second), of in conditions:
        left, slope = goal * of - second * count * step, (first - second) * step
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
    """Return the smallest stakes near those that return the goal if cents could be divided."""
    exact = [share * goal / step for share in shares]
    if sum(exact) > count * (1 + 1e-9):
        return None  # no whole stakes need less than parts of cents do
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
    """Return stakes with the smallest on the last outcome that returns the goal, None if none does."""
    last = 0
    for (*others, of_last), of in conditions:
        left = goal * of - step * sum(
            [stake * returns for stake, returns in zip(some, others, strict=True)]
        )
        if left > 0 and not of_last:
            return None
        if left > 0:
            last = max(last, -(-left // (of_last * step)))
    return [*some, last]


def _spread(terms: Sequence[_Terms], amounts: list[int], left: int) -> None:
    """Add the steps that are left, one by one, to what returns least; to legs on one market, if any are."""
    places = [place for place, it in enumerate(terms) if it.is_together] or range(len(terms))
    for _ in range(left):
        lowest = min(places, key=lambda place: Fraction(amounts[place] * terms[place].net, terms[place].of))
        amounts[lowest] += 1
