"""The cheapest stakes on all outcomes of a market that return at least 1 after every result. Pure.

`returns.py` defines the return of a bet by its result. A bookmaker takes its commission from the net win of
all bets on one market, and nothing if they lose. docs/fixtures.md has formulas and reasons.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Protocol

from actors.markets.market import ONE_X_TWO, Market
from actors.markets.returns import Result, gaining_results, results, returned

_ROUNDS = 8
"""The most iterations to find which bookmakers take commission; two are enough for usual prices."""


class Bet(Protocol):
    """A bet at a bookmaker, which keeps the share `commission` of a market's net win."""

    @property
    def bookmaker(self) -> str:
        """The bookmaker where it is placed."""

    @property
    def paid(self) -> float:
        """The odds after a fee."""

    @property
    def commission(self) -> float:
        """The share of net winnings."""


def net(bet: Bet) -> float:
    """Return the return of a won stake of 1 that is the only bet at its bookmaker."""
    return 1 + (bet.paid - 1) * (1 - bet.commission)


def needed(market: Market, bets: Sequence[Bet]) -> list[float]:
    """Return the cheapest stakes on the outcomes, in order, whose least return is 1.

    The two bets on a line are at two bookmakers. A result that returns all stakes is ignored, because it
    does so for every division. Where several outcomes are won together, each gets a bet, even if fewer bets
    would be enough.
    """
    if market is not ONE_X_TWO:
        if market.quarters is not None:
            return _needed_on_line(market, *bets)
        if market.winners > 1:
            return _needed_for_several(market, bets)
    # With stakes s and their sum S on one market, price o after the fee and commission c, an outcome there
    # returns s o - c (s o - S). That is 1 for s = (1 - c S) / (o (1 - c)).
    stakes = []
    for bet in bets:
        kept = 1 - bet.commission
        gross = sum([1 / other.paid for other in bets if other.bookmaker == bet.bookmaker]) / kept
        staked = gross / (1 + bet.commission * gross)
        stakes.append((1 - bet.commission * staked) / (bet.paid * kept))
    return stakes


def _needed_on_line(market: Market, first: Bet, second: Bet) -> list[float]:
    """Return the stakes on two outcomes that may both be half won, returned or half lost.

    Let t be the share on the first outcome. Each result's return is a straight line over t, and the least
    return is the lowest of these lines. Its maximum is where two lines cross, or at an end, where nothing
    is covered.
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


def _needed_for_several(market: Market, bets: Sequence[Bet]) -> list[float]:
    """Return the stakes that return 1 after each result, where several outcomes are won together.

    If each bet is at another bookmaker, each returns 1 / winners (`of_one_winner`). Two bets at one
    bookmaker with commission may win less than they cost together, so that no commission is taken. The
    equations are linear once it is known which results are charged.
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
    """Return for each bet whether the bets at its bookmaker have a net win together."""
    gains: dict[str, float] = {}
    for bet, stake, is_won in zip(bets, stakes, won, strict=True):
        gains[bet.bookmaker] = gains.get(bet.bookmaker, 0.0) + stake * (is_won * bet.paid - 1)
    return [gains[bet.bookmaker] > 0 for bet in bets]


def _row(bets: Sequence[Bet], won: Sequence[bool], charged: Sequence[bool]) -> list[float]:
    """Return the return of a stake of 1 on each outcome after a result."""
    return [
        is_won * bet.paid * (1 - bet.commission * taken) + bet.commission * taken
        for bet, is_won, taken in zip(bets, won, charged, strict=True)
    ]


def _payment(bets: Sequence[Bet], stakes: Sequence[float], won: Sequence[bool]) -> float:
    """Return the total return of the stakes after a result."""
    row = _row(bets, won, _charged(bets, stakes, won))
    return sum([stake * returns for stake, returns in zip(stakes, row, strict=True)])


def solved(rows: Sequence[Sequence[float]]) -> list[float] | None:
    """Solve the linear equations whose right sides are all 1; None if they have no single solution."""
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
