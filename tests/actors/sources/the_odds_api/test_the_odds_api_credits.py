"""The plan of The Odds API and its credits: what is charged, what is given back, what is shown."""

from __future__ import annotations

from typing import Any

import pytest

from actors.core.clock import Instant
from actors.core.errors import PayloadError, TransportError
from actors.sources.the_odds_api.answers import OddsAnswer, Sports
from actors.sources.the_odds_api.kind import KIND
from actors.sources.the_odds_api.options import TheOddsApiOptions
from actors.sources.the_odds_api.plan import TheOddsApiPlan
from tests.support.builders.the_odds_api import API_KEY

DAY_S, HOUR = 86_400.0, 3600.0
MIDNIGHT = 20_000 * DAY_S
MORNING = MIDNIGHT + 6 * HOUR
LEAGUES = ("soccer_a", "soccer_b", "soccer_c")


def options(**given: Any) -> TheOddsApiOptions:
    """Make options with three leagues, unless said otherwise."""
    return TheOddsApiOptions(kind=KIND.name, api_key=API_KEY, **{"sports": LEAGUES, **given})


def plan(keys: tuple[str, ...] = ("some",), **given: Any) -> TheOddsApiPlan:
    """Make a plan. Raises: ValueError."""
    return TheOddsApiPlan(options(**given), keys)


def at(wall: float) -> Instant:
    """Return a moment by both clocks."""
    return Instant(wall - MIDNIGHT, wall)


def left(of: TheOddsApiPlan) -> Any:
    """Return the credits that are left today."""
    return of.quota()["credits_left_today"]


def test_an_empty_budget_waits_for_midnight() -> None:
    """Also when there is something left that no call can be had for; the free list goes on."""
    one = plan(("some",), sports="football", credits_per_day=2.5)
    one.on_learnt(one.targets()[0], Sports(("soccer_a",)), at(MIDNIGHT))
    sports, target = one.targets()
    for moment in (0.0, 60.0):
        one.on_asked(target, at(MIDNIGHT + moment))

    assert 0.5 == left(one)
    assert 18 * HOUR == one.wait_s(target, at(MORNING))
    assert (True, True) == (
        one.wait_s(sports, at(MORNING)) <= 0,
        one.wait_s(target, at(MIDNIGHT + DAY_S)) <= 0,
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
def test_what_cannot_have_been_charged_is_given_back(case: str) -> None:
    """Nothing else is: a lost answer may have cost its credit."""
    error, expected = REFUSALS[case]
    one = plan(credits_per_day=10.0)
    target, *_ = one.targets()
    one.on_asked(target, at(MIDNIGHT))
    least_s = one.on_failed(target, error, at(MIDNIGHT))

    assert expected == left(one)
    assert (expected == 9.0) == (least_s > HOUR / 2)


@pytest.mark.parametrize(
    ("said", "expected"), [("0", 10.0), ("1", 9.0), ("3", 7.0), ("x", 9.0), ("-3", 9.0)]
)
def test_the_answer_tells_what_it_cost(said: str, expected: float) -> None:
    """What is no number says nothing."""
    one = plan(credits_per_day=10.0)
    target, *_ = one.targets()
    one.on_asked(target, at(MIDNIGHT))
    one.on_answered(target, {"x-requests-last": said}, at(MIDNIGHT))

    assert expected == left(one)


def test_a_dearer_call_is_planned_with() -> None:
    """What a call costs is never less than what one has cost, so that no day is overdrawn."""
    one = plan(credits_per_day=10.0)
    target, *_ = one.targets()
    for _ in range(2):
        one.on_asked(target, at(MIDNIGHT))
        one.on_answered(target, {"x-requests-last": "4"}, at(MIDNIGHT))

    assert (4, 2.0, True) == (
        one.quota()["credits_a_call"],
        left(one),
        one.wait_s(target, at(MIDNIGHT)) > 1,
    )


def test_a_refund_belongs_to_the_day_that_paid() -> None:
    """Asked before midnight and refused after it: the new day has no more than its own credits."""
    one = plan(credits_per_day=10.0)
    target, other, *_ = one.targets()
    one.on_asked(target, at(MIDNIGHT + DAY_S - 1))
    one.on_asked(other, at(MIDNIGHT + DAY_S + 1))
    one.on_failed(target, TransportError("401", status=401), at(MIDNIGHT + DAY_S + 2))

    assert 9.0 == left(one)


def test_the_quota_is_what_the_api_says() -> None:
    """Of the last answer that said so, also when it was an error."""
    one = plan(credits_per_day=10.0)
    target, *_ = one.targets()
    one.on_answered(target, {"x-requests-remaining": "77", "x-requests-used": "423"}, at(MIDNIGHT))
    headers = {"x-requests-remaining": "76", "x-requests-last": "1"}
    one.on_failed(target, TransportError("500", status=500, headers=headers), at(MIDNIGHT))

    quota = one.quota()
    assert (76, 423, 1) == (quota["requests_remaining"], quota["requests_used"], quota["credits_last"])


def football(*keys: str) -> TheOddsApiPlan:
    """Make a plan for all sports, of which these are in season."""
    one = plan(sports="football", credits_per_day=16.0)
    one.on_learnt(one.targets()[0], Sports(keys), at(MORNING))
    return one


def test_a_league_that_left_may_come_back() -> None:
    """It is asked at once, and what was known of it before is forgotten."""
    one = football("soccer_x", "soccer_y")
    sports, target, _ = one.targets()
    one.on_learnt(target, OddsAnswer({}, (int(MORNING),), None), at(MORNING))
    for keys in (("soccer_y",), ("soccer_x", "soccer_y")):
        one.on_learnt(sports, Sports(keys), at(MORNING))

    delays = [one.first_delay_s(each, at(MORNING)) for each in one.targets()[1:]]
    assert [0.0, 0.0] == delays


def test_a_list_of_sports_that_lost_most_is_believed_when_it_says_so_again() -> None:
    """Until then all go on, and it is asked again within minutes."""
    one = football(*(f"soccer_{number}" for number in range(10)))
    sports, counts = one.targets()[0], []
    for _ in range(2):
        one.on_learnt(sports, Sports(("soccer_1",)), at(MORNING))
        counts.append((len(one.targets()) - 1, one.interval_s(sports, at(MORNING))))

    assert [(10, 600.0), (1, DAY_S)] == counts


def test_a_dear_answer_does_not_end_all_asking() -> None:
    """A call is never thought to cost more than a day, and less again when it does."""
    one = plan(credits_per_day=16.0)
    target = one.targets()[0]
    one.on_asked(target, at(MIDNIGHT))
    one.on_answered(target, {"x-requests-last": "20"}, at(MIDNIGHT))

    assert (16.0, 0.0) == (one.quota()["credits_a_call"], left(one))
    assert one.wait_s(target, at(MIDNIGHT + DAY_S)) <= 0
    one.on_asked(target, at(MIDNIGHT + DAY_S))
    one.on_answered(target, {"x-requests-last": "1"}, at(MIDNIGHT + DAY_S))
    assert (1.0, 15.0) == (one.quota()["credits_a_call"], left(one))
