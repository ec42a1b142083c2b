"""The plan of The Odds API: the chosen call, its addresses, its times, and its cost."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from actors.core.errors import PayloadError, TransportError
from actors.source_api.plan import Target
from actors.sources.the_odds_api.answers import OddsAnswer, Sports
from actors.sources.the_odds_api.options import SPORTS_SCOPE, cheapest_call
from actors.sources.the_odds_api.plan import TheOddsApiPlan
from tests.support.builders.the_odds_api import (
    API_KEY,
    DAY_S,
    HOUR,
    MIDNIGHT,
    MORNING,
    at,
    options_of,
    plan,
)


def learn(of: TheOddsApiPlan, target: Target, *kick_offs: float, now: float = MORNING) -> None:
    """Pass an answer with these kick-offs of a sport to the plan."""
    of.on_learnt(target, OddsAnswer({}, tuple(int(kick_off) for kick_off in kick_offs), None), at(now))


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
    call, _ = cheapest_call(options_of(regions=regions), keys, ("h2h",))
    facts = plan(keys, regions=regions).facts()

    assert chosen == (call.parameter, call.credits) == (facts["asks_by"], facts["credits_a_call"])
    assert ",".join(keys if chosen[0] == "bookmakers" else regions) == call.value


@pytest.mark.parametrize("end", ["", "/", "/v4", "/v4/"])
def test_address_of_odds(end: str) -> None:
    """The address is the same with and without the version and a slash; other parts are in the query."""
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
    (target,) = plan(sports=("soccer_epl",), links=True).targets()
    assert ["true"] == parse_qs(urlsplit(target.url).query)["includeLinks"]


def test_all_football_begins_with_the_free_list_of_sports() -> None:
    """The plan has a target for each sport in the newest list."""
    api_plan = plan(sports="football")
    (sports,) = before = api_plan.targets()
    api_plan.on_learnt(sports, Sports(("soccer_a", "soccer_b")), at(MORNING))
    after = api_plan.targets()
    api_plan.on_learnt(sports, Sports(("soccer_b", "soccer_d")), at(MORNING))

    assert (SPORTS_SCOPE, True) == (sports.scope, sports.is_catalogue)
    assert f"https://api.the-odds-api.com/v4/sports?apiKey={API_KEY}" == sports.url
    assert [1, 3, 3] == [len(pair) for pair in (before, after, api_plan.targets())]
    assert ["sports", "soccer_b", "soccer_d"] == [target.scope for target in api_plan.targets()]
    assert DAY_S == api_plan.interval_s(sports, at(MORNING))


def test_without_a_budget_all_sports_begin_at_once_and_follow_the_interval() -> None:
    """Without a budget only the interval delays the requests."""
    api_plan = plan(poll_interval_s=45.0)

    assert {(0.0, 45.0)} == {
        (api_plan.first_delay_s(each, at(0)), api_plan.interval_s(each, at(0)))
        for each in api_plan.targets()
    }


def test_first_round_with_a_budget_uses_a_quarter_of_a_day() -> None:
    """A quarter of a day's credits is used at once, and the other sports begin as credits arrive."""
    leagues = tuple(f"soccer_{number}" for number in range(8))
    api_plan = plan(sports=leagues, credits_per_day=16.0)

    delays = [api_plan.first_delay_s(target, at(MIDNIGHT)) for target in api_plan.targets()]
    assert [0.0] * 4 + [5400.0 * turn for turn in range(1, 5)] == delays


def test_interval_follows_the_kick_offs() -> None:
    """Within a span the interval is an eighth of the interval of sports that are not near."""
    api_plan = plan(credits_per_day=96.0)
    target, other, *_ = api_plan.targets()
    kick_off = MIDNIGHT + 15 * HOUR
    learn(api_plan, target, kick_off, now=MIDNIGHT)

    near, far = [api_plan.interval_s(each, at(kick_off)) for each in (target, other)]
    assert 8.0 == pytest.approx(far / near)
    assert 1.0 == pytest.approx(
        api_plan.interval_s(target, at(kick_off + 3 * HOUR))
        / api_plan.interval_s(other, at(kick_off + 3 * HOUR))
    )


