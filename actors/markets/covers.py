"""Stakes on all outcomes of a market that return at least 1 whatever happens, and cost least. Pure.

The return of a bet is a function of its result (`returns.py`). A bookmaker takes its commission of the net
win of all bets on one market, and nothing if they lose. docs/fixtures.md has formulas and reasons.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Protocol

from actors.markets.market import ONE_X_TWO, Market
from actors.markets.returns import Result, gaining_results, results, returned

_ROUNDS = 8
"""Times that it is looked at which bookmakers take commission; two are enough for usual prices."""


class Bet(Protocol):
    """A bet at a bookmaker, which takes `commission` of what the market wins net at the odds `paid`."""

    @property
    def bookmaker(self) -> str:
        """Where it is placed."""

    @property
    def paid(self) -> float:
        """Its odds after a fee."""

    @property
    def commission(self) -> float:
        """A share of net winnings."""


def net(bet: Bet) -> float:
    """Return what a stake of 1 that is alone at its bookmaker returns if it is won."""
    return 1 + (bet.paid - 1) * (1 - bet.commission)


def needed(market: Market, bets: Sequence[Bet]) -> list[float]:
    """Return the stakes on the outcomes, in order, whose least return is 1, and whose sum is smallest.

    The two bets on a line are at two bookmakers. The result that returns all stakes is left out, because
    it does so however they are divided. Each of several outcomes that are won together is bet on, also
    if less of them would do.
    """
    if market is not ONE_X_TWO:
        if market.quarters is not None:
            return _of_line(market, *bets)
        if market.winners > 1:
            return _of_several_winners(market, bets)
    # With stakes s and their sum S on one market, price o after the fee and commission c, an outcome there
    # returns s o - c (s o - S). That is 1 for s = (1 - c S) / (o (1 - c)).
    stakes = []
    for bet in bets:
        kept = 1 - bet.commission
        gross = sum([1 / other.paid for other in bets if other.bookmaker == bet.bookmaker]) / kept
        staked = gross / (1 + bet.commission * gross)
        stakes.append((1 - bet.commission * staked) / (bet.paid * kept))
    return stakes


def _of_line(market: Market, first: Bet, second: Bet) -> list[float]:
    """Return the stakes on two outcomes of which both may be half won, returned or half lost.

    With the share t on the first the least return is the lowest of as many straight lines over t as there
    are results. It is highest where two of them cross, or at an end, where nothing is covered.
    """
    odds = net(first), net(second)
    lines = [(returned(a, odds[0]), returned(b, odds[1])) for a, b in gaining_results(market)]
    shares = [
        share
        for (a, b), (c, d) in combinations(lines, 2)
        if (turn := a - b - c + d) and 0 < (share := (d - b) / turn) < 1
    ]
    least, share = max([(min([t * a + (1 - t) * b for a, b in lines]), t) for t in shares])
    return [share / least, (1 - share) / least]


def _of_several_winners(market: Market, bets: Sequence[Bet]) -> list[float]:
    """Return the stakes with which each result returns 1, of outcomes of which several are won together.

    Bets at several bookmakers return 1 / winners each (`of_one_winner`). Of a bookmaker with commission two
    bets may win less than they cost together, so that it takes none: the equations are linear once it is
    known where it does.
    """
    alone = [1 / (market.winners * net(bet)) for bet in bets]
    if not _is_shared(bets):
        return alone
    stakes, charged = alone, list[list[bool]]()
    for _ in range(_ROUNDS):
        before, charged = charged, [_charged(bets, stakes, won) for won in _won(market)]
        if charged == before:
            break
        rows = [_row(bets, won, taken) for won, taken in zip(_won(market), charged, strict=True)]
        found = solved(rows)
        if found is None or min(found) <= 0:
            return alone
        stakes = found
    least = min(_payment(bets, stakes, won) for won in _won(market))
    return [stake / least for stake in stakes]


def _is_shared(bets: Sequence[Bet]) -> bool:
    taking = [bet.bookmaker for bet in bets if bet.commission]
    return len({*taking}) < len(taking)


def _won(market: Market) -> Iterable[list[bool]]:
    return [[result is Result.WON for result in together] for together in results(market)]


def _charged(bets: Sequence[Bet], stakes: Sequence[float], won: Sequence[bool]) -> list[bool]:
    """Return for each bet whether those at its bookmaker win net together."""
    gains: dict[str, float] = {}
    for bet, stake, is_won in zip(bets, stakes, won, strict=True):
        gains[bet.bookmaker] = gains.get(bet.bookmaker, 0.0) + stake * (is_won * bet.paid - 1)
    return [gains[bet.bookmaker] > 0 for bet in bets]


def _row(bets: Sequence[Bet], won: Sequence[bool], charged: Sequence[bool]) -> list[float]:
    """Return what a stake of 1 on each outcome returns after a result."""
    return [
        is_won * bet.paid * (1 - bet.commission * taken) + bet.commission * taken
        for bet, is_won, taken in zip(bets, won, charged, strict=True)
    ]


def _payment(bets: Sequence[Bet], stakes: Sequence[float], won: Sequence[bool]) -> float:
    """Return what stakes return after a result."""
    row = _row(bets, won, _charged(bets, stakes, won))
    return sum([stake * returns for stake, returns in zip(stakes, row, strict=True)])


def solved(rows: Sequence[Sequence[float]]) -> list[float] | None:
    """Return the numbers whose sums, each times its place in a row, are all 1; None if there are none."""
    left = [[*row, 1.0] for row in rows]
    for at in range(len(left)):
        most = max(range(at, len(left)), key=lambda row: abs(left[row][at]))
        left[at], left[most] = left[most], left[at]
        if not left[at][at]:
            return None
        left[at] = [value / left[at][at] for value in left[at]]
        for row, values in enumerate(left):
            if row != at:
                left[row] = [a - values[at] * b for a, b in zip(values, left[at], strict=True)]
    return [row[-1] for row in left]
