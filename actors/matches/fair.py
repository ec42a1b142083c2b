"""Fair odds: probabilities without the bookmaker's margin, and prices that disagree with all others.

Pure arithmetic for any market of two or more outcomes, in its order. docs/fixtures.md has the reasons.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from itertools import repeat
from math import exp, inf, log, sqrt
from operator import mul
from typing import TypeAlias, assert_never

from msgspec import Struct

from actors.core.messages import BookmakerId
from actors.markets.odds import Odds, book_sum, scaled
from actors.matching.event import Chances
from actors.matching.rules import AGREE, distance

MIN_BOOKMAKERS = 3  # fewer bookmakers give no consensus
CROSSED = 0.02  # the least gain in distance by exchanging home and away

_STEPS = 100  # usual prices need 4, prices of 1.0000001 and 1e300 in one book need 40
_EXACT = 1e-14
_SMALLEST = 2.0**-1022
_LARGEST = 1 - 2.0**-53


class Method(StrEnum):
    """How the margin is removed from the prices."""

    MULTIPLICATIVE = "multiplicative"  # the same share from each price
    POWER = "power"  # more from longer odds
    SHIN = "shin"  # models a bookmaker's protection against bettors who know the result


class FairRules(Struct, frozen=True, forbid_unknown_fields=True):
    """The method for the fair odds shown."""

    method: Method = Method.POWER


@lru_cache(maxsize=8192)  # surebets repeat all prices of a fixture when one changes
def fair(method: Method, prices: Odds) -> Chances:
    """Return the probability of each outcome, each above 0 and below 1, their sum 1.

    `prices` are finite and above 1. Their book sum may be anything: an exchange may be below 1.
    """
    match method:
        case Method.MULTIPLICATIVE:
            return _proper([1 / price for price in prices])
        case Method.POWER:
            return _power(prices)
        case Method.SHIN:
            return _shin(prices)
    assert_never(method)


def consensus(chances: Sequence[Chances]) -> Chances | None:
    """Return the median of each outcome over several bookmakers, scaled to the sum 1.

    None for fewer than three bookmakers. The order of `chances` does not matter.
    """
    return consensus_of_sorted([*map(sorted, zip(*chances, strict=True))])


def consensus_of_sorted(ordered: Sequence[Sequence[float]]) -> Chances | None:
    """Return the consensus from each outcome's sorted chances."""
    count = len(ordered[0]) if ordered else 0
    if count < MIN_BOOKMAKERS:
        return None
    upper, lower = count // 2, (count - 1) // 2
    return _proper([of_outcome[lower] + of_outcome[upper] for of_outcome in ordered])


class Quote(Struct, frozen=True, gc=False):
    """The prices of a bookmaker, and their probabilities without margin.

    It `counts` for the consensus if its prices are live, and it is the last confirmed of its company.
    """

    prices: Odds
    chances: Chances
    counts: bool = True


Quotes: TypeAlias = Mapping[BookmakerId, Quote]


def consensus_of(quotes: Quotes) -> Chances | None:
    """Return the consensus of the bookmakers that count."""
    return consensus([quote.chances for quote in quotes.values() if quote.counts])


def overpriced(quotes: Quotes, ratio: float, fewest: int = MIN_BOOKMAKERS) -> frozenset[BookmakerId]:
    """Return the bookmakers with a price above `ratio` x the fair price of the others that count.

    The fair price is the median of at least `fewest` others; with fewer others, no price is called wrong.
    """
    highest = [*map(max, zip(*[quote.prices for quote in quotes.values()], strict=True))]
    if not may_be_overpriced(_sorted(quotes), highest, ratio, fewest):
        return frozenset()
    return frozenset(
        [
            name
            for name, others in medians_of_others(quotes, fewest).items()
            if is_overpriced(quotes[name], others, ratio)
        ]
    )


def may_be_overpriced(
    ordered: Sequence[Sequence[float]],
    highest: Sequence[float],
    ratio: float,
    fewest: int = MIN_BOOKMAKERS,
) -> bool:
    """Return whether `overpriced` can find any bookmaker; this check is much faster.

    It uses bounds of the others' medians. `ordered` are the chances of the quotes that count, by outcome,
    sorted; `highest` the highest prices of all quotes.
    """
    if (count := len(ordered[0]) if ordered else 0) < max(fewest, 2):
        return False
    lower, upper = (count - 2) // 2, (count + 1) // 2
    total = sum([chances[lower] for chances in ordered])
    return any(
        price * chances[upper] > ratio * total for price, chances in zip(highest, ordered, strict=True)
    )


