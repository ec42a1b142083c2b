"""The plan of The Odds API and its credits: charges, refunds, and what the record shows."""

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
    """Return options, by default with three leagues."""
    return TheOddsApiOptions(kind=KIND.name, api_key=API_KEY, **{"sports": LEAGUES, **given})


def plan(keys: tuple[str, ...] = ("some",), **given: Any) -> TheOddsApiPlan:
    """Return a plan. Raises: ValueError."""
    return TheOddsApiPlan(options(**given), keys)


def at(wall: float) -> Instant:
    """Return a moment by both clocks."""
    return Instant(wall - MIDNIGHT, wall)


def left(of: TheOddsApiPlan) -> Any:
    """Return today's remaining credits."""
    return of.quota()["credits_left_today"]


def test_empty_budget_waits_for_midnight() -> None:
    """Calls wait also if less than one call is left; the free list of sports is still requested."""
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
def test_uncharged_requests_are_refunded(case: str) -> None:
    """Only uncharged requests are refunded: one whose answer was lost may have been charged."""
    error, expected = REFUSALS[case]
    one = plan(credits_per_day=10.0)
    target, *_ = one.targets()
    one.on_asked(target, at(MIDNIGHT))
    least_s = one.on_failed(target, error, at(MIDNIGHT))

    assert expected == left(one)
    assert (expected == 9.0) == (least_s > HOUR / 2)


def test_cost_of_a_request_is_in_its_answer() -> None:
    """A value that is not a number is ignored."""
    for said, expected in [("0", 10.0), ("1", 9.0), ("3", 7.0), ("x", 9.0), ("-3", 9.0)]:
        one = plan(credits_per_day=10.0)
        target, *_ = one.targets()
        one.on_asked(target, at(MIDNIGHT))
        one.on_answered(target, {"x-requests-last": said}, at(MIDNIGHT))

        assert expected == left(one), (said, expected)


def test_higher_cost_of_a_call_is_planned() -> None:
    """The planned cost is never less than a known one, so that no day is overdrawn."""
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


def test_refund_belongs_to_the_day_of_the_request() -> None:
    """If a request from before midnight is refused after it, the new day has only its own credits."""
    one = plan(credits_per_day=10.0)
    target, other, *_ = one.targets()
    one.on_asked(target, at(MIDNIGHT + DAY_S - 1))
    one.on_asked(other, at(MIDNIGHT + DAY_S + 1))
    one.on_failed(target, TransportError("401", status=401), at(MIDNIGHT + DAY_S + 2))

    assert 9.0 == left(one)


def test_quota_is_that_of_the_api() -> None:
    """The quota is that of the last answer with such figures, including errors."""
    one = plan(credits_per_day=10.0)
    target, *_ = one.targets()
    one.on_answered(target, {"x-requests-remaining": "77", "x-requests-used": "423"}, at(MIDNIGHT))
    headers = {"x-requests-remaining": "76", "x-requests-last": "1"}
    one.on_failed(target, TransportError("500", status=500, headers=headers), at(MIDNIGHT))

    quota = one.quota()
    assert (76, 423, 1) == (quota["requests_remaining"], quota["requests_used"], quota["credits_last"])


def football(*keys: str) -> TheOddsApiPlan:
    """Return a plan for all sports, of which these are in season."""
    one = plan(sports="football", credits_per_day=16.0)
    one.on_learnt(one.targets()[0], Sports(keys), at(MORNING))
    return one


def test_removed_league_may_come_back() -> None:
    """A league that comes back is requested at once, and earlier facts about it are dropped."""
    one = football("soccer_x", "soccer_y")
    sports, target, _ = one.targets()
    one.on_learnt(target, OddsAnswer({}, (int(MORNING),), None), at(MORNING))
    for keys in (("soccer_y",), ("soccer_x", "soccer_y")):
        one.on_learnt(sports, Sports(keys), at(MORNING))

    delays = [one.first_delay_s(each, at(MORNING)) for each in one.targets()[1:]]
    assert [0.0, 0.0] == delays


def test_much_shorter_list_of_sports_must_be_repeated() -> None:
    """Until it is repeated all sports go on, and it is requested again within minutes."""
    one = football(*(f"soccer_{number}" for number in range(10)))
    sports, counts = one.targets()[0], []
    for _ in range(2):
        one.on_learnt(sports, Sports(("soccer_1",)), at(MORNING))
        counts.append((len(one.targets()) - 1, one.interval_s(sports, at(MORNING))))

    assert [(10, 600.0), (1, DAY_S)] == counts


def test_expensive_answer_does_not_stop_all_requests() -> None:
    """The assumed cost of a call is at most a day's credits, and falls with the next cheaper answer."""
    one = plan(credits_per_day=16.0)
    target = one.targets()[0]
    one.on_asked(target, at(MIDNIGHT))
    one.on_answered(target, {"x-requests-last": "20"}, at(MIDNIGHT))

    assert (16.0, 0.0) == (one.quota()["credits_a_call"], left(one))
    assert one.wait_s(target, at(MIDNIGHT + DAY_S)) <= 0
    one.on_asked(target, at(MIDNIGHT + DAY_S))
    one.on_answered(target, {"x-requests-last": "1"}, at(MIDNIGHT + DAY_S))
    assert (1.0, 15.0) == (one.quota()["credits_a_call"], left(one))
