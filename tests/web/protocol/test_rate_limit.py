"""Requests of one client: a burst, then the rate, and a table that cannot grow."""

from __future__ import annotations

from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from web.protocol.rate_limit import RateLimit, Taken, fields


def test_a_burst_passes_and_then_the_rate() -> None:
    """Ten at once, then one each half second."""
    limit = RateLimit(2.0, 10, 100)

    first = [limit.take("a", 100.0) for _ in range(11)]

    assert [*range(9, -1, -1), 0] == [one.remaining for one in first]
    assert [0.0] * 10 + [0.5] == [pytest.approx(one.retry_after_s) for one in first]
    assert 0.0 == limit.take("a", 100.5).retry_after_s
    assert 0.5 == pytest.approx(limit.take("a", 100.5).retry_after_s)
    assert 0.0 == limit.take("b", 100.5).retry_after_s


def test_a_refused_request_costs_nothing() -> None:
    """A client that goes on asking is let in as early as one that waits."""
    limit = RateLimit(1.0, 1, 100)
    limit.take("a", 0.0)

    waits = [limit.take("a", tenth / 10).retry_after_s for tenth in range(1, 10)]

    assert all(waits)
    assert 0.0 == limit.take("a", 1.0).retry_after_s


@given(
    per_s=st.floats(0.1, 1000.0),
    burst=st.integers(1, 200),
    gaps=st.lists(st.floats(0.0, 3.0), min_size=1, max_size=300),
)
def test_never_more_than_burst_and_rate(per_s: float, burst: int, gaps: list[float]) -> None:
    """In any span of time at most burst + rate x span requests pass, and after `retry_after_s` one does."""
    limit, now, passed = RateLimit(per_s, burst, 10), 1000.0, list[float]()
    for gap in gaps:
        now += gap
        taken = limit.take("a", now)
        if taken.retry_after_s == 0.0:
            passed.append(now)
        else:
            assert (
                0.0
                == RateLimit.take(_copy(limit, per_s, burst), "a", now + taken.retry_after_s).retry_after_s
            )

    for at, since in enumerate(passed):
        for to in range(at, len(passed)):
            assert to - at + 1 <= burst + per_s * (passed[to] - since) + 1e-3


def _copy(limit: RateLimit, per_s: float, burst: int) -> RateLimit:
    copy = RateLimit(per_s, burst, 10)
    copy._full_at = limit._full_at.copy()
    return copy


def test_the_table_keeps_the_clients_that_asked_last() -> None:
    """A million addresses take no more room than the table has."""
    limit = RateLimit(1.0, 1, 3)
    for name in "abcad":
        limit.take(name, 0.0)

    assert 3 == len(limit)
    assert [True, True, False] == [limit.take(name, 0.0).retry_after_s > 0 for name in "adb"]


def test_the_fields_are_those_of_the_draft() -> None:
    """Structured fields, seconds rounded up."""
    limit = RateLimit(20.0, 100, 10)

    assert '"client";q=100;w=5' == limit.policy
    assert {
        "RateLimit-Policy": '"client";q=100;w=5',
        "RateLimit": '"client";r=7;t=3',
    } == fields(limit.policy, Taken(7, 2.1))
    assert "2" == fields(limit.policy, Taken(0, 5.0, 1.01))["Retry-After"]
    assert 1 == ceil(limit.take("a", 0.0).reset_s)
