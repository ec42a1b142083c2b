"""Fair odds: probabilities without the bookmaker's margin, of one bookmaker and of several together.

Pure arithmetic. Outcomes stand in the order home, draw, away. docs/fixtures.md has the reasons.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from math import exp, log, sqrt
from typing import TypeAlias, assert_never

from msgspec import Struct

from actors.matching.event import Chances

MIN_BOOKMAKERS = 3  # fewer are no consensus

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
