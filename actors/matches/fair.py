"""Fair odds: probabilities without the bookmaker's margin, and prices that disagree with all others.

Pure arithmetic. Outcomes stand in the order home, draw, away. docs/fixtures.md has the reasons.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from math import exp, inf, log, sqrt
from typing import TypeAlias, assert_never

from msgspec import Struct

from actors.core.messages import BookmakerId
from actors.matching.event import Chances
from actors.matching.rules import AGREE, distance

MIN_BOOKMAKERS = 3  # fewer are no consensus
CROSSED = 0.02  # so much nearer to the others' prices with home and away exchanged

Odds: TypeAlias = tuple[float, float, float]

_STEPS = 100  # usual prices need 4, those of 1.0000001 and 1e300 in one book 40
_EXACT = 1e-14
_SMALLEST = 2.0**-1022
_LARGEST = 1 - 2.0**-53


class Method(StrEnum):
    """How the margin is taken out of three prices."""

    MULTIPLICATIVE = "multiplicative"  # the same share of each
    POWER = "power"  # the more, the longer the odds
    SHIN = "shin"  # what protects a bookmaker from bettors who know the result


class FairRules(Struct, frozen=True, forbid_unknown_fields=True):
    """Which fair odds are shown."""

    method: Method = Method.POWER


def fair(method: Method, prices: Odds) -> Chances:
    """Return the probability of each outcome, each above 0 and below 1, their sum 1.

    `prices` are finite and above 1. Their book sum may be anything: an exchange may be below 1.
    """
    match method:
        case Method.MULTIPLICATIVE:
            home, draw, away = prices
            return _proper(1 / home, 1 / draw, 1 / away)
        case Method.POWER:
            return _power(prices)
        case Method.SHIN:
            return _shin(prices)
    assert_never(method)


def consensus(chances: Sequence[Chances]) -> Chances | None:
    """Return the median of each outcome over several bookmakers, scaled to the sum 1.

    None for fewer than three bookmakers. The order of `chances` does not matter.
    """
    count = len(chances)
    if count < MIN_BOOKMAKERS:
        return None
    upper, lower = count // 2, (count - 1) // 2
    home, draw, away = (sorted(probabilities) for probabilities in zip(*chances, strict=True))
    return _proper(home[lower] + home[upper], draw[lower] + draw[upper], away[lower] + away[upper])


class Quote(Struct, frozen=True, gc=False):
    """The prices of a bookmaker, and their probabilities without margin.

    It `counts` for the consensus if its prices are live, and no other of its company was confirmed later.
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

    That is of the median of at least `fewest` others; without so many no price is called wrong.
    """
    if not _may_be_overpriced(quotes, ratio, fewest):
        return frozenset()
    return frozenset(
        [
            name
            for name, others in _of_others(quotes, fewest).items()
            if any(
                price * chance > ratio for price, chance in zip(quotes[name].prices, others, strict=True)
            )
        ]
    )


def crossed(quotes: Quotes) -> frozenset[BookmakerId]:
    """Return the bookmakers whose prices agree with those of the others if home and away are exchanged.

    They agree better than as they are. Of two bookmakers either may have exchanged them: both are returned.
    """
    found = []
    for name, others in _of_others(quotes, 1).items():
        chances = quotes[name].chances
        exchanged = distance(chances, others[::-1])
        if exchanged <= AGREE and distance(chances, others) - exchanged > CROSSED:
            found.append(name)
    return frozenset(found)


def _may_be_overpriced(quotes: Quotes, ratio: float, fewest: int) -> bool:
    """Return whether the highest prices are, by the highest and the lowest medians that others may have."""
    counted = [quote.chances for quote in quotes.values() if quote.counts]
    if (count := len(counted)) < max(fewest, 2):
        return False
    lower, upper = (count - 2) // 2, (count + 1) // 2
    ordered = [sorted(chances) for chances in zip(*counted, strict=True)]
    total = sum([chances[lower] for chances in ordered])
    highest = map(max, zip(*[quote.prices for quote in quotes.values()], strict=True))
    return any(
        price * chances[upper] > ratio * total for price, chances in zip(highest, ordered, strict=True)
    )


def _of_others(quotes: Quotes, fewest: int) -> dict[BookmakerId, Chances]:
    """Return for each bookmaker the median of the others that count, if these are at least so many."""
    counted = [quote.chances for quote in quotes.values() if quote.counts]
    ordered = [sorted(chances) for chances in zip(*counted, strict=True)]
    found: dict[BookmakerId, Chances] = {}
    for name, quote in quotes.items():
        if (count := len(counted) - quote.counts) >= fewest:
            own = quote.chances if quote.counts else (inf, inf, inf)
            home, draw, away = map(_median_of_others, own, ordered, (count, count, count))
            found[name] = _proper(home, draw, away)
    return found


def _median_of_others(own: float, ordered: Sequence[float], count: int) -> float:
    """Return the median of so many sorted values: of all without `own`, or of all that are below it."""
    lower, upper = (count - 1) // 2, count // 2
    return (ordered[lower + (own <= ordered[lower])] + ordered[upper + (own <= ordered[upper])]) / 2


def _power(prices: Odds) -> Chances:
    """Solve the sum of price**-k = 1 for k (Clarke, Kovalchik and Ingram, 2017).

    The logarithm of the sum is convex in k and falls: Newton's steps from its left never pass the root.
    """
    home, draw, away = map(log, prices)
    k = 1.0
    for _ in range(_STEPS):
        h, d, a = exp(-k * home), exp(-k * draw), exp(-k * away)
        total = h + d + a
        if abs(total - 1) <= _EXACT:
            break
        # The first step may come from the right, and then go too far.
        k = max(k + log(total) * total / (h * home + d * draw + a * away), 0.0)
    return _proper(h, d, a)


def _shin(prices: Odds) -> Chances:
    """Solve Shin's equation for z, the share of bettors who know the result (Jullien and Salanié, 1994).

    With q the square of 1/price over the book sum, a probability is (r - z) / (2 (1 - z)), where r is the
    root of z² + 4 (1 - z) q; the sum of them is 1 where that of r is 2 + z. The difference is convex in z
    and zero at z = 1 as well: Newton's steps from the left end at the smaller root. In a book below 1 it
    is negative, but never below -1/2.
    """
    home, draw, away = prices
    total = 1 / home + 1 / draw + 1 / away
    q_home, q_draw, q_away = (max(1 / price * (1 / price / total), _SMALLEST) for price in prices)
    z = 0.0 if total >= 1 else -0.5
    for _ in range(_STEPS):
        square, rest = z * z, 4 * (1 - z)
        r, s, t = sqrt(square + rest * q_home), sqrt(square + rest * q_draw), sqrt(square + rest * q_away)
        if (gap := r + s + t - 2 - z) <= _EXACT:
            break
        z -= gap / ((z - 2 * q_home) / r + (z - 2 * q_draw) / s + (z - 2 * q_away) / t - 1)
    if z < 0:
        return _proper(r - z, s - z, t - z)
    return _proper(q_home / (r + z), q_draw / (s + z), q_away / (t + z))


def _proper(home: float, draw: float, away: float) -> Chances:
    """Return the three scaled to the sum 1, none of them rounded to 0 or 1."""
    total = home + draw + away
    return (
        min(max(home / total, _SMALLEST), _LARGEST),
        min(max(draw / total, _SMALLEST), _LARGEST),
        min(max(away / total, _SMALLEST), _LARGEST),
    )
