"""The other markets of a simulated match, all from one model of its goals. Pure.

A bookmaker has a price for each score: the cost of a claim that pays 1 after this score. These prices add
up to its 1X2 prices, and a bet costs the value of its returns at these prices. So the markets of a
bookmaker never contradict each other, and all contain its margin.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import inf
from operator import mul
from typing import assert_never

from msgspec import Struct

from actors.markets.market import FORMS, QUARTERS, Kind, Market
from actors.markets.odds import Odds
from actors.markets.returns import result_of, returned
from actors.sources.simulated.world import (
    MAX_GOALS,
    SimulatedMatch,
    Triple,
    World,
    goal_probabilities,
    result_probabilities,
    seen_rate,
    share_left,
)


class Outlook(Struct, frozen=True, gc=False):
    """A match at a moment: goals of each team so far and expected from now on, and its main lines."""

    home: int
    away: int
    home_rate: float
    away_rate: float
    total: int  # the main line of over/under, in quarters of a goal
    handicap: int  # the home team's main line, for the goals from now on


class Scores(Struct, frozen=True):
    """The prices of totals, leads and "both teams score"."""

    results: Triple
    totals: tuple[float, ...]  # by the sum of goals
    leads: tuple[float, ...]  # by home minus away goals from now on, -10 to 10
    both: float  # teams score
    not_both: float


def outlook_of(world: World, fixture: SimulatedMatch, at: int) -> Outlook:
    """Return a match at a moment. Its lines follow average rates, so that they move less than prices."""
    (home, away), left = fixture.score(at), share_left(fixture, at)
    home_rate, away_rate = fixture.rates
    total = max(2, round(QUARTERS * ((home_rate + away_rate) * left - 1 / 6)))  # near the median
    handicap = -round(QUARTERS * (home_rate - away_rate) * left)
    return Outlook(home, away, *world.rates(fixture, at), QUARTERS * (home + away) + total, handicap)


def scores_of(results: Triple, outlook: Outlook, steps: int) -> Scores:
    """Return the prices of scores from the prices of results; `steps` is the resolution of rates."""
    home_rate, away_rate = (seen_rate(rate, steps) for rate in (outlook.home_rate, outlook.away_rate))
    lead = outlook.home - outlook.away
    chances = result_probabilities(home_rate, away_rate, lead)
    win, draw, loss = (
        price / chance if chance > 0 else 0.0 for price, chance in zip(results, chances, strict=True)
    )
    totals, leads, both = [0.0] * (2 * MAX_GOALS + 1), [0.0] * (2 * MAX_GOALS + 1), 0.0
    away_goals = goal_probabilities(away_rate)
    for home, share in enumerate(goal_probabilities(home_rate)):
        for away, other in enumerate(away_goals):
            ahead = home - away + lead
            price = share * other * (win if ahead > 0 else loss if ahead < 0 else draw)
            totals[home + away] += price
            leads[home - away + MAX_GOALS] += price
            if (home or outlook.home) and (away or outlook.away):
                both += price
    scored = [0.0] * (outlook.home + outlook.away)
    return Scores(results, (*scored, *totals), tuple(leads), both, sum(results) - both)


def odds_of(market: Market, scores: Scores) -> Odds:
    """Return the odds at which each bet costs the value of its returns; infinite for an impossible win.

    A handicap counts the goals from now on, as bookmakers settle it once a match has begun.
    """
    match market.kind:
        case Kind.ONE_X_TWO:
            return tuple(map(_inverse, scores.results))
        case Kind.BTTS:
            return _inverse(scores.both), _inverse(scores.not_both)
        case Kind.DOUBLE_CHANCE:
            home, draw, away = scores.results
            return _inverse(home + draw), _inverse(home + away), _inverse(draw + away)
        case Kind.OVER_UNDER:
            prices, least = scores.totals, 0
        case Kind.ASIAN_HANDICAP:
            prices, least = scores.leads, -MAX_GOALS
        case _:
            assert_never(market.kind)
    return tuple([_odds(prices, *_returns(market, name, least, len(prices))) for name in market.outcomes])


def lines_of(kind: Kind, main: int, spacing: int, *, halves: bool) -> Iterator[Market]:
    """Yield three lines of a kind around a main line, in quarters; with `halves` only at half goals."""
    least, most = FORMS[kind].lines or (0, 0)
    middle = main // QUARTERS * QUARTERS + QUARTERS // 2 if halves else main
    for line in (middle - spacing, middle, middle + spacing):
        if least <= line <= most:
            yield Market(kind, line)


def _inverse(price: float) -> float:
    return 1 / price if price > 0 else inf


def _odds(prices: Odds, won: Odds, kept: Odds) -> float:
    """Return the odds of a bet: the stake minus the value of returned stakes, over the price of a win."""
    price = sum(map(mul, prices, won))
    return (1 - sum(map(mul, prices, kept))) / price if price > 0 else inf


@lru_cache(maxsize=4096)
def _returns(market: Market, outcome: str, least: int, count: int) -> tuple[Odds, Odds]:
    """Return, by goals or lead, the share of the stake that wins, and the share that is returned."""
    found = [result_of(market, outcome, goals, 0) for goals in range(least, least + count)]
    kept = tuple(returned(result, 0) for result in found)
    return tuple(returned(result, 1) - beside for result, beside in zip(found, kept, strict=True)), kept
