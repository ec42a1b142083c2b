"""How often a crash is too often: restart intensity as in OTP, and quarantines that double."""

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
    """Crash at once until it is quarantined; give the length."""
    while (length := window.crashed(now)) is None:
        pass
    return length


def test_figures_are_those_of_the_design() -> None:
    """More than 3 in 60 s, quarantine for 60 s up to 15 min, forgiven after 10 min."""
    intensity = (MAX_CRASHES, WINDOW_S)
    quarantine = (FIRST_QUARANTINE_S, LONGEST_QUARANTINE_S, FORGIVEN_AFTER_S)

    assert ((3, 60.0), (60.0, 900.0, 600.0)) == (intensity, quarantine)


def test_three_crashes_are_restarted_the_fourth_is_too_many() -> None:
    """More than 3 crashes within 60 s: the fourth is the one."""
    window = RestartWindow()

    assert [window.crashed(second) for second in (0.0, 1.0, 2.0, 3.0)] == [None, None, None, 60.0]


@pytest.mark.parametrize(
    ("fourth", "expected"), [(59.9, 60.0), (60.0, 60.0), (60.001, None), (1000.0, None)]
)
def test_window_slides_exactly(fourth: float, expected: float | None) -> None:
    """Crashes exactly 60 s apart are within one window, as in OTP; later the first has slid out."""
    window = RestartWindow()

    assert [window.crashed(second) for second in (0.0, 20.0, 40.0, fourth)] == [None, None, None, expected]


def test_steady_crashes_below_the_intensity_are_restarted_for_ever() -> None:
    """Three a minute never add up: what is out of the window does not count."""
    window = RestartWindow()

    assert {None} == {window.crashed(20.001 * number) for number in range(1000)}


def test_quarantine_doubles_up_to_a_quarter_of_an_hour() -> None:
    """After readmission one crash within 60 s is enough, for twice as long, up to 15 min."""
    window, now = RestartWindow(), 1000.0
    lengths = [_quarantined(window, now)]
    for _ in range(5):
        now += lengths[-1] + 60.0
        lengths.append(window.crashed(now) or 0.0)

    assert lengths == [60.0, 120.0, 240.0, 480.0, 900.0, 900.0]


def test_after_a_minute_of_probation_the_window_counts_again() -> None:
    """Later than 60 s after readmission it takes four crashes again, but the doubling is kept."""
    window = RestartWindow()
    now = _quarantined(window, 0.0) + 60.001

    assert [window.crashed(now + second) for second in range(4)] == [None, None, None, 120.0]


@pytest.mark.parametrize(("calm_s", "expected"), [(599.0, 120.0), (601.0, 60.0)])
def test_doubling_is_forgiven_after_ten_minutes_without_a_crash(calm_s: float, expected: float) -> None:
    """Ten minutes from readmission, or from the last crash after it."""
    window = RestartWindow()
    readmitted = _quarantined(window, 0.0)

    assert expected == _quarantined(window, readmitted + calm_s)


def test_single_crash_puts_off_the_forgiveness() -> None:
    """The ten minutes count from the last crash."""
    window = RestartWindow()
    readmitted = _quarantined(window, 0.0)
    window.crashed(readmitted + 500.0)

    assert _quarantined(window, readmitted + 1000.0) == 120.0


def test_quarantine_by_order_doubles_as_well() -> None:
    """A quarantine that something else decides counts as one, with its probation."""
    window = RestartWindow()

    assert [window.quarantined(0.0), window.crashed(100.0), window.quarantined(300.0)] == [
        60.0,
        120.0,
        240.0,
    ]


def test_quarantine_by_order_is_forgiven_as_well() -> None:
    """Ten minutes without a crash after the readmission start anew, whatever it was quarantined for."""
    by_order, by_crash = RestartWindow(), RestartWindow()
    by_order.quarantined(0.0)
    by_crash.quarantined(0.0)

    assert (60.0, 60.0) == (by_order.quarantined(5000.0), _quarantined(by_crash, 5000.0))
