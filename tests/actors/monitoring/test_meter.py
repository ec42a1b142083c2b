"""Meters: quantiles, rates and counts of the last one to two minutes, in fixed memory."""

from __future__ import annotations

import sys
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.monitoring.meter import BUCKETS, WINDOW_S, Meter, Summary

DURATIONS = st.lists(st.floats(1e-6, 1e5), min_size=1, max_size=200)


def _metered(*durations: float, now: float = 0.0) -> Meter:
    meter = Meter()
    for duration in durations:
        meter.add(duration, 1, now)
    return meter


def test_quantile_without_samples_is_none() -> None:
    """Without a sample there is no quantile, rather than zero."""
    assert Summary(0, 0.0, 0.0, None, None, None) == Meter().summary(0.0)


@given(DURATIONS)
def test_quantile_is_at_most_a_fifth_too_large(durations: list[float]) -> None:
    """A quantile is never too small, for any durations."""
    seen, known = _metered(*durations).summary(0.0), sorted(durations)

    for share, shown in ((0.5, seen.p50_s), (0.95, seen.p95_s), (0.99, seen.p99_s)):
        exact = known[max(-int(-share * len(known) // 1) - 1, 0)]
        assert exact <= (shown or 0) * (1 + 1e-9)
        assert (shown or inf) <= exact * 2**0.25 * (1 + 1e-9)


@pytest.mark.parametrize(("took_s", "quarters"), [(0.0, 1), (1e-9, 1), (1e30, BUCKETS)])
def test_duration_beyond_the_classes_counts_in_the_nearest(took_s: float, quarters: int) -> None:
    """Neither zero nor a duration above the longest class causes an error."""
    assert pytest.approx(1e-6 * 2 ** (quarters / 4)) == _metered(took_s).summary(0.0).p50_s


def test_rate_is_over_the_time_since_the_first_sample() -> None:
    """A rate is never computed over less than a second."""
    meter = Meter()
    meter.add(0.1, 5, 100.0)
    at_once = meter.summary(100.0)
    for second in range(1, 10):
        meter.add(0.1, 5, 100.0 + second)

    later = meter.summary(110.0)

    assert (1, 1.0, 5.0) == (at_once.count, at_once.per_s, at_once.sizes_per_s)
    assert (10, 1.0, 5.0) == (later.count, later.per_s, later.sizes_per_s)


@pytest.mark.parametrize(
    ("after_s", "count"), [(WINDOW_S - 1, 1), (WINDOW_S, 1), (2 * WINDOW_S - 1, 1), (2 * WINDOW_S, 0)]
)
def test_samples_are_dropped_after_two_minutes(after_s: float, count: int) -> None:
    """Samples are dropped after one to two minutes, with or without newer ones."""
    assert count == _metered(0.1, now=0.0).summary(after_s).count


def test_samples_of_two_windows_are_combined() -> None:
    """Results include the samples of the previous window, so that they do not restart with each window."""
    meter = _metered(0.001, 0.001, now=0.0)
    meter.add(1.0, 1, WINDOW_S)

    seen = meter.summary(WINDOW_S + 10)

    assert (3, 3 / (WINDOW_S + 10)) == (seen.count, seen.per_s)
    assert (seen.p50_s or inf) < 0.002 < (seen.p99_s or 0)


def test_memory_is_fixed() -> None:
    """Memory does not grow with the number of samples or windows."""
    meter = Meter()
    for number in range(10_000):
        meter.add(number / 7, number, number / 10)

    assert {BUCKETS} == {len(window.counts) for window in (meter._new, meter._old) if window}
    assert sys.getsizeof(meter._new.counts) < 2000
