"""Stakes in whole steps: no proposed stakes lose, and no other division of the total returns more."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from math import floor
from random import Random

import pytest
from msgspec.structs import replace

from actors.markets.market import ONE_X_TWO, Kind, Market, parsed
from actors.markets.stakes import Legs, NoStakes, StakedLeg, Stakes, stakes
from tests.support.oracles.market_bets import endings, paid_exactly
from tests.support.oracles.market_boards import board
from tests.support.oracles.stake_cases import paid, stake_cases, ways

SURE = (StakedLeg("a", 2.1), StakedLeg("b", 3.9), StakedLeg("c", 3.9, 0.02))


MARKETS = [
    *map(parsed, ("over_under:2.5", "over_under:2.25", "over_under:0.25", "asian_handicap:-0.75")),
    Market(Kind.DOUBLE_CHANCE),
]


def _bets(market: Market, seed: int) -> Iterator[tuple[StakedLeg, ...]]:
    """Yield bets on all outcomes, at two or more bookmakers, that gain or nearly gain."""
    random = Random(f"{market}/{seed}")
    while True:
        legs = board(random, market)
        by = [[leg for leg in legs if leg.outcome == place] for place in range(len(market.outcomes))]
        some = [random.choice(sorted(of, key=lambda leg: -leg.price)[:2]) for of in by]
        more = random.choice((1.0, 1.03, 1.1))
        found = tuple(
            StakedLeg(leg.bookmaker, round(leg.price * more, 2), leg.commission, leg.fee_rate)
            for leg in some
        )
        total = sum(1 / leg.odds for leg in found) / market.winners
        if len({leg.bookmaker for leg in found}) > 1 and total < 1.01:
            yield found


def _cases(of: int | Market, seed: int) -> Iterator[tuple[Legs, int, Market]]:
    """Yield legs and totals in cents: on `of` outcomes of which one wins, or on the market `of`."""
    if isinstance(of, int):
        yield from ((case.legs, case.total, ONE_X_TWO) for case in stake_cases(of))
    else:
        bets, random = _bets(of, seed), Random(seed)
        while True:
            yield next(bets), round(100 * 10 ** random.uniform(0, 6)), of


def _worst(legs: Legs, amounts: tuple[int, ...], market: Market) -> int:
    """Return the payout after the worst result; on 1X2, with any number of legs, one outcome wins."""
    every = paid(legs, amounts) if market == ONE_X_TWO else paid_exactly(legs, amounts, market)
    return floor(min(every))


@pytest.mark.parametrize("of", [2, 3, 5, *MARKETS], ids=str)
def test_stakes_lose_after_no_result(of: int | Market) -> None:
    """The whole total is staked, in cents; `returned` is the payout after the worst result."""
    given, count = 0, 1_000 if isinstance(of, int) else 150
    for legs, total, market in islice(_cases(of, 7), count):
        found = stakes(legs, total, market=market)
        if isinstance(found, Stakes):
            given += 1
            assert total == sum(found.amounts) <= found.returned
            assert found.returned == _worst(legs, found.amounts, market), legs

    assert count // 5 < given < (0.9 * count if isinstance(of, int) else count + 1)


@pytest.mark.parametrize(("of", "count"), [(2, 50), (3, 50), *((market, 10) for market in MARKETS)])
def test_no_other_division_returns_more_after_its_worst_result(of: int | Market, count: int) -> None:
    """The stakes are compared with every way to divide a small total."""
    given = 0
    for legs, large, market in islice(_cases(of, 9), count):
        total = 10 + large % (40 if isinstance(of, int) else 28)
        best = max(_worst(legs, way, market) for way in ways(len(legs), total))
        found = stakes(legs, total, market=market)

        assert (best if best >= total else None) == getattr(found, "returned", None), (legs, total)
        given += isinstance(found, Stakes)

    assert given


@pytest.mark.parametrize(("of", "count"), [(3, 25), *((market, 12) for market in MARKETS)])
def test_larger_steps_gain_most_of_the_sums_below_the_total(of: int | Market, count: int) -> None:
    """Each stake is a whole number of steps, and less than the total may be staked."""
    for legs, large, market in islice(_cases(of, 9), count):
        step, most = 7 + large % 90, 5 + large % 9
        gains = [
            _worst(legs, amounts, market) - sum(amounts)
            for parts in range(1, most + 1)
            for amounts in (tuple(step * part for part in way) for way in ways(len(legs), parts))
        ]
        found = stakes(legs, most * step + 3, step, market)

        assert (max(gains) if max(gains) >= 0 else None) == getattr(found, "gain", None), (legs, most, step)
        if isinstance(found, Stakes):
            assert not any(amount % step for amount in found.amounts)


def test_two_markets_with_commission_lose_in_no_outcome() -> None:
    """With four outcomes, the stakes do not rely on other stakes on the same market."""
    legs = tuple(StakedLeg(market, 4.3, 0.05) for market in ("a", "a", "b", "b"))
    found = stakes(legs, 10_000)

    assert isinstance(found, Stakes)
    assert found.returned <= min(paid(legs, found.amounts))


@pytest.mark.parametrize(
    ("legs", "total", "step", "why"),
    [
        (SURE, 3, 1, NoStakes.ROUNDING),
        (SURE, 10_000, 500, NoStakes.ROUNDING),
        (SURE, 400, 500, NoStakes.ROUNDING),
        ((*SURE[:2], StakedLeg("c", 3.9, 0.02, 0.0, 26.20)), 10_000, 1, NoStakes.LIMIT),
    ],
)
def test_reason_is_given_without_stakes(
    legs: tuple[StakedLeg, ...], total: int, step: int, why: NoStakes
) -> None:
    """No stakes are given if each division into whole steps loses, or if a price has a lower limit."""
    assert why is stakes(legs, total, step)


@pytest.mark.parametrize("market", [parsed("over_under:2"), parsed("asian_handicap:-1")], ids=str)
def test_stakes_on_a_whole_line_never_lose_and_gain_most_after_every_other_score(market: Market) -> None:
    """All stakes are returned after one result; every way to divide a small total is compared."""
    bets, given = _bets(market, 11), 0
    whole = endings(market.outcomes, market.line or 0.0)[:, 1].min(axis=1) == 1
    for total in range(10, 70):
        legs = tuple(replace(leg, fee_rate=0.0) for leg in next(bets))
        worst = [
            floor(min(paid for paid, is_back in zip(every, whole, strict=True) if not is_back))
            for way in ways(len(legs), total)
            for every in [paid_exactly(legs, way, market)]
        ]
        found = stakes(legs, total, market=market)

        assert (max(worst) if max(worst) >= total else None) == getattr(found, "returned", None), legs
        if isinstance(found, Stakes):
            given += found.gain > 0
            assert total == sum(found.amounts) == min(paid_exactly(legs, found.amounts, market))

    assert given > 10
