"""Backoff: full jitter within a bound that doubles, and the conditions of a reset."""

from __future__ import annotations

from random import Random

import pytest

from actors.runtime.backoff import BASE_S, CALM_S, MIN_CAP_S, Backoff


class Highest(Random):
    """Randomness that always gives the upper bound, so that a test can see it."""

    def uniform(self, a: float, b: float) -> float:
        """Return the largest possible value."""
        del a
        return b


def _bounds(backoff: Backoff, count: int, now: float = 0.0) -> list[float]:
    return [backoff.failed(now) for _ in range(count)]


def test_figures_are_as_documented() -> None:
    """Delays start at 0.5 s, may always grow to 30 s, and are reset after 60 s of success."""
    figures = (BASE_S, MIN_CAP_S, CALM_S)

    assert figures == (0.5, 30.0, 60.0)


def test_bound_doubles_up_to_the_cap() -> None:
    """The longest delay is 0.5 s at first, then twice as long each time, and never above the cap."""
    assert _bounds(Backoff(30.0, Highest()), 9) == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0]


def test_delays_fill_the_whole_range() -> None:
    """The delays of many sources are spread from 0 to the bound and differ."""
    delays = sorted(_bounds(Backoff(30.0, Random(seed)), 8)[-1] for seed in range(200))

    assert len(set(delays)) == 200
    assert delays[0] < 1.0
    assert delays[-1] > 29.0
    assert 12.0 < delays[100] < 18.0


def test_a_share_of_the_delay_may_be_certain() -> None:
    """For what is costly to begin: with a first delay of its own, and half of each that is not random."""
    seeds = range(200)
    delays = [_bounds(Backoff(60.0, Random(seed), base_s=1.0, least_share=0.5), 7)[::6] for seed in seeds]
    first, last = (sorted(column) for column in zip(*delays, strict=True))

    assert (0.5, 1.0) == pytest.approx((first[0], first[-1]), rel=0.05)
    assert (30.0, 60.0) == pytest.approx((last[0], last[-1]), rel=0.05)


@pytest.mark.parametrize(("good_s", "expected"), [(0.0, 8.0), (59.999, 8.0), (60.0, 0.5), (3600.0, 0.5)])
def test_only_a_minute_of_success_resets(good_s: float, expected: float) -> None:
    """The count of attempts is reset after 60 s of success, never by a connection."""
    backoff = Backoff(30.0, Highest())
    _bounds(backoff, 4)
    backoff.succeeded(100.0)

    assert expected == backoff.failed(100.0 + good_s)


def test_success_counts_from_the_first() -> None:
    """Several successes in a row are one period of success, from the first to the last."""
    backoff = Backoff(30.0, Highest())
    _bounds(backoff, 4)
    for second in range(0, 61, 10):
        backoff.succeeded(100.0 + second)

    assert backoff.failed(160.0) == 0.5


def test_flapping_does_not_reset() -> None:
    """With one second of success between failures, the count of failures goes on."""
    backoff, bounds = Backoff(30.0, Highest()), []
    for second in range(0, 300, 2):
        backoff.succeeded(float(second))
        bounds.append(backoff.failed(second + 1.0))

    assert bounds == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0] + [30.0] * 144


def test_time_between_failures_is_no_success() -> None:
    """Hours without a success, as with a long poll interval, do not reset."""
    backoff = Backoff(30.0, Highest())

    assert [backoff.failed(hour * 3600.0) for hour in range(4)] == [0.5, 1.0, 2.0, 4.0]
