"""The restart window: the limit of crashes as in OTP, and quarantines that double."""

from __future__ import annotations

import pytest

from actors.runtime.backoff import (
    FIRST_QUARANTINE_S,
    FORGIVEN_AFTER_S,
    LONGEST_QUARANTINE_S,
    MAX_CRASHES,
    WINDOW_S,
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


def test_quarantine_doubles_up_to_a_quarter_of_an_hour() -> None:
    """Within 60 s of readmission one crash is enough for a quarantine twice as long, up to 15 min."""
    window, now = RestartWindow(), 1000.0
    lengths = [_quarantined(window, now)]
    for _ in range(5):
        now += lengths[-1] + 60.0
        lengths.append(window.crashed(now) or 0.0)

    assert lengths == [60.0, 120.0, 240.0, 480.0, 900.0, 900.0]


def test_window_counts_again_after_a_minute_of_probation() -> None:
    """Later than 60 s after readmission it takes four crashes again, but the doubled duration is kept."""
    window = RestartWindow()
    now = _quarantined(window, 0.0) + 60.001

    assert [window.crashed(now + second) for second in range(4)] == [None, None, None, 120.0]


@pytest.mark.parametrize(("calm_s", "expected"), [(599.0, 120.0), (601.0, 60.0)])
def test_doubling_is_reset_after_ten_minutes_without_a_crash(calm_s: float, expected: float) -> None:
    """The ten minutes count from readmission, or from the last crash after it."""
    window = RestartWindow()
    readmitted = _quarantined(window, 0.0)

    assert expected == _quarantined(window, readmitted + calm_s)


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
