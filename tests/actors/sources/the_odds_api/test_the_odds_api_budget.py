"""The budget of The Odds API: when a sport is near, what calls are spread over, what a day may cost."""

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
    """Count plainly for how many seconds sports are near: the union of the spans of their kick-offs."""
    total = 0.0
    for times in kick_offs:
        reached = start
        for time in sorted(times):
            first, last = max(time - NEAR_BEFORE_S, reached), min(time + NEAR_AFTER_S, end)
            total += max(last - first, 0.0)
            reached = max(reached, last)
    return total


def test_a_sport_is_near_from_two_hours_before_a_kick_off_to_two_and_a_half_after() -> None:
    """Each kick-off has its span."""
    day = int(DAY_S)

    assert ((-2 * HOUR, 2.5 * HOUR), (DAY_S - 2 * HOUR, DAY_S + 2.5 * HOUR)) == near_windows([day, 0])


@pytest.mark.parametrize("later", [0, 3600, int(4.5 * HOUR)])
def test_spans_that_touch_are_one(later: int) -> None:
    """Also where one ends just as the next begins."""
    assert ((-2 * HOUR, later + 2.5 * HOUR),) == near_windows([later, 0, 0])


def test_without_kick_offs_nothing_is_near() -> None:
    """There are no spans."""
    assert () == near_windows([])


@given(KICK_OFFS)
def test_spans_are_in_order_and_apart(kick_offs: list[int]) -> None:
    """And every kick-off is in one of them."""
    windows = near_windows(kick_offs)
    ends = [moment for window in windows for moment in window]

    assert sorted(set(ends)) == ends
    assert all(any(first <= one <= last for first, last in windows) for one in kick_offs)


def calendar(kick_offs: list[list[int]], calls: float, ceiling_s: float = inf) -> Calendar:
    """Make the calendar of sports with these kick-offs."""
    return Calendar(sports_with(kick_offs), calls, ceiling_s)


def rounds(kick_offs: list[list[int]], found: Calendar) -> list[list[float]]:
    """Follow every sport through a day from its first second on; give when each is asked."""
    asked = []
    for windows in sports_with(kick_offs).values():
        now = 0.0
        times: list[float] = []
        while now < DAY_S and len(times) < 10_000:
            times.append(now)
            now += found.interval_s(windows, now)
        asked.append(times)
    return asked


