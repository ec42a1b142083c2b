"""The probabilities that follow from expected goals, and the prices that bookmakers can show. Pure."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TypeAlias

Triple: TypeAlias = tuple[float, float, float]
"""One number for each outcome, in the order home win, draw, away win."""

Ladder: TypeAlias = tuple[float, ...]
"""The prices that a bookmaker can show, in rising order, the lowest 1.01 and the highest 201."""

_MAX_GOALS = 10
_RATE_STEP = 0.002


def _decimals(*steps: tuple[int, int]) -> Ladder:
    """Return the prices below each first number that are multiples of the second; both in hundredths."""
    rungs, low = [], 101
    for below, step in steps:
        rungs += [price / 100 for price in range(-(-low // step) * step, below, step)]
        low = below
    return tuple(rungs)


def _fractions(texts: str) -> Ladder:
    parts = [text.split("/") for text in texts.split()]
    return tuple(sorted({round(1 + int(won) / int(staked), 2) for won, staked in parts}))


FINE = _decimals((1000, 1), (10000, 10), (20101, 100))
TIERED = _decimals((500, 1), (1000, 5), (2000, 10), (5000, 50), (20101, 100))
FRACTIONAL = _fractions(
    "1/100 1/50 1/33 1/25 1/20 1/16 1/14 1/12 1/11 1/10 1/9 1/8 1/7 2/13 1/6 2/11 1/5 2/9 1/4 2/7 3/10 1/3"
    " 4/11 2/5 4/9 1/2 8/15 4/7 8/13 4/6 8/11 4/5 5/6 10/11 20/21 1/1 21/20 11/10 23/20 6/5 5/4 13/10 11/8"
    " 7/5 6/4 31/20 13/8 17/10 7/4 9/5 15/8 19/10 2/1 21/10 11/5 9/4 23/10 12/5 5/2 13/5 27/10 11/4 14/5"
    " 29/10 3/1 16/5 10/3 7/2 18/5 15/4 19/5 4/1 17/4 9/2 19/4 5/1 11/2 6/1 13/2 7/1 15/2 8/1 17/2 9/1"
    " 19/2 10/1 11/1 12/1 13/1 14/1 15/1 16/1 17/1 18/1 20/1 22/1 25/1 28/1 30/1 33/1 40/1 50/1 66/1"
    " 80/1 100/1 125/1 150/1 200/1"
)


def result_probabilities(home_rate: float, away_rate: float, lead: int) -> Triple:
    """Return the probabilities of home win, draw and away win; their sum is 1.

    `home_rate` and `away_rate` are the goals expected in the rest of the match, `lead` is home
    goals less away goals so far. Goals are independent Poisson variables, each cut off at ten
    (M. J. Maher, "Modelling association football scores", Statistica Neerlandica 36, 1982).
    """
    home_goals, _ = _goals(round(home_rate / _RATE_STEP))
    away_goals, away_fewer = _goals(round(away_rate / _RATE_STEP))
    home_win = draw = 0.0
    for extra, chance in enumerate(home_goals):
        level_at = extra + lead
        if level_at >= 0:
            home_win += chance * away_fewer[min(level_at, _MAX_GOALS + 1)]
            if level_at <= _MAX_GOALS:
                draw += chance * away_goals[level_at]
    return home_win, draw, max(0.0, 1.0 - home_win - draw)


@lru_cache(maxsize=4096)
def _goals(steps: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return P(goals = n) for n = 0..10 and P(goals < n) for n = 0..11, at `steps` of the rate."""
    rate = steps * _RATE_STEP
    weights = [rate**goals / math.factorial(goals) for goals in range(_MAX_GOALS + 1)]
    total = sum(weights)
    exactly = tuple(weight / total for weight in weights)
    return exactly, tuple(sum(exactly[:goals]) for goals in range(_MAX_GOALS + 2))
