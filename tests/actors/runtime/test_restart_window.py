"""The restart window: the limit as in OTP, quarantines that double, models of it and of delays."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from actors.runtime.backoff import (
    FIRST_QUARANTINE_S,
    FORGIVEN_AFTER_S,
    LONGEST_QUARANTINE_S,
    MAX_CRASHES,
    WINDOW_S,
    Backoff,
    RestartWindow,
)


def _quarantined(window: RestartWindow, now: float) -> float:
    """Let it crash at once until it is quarantined; return the duration."""
    while (length := window.crashed(now)) is None:
        pass
    return length


def test_figures_are_as_documented() -> None:
    """More than 3 crashes in 60 s, quarantine for 60 s up to 15 min, reset after 10 min."""
    intensity = (MAX_CRASHES, WINDOW_S)
    quarantine = (FIRST_QUARANTINE_S, LONGEST_QUARANTINE_S, FORGIVEN_AFTER_S)

    assert ((3, 60.0), (60.0, 900.0, 600.0)) == (intensity, quarantine)


def test_fourth_crash_within_a_minute_is_quarantined() -> None:
    """Three crashes within 60 s are restarted, the fourth is quarantined."""
    window = RestartWindow()

    assert [window.crashed(second) for second in (0.0, 1.0, 2.0, 3.0)] == [None, None, None, 60.0]


def test_quarantine_by_order_doubles_as_well() -> None:
    """A quarantine ordered from outside counts like any other, with its probation."""
    window = RestartWindow()

    assert [window.quarantined(0.0), window.crashed(100.0), window.quarantined(300.0)] == [
        60.0,
        120.0,
        240.0,
    ]


def test_quarantine_by_order_is_reset_as_well() -> None:
    """Ten minutes without a crash after readmission reset the duration, whatever the cause was."""
    by_order, by_crash = RestartWindow(), RestartWindow()
    by_order.quarantined(0.0)
    by_crash.quarantined(0.0)

    assert (60.0, 60.0) == (by_order.quarantined(5000.0), _quarantined(by_crash, 5000.0))


# In halves of a second, so that sums are exact and hit the edges of the windows.
GAPS = st.lists(
    st.one_of(st.integers(0, 80), st.sampled_from([119, 120, 121, 1199, 1200, 1201])), max_size=25
)


def _model(crashes: list[float]) -> list[float | None]:
    """Return the quarantine after each crash, as docs/operations.md describes it."""
    verdicts: list[float | None] = []
    counted: list[float] = []
    length, readmitted, calm_since = 60.0, None, 0.0
    for now in crashes:
        if now - calm_since > 600:
            length, readmitted = 60.0, None
        counted.append(now)
        within = sum(now - value <= 60 for value in counted)
        on_probation = readmitted is not None and now - readmitted <= 60
        if within <= 3 and not on_probation:
            verdicts.append(None)
            calm_since = now
            continue
        verdicts.append(length)
        readmitted = calm_since = now + length
        length = min(2 * length, 900.0)
        counted.clear()
    return verdicts


@given(GAPS)
@settings(max_examples=300, derandomize=True)
def test_every_verdict_equals_the_model(gaps: list[int]) -> None:
    """Each crash has the verdict that its whole history demands; no crash falls into a quarantine."""
    window = RestartWindow()
    crashes: list[float] = []
    verdicts: list[float | None] = []
    now = 0.0
    for gap in gaps:
        now += gap / 2
        crashes.append(now)
        verdicts.append(window.crashed(now))
        now += verdicts[-1] or 0.0

    assert _model(crashes) == verdicts


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 1.0, 59.5, 60.0, 60.5]))), st.integers())
@settings(max_examples=300, derandomize=True)
def test_every_delay_is_within_the_bound_of_the_model(history: list[tuple[bool, float]], seed: int) -> None:
    """uniform(0, min(cap, 0.5 * 2**n)), where n counts the failures since the last 60 s of success."""
    backoff = Backoff(30.0, Random(seed))
    now, failures = 0.0, 0
    good_since: float | None = None
    delays: list[tuple[float, float]] = []
    for is_good, gap in history:
        now += gap
        if good_since is not None and now - good_since >= 60:
            failures = 0
        if is_good:
            backoff.succeeded(now)
            good_since = now if good_since is None else good_since
            continue
        good_since = None
        delays.append((backoff.failed(now), min(30.0, 0.5 * 2**failures)))
        failures += 1

    assert all(0.0 <= delay <= bound for delay, bound in delays)