def test_requests_have_a_minimum_distance() -> None:
    """The API allows thirty requests a second."""
    api_plan = plan()
    target, other, *_ = api_plan.targets()
    api_plan.on_asked(target, at(MORNING))

    waits = [api_plan.wait_s(other, at(MORNING + later)) for later in (0.0, 0.02, 0.04)]
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
    """The error says what was found and what the minimum is; without a budget the plan is possible."""
    with pytest.raises(ValueError, match=re.escape(message)):
        plan(**given)
    assert plan(**{**given, "credits_per_day": None, "stale_after_s": 60.0}).describe()


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
        api_plan = plan(credits_per_day=12.0)
        api_plan.on_learnt(api_plan.targets()[0], OddsAnswer({}, kick_offs, answered_at), at(now))
        intervals.append(
            [api_plan.interval_s(api_plan.targets()[0], at(MORNING + days * DAY_S)) for days in (1, 29)]
        )

    assert intervals[0] == intervals[1] == intervals[2] != intervals[3]


def left(of: TheOddsApiPlan) -> Any:
    """Return today's remaining credits."""
    return of.quota()["credits_left_today"]


def test_empty_budget_waits_for_midnight() -> None:
    """Calls wait also if less than one call is left; the free list of sports is still requested."""
    api_plan = plan(("some",), sports="football", credits_per_day=2.5)
    api_plan.on_learnt(api_plan.targets()[0], Sports(("soccer_a",)), at(MIDNIGHT))
    sports, target = api_plan.targets()
    for moment in (0.0, 60.0):
        api_plan.on_asked(target, at(MIDNIGHT + moment))

    assert 0.5 == left(api_plan)
    assert 18 * HOUR == api_plan.wait_s(target, at(MORNING))
    assert (True, True) == (
        api_plan.wait_s(sports, at(MORNING)) <= 0,
        api_plan.wait_s(target, at(MIDNIGHT + DAY_S)) <= 0,
    )


