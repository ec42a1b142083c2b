"""Requests of one client: a burst, then the rate, and a table that cannot grow."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from web.protocol.rate_limit import RateLimit, Taken, WorkLimit


def test_a_burst_passes_and_then_the_rate() -> None:
    """Ten requests pass at the same time, and then one each half second."""
    limit = RateLimit(2.0, 10, 100)

    first = [limit.take("a", 100.0) for _ in range(11)]

    assert [*range(9, -1, -1), 0] == [taken.remaining for taken in first]
    assert [0.0] * 10 + [0.5] == [pytest.approx(taken.retry_after_s) for taken in first]
    assert 0.0 == limit.take("a", 100.5).retry_after_s
    assert 0.5 == pytest.approx(limit.take("a", 100.5).retry_after_s)
    assert 0.0 == limit.take("b", 100.5).retry_after_s


def test_a_refused_request_costs_nothing() -> None:
    """A client that asks again and again is accepted as early as a client that waits."""
    limit = RateLimit(1.0, 1, 100)
    limit.take("a", 0.0)

    waits = [limit.take("a", tenth / 10).retry_after_s for tenth in range(1, 10)]

    assert all(waits)
    assert 0.0 == limit.take("a", 1.0).retry_after_s


@given(
    per_s=st.floats(0.01, 1e6),
    burst=st.integers(1, 200) | st.integers(1, 1_000_000),
    gaps=st.lists(st.floats(0.0, 3.0), min_size=1, max_size=300),
)
def test_never_more_than_burst_and_rate(per_s: float, burst: int, gaps: list[float]) -> None:
    """Any time span has at most burst + rate x span requests; after `retry_after_s` a request passes."""
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
            assert to - at + 1 <= burst + per_s * (passed[to] - since) + 1e-2


def _copy(limit: RateLimit, per_s: float, burst: int) -> RateLimit:
    copy = RateLimit(per_s, burst, 10)
    copy._full_at = limit._full_at.copy()
    return copy


def test_the_table_keeps_the_clients_that_asked_last() -> None:
    """A million addresses take no more memory than the table may have."""
    limit = RateLimit(1.0, 1, 3)
    for name in "abcad":
        limit.take(name, 0.0)

    assert 3 == len(limit)
    assert [True, True, False] == [limit.take(name, 0.0).retry_after_s > 0 for name in "adb"]


def test_other_limits_hold_at_once() -> None:
    """New limits give each client its whole burst, and the fields show the new limits."""
    limit = RateLimit(0.01, 1, 3)
    refused = [limit.take("a", 0.0).retry_after_s > 0 for _ in range(2)]
    limit.change(1.0, 2, 1)
    after = [limit.take("a", 0.0).retry_after_s for _ in range(3)]
    limit.take("b", 0.0)

    assert [False, True] == refused
    assert [0.0, 0.0, 1.0] == after
    assert (1, b'"client";q=2;w=2') == (len(limit), dict(limit.fields(Taken(1, 0.0)))[b"ratelimit-policy"])


@given(
    per_s=st.floats(0.01, 1e6),
    burst=st.integers(1, 1_000_000),
    times=st.lists(st.floats(0.0, 1e9), min_size=1, max_size=50),
)
def test_a_clock_that_goes_back_costs_at_most_that_time(
    per_s: float, burst: int, times: list[float]
) -> None:
    """If the monotonic clock went back, nobody would wait longer than that time and the rate's time."""
    limit = RateLimit(per_s, burst, 10)
    for at, now in enumerate(times):
        taken = limit.take("a", now)

        assert 0 <= taken.remaining < burst
        assert taken.retry_after_s <= max(times[: at + 1]) - now + 1 / per_s + 1e-6
        assert (taken.retry_after_s > 0.0) <= (taken.remaining == 0)


def test_the_fields_are_those_of_the_draft() -> None:
    """The fields are structured, with whole seconds rounded up; the window is at most Retry-After."""
    limit = RateLimit(20.0, 100, 10)
    policy = (b"ratelimit-policy", b'"client";q=100;w=5')

    assert (policy, (b"ratelimit", b'"client";r=7;t=3')) == limit.fields(Taken(7, 2.1))
    assert (policy, (b"ratelimit", b'"client";r=0;t=2')) == limit.fields(Taken(0, 5.0, 1.01))
    assert (policy, (b"ratelimit", b'"client";r=99;t=1')) == limit.fields(limit.take("a", 0.0))


@given(per_s=st.floats(0.01, 1e6), burst=st.integers(1, 1_000_000))
def test_every_number_in_the_fields_is_one_that_the_draft_allows(per_s: float, burst: int) -> None:
    """Numbers are integers of at most 15 digits (RFC 9651); a window is at least 1 s."""
    limit = RateLimit(per_s, burst, 10)
    for taken in (limit.take("a", 1e9), limit.take("a", 1e9)):
        policy, now = (re.findall(rb"=([0-9]{1,15})(?:;|$)", value) for _, value in limit.fields(taken))

        assert burst == int(policy[0])
        assert int(policy[1]) >= 1
        assert 2 == len(now)


def test_work_is_limited_in_the_long_run_and_at_once() -> None:
    """At 0.1 s of work a second, 2 s may be done together; then the client waits for the excess."""
    limit = WorkLimit(share=0.1, burst_s=2.0)
    limit.charge("a", 2.0, 100.0)
    at_once = limit.wait_s("a", 100.0)
    limit.charge("a", 0.5, 100.0)

    assert (0.0, 5.0, 0.0) == (at_once, limit.wait_s("a", 100.0), limit.wait_s("a", 105.0))
    assert (0.0, 0.0) == (limit.wait_s("b", 100.0), limit.wait_s(None, 100.0))


def test_the_table_of_work_is_bounded() -> None:
    """The table keeps the clients that caused work last."""
    limit = WorkLimit(share=0.1, burst_s=1.0, max_clients=2)
    for client in "abc":
        limit.charge(client, 2.0, 0.0)

    assert [0.0, 10.0, 10.0] == [limit.wait_s(client, 0.0) for client in "abc"]
