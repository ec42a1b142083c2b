"""The budget of The Odds API: when a sport is near, what calls are spread over, what a day may cost."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
NOON = 20_000 * DAY_S + 12 * HOUR

KICK_OFFS = st.lists(st.integers(0, int(2 * DAY_S)), max_size=6)
SPORTS = st.lists(KICK_OFFS, min_size=1, max_size=12)
CALLS = st.floats(0.1, 5000.0)


def sports_with(kick_offs: list[list[int]]) -> dict[Scope, Windows]:
    """Give sports with these kick-offs."""
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


@pytest.mark.parametrize(("hour", "left"), [(0, 96.0), (6, 72.0), (12, 48.0), (18, 24.0), (23, 24.0)])
def test_a_process_that_starts_has_the_share_of_the_rest_of_the_day(hour: int, left: float) -> None:
    """At least a quarter of a day, for who knows what was spent before it."""
    ledger = Ledger(96.0)

    assert left == pytest.approx(ledger.left(20_000 * DAY_S + hour * HOUR))
    assert 24.0 == 96.0 * START_SHARE


def test_what_is_spent_is_gone_until_midnight() -> None:
    """A new UTC day has all its credits, and nothing of the last."""
    ledger = Ledger(10.0)
    midnight = 20_000 * DAY_S
    for _ in range(9):
        ledger.spend(1.0, midnight + HOUR)

    left = [ledger.left(at) for at in (midnight + HOUR, midnight + DAY_S - 0.001, midnight + DAY_S)]
    assert pytest.approx([1.0 - 10 / 24, 1.0 - 10 / 24, 10.0]) == left


def test_what_is_given_back_may_be_spent_again() -> None:
    """But never more than a day's credits."""
    ledger = Ledger(10.0)
    ledger.spend(4.0, NOON)
    ledger.spend(-3.0, NOON)
    before = ledger.left(NOON)
    ledger.spend(-100.0, NOON)

    assert (4.0, 10.0) == (before, ledger.left(NOON))


def test_more_than_there_is_leaves_nothing() -> None:
    """What is left is never negative, and is not made up for on the next day."""
    ledger = Ledger(10.0)
    ledger.spend(50.0, NOON)

    assert (0.0, 10.0) == (ledger.left(NOON), ledger.left(NOON + DAY_S))


def test_a_clock_that_is_put_back_gives_no_new_credits() -> None:
    """Neither over midnight and back, nor when midnight comes again (faults.md, C12)."""
    ledger = Ledger(10.0)
    midnight = 20_000 * DAY_S
    ledger.spend(3.0, midnight - 60)
    ledger.spend(4.0, midnight + 60)

    assert [6.0, 6.0, 6.0] == [ledger.left(midnight + shift_s) for shift_s in (60, -60, 120)]
