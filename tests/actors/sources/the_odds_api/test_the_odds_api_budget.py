"""The budget of The Odds API: when a sport is near a kick-off, how calls are spread, a day's cost."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.core.clock import Instant
from actors.core.messages import Scope
from actors.sources.the_odds_api.budget import (
    DAY_S,
    MAX_BOOST,
    NEAR_AFTER_S,
    NEAR_BEFORE_S,
    START_SHARE,
    WEIGHT,
    Calendar,
    Ledger,
    Windows,
    near_windows,
)

HOUR = 3600.0
MIDNIGHT = 20_000 * DAY_S
NOON, TOMORROW = MIDNIGHT + 12 * HOUR, MIDNIGHT + DAY_S

KICK_OFFS = st.lists(st.integers(0, int(2 * DAY_S)), max_size=6)
SPORTS = st.lists(KICK_OFFS, min_size=1, max_size=12)
CALLS = st.floats(0.1, 5000.0)


def sports_with(kick_offs: list[list[int]]) -> dict[Scope, Windows]:
    """Return sports with these kick-offs."""
    return {Scope(str(number)): near_windows(times) for number, times in enumerate(kick_offs)}


def near_seconds(kick_offs: list[list[int]], start: float, end: float) -> float:
    """Return for how many seconds sports are near, by simple code: the union of their kick-offs' spans."""
    total = 0.0
    for times in kick_offs:
        reached = start
        for time in sorted(times):
            first, last = max(time - NEAR_BEFORE_S, reached), min(time + NEAR_AFTER_S, end)
            total += max(last - first, 0.0)
            reached = max(reached, last)
    return total


@pytest.mark.parametrize(
    ("kick_offs", "spans"),
    [
        ([int(DAY_S), 0], ((-2.0, 2.5), (22.0, 26.5))),
        *(([later, 0, 0], ((-2.0, later / HOUR + 2.5),)) for later in (0, 3600, int(4.5 * HOUR))),
    ],
)
def test_sport_is_near_from_two_hours_before_a_kick_off_to_two_and_a_half_after(
    kick_offs: list[int], spans: tuple[tuple[float, float], ...]
) -> None:
    """Two spans are joined also if one ends exactly where the next one begins."""
    assert tuple((first * HOUR, last * HOUR) for first, last in spans) == near_windows(kick_offs)


@given(KICK_OFFS)
def test_spans_are_ordered_and_separate(kick_offs: list[int]) -> None:
    """Every kick-off is in one of the spans."""
    windows = near_windows(kick_offs)
    ends = [moment for window in windows for moment in window]

    assert sorted(set(ends)) == ends
    assert all(any(first <= kick_off <= last for first, last in windows) for kick_off in kick_offs)


def calendar(kick_offs: list[list[int]], calls: float, ceiling_s: float = inf) -> Calendar:
    """Return the calendar of sports with these kick-offs."""
    return Calendar(sports_with(kick_offs), calls, ceiling_s)


