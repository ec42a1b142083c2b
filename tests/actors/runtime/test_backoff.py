"""Backoff: full jitter within a bound that doubles, and the conditions of a reset."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from actors.runtime.backoff import Backoff


class Highest(Random):
    """Randomness that always gives the upper bound, so that a test can see it."""

    def uniform(self, a: float, b: float) -> float:
        """Return the largest possible value."""
        del a
        return b


def _bounds(backoff: Backoff, count: int, now: float = 0.0) -> list[float]:
    return [backoff.failed(now) for _ in range(count)]


def test_delays_fill_the_whole_range() -> None:
    """The delays of many sources are spread from 0 to the bound and differ."""
    delays = sorted(_bounds(Backoff(30.0, Random(seed)), 8)[-1] for seed in range(200))

    assert len(set(delays)) == 200
    assert delays[0] < 1.0
    assert delays[-1] > 29.0
    assert 12.0 < delays[100] < 18.0


def test_a_share_of_the_delay_may_be_certain() -> None:
    """An attempt that costs much has its own first delay, and half of each delay is not random."""
    seeds = range(200)
    delays = [_bounds(Backoff(60.0, Random(seed), base_s=1.0, least_share=0.5), 7)[::6] for seed in seeds]
    first, last = (sorted(column) for column in zip(*delays, strict=True))

    assert (0.5, 1.0) == pytest.approx((first[0], first[-1]), rel=0.05)
    assert (30.0, 60.0) == pytest.approx((last[0], last[-1]), rel=0.05)


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 1.0, 59.5, 60.0, 60.5, 3600.0]))))
@example([(False, 1.0)] * 9)
@example([(True, 1.0), (False, 1.0)] * 40)
@settings(max_examples=300, derandomize=True)
def test_every_bound_is_that_of_the_model(history: list[tuple[bool, float]]) -> None:
    """The bound is min(cap, 0.5 * 2**n), where n counts the failures since the last 60 s of success."""
    backoff = Backoff(30.0, Highest())
    now, failures = 0.0, 0
    good_since: float | None = None
    bounds: list[float] = []
    found: list[float] = []
    for is_good, gap in history:
        now += gap
        if good_since is not None and now - good_since >= 60:
            failures = 0
        if is_good:
            backoff.succeeded(now)
            good_since = now if good_since is None else good_since
            continue
        good_since = None
        found.append(backoff.failed(now))
        bounds.append(min(30.0, 0.5 * 2**failures))
        failures += 1

    assert bounds == found
