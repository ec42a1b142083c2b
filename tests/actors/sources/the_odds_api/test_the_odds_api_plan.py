"""The plan of The Odds API: which call, which addresses, and when."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from types import FrameType
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.source_api.plan import Target
from actors.sources.the_odds_api.answers import OddsAnswer, Sports, read_odds
from actors.sources.the_odds_api.kind import KIND
from actors.sources.the_odds_api.options import SPORTS_SCOPE, TheOddsApiOptions, cheapest_call
from actors.sources.the_odds_api.plan import TheOddsApiPlan
from tests.support.builders.the_odds_api import API_KEY

DAY_S, HOUR = 86_400.0, 3600.0
MIDNIGHT = 20_000 * DAY_S
MORNING = MIDNIGHT + 6 * HOUR
LEAGUES = ("soccer_a", "soccer_b", "soccer_c")


def options(**given: Any) -> TheOddsApiOptions:
    """Return options, by default with three leagues."""
    return TheOddsApiOptions(kind=KIND.name, api_key=API_KEY, **{"sports": LEAGUES, **given})


def plan(keys: tuple[str, ...] = ("some",), **given: Any) -> TheOddsApiPlan:
    """Return a plan. Raises: ValueError."""
    return TheOddsApiPlan(options(**given), keys)


def at(wall: float) -> Instant:
    """Return a moment by both clocks."""
    return Instant(wall - MIDNIGHT, wall)


def learn(of: TheOddsApiPlan, target: Target, *kick_offs: float, now: float = MORNING) -> None:
    """Pass an answer with these kick-offs of a sport to the plan."""
    of.on_learnt(target, OddsAnswer({}, tuple(int(one) for one in kick_offs), None), at(now))


@pytest.mark.parametrize(
    ("bookmakers", "regions", "chosen"),
    [
        pytest.param(1, (), ("bookmakers", 1), id="one bookmaker"),
        pytest.param(10, (), ("bookmakers", 1), id="ten"),
        pytest.param(11, (), ("bookmakers", 2), id="eleven"),
        pytest.param(11, ("eu",), ("regions", 1), id="one region is cheaper"),
        pytest.param(10, ("eu",), ("bookmakers", 1), id="a tie"),
        pytest.param(20, ("eu", "uk"), ("bookmakers", 2), id="a tie of two"),
        pytest.param(21, ("eu", "uk"), ("regions", 2), id="two regions are cheaper"),
        pytest.param(3, ("eu", "uk", "us"), ("bookmakers", 1), id="bookmakers are cheaper"),
    ],
)
def test_cheaper_call_is_chosen(bookmakers: int, regions: tuple[str, ...], chosen: Any) -> None:
    """Ten bookmakers cost as much as a region; at equal cost the call is by bookmakers."""
    keys = tuple(f"book{number}" for number in range(bookmakers))
    call, _ = cheapest_call(options(regions=regions), keys)
    facts = plan(keys, regions=regions).facts()

    assert chosen == (call.parameter, call.credits) == (facts["asks_by"], facts["credits_a_call"])
    assert ",".join(keys if chosen[0] == "bookmakers" else regions) == call.value


@pytest.mark.parametrize("end", ["", "/", "/v4", "/v4/"])
def test_address_of_odds(end: str) -> None:
    """The address is the same with and without the version and a slash; all else is in the query."""
    (target,) = plan(("some", "other"), sports=("soccer_epl",), url=f"https://x.example/api{end}").targets()
    parts = urlsplit(target.url)

    assert "https://x.example/api/v4/sports/soccer_epl/odds" == target.url.partition("?")[0]
    assert ("soccer_epl", False) == (target.scope, target.is_catalogue)
    assert {
        "apiKey": [API_KEY],
        "bookmakers": ["some,other"],
        "markets": ["h2h"],
        "oddsFormat": ["decimal"],
        "dateFormat": ["iso"],
    } == parse_qs(parts.query)


def test_all_football_begins_with_the_free_list_of_sports() -> None:
    """The plan has a target for each sport in the newest list."""
    one = plan(sports="football")
    (sports,) = before = one.targets()
    one.on_learnt(sports, Sports(("soccer_a", "soccer_b")), at(MORNING))
    after = one.targets()
    one.on_learnt(sports, Sports(("soccer_b", "soccer_d")), at(MORNING))

    assert (SPORTS_SCOPE, True) == (sports.scope, sports.is_catalogue)
    assert f"https://api.the-odds-api.com/v4/sports?apiKey={API_KEY}" == sports.url
    assert [1, 3, 3] == [len(one) for one in (before, after, one.targets())]
    assert ["sports", "soccer_b", "soccer_d"] == [target.scope for target in one.targets()]
    assert DAY_S == one.interval_s(sports, at(MORNING))


def test_configured_sports_need_no_list() -> None:
    """Configured sports are requested in their order."""
    assert list(LEAGUES) == [target.scope for target in plan().targets()]


def test_without_a_budget_all_sports_begin_at_once_and_follow_the_interval() -> None:
    """Without a budget only the interval delays the requests."""
    one = plan(poll_interval_s=45.0)

    assert {(0.0, 45.0)} == {
        (one.first_delay_s(each, at(0)), one.interval_s(each, at(0))) for each in one.targets()
    }


def test_first_round_with_a_budget_uses_a_quarter_of_a_day() -> None:
    """A quarter of a day's credits is used at once, and the other sports begin as credits arrive."""
    leagues = tuple(f"soccer_{number}" for number in range(8))
    one = plan(sports=leagues, credits_per_day=16.0)

    delays = [one.first_delay_s(target, at(MIDNIGHT)) for target in one.targets()]
    assert [0.0] * 4 + [5400.0 * turn for turn in range(1, 5)] == delays


