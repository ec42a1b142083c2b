"""The oracle of fair odds: the equations as they are written, solved by bisection."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from actors.markets.odds import Odds
from actors.matches.fair import Method

Numbers = NDArray[np.float64]


def fair_of_all(method: Method, prices: Sequence[Odds]) -> Numbers:
    """Return a row of probabilities for each row of prices."""
    inverse = 1 / np.array(prices)
    total = inverse.sum(axis=1, keepdims=True)
    if method is Method.MULTIPLICATIVE:
        return np.asarray(inverse / total)
    if method is Method.POWER:
        return _solved(lambda k: inverse**k, 0, 100)

    def shin(z: Numbers) -> Numbers:
        return np.asarray((np.sqrt(z**2 + 4 * (1 - z) * inverse**2 / total) - z) / (2 * (1 - z)))

    return _solved(shin, -1 / (inverse.shape[1] - 1), 1 - 1e-12)


def _solved(chances: Callable[[Numbers], Numbers], low: float, high: float) -> Numbers:
    """Return the chances at the parameter where their sum is 1; the sum falls as the parameter grows."""
    rows = len(chances(np.array([[low]])))
    lows, highs = np.full((rows, 1), float(low)), np.full((rows, 1), float(high))
    for _ in range(100):
        middle = (lows + highs) / 2
        above = chances(middle).sum(axis=1, keepdims=True) > 1
        lows, highs = np.where(above, middle, lows), np.where(above, highs, middle)
    return chances((lows + highs) / 2)