def test_calls_are_spread_by_weight() -> None:
    """A second near a kick-off counts eight times: here 4.5 h x 8 + 43.5 h of two sports, with 53 calls."""
    rates = calendar([[int(NOON)], []], 53.0).rates(NOON // DAY_S)

    assert (1.5 * HOUR, WEIGHT) == pytest.approx((1 / rates.far, rates.weight))


@pytest.mark.parametrize("known", [[], [int(NOON)]])
def test_without_kick_offs_all_sports_share_equally(known: list[int]) -> None:
    """With 36 sports and 36 calls a day each sport is polled once a day, also after known kick-offs."""
    found = calendar([known, *[[]] * 35], 36.0)

    assert DAY_S == pytest.approx(found.interval_s((), NOON + 2 * DAY_S))


@pytest.mark.parametrize(
    ("from_kick_off_h", "interval_h"),
    [
        pytest.param(-12, 8.0, id="far from it"),
        pytest.param(-6, 4.5, id="four far hours and half a near one"),
        pytest.param(-2, 1.0, id="when it begins"),
        pytest.param(2, 4.5, id="half a near hour and four far ones"),
    ],
)
def test_sport_is_due_when_its_weighted_seconds_add_up(from_kick_off_h: float, interval_h: float) -> None:
    """A call takes eight hours far from a kick-off, but one hour near a kick-off."""
    kick_offs = [[int(NOON)], []]
    found = calendar(kick_offs, (43.5 + WEIGHT * 4.5) / 8.0)
    (windows, _) = sports_with(kick_offs).values()

    assert interval_h * HOUR == pytest.approx(found.interval_s(windows, NOON + from_kick_off_h * HOUR))


@given(SPORTS, CALLS)
def test_day_has_exactly_its_calls(kick_offs: list[list[int]], calls: float) -> None:
    """For any kick-offs, the weighted seconds of all sports add up to the day's calls."""
    rates = calendar(kick_offs, calls).rates(0.0)
    near = near_seconds(kick_offs, 0.0, DAY_S)
    far = len(kick_offs) * DAY_S - near

    assert calls == pytest.approx(rates.far * (far + rates.weight * near))


@given(SPORTS, st.floats(0.5, 5000.0), st.floats(0.0, 2 * DAY_S), st.floats(0.5, 2.0))
def test_longest_interval_is_that_with_all_others_near(
    kick_offs: list[list[int]], calls: float, now: float, boost: float
) -> None:
    """An interval is at most eight equal shares, twice that if the day is overspent, and never zero."""
    found = calendar(kick_offs, calls)
    longest_s = MAX_BOOST * WEIGHT * len(kick_offs) * DAY_S / calls

    for windows in sports_with(kick_offs).values():
        assert 0.0 < found.interval_s(windows, now, boost) <= longest_s * (1 + 1e-9)


@given(SPORTS, st.floats(0.5, 5000.0), st.floats(1.0, 50.0), st.floats(0.0, 2 * DAY_S))
def test_ceiling_is_kept_within_the_calls_of_the_day(
    kick_offs: list[list[int]], calls: float, room: float, now: float
) -> None:
    """A ceiling of at least an equal share is kept, and the day still has the same number of calls."""
    fair_s = len(kick_offs) * DAY_S / calls
    found = calendar(kick_offs, calls, fair_s * room)
    rates = found.rates(0.0)
    near = near_seconds(kick_offs, 0.0, DAY_S)

    for windows in sports_with(kick_offs).values():
        assert found.interval_s(windows, now) <= fair_s * room * (1 + 1e-6)
    assert calls == pytest.approx(rates.far * (len(kick_offs) * DAY_S + (rates.weight - 1) * near))


@given(SPORTS, CALLS, st.floats(0.0, 1.0), st.floats(0.0, DAY_S - 1.0))
def test_deviations_are_corrected_within_bounds(
    kick_offs: list[list[int]], calls: float, share: float, now: float
) -> None:
    """The other hours have half to twice the planned rate; if credits are as planned, the planned rate."""
    boost = calendar(kick_offs, calls).boost(now, calls * share)

    assert 1 / MAX_BOOST <= boost <= MAX_BOOST
    assert pytest.approx(1.0) == calendar([[], []], 24.0).boost(NOON, 12.0)


def at(wall: float, late_s: float = 0.0) -> Instant:
    """Return the moment at which a clock that is late by `late_s` shows `wall` (virtual noon is 0)."""
    return Instant(wall + late_s - NOON, wall)


def left_of(ledger: Ledger, now: Instant) -> float:
    """Return the credits that are left at this moment."""
    ledger.left_to_spread(now)
    return ledger.left


@pytest.mark.parametrize(("hour", "left"), [(0, 96.0), (6, 72.0), (12, 48.0), (18, 24.0), (23, 24.0)])
def test_new_process_has_its_share_of_the_day(hour: int, left: float) -> None:
    """A new process has at least a quarter of a day's credits, since earlier use is unknown."""
    ledger = Ledger(96.0)

    assert left == pytest.approx(left_of(ledger, at(MIDNIGHT + hour * HOUR)))
    assert 24.0 == 96.0 * START_SHARE


def test_used_credits_are_gone_until_midnight() -> None:
    """A new UTC day has all its credits and none of the previous day's."""
    ledger = Ledger(10.0)
    for _ in range(9):
        ledger.spend(1.0, at(MIDNIGHT + HOUR))

    left = [left_of(ledger, at(moment)) for moment in (MIDNIGHT + HOUR, TOMORROW - 0.001, TOMORROW)]
    assert pytest.approx([1.0 - 10 / 24, 1.0 - 10 / 24, 10.0]) == left


def test_refunded_credits_may_be_used_again() -> None:
    """At most a day's credits are left, and at least 0; the next day is not affected."""
    ledger = Ledger(10.0)
    ledger.spend(4.0, at(NOON))
    ledger.spend(-3.0, at(NOON))
    before = left_of(ledger, at(NOON))
    ledger.spend(-100.0, at(NOON))

    assert (4.0, 10.0) == (before, left_of(ledger, at(NOON)))
    overspent = Ledger(10.0)
    overspent.spend(50.0, at(NOON))
    assert [0.0, 10.0] == [left_of(overspent, at(moment)) for moment in (NOON, NOON + DAY_S)]


def test_clock_set_back_adds_no_credits() -> None:
    """A step back over midnight adds no credits, and the second midnight adds none (faults.md, C12)."""
    ledger = Ledger(10.0)
    left_of(ledger, at(MIDNIGHT))
    ledger.spend(3.0, at(TOMORROW - 60))
    ledger.spend(4.0, at(TOMORROW + 60))
    moments = [at(TOMORROW + 60), at(TOMORROW - 60, 120), at(TOMORROW + 120, 120)]

    # A step back returns to the previous day, with all spent credits; later either clock may be right.
    assert [6.0, 3.0, 6.0] == [left_of(ledger, moment) for moment in moments]


def test_clock_is_trusted_a_day_after_a_step() -> None:
    """Before that, the credits left before the step are a limit as well."""
    ledger = Ledger(10.0)
    left_of(ledger, at(MIDNIGHT))
    ledger.spend(8.0, at(NOON - HOUR))
    left = [left_of(ledger, at(TOMORROW + hour * HOUR, -12 * HOUR)) for hour in (0, 11, 12, 35)]
    ledger.spend(8.0, at(TOMORROW + 40 * HOUR, -12 * HOUR))

    assert [2.0, 2.0, 10.0, 10.0] == left
    assert [2.0, 10.0] == [left_of(ledger, at(TOMORROW + hour * HOUR, -12 * HOUR)) for hour in (47, 48)]


def test_wait_is_until_the_later_midnight() -> None:
    """If no credits are left by the old and the new clock, the later midnight counts."""
    ledger = Ledger(10.0)
    left_of(ledger, at(MIDNIGHT))
    ledger.spend(10.0, at(NOON))
    waits = [ledger.wait_s(1.0, moment) for moment in (at(NOON), at(NOON + HOUR, -HOUR), at(TOMORROW))]

    assert [12 * HOUR, 12 * HOUR, 0.0] == waits


def test_late_refund_belongs_to_the_time_of_its_use() -> None:
    """The time is in monotonic seconds: a refund for yesterday adds nothing to today."""
    ledger = Ledger(10.0)
    left_of(ledger, at(MIDNIGHT))
    ledger.spend(5.0, at(NOON))
    ledger.spend(4.0, at(TOMORROW + HOUR))
    ledger.spend(-5.0, at(TOMORROW + 2 * HOUR), of=at(NOON).mono)
    ledger.spend(-1.0, at(TOMORROW + 3 * HOUR), of=at(TOMORROW + HOUR).mono)
    ledger.spend(-9.0, at(TOMORROW + 4 * HOUR), of=at(NOON - 5 * DAY_S).mono)

    assert 7.0 == left_of(ledger, at(TOMORROW + 5 * HOUR))


@pytest.mark.parametrize("away_s", [0.0, HOUR])
def test_what_was_spent_travels_to_another_machine(away_s: float) -> None:
    """Credits soon to be spent count, too; a transfer makes no spending older; at midnight all are back."""
    first, second = Ledger(96.0), Ledger(96.0)
    first.left_to_spread(at(MIDNIGHT))
    for hour in (1, 2):
        first.spend(3.0, at(MIDNIGHT + hour * HOUR))
    carried = first.carried(2.0, at(MIDNIGHT + 3 * HOUR))
    arrived = MIDNIGHT + 3 * HOUR + away_s
    second.resume(carried, at(arrived, late_s=-5e5))

    left = [
        left_of(second, at(wall, late_s=-5e5)) for wall in (arrived, TOMORROW - 2.0, TOMORROW + 2 * HOUR)
    ]
    assert pytest.approx([88.0 - 4.0 * (away_s / HOUR)] * 2 + [96.0]) == left


def test_the_day_is_spent_if_what_was_spent_is_lost() -> None:
    """The next day has all its credits."""
    ledger = Ledger(96.0)
    ledger.resume(None, at(NOON))

    assert [0.0, 0.0, 96.0] == [left_of(ledger, at(wall)) for wall in (NOON, TOMORROW - 2.0, TOMORROW)]


@given(
    st.lists(st.tuples(st.floats(60.0, 6 * HOUR), st.floats(0.0, 8.0)), min_size=1, max_size=60),
    st.floats(-40 * DAY_S, 40 * DAY_S),
    st.floats(0.0, 3 * DAY_S),
    st.floats(60.0, DAY_S - 1),
)
def test_no_true_day_is_overdrawn_by_a_clock_that_is_wrong_for_less_than_a_day(
    asked: list[tuple[float, float]], wrong_s: float, begin_s: float, lasting_s: float
) -> None:
    """For any requests and refunds, a UTC day uses at most its credits."""
    ledger, mono, days = Ledger(16.0), 0.0, dict.fromkeys(range(20), 0.0)
    left_of(ledger, Instant(mono, MIDNIGHT))
    for later_s, amount in asked:
        mono += later_s
        shift_s = wrong_s if begin_s <= mono < begin_s + lasting_s else 0.0
        true = MIDNIGHT + mono  # rounded as the ledger's clock, near midnight to the next day
        now = Instant(mono, true + shift_s)
        if left_of(ledger, now) >= amount:
            ledger.spend(amount, now)
            days[int((true - MIDNIGHT) // DAY_S)] += amount

    assert max(days.values()) <= 16.0 + 1e-9