def test_calls_are_spread_by_weight() -> None:
    """A second near a kick-off counts eight times: here 4.5 h x 8 + 43.5 h of two sports, with 53 calls."""
    rates = calendar([[int(NOON)], []], 53.0).rates(NOON // DAY_S)

    assert (1.5 * HOUR, WEIGHT) == pytest.approx((1 / rates.far, rates.weight))


@pytest.mark.parametrize("known", [[], [int(NOON)]])
def test_without_kick_offs_all_share_alike(known: list[int]) -> None:
    """36 sports and 36 calls a day: each is asked once a day, also beyond what is known."""
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
def test_a_sport_is_due_when_its_seconds_have_added_up(from_kick_off_h: float, interval_h: float) -> None:
    """Where a call is eight far hours, it is one near hour."""
    kick_offs = [[int(NOON)], []]
    found = calendar(kick_offs, (43.5 + WEIGHT * 4.5) / 8.0)
    (windows, _) = sports_with(kick_offs).values()

    assert interval_h * HOUR == pytest.approx(found.interval_s(windows, NOON + from_kick_off_h * HOUR))


@given(SPORTS, CALLS)
def test_a_day_is_worth_its_calls(kick_offs: list[list[int]], calls: float) -> None:
    """Whatever is near when: the seconds of all sports add up to them, to the last."""
    rates = calendar(kick_offs, calls).rates(0.0)
    near = near_seconds(kick_offs, 0.0, DAY_S)
    far = len(kick_offs) * DAY_S - near

    assert calls == pytest.approx(rates.far * (far + rates.weight * near))


@given(SPORTS, st.floats(0.5, 300.0))
def test_who_follows_it_spends_a_day_and_no_more(kick_offs: list[list[int]], calls: float) -> None:
    """But for the first call of each sport, which nothing was earned for."""
    asked = rounds(kick_offs, calendar(kick_offs, calls))

    assert sum(map(len, asked)) <= calls + len(kick_offs) + 1e-6


@given(SPORTS, st.floats(0.5, 5000.0), st.floats(0.0, 2 * DAY_S), st.floats(0.5, 2.0))
def test_no_interval_is_longer_than_if_all_others_were_near(
    kick_offs: list[list[int]], calls: float, now: float, boost: float
) -> None:
    """Eight times an equal share, twice if the day is overspent; and it is never nothing."""
    found = calendar(kick_offs, calls)
    longest_s = MAX_BOOST * WEIGHT * len(kick_offs) * DAY_S / calls

    for windows in sports_with(kick_offs).values():
        assert 0.0 < found.interval_s(windows, now, boost) <= longest_s * (1 + 1e-9)


@given(SPORTS, st.floats(0.5, 5000.0), st.floats(1.0, 50.0), st.floats(0.0, 2 * DAY_S))
def test_a_ceiling_is_kept_and_paid_for(
    kick_offs: list[list[int]], calls: float, room: float, now: float
) -> None:
    """Where it is at least an equal share it holds, and the day still costs its calls."""
    fair_s = len(kick_offs) * DAY_S / calls
    found = calendar(kick_offs, calls, fair_s * room)
    rates = found.rates(0.0)
    near = near_seconds(kick_offs, 0.0, DAY_S)

    for windows in sports_with(kick_offs).values():
        assert found.interval_s(windows, now) <= fair_s * room * (1 + 1e-6)
    assert calls == pytest.approx(rates.far * (len(kick_offs) * DAY_S + (rates.weight - 1) * near))


@given(SPORTS, CALLS, st.floats(0.0, 1.0), st.floats(0.0, DAY_S - 1.0))
def test_what_was_spent_otherwise_is_made_up_for_within_bounds(
    kick_offs: list[list[int]], calls: float, share: float, now: float
) -> None:
    """Nothing left or all of it: the rest of the day goes at half to twice its pace."""
    boost = calendar(kick_offs, calls).boost(now, calls * share)

    assert 1 / MAX_BOOST <= boost <= MAX_BOOST


def test_a_day_that_goes_to_plan_has_no_boost() -> None:
    """With half of it left at noon it goes on as it was."""
    assert pytest.approx(1.0) == calendar([[], []], 24.0).boost(NOON, 12.0)


def at(wall: float, late_s: float = 0.0) -> Instant:
    """Return the moment at which a clock shows `wall` that is late by so much (virtual noon is 0)."""
    return Instant(wall + late_s - NOON, wall)


@pytest.mark.parametrize(("hour", "left"), [(0, 96.0), (6, 72.0), (12, 48.0), (18, 24.0), (23, 24.0)])
def test_a_process_that_starts_has_the_share_of_the_rest_of_the_day(hour: int, left: float) -> None:
    """At least a quarter of a day, for who knows what was spent before it."""
    ledger = Ledger(96.0)

    assert left == pytest.approx(ledger.left(at(MIDNIGHT + hour * HOUR)))
    assert 24.0 == 96.0 * START_SHARE


def test_what_is_spent_is_gone_until_midnight() -> None:
    """A new UTC day has all its credits, and nothing of the last."""
    ledger = Ledger(10.0)
    for _ in range(9):
        ledger.spend(1.0, at(MIDNIGHT + HOUR))

    left = [ledger.left(at(moment)) for moment in (MIDNIGHT + HOUR, TOMORROW - 0.001, TOMORROW)]
    assert pytest.approx([1.0 - 10 / 24, 1.0 - 10 / 24, 10.0]) == left


def test_what_is_given_back_may_be_spent_again() -> None:
    """But never more than a day's credits."""
    ledger = Ledger(10.0)
    ledger.spend(4.0, at(NOON))
    ledger.spend(-3.0, at(NOON))
    before = ledger.left(at(NOON))
    ledger.spend(-100.0, at(NOON))

    assert (4.0, 10.0) == (before, ledger.left(at(NOON)))


def test_more_than_there_is_leaves_nothing() -> None:
    """What is left is never negative, and is not made up for on the next day."""
    ledger = Ledger(10.0)
    ledger.spend(50.0, at(NOON))

    assert (0.0, 10.0) == (ledger.left(at(NOON)), ledger.left(at(NOON + DAY_S)))


def test_a_clock_that_is_put_back_gives_no_new_credits() -> None:
    """Neither over midnight and back, nor when midnight comes again (faults.md, C12)."""
    ledger = Ledger(10.0)
    ledger.left(at(MIDNIGHT))
    ledger.spend(3.0, at(TOMORROW - 60))
    ledger.spend(4.0, at(TOMORROW + 60))
    moments = [at(TOMORROW + 60), at(TOMORROW - 60, 120), at(TOMORROW + 120, 120)]

    # Put back it is yesterday again, which has spent both; then either clock may be right.
    assert [6.0, 3.0, 6.0] == [ledger.left(moment) for moment in moments]


def test_a_clock_that_was_a_month_ahead_for_a_moment_costs_no_credits() -> None:
    """Right again, each day has what it would have had, that of the moment as well."""
    ledger = Ledger(16.0)
    ledger.left(at(MIDNIGHT))
    ledger.spend(1.0, at(NOON))
    ledger.spend(1.0, at(NOON + 30 * DAY_S + 5 * HOUR, -30 * DAY_S - 5 * HOUR))

    assert [14.0, 16.0, 16.0] == [ledger.left(at(NOON + day * DAY_S)) for day in range(3)]


def test_after_a_day_a_clock_that_was_set_is_believed() -> None:
    """Until then what was left before it was set is the limit as well."""
    ledger = Ledger(10.0)
    ledger.left(at(MIDNIGHT))
    ledger.spend(8.0, at(NOON - HOUR))
    left = [ledger.left(at(TOMORROW + hour * HOUR, -12 * HOUR)) for hour in (0, 11, 12, 35)]
    ledger.spend(8.0, at(TOMORROW + 40 * HOUR, -12 * HOUR))

    assert [2.0, 2.0, 10.0, 10.0] == left
    assert [2.0, 10.0] == [ledger.left(at(TOMORROW + hour * HOUR, -12 * HOUR)) for hour in (47, 48)]


def test_what_is_waited_for_is_the_later_midnight() -> None:
    """Of a clock that was set and of itself before, where neither has anything left."""
    ledger = Ledger(10.0)
    ledger.left(at(MIDNIGHT))
    ledger.spend(10.0, at(NOON))
    waits = [ledger.wait_s(1.0, moment) for moment in (at(NOON), at(NOON + HOUR, -HOUR), at(TOMORROW))]

    assert [12 * HOUR, 12 * HOUR, 0.0] == waits


def test_credits_that_come_back_late_belong_to_when_they_were_spent() -> None:
    """In monotonic seconds: a refund of yesterday's gives today nothing."""
    ledger = Ledger(10.0)
    ledger.left(at(MIDNIGHT))
    ledger.spend(5.0, at(NOON))
    ledger.spend(4.0, at(TOMORROW + HOUR))
    ledger.spend(-5.0, at(TOMORROW + 2 * HOUR), of=at(NOON).mono)
    ledger.spend(-1.0, at(TOMORROW + 3 * HOUR), of=at(TOMORROW + HOUR).mono)
    ledger.spend(-9.0, at(TOMORROW + 4 * HOUR), of=at(NOON - 5 * DAY_S).mono)

    assert 7.0 == ledger.left(at(TOMORROW + 5 * HOUR))


@given(
    st.lists(st.tuples(st.floats(60.0, 6 * HOUR), st.floats(0.0, 8.0)), min_size=1, max_size=60),
    st.floats(-40 * DAY_S, 40 * DAY_S),
    st.floats(0.0, 3 * DAY_S),
    st.floats(60.0, DAY_S - 1),
)
def test_no_true_day_is_overdrawn_by_a_clock_that_is_wrong_for_less_than_a_day(
    asked: list[tuple[float, float]], wrong_s: float, begin_s: float, lasting_s: float
) -> None:
    """Whatever is asked for when, and spent where it is left: a UTC day costs at most its credits."""
    ledger, mono, days = Ledger(16.0), 0.0, dict.fromkeys(range(20), 0.0)
    ledger.left(Instant(mono, MIDNIGHT))
    for later_s, amount in asked:
        mono += later_s
        shift_s = wrong_s if begin_s <= mono < begin_s + lasting_s else 0.0
        now = Instant(mono, MIDNIGHT + mono + shift_s)
        if ledger.left(now) >= amount:
            ledger.spend(amount, now)
            days[int(mono // DAY_S)] += amount

    assert max(days.values()) <= 16.0 + 1e-9