REFUSALS = {
    "never sent": (TransportError("refused", is_sent=False), 10.0),
    "denied": (TransportError("401", status=401), 10.0),
    "too many at once": (TransportError("429", status=429), 10.0),
    "denied, and charged all the same": (
        TransportError("422", status=422, headers={"x-requests-last": "1"}),
        9.0,
    ),
    "the peer's fault": (TransportError("500", status=500), 9.0),
    "the peer's fault, free": (TransportError("500", status=500, headers={"x-requests-last": "0"}), 10.0),
    "lost on the way": (TransportError("timeout"), 9.0),
    "unreadable": (PayloadError("html"), 9.0),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_uncharged_requests_are_refunded(case: str) -> None:
    """Only uncharged requests are refunded: a request whose answer was lost may have been charged."""
    error, expected = REFUSALS[case]
    api_plan = plan(credits_per_day=10.0)
    target, *_ = api_plan.targets()
    api_plan.on_asked(target, at(MIDNIGHT))
    least_s = api_plan.on_failed(target, error, at(MIDNIGHT))

    assert expected == left(api_plan)
    assert (expected == 9.0) == (least_s > HOUR / 2)


def test_cost_of_a_request_is_in_its_answer() -> None:
    """A cost that is not a number is ignored."""
    for said, expected in [("0", 10.0), ("1", 9.0), ("3", 7.0), ("x", 9.0), ("-3", 9.0)]:
        api_plan = plan(credits_per_day=10.0)
        target, *_ = api_plan.targets()
        api_plan.on_asked(target, at(MIDNIGHT))
        api_plan.on_answered(target, {"x-requests-last": said}, at(MIDNIGHT))

        assert expected == left(api_plan), (said, expected)


def test_higher_cost_of_a_call_is_planned() -> None:
    """The planned cost is never less than a known one, so that no day is overdrawn."""
    api_plan = plan(credits_per_day=10.0)
    target, *_ = api_plan.targets()
    for _ in range(2):
        api_plan.on_asked(target, at(MIDNIGHT))
        api_plan.on_answered(target, {"x-requests-last": "4"}, at(MIDNIGHT))

    assert (4, 2.0, True) == (
        api_plan.quota()["credits_a_call"],
        left(api_plan),
        api_plan.wait_s(target, at(MIDNIGHT)) > 1,
    )


def test_refund_belongs_to_the_day_of_the_request() -> None:
    """If a request from before midnight is refused after it, the new day has only its own credits."""
    api_plan = plan(credits_per_day=10.0)
    target, other, *_ = api_plan.targets()
    api_plan.on_asked(target, at(MIDNIGHT + DAY_S - 1))
    api_plan.on_asked(other, at(MIDNIGHT + DAY_S + 1))
    api_plan.on_failed(target, TransportError("401", status=401), at(MIDNIGHT + DAY_S + 2))

    assert 9.0 == left(api_plan)


def test_quota_is_that_of_the_api() -> None:
    """The last answer with these figures counts, also an error; the quota goes to another machine, too."""
    first, second = (plan(credits_per_day=10.0) for _ in range(2))
    target, *_ = first.targets()
    first.on_asked(target, at(MIDNIGHT))
    headers = {"x-requests-remaining": "77", "x-requests-used": "423", "x-requests-last": "1"}
    first.on_answered(target, headers, at(MIDNIGHT))
    later = {"x-requests-remaining": "76.0", "x-requests-last": "2"}
    first.on_failed(target, TransportError("500", status=500, headers=later), at(MIDNIGHT))
    second.resume(first.carried([target], at(MIDNIGHT)), at(MIDNIGHT))

    told = first.quota(), second.quota()
    assert (76, 423, 2, 2) == tuple(
        told[0][name] for name in ("requests_remaining", "requests_used", "credits_last", "credits_a_call")
    )
    for name in ("requests_remaining", "requests_used", "credits_a_call"):
        assert told[0][name] == told[1][name], name
    assert left(second) == left(first) - 2.0


def football(*keys: str) -> TheOddsApiPlan:
    """Return a plan for all sports, with these sports in season."""
    api_plan = plan(sports="football", credits_per_day=16.0)
    api_plan.on_learnt(api_plan.targets()[0], Sports(keys), at(MORNING))
    return api_plan


def test_removed_league_may_come_back() -> None:
    """A league that comes back is requested at once, and earlier facts about it are dropped."""
    api_plan = football("soccer_x", "soccer_y")
    sports, target, _ = api_plan.targets()
    api_plan.on_learnt(target, OddsAnswer({}, (int(MORNING),), None), at(MORNING))
    for keys in (("soccer_y",), ("soccer_x", "soccer_y")):
        api_plan.on_learnt(sports, Sports(keys), at(MORNING))

    delays = [api_plan.first_delay_s(each, at(MORNING)) for each in api_plan.targets()[1:]]
    assert [0.0, 0.0] == delays


def test_much_shorter_list_of_sports_must_be_repeated() -> None:
    """Until then all sports go on, and the list is requested again within minutes."""
    api_plan = football(*(f"soccer_{number}" for number in range(10)))
    sports, counts = api_plan.targets()[0], []
    for _ in range(2):
        api_plan.on_learnt(sports, Sports(("soccer_1",)), at(MORNING))
        counts.append((len(api_plan.targets()) - 1, api_plan.interval_s(sports, at(MORNING))))

    assert [(10, 600.0), (1, DAY_S)] == counts


def test_expensive_answer_does_not_stop_all_requests() -> None:
    """The assumed cost of a call is at most a day's credits, and falls with the next cheaper answer."""
    api_plan = plan(credits_per_day=16.0)
    target = api_plan.targets()[0]
    api_plan.on_asked(target, at(MIDNIGHT))
    api_plan.on_answered(target, {"x-requests-last": "20"}, at(MIDNIGHT))

    assert (16.0, 0.0) == (api_plan.quota()["credits_a_call"], left(api_plan))
    assert api_plan.wait_s(target, at(MIDNIGHT + DAY_S)) <= 0
    api_plan.on_asked(target, at(MIDNIGHT + DAY_S))
    api_plan.on_answered(target, {"x-requests-last": "1"}, at(MIDNIGHT + DAY_S))
    assert (1.0, 15.0) == (api_plan.quota()["credits_a_call"], left(api_plan))
