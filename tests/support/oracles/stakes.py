"""The oracle of stakes: how a total is divided so that no outcome loses, with exact numbers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil

from msgspec import Struct

from actors.matches.surebets import Legs, PricedLeg
from tests.support.oracles.bets import after_fee


class Stakes(Struct, frozen=True):
    """Amounts on home, draw and away, and what is returned at least, whatever wins."""

    amounts: tuple[float, float, float]
    returned: float


def stakes(legs: Legs, total: float, step: float = 0.01) -> Stakes | None:
    """Divide `total`, rounded down to the step of the currency, so that no outcome returns less than it.

    All amounts are whole steps, and the smallest return has as many whole steps as it can have. None if
    any such amounts lose. Numbers are taken as they are written: 2.1 is 21/10.
    """
    unit = Fraction(str(step))
    count = Fraction(str(total)) // unit
    terms = [_Terms.of(leg, legs) for leg in legs]
    low, high = count, ceil(count * min(term.price for term in terms)) + 1
    if count <= 0 or (amounts := _least(terms, count, low)) is None:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if (least := _least(terms, count, middle)) is None:
            high = middle
        else:
            low, amounts = middle, least
    places = [number for number in range(3) if terms[number].is_shared] or range(3)
    for _ in range(count - sum(amounts)):  # a few steps, or the smallest return could be larger
        amounts[min(places, key=lambda number: amounts[number] * terms[number].net)] += 1
    home, draw, away = (float(amount * unit) for amount in amounts)
    return Stakes((home, draw, away), float(low * unit))


class _Terms(Struct, frozen=True):
    """A leg's exact price and commission, what it returns alone, and whether others are on its market."""

    price: Fraction
    taken: Fraction
    net: Fraction
    is_shared: bool

    @classmethod
    def of(cls, leg: PricedLeg, legs: Legs) -> _Terms:
        price, taken = after_fee(leg), Fraction(str(leg.commission))
        is_shared = sum(other.bookmaker == leg.bookmaker for other in legs) > 1
        return cls(price, taken, 1 + (price - 1) * (1 - taken), is_shared)


def _least(terms: Sequence[_Terms], count: int, goal: int) -> list[int] | None:
    """Return the smallest stakes that return `goal` each, in whole steps; None if that takes over `count`.

    What the other legs do not need is staked on the market with several legs, if there is one: the larger
    its sum, the less each of its legs needs.
    """
    amounts = [0 if term.is_shared else ceil(goal / term.net) for term in terms]
    staked = count - sum(amounts)
    for number, term in enumerate(terms):
        if term.is_shared:
            amounts[number] = ceil((goal - term.taken * staked) / (term.price * (1 - term.taken)))
    return amounts if sum(amounts) <= count else None
