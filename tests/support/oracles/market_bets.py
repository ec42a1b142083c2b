"""The oracle of surebets on all markets: every score, every pair or triple of bets, the best of all stakes.

A bet on a quarter line is two bets of half the stake. The best division of two bets is found by narrowing
down, the best division of three bets at the corners of the possible stakes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product
from typing import TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from actors.markets.market import Market
from actors.markets.stakes import StakedLeg
from actors.matches.surebets import PricedLeg
from tests.support.oracles.stake_cases import terms

Numbers: TypeAlias = NDArray[np.float64]
SCORES = [*product(range(13), repeat=2)]
NARROWED = 90
"""How often a range is cut to two thirds, until a float cannot hold a smaller range."""
_DIFFERENCES: dict[str, Callable[[int, int, float], float]] = {
    "over": lambda home, away, line: home + away - line,
    "under": lambda home, away, line: line - home - away,
    "home": lambda home, away, line: home - away + line,
    "away": lambda home, away, line: away - home - line,
    "1": lambda home, away, _: home - away,
    "X": lambda home, away, _: 0.5 - abs(home - away),
    "2": lambda home, away, _: away - home,
    "yes": lambda home, away, _: min(home, away) - 0.5,
    "no": lambda home, away, _: 0.5 - min(home, away),
    "1X": lambda home, away, _: home - away + 0.5,
    "12": lambda home, away, _: abs(home - away) - 0.5,
    "X2": lambda home, away, _: away - home + 0.5,
}


class Found(Struct, frozen=True):
    """The least return of the best bets per stake of 1; a `doubtful` result may be better without a leg."""

    returned: float
    is_doubtful: bool = False


@lru_cache(maxsize=1024)
def endings(outcomes: tuple[str, ...], line: float) -> Numbers:
    """Return for each distinct ending, by outcome, the won share and the returned share of a stake."""
    halves = (line,) if line * 2 == int(line * 2) else (line - 0.25, line + 0.25)
    rows = set()
    for home, away in SCORES:
        by = [[_DIFFERENCES[name](home, away, half) for half in halves] for name in outcomes]
        # In 1X2 a difference of 0 loses the bet: no stake is returned.
        is_split = "1" in outcomes
        won = [sum(d > 0 for d in some) / len(halves) for some in by]
        back = [0.0 if is_split else sum(d == 0 for d in some) / len(halves) for some in by]
        rows.add((*won, *back))
    return np.array(sorted(rows)).reshape(len(rows), 2, len(outcomes))


def paid_out(legs: Sequence[PricedLeg], stakes: Sequence[float], line: float) -> Numbers:
    """Return what stakes on the outcomes of the market of these legs return after each ending."""
    table, staked = endings(legs[0].market.outcomes, line), np.array(stakes)
    odds = np.array([after_fee(leg) for leg in legs])
    gross = (table[:, 0] * odds + table[:, 1]) * staked
    total = np.asarray(gross.sum(axis=1))
    for name in {leg.bookmaker for leg in legs}:
        at = [place for place, leg in enumerate(legs) if leg.bookmaker == name]
        gains = (gross[:, at] - staked[at]).sum(axis=1)
        total -= legs[at[0]].commission * np.maximum(gains, 0)
    return total


def paid_exactly(legs: Sequence[StakedLeg], amounts: Sequence[int], market: Market) -> list[Fraction]:
    """Return what whole amounts return after each ending, with numbers as they are written."""
    found = []
    for won, back in endings(market.outcomes, market.line or 0.0):
        payments, gains = Fraction(0), dict[str, Fraction]()
        for leg, amount, of_won, of_back in zip(legs, amounts, won, back, strict=True):
            gross = amount * (Fraction(float(of_won)) / terms(leg)[0] + Fraction(float(of_back)))
            payments += gross
            gains[leg.bookmaker] = gains.get(leg.bookmaker, Fraction(0)) + gross - amount
        taken = {leg.bookmaker: terms(leg)[1] for leg in legs}
        found.append(payments - sum(taken[name] * max(gain, Fraction(0)) for name, gain in gains.items()))
    return found


def after_fee(leg: PricedLeg) -> float:
    """Return the price of each share after a fee; a share pays 1."""
    share = 1 / leg.price
    return 1 / (share + leg.fee_rate * share * (1 - share))


def best_bets(legs: Sequence[PricedLeg], line: float) -> Found | None:
    """Return the best bets on all outcomes at two bookmakers or more, None if there are none."""
    outcomes = legs[0].market.outcomes
    offered = [[leg for leg in legs if leg.outcome == place] for place in range(len(outcomes))]
    every = [some for some in product(*offered) if len({leg.bookmaker for leg in some}) > 1]
    if not every:
        return None
    return _best_pair(every, endings(outcomes, line)) if len(outcomes) == 2 else _best_triple(every, line)


def best_weak(legs: Sequence[PricedLeg], line: float) -> Found | None:
    """Return the best bets on a line by all endings except the one that gives every stake back.

    None without other endings, or without bets at two bookmakers that pay back a stake whole.
    """
    outcomes = legs[0].market.outcomes
    table = endings(outcomes, line)
    gaining = table[table[:, 1].min(axis=1) < 1]
    offered = [
        [leg for leg in legs if (leg.outcome, leg.fee_rate) == (at, 0)] for at in range(len(outcomes))
    ]
    every = [some for some in product(*offered) if len({leg.bookmaker for leg in some}) > 1]
    return None if len(gaining) == len(table) or not every else _best_pair(every, gaining)


def _best_pair(pairs: Sequence[Sequence[PricedLeg]], table: Numbers) -> Found:
    odds = np.array([[after_fee(leg) for leg in pair] for pair in pairs])[:, None, :]
    taken = np.array([[leg.commission for leg in pair] for pair in pairs])[:, None, :]
    gross = table[None, :, 0] * odds + table[None, :, 1]
    payments = gross - taken * np.maximum(gross - 1, 0)
    first, second = payments[:, :, 0], payments[:, :, 1]

    def least(share: Numbers) -> Numbers:
        of_first = share[:, None]
        return np.asarray((of_first * first + (1 - of_first) * second).min(axis=1))

    low, high = np.zeros(len(pairs)), np.ones(len(pairs))
    for _ in range(NARROWED):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        rises = least(left) < least(right)
        low, high = np.where(rises, left, low), np.where(rises, high, right)
    return Found(float(least((low + high) / 2).max()))


def _best_triple(triples: Sequence[Sequence[PricedLeg]], line: float) -> Found:
    """Return the best of three bets: the cheapest corner of all stakes that return 1 after each ending.

    Bets at one bookmaker pay the smaller of gross and net, so that each ending is two conditions.
    """
    table = endings(triples[0][0].market.outcomes, line)
    odds = np.array([[after_fee(leg) for leg in some] for some in triples])
    taken = np.array([[leg.commission for leg in some] for some in triples])
    names = [[leg.bookmaker for leg in some] for some in triples]
    together = np.array([[some.count(name) > 1 for name in some] for some in names])
    gross = table[None, :, 0] * odds[:, None, :]
    net = gross - taken[:, None, :] * (gross - 1)
    alone = np.minimum(gross, net)
    rows = np.concatenate(
        [np.where(together[:, None, :], gross, alone), np.where(together[:, None, :], net, alone)], axis=1
    )
    rows = np.concatenate([rows, np.broadcast_to(np.eye(3), (len(triples), 3, 3))], axis=1)
    sides = np.concatenate([np.ones(rows.shape[1] - 3), np.zeros(3)])
    corners = np.array([*combinations(range(rows.shape[1]), 3)])
    stakes = _solved(rows[:, corners], sides[corners])
    paid = np.einsum("tck,trk->tcr", stakes, rows)
    is_enough = (paid >= sides - 1e-12).all(axis=2) & np.isfinite(stakes).all(axis=2)
    costs = np.where(is_enough, stakes.sum(axis=2), np.inf)
    best = np.unravel_index(costs.argmin(), costs.shape)
    needed = 1 / (1 + (odds - 1) * (1 - taken))
    of_two = "12" in triples[0][0].market.outcomes
    is_doubtful = of_two and bool((needed.sum(axis=1) < 2.05 * needed.max(axis=1)).any())
    return Found(1 / float(costs[best]), is_doubtful)


def _solved(rows: Numbers, sides: Numbers) -> Numbers:
    """Return the solutions of many systems of three equations by Cramer's rule; nan where there is none."""
    a, b, c = rows[..., 0], rows[..., 1], rows[..., 2]
    side = np.broadcast_to(sides, a.shape)
    whole = _determinant(a, b, c)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = [_determinant(*some) / whole for some in ((side, b, c), (a, side, c), (a, b, side))]
    return np.where(np.abs(whole)[..., None] > 1e-9, np.stack(found, axis=-1), np.nan)


def _determinant(a: Numbers, b: Numbers, c: Numbers) -> Numbers:
    return np.asarray((a * np.cross(b, c)).sum(axis=-1))