def test_interval_follows_the_kick_offs() -> None:
    """Within a span it is an eighth of that of sports that are not near."""
    one = plan(credits_per_day=96.0)
    target, other, *_ = one.targets()
    kick_off = MIDNIGHT + 15 * HOUR
    learn(one, target, kick_off, now=MIDNIGHT)

    near, far = [one.interval_s(each, at(kick_off)) for each in (target, other)]
    assert 8.0 == pytest.approx(far / near)
    assert 1.0 == pytest.approx(
        one.interval_s(target, at(kick_off + 3 * HOUR)) / one.interval_s(other, at(kick_off + 3 * HOUR))
    )


def test_sport_is_polled_sooner_near_a_kick_off() -> None:
    """Of two sports polled at the same time, the one that is near before its next call comes first."""
    one = plan(credits_per_day=12.0)
    target, other, *_ = one.targets()
    learn(one, target, MORNING + 5 * HOUR)

    assert one.interval_s(target, at(MORNING)) < one.interval_s(other, at(MORNING))


def test_requests_have_a_minimum_distance() -> None:
    """The API allows thirty a second."""
    one = plan()
    target, other, *_ = one.targets()
    one.on_asked(target, at(MORNING))

    waits = [one.wait_s(other, at(MORNING + later)) for later in (0.0, 0.02, 0.04)]
    assert pytest.approx([0.04, 0.02, 0.0], abs=1e-6) == waits


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"credits_per_day": 0.5}, "credits_per_day was 0.5, must be at least the 1 that one call costs"),
        ({"stale_after_s": 59.0}, "stale_after_s was 59, must be at least 60"),
        (
            {"credits_per_day": 3.0, "stale_after_s": 86_399.0},
            "stale_after_s was 86399, must be at least 86400",
        ),
        ({"sports": "football", "credits_per_day": 40.0, "stale_after_s": 1e4}, "must be at least 86400"),
    ],
)
def test_impossible_plan_is_refused(given: Mapping[str, Any], message: str) -> None:
    """The error says what was found and what the minimum is."""
    with pytest.raises(ValueError, match=re.escape(message)):
        plan(**given)


@pytest.mark.parametrize(
    "given", [{"stale_after_s": 60.0}, {"credits_per_day": 3.0, "stale_after_s": 86_400.0}]
)
def test_just_possible_plan_is_accepted(given: Mapping[str, Any]) -> None:
    """The minimum that a refusal names is enough."""
    assert plan(**given).describe()


def test_description_has_the_whole_plan() -> None:
    """The description has the sports, the call, its cost, the rate and the age of prices, not the key."""
    text = "\n".join(plan(("some", "other"), credits_per_day=96.0, regions=("eu", "uk")).describe())

    expected = [
        "sports: 3",
        "bookmakers some,other: credits a call 1, by regions 2",
        "96 credits a UTC day",
    ]
    assert [] == [
        part for part in [*expected, "none near: every 45 min, stale after 2.25 h"] if part not in text
    ]
    assert API_KEY not in text


def lines_run(work: Callable[[], object]) -> int:
    """Count the lines of ours that run, which is the same on every machine."""
    count = 0

    def trace(frame: FrameType, what: str, _: object) -> Any:
        nonlocal count
        if "the_odds_api" not in frame.f_code.co_filename:
            return None
        count += what == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def hostile(count: int) -> OddsAnswer:
    """Return a decoded answer with that many matches, five hours apart."""
    first = datetime.fromtimestamp(MORNING, UTC)
    body = [
        {"id": f"m{at}", "commence_time": (first + timedelta(hours=5 * at)).isoformat()}
        for at in range(count)
    ]
    return run_now(read_odds(json.dumps(body).encode(), MORNING))


def test_hostile_kick_offs_take_few_steps() -> None:
    """For any number of kick-offs at any distance, planning 36 sports is bounded work."""
    slate = hostile(4000)
    one = plan(sports=tuple(f"soccer_{number}" for number in range(36)), credits_per_day=96.0)
    for target in one.targets():
        one.on_learnt(target, slate, at(MORNING))

    def work() -> None:
        one.on_learnt(one.targets()[0], slate, at(MORNING))
        one.interval_s(one.targets()[0], at(MORNING))

    assert len(slate.kick_offs) <= 1000
    assert lines_run(work) <= 20_000


def test_kick_offs_more_than_four_weeks_ahead_are_ignored() -> None:
    """The answer's own clock counts, since ours may be wrong; ours counts if the answer has no time."""
    far, near, over = (int(MORNING + days * DAY_S) for days in (29, 1, -1))
    intervals = []
    for answered_at, now, kick_offs in (
        (MORNING, MORNING + 300 * DAY_S, (far, near, over)),
        (None, MORNING, (far, near, over)),
        (None, MORNING, (near,)),
        (None, MORNING, ()),
    ):
        one = plan(credits_per_day=12.0)
        one.on_learnt(one.targets()[0], OddsAnswer({}, kick_offs, answered_at), at(now))
        intervals.append([one.interval_s(one.targets()[0], at(MORNING + days * DAY_S)) for days in (1, 29)])

    assert intervals[0] == intervals[1] == intervals[2] != intervals[3]
