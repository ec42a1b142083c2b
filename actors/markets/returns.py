"""The result of a bet by the goals of a match: won, half won, returned, half lost or lost.

Pure. A bet on a quarter line is two bets of half the stake, on the lines a quarter below and above. The
margin alone decides: half a goal or more is won, a quarter half won (a rule of all Asian markets).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from functools import lru_cache

from actors.markets.market import FORMS, Market
from actors.markets.odds import Odds

MAX_GOALS = 21
"""Goals of a team up to which scores are looked at: any line lies below, so that more change no result."""


class Result(IntEnum):
    """How a bet ends, in quarters of its margin, from lost to won."""

    LOST = -2
    HALF_LOST = -1
    RETURNED = 0
    HALF_WON = 1
    WON = 2


def result_of(market: Market, outcome: str, home: int, away: int) -> Result:
    """Return how a bet on an outcome ends after so many goals of each team."""
    margin = FORMS[market.kind].outcomes[outcome](home, away, market.quarters or 0)
    return Result(max(-2, min(margin, 2)))


def returned(result: Result, odds: float) -> float:
    """Return what a stake of 1 at decimal odds returns."""
    if result >= Result.RETURNED:
        return 1 + (odds - 1) * result / 2
    return 1 + result / 2


@lru_cache(maxsize=1024)
def results(market: Market) -> tuple[tuple[Result, ...], ...]:
    """Return how bets on its outcomes, in order, can end together: each way once, over all scores."""
    goals = range(MAX_GOALS + 1)
    every = (
        tuple([result_of(market, outcome, home, away) for outcome in market.outcomes])
        for home in goals
        for away in goals
    )
    return tuple(dict.fromkeys(every))


@lru_cache(maxsize=1024)
def may_gain(market: Market) -> bool:
    """Return whether bets on all outcomes may gain whatever happens: not if all stakes may be returned."""
    return len(gaining_results(market)) == len(results(market))


@lru_cache(maxsize=1024)
def gaining_results(market: Market) -> tuple[tuple[Result, ...], ...]:
    """Return the same as `results` without that after which all stakes are returned."""
    return tuple([together for together in results(market) if max(together) > Result.RETURNED])


@lru_cache(maxsize=1024)
def is_reversible(market: Market) -> bool:
    """Return whether its outcomes in reverse order are those of the match with its teams exchanged."""
    goals, outcomes = range(MAX_GOALS + 1), market.outcomes
    return all(
        result_of(market, outcome, home, away) == result_of(market, other, away, home)
        for outcome, other in zip(outcomes, reversed(outcomes), strict=True)
        for home in goals
        for away in goals
    )


def least_return(market: Market, stakes: Sequence[float], odds: Odds) -> float:
    """Return the least that stakes on the outcomes of a market, in order, return after any score."""
    return min(
        sum(
            stake * returned(result, price)
            for stake, price, result in zip(stakes, odds, together, strict=True)
        )
        for together in results(market)
    )