def crossed(quotes: Quotes) -> frozenset[BookmakerId]:
    """Return the bookmakers whose prices agree with the other prices only with home and away exchanged.

    If there are two bookmakers, either may have exchanged the teams: both bookmakers are returned.
    """
    medians = medians_of_others(quotes, 1)
    return frozenset([name for name, others in medians.items() if is_crossed(quotes[name], others)])


def is_overpriced(quote: Quote, others: Chances, ratio: float) -> bool:
    """Return whether any price is above `ratio` x the fair price of the others."""
    return any(price * chance > ratio for price, chance in zip(quote.prices, others, strict=True))


def is_crossed(quote: Quote, others: Chances) -> bool:
    """Return whether prices agree with the other prices only with home and away exchanged."""
    exchanged = distance(quote.chances, others[::-1])
    return exchanged <= AGREE and distance(quote.chances, others) - exchanged > CROSSED


def medians_of_others(quotes: Quotes, fewest: int) -> dict[BookmakerId, Chances]:
    """Return for each bookmaker the consensus of the others that count, if there are at least `fewest`."""
    ordered = _sorted(quotes)
    counted = len(ordered[0]) if ordered else 0
    found: dict[BookmakerId, Chances] = {}
    known: dict[tuple[float, ...], Chances] = {}  # removing one of many prices leaves few different medians
    for name, quote in quotes.items():
        if (count := counted - quote.counts) >= fewest:
            own: Iterable[float] = quote.chances if quote.counts else repeat(inf)
            medians = tuple(map(_median_of_others, own, ordered, repeat(count)))
            if medians not in known:
                known[medians] = _proper(medians)
            found[name] = known[medians]
    return found


def _sorted(quotes: Quotes) -> list[list[float]]:
    """Return the chances of the quotes that count, by outcome, sorted."""
    counted = [quote.chances for quote in quotes.values() if quote.counts]
    return [sorted(chances) for chances in zip(*counted, strict=True)]


def _median_of_others(own: float, ordered: Sequence[float], count: int) -> float:
    """Return the median of `count` sorted values, after removing `own` if it is among them."""
    lower, upper = (count - 1) // 2, count // 2
    return (ordered[lower + (own <= ordered[lower])] + ordered[upper + (own <= ordered[upper])]) / 2


def _power(prices: Odds) -> Chances:
    """Solve the sum of price**-k = 1 for k (Clarke, Kovalchik and Ingram, 2017).

    The logarithm of the sum is convex in k and falls: Newton's steps from the left never pass the root.
    """
    logs = [*map(log, prices)]
    k = 1.0
    for _ in range(_STEPS):
        powers = [exp(-k * of_price) for of_price in logs]
        total = sum(powers)
        if abs(total - 1) <= _EXACT:
            break
        # The first step may start right of the root, and overshoot.
        k = max(k + log(total) * total / sum(map(mul, powers, logs)), 0.0)
    return _proper(powers)


def _shin(prices: Odds) -> Chances:
    """Solve Shin's equation for z, the share of bettors who know the result (Jullien and Salanié, 1994).

    Let q be the square of 1/price divided by the book sum, and r the root of z² + 4 (1 - z) q. A
    probability is (r - z) / (2 (1 - z)); n of them add up to 1 where the r add up to 2 + (n - 2) z. The
    difference of both sides is convex in z and also zero at z = 1: Newton's steps from the left end at the
    smaller root. In a book below 1 that root is negative, but never below -1 / (n - 1).
    """
    total, more = book_sum(prices), len(prices) - 2
    squares = [max(1 / price * (1 / price / total), _SMALLEST) for price in prices]
    z = 0.0 if total >= 1 else -1 / (more + 1)
    for _ in range(_STEPS):
        square, rest = z * z, 4 * (1 - z)
        roots = [sqrt(square + rest * q) for q in squares]
        if (gap := sum(roots) - 2 - more * z) <= _EXACT:
            break
        z -= gap / (sum([(z - 2 * q) / r for q, r in zip(squares, roots, strict=True)]) - more)
    if z < 0:
        return _proper([r - z for r in roots])
    return _proper([q / (r + z) for q, r in zip(squares, roots, strict=True)])


def _proper(shares: Sequence[float]) -> Chances:
    """Return the shares scaled to the sum 1, none rounded to 0 or 1."""
    return tuple([min(max(share, _SMALLEST), _LARGEST) for share in scaled(shares)])
