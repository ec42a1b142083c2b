"""The result of a bet from the goals of a match: won, half won, returned, half lost or lost.

Pure. A bet on a quarter line is two bets of half the stake, on the lines a quarter below and above. The
margin decides: half a goal or more is won, a quarter is half won (a rule of all Asian markets).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from functools import lru_cache

from actors.markets.market import FORMS, Market
from actors.markets.odds import Odds

MAX_GOALS = 21
"""The most goals of a team in checked scores: every line is below, so that more goals change no result."""


class Result(IntEnum):
    """The result of a bet, in halves of a win, from lost to won."""

    LOST = -2
    HALF_LOST = -1
    RETURNED = 0
    HALF_WON = 1
    WON = 2


def result_of(market: Market, outcome: str, home: int, away: int) -> Result:
    """Return the result of a bet on an outcome after these numbers of goals of each team."""
    margin = FORMS[market.kind].outcomes[outcome](home, away, market.quarters or 0)
    return Result(max(-2, min(margin, 2)))


def returned(result: Result, odds: float) -> float:
    """Return the return of a stake of 1 at decimal odds."""
    if result >= Result.RETURNED:
        return 1 + (odds - 1) * result / 2
    return 1 + result / 2


@lru_cache(maxsize=1024)
def results(market: Market) -> tuple[tuple[Result, ...], ...]:
    """Return all different combinations of results of the outcomes, in order, over all scores."""
    goals = range(MAX_GOALS + 1)
    every = (
        tuple([result_of(market, outcome, home, away) for outcome in market.outcomes])
        for home in goals
        for away in goals
    )
    return tuple(dict.fromkeys(every))


@lru_cache(maxsize=1024)
def may_gain(market: Market) -> bool:
    """Return whether bets on all outcomes can gain after every result: none returns all stakes."""
    return len(gaining_results(market)) == len(results(market))


@lru_cache(maxsize=1024)
def gaining_results(market: Market) -> tuple[tuple[Result, ...], ...]:
    """Return `results` without the result that returns all stakes."""
    return tuple([together for together in results(market) if max(together) > Result.RETURNED])


@lru_cache(maxsize=1024)
def is_reversible(market: Market) -> bool:
    """Return whether its outcomes in reverse order fit the match with home and away exchanged."""
    goals, outcomes = range(MAX_GOALS + 1), market.outcomes
    return all(
        result_of(market, outcome, home, away) == result_of(market, other, away, home)
        for outcome, other in zip(outcomes, reversed(outcomes), strict=True)
        for home in goals
        for away in goals
    )


def least_return(market: Market, stakes: Sequence[float], odds: Odds) -> float:
    """Return the least return of stakes on the outcomes of a market, in order, over all scores."""
    return min(
        sum(
            stake * returned(result, price)
            for stake, price, result in zip(stakes, odds, together, strict=True)
        )
        for together in results(market)
    )
