"""Meters: quantiles, rates and counts of the last one to two minutes, from a histogram in fixed memory."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from actors.monitoring.meter import WINDOW_S, Meter, Summary
from actors.monitoring.metrics import Count, Timing

ENDS = (0.001, 0.01, 0.1, 1.0, 10.0)
DURATIONS = st.lists(st.floats(0.0, 100.0), min_size=1, max_size=200)


def _meter() -> Meter:
    durations = Timing("durations", "Durations.", buckets=ENDS, registry=None)
    return Meter(durations, Count("sizes", "Sizes.", registry=None))


def _metered(*durations: float, now: float = 0.0) -> Meter:
    meter = _meter()
    for duration in durations:
        meter.add(duration, 1, now)
    return meter


def test_quantile_without_samples_is_none() -> None:
    """Without a sample there is no quantile, rather than zero."""
    assert Summary(0, 0.0, 0.0, None, None, None) == _meter().summary(0.0)


@given(DURATIONS)
@example([1.0, 0.0078125])
def test_quantile_is_in_the_bucket_of_its_sample(durations: list[float]) -> None:
    """A sample above all buckets counts as the end of the last bucket."""
    seen, known = _metered(*durations).summary(0.0), sorted(durations)

    for share, shown in ((0.5, seen.p50_s), (0.95, seen.p95_s), (0.99, seen.p99_s)):
        exact = known[max(-int(-share * len(known) // 1) - 1, 0)]
        above = next((end for end in ENDS if exact <= end), ENDS[-1])
        below = max((end for end in (0.0, *ENDS) if end < above), default=0.0)
        assert below <= (shown if shown is not None else inf) <= above


def test_samples_are_evenly_spread_in_their_bucket() -> None:
    """Prometheus' `histogram_quantile` assumes this as well, so both show the same quantiles."""
    seen = _metered(*[0.005] * 100).summary(0.0)

    assert pytest.approx((0.0055, 0.00955, 0.00991)) == (seen.p50_s, seen.p95_s, seen.p99_s)


def test_rate_is_over_the_time_since_the_first_sample() -> None:
    """A rate is never computed over less than a second."""
    meter = _meter()
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
