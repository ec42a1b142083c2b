"""Stakes in whole steps: none that is given loses, and no other division returns more."""

from __future__ import annotations

from math import floor

import pytest

from actors.markets.stakes import MAX_TOTALS, NoStakes, StakedLeg, Stakes, stakes
from tests.support.oracles.stake_cases import paid, stake_cases, ways

SURE = (StakedLeg("a", 2.1), StakedLeg("b", 3.9), StakedLeg("c", 3.9, 0.02))


@pytest.mark.parametrize("outcomes", [2, 3, 5])
def test_stakes_of_a_thousand_cases_lose_in_no_outcome(outcomes: int) -> None:
    """In cents the whole total is staked; what is returned at least is what the smallest outcome pays."""
    given = 0
    for case in stake_cases(outcomes):
        found = stakes(case.legs, case.total)
        if isinstance(found, Stakes):
            given += 1
            assert case.total == sum(found.amounts) <= found.returned
            assert found.returned == floor(min(paid(case.legs, found.amounts))), case

    assert 200 < given < 900


@pytest.mark.parametrize("outcomes", [2, 3])
def test_no_other_division_of_a_small_total_returns_more(outcomes: int) -> None:
    """Compared with every way to divide it."""
    for case in [*stake_cases(outcomes)][:50]:
        total = 10 + case.total % 40
        best = max(floor(min(paid(case.legs, way))) for way in ways(outcomes, total))
        found = stakes(case.legs, total)

        assert (best if best >= total else None) == getattr(found, "returned", None), case


def test_larger_steps_gain_most_of_the_sums_below_the_total() -> None:
    """Each stake is a whole number of steps, and less than the total may be staked."""
    for case in [*stake_cases()][:25]:
        step = 7 + case.total % 90
        most = 5 + case.total % 12
        gains = [
            floor(min(paid(case.legs, amounts))) - sum(amounts)
            for count in range(most, max(most - MAX_TOTALS, 0), -1)
            for amounts in (tuple(step * part for part in way) for way in ways(3, count))
        ]
        found = stakes(case.legs, most * step + 3, step)

        assert (max(gains) if max(gains) >= 0 else None) == getattr(found, "gain", None), case
        if isinstance(found, Stakes):
            assert not any(amount % step for amount in found.amounts)


def test_two_markets_with_commission_lose_in_no_outcome() -> None:
    """Of four outcomes: what is staked elsewhere on a market is not counted on."""
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
    """Whole steps may lose in any division, or a price is known to be good for less."""
    assert why is stakes(legs, total, step)
