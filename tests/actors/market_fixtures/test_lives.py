"""Boards of other markets over random lives, by oracles; the 1X2 board is the same as without them."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.support.simulation.market_lives import MarketLife

STEPS = 60


@pytest.mark.timeout(1800)
def test_boards_of_all_kinds_over_random_lives(*, is_long: bool, is_whole: bool) -> None:
    """Each version of each kind equals the result of simple code; 1X2 differs only in its versions.

    No event without 1X2 prices is in a wrong match, or alone although it has a match.
    """
    seen = Counter[str]()
    for seed in range(200 if is_whole else 40 if is_long else 5):
        life = MarketLife(seed)
        try:
            for _ in range(STEPS):
                life.step()
            life.end()
        except AssertionError as error:
            raise AssertionError(f"life {seed}: {error}") from error
        seen += life.seen

    assert seen["sides joined"] > 0 < seen["crash between"]
    assert {"accepted", "confirmed", "late", "outdated", "unfounded", "withdrawn"} < seen.keys()
