"""Random lives of 5DollarFootballAPI: no price that it had not then, and never more than the rate."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.simulation.five_dollar_life import run


@pytest.mark.parametrize("seeds", [range(3), pytest.param(range(3, 100), marks=pytest.mark.long)])
def test_no_price_that_the_venue_had_not_is_shown(tmp_path: Path, seeds: Sequence[int]) -> None:
    """Matches begin, end and move, pages shift, others spend of the rate, the plan loses its odds."""
    done = [run(seed, tmp_path) for seed in seeds]

    assert sum(each["shown"] for each in done)
    assert sum(each["failed"] for each in done)
