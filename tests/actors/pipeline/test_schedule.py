"""The schedule alone: due times, backoff by scope, restarts, scopes that come and go."""

from __future__ import annotations

import pytest

from actors.core.errors import PayloadError, SourceError, TransportError
from actors.core.messages import Scope
from actors.pipeline.schedule import MAX_IN_FLIGHT
from tests.support.systems.schedule_stage import INTERVAL_S, Stage

REFUSED = TransportError("refused")


def test_targets_come_in_the_order_of_their_due_times() -> None:
    """And in the order of the plan where those are equal."""
    stage = Stage("abc")
    stage.plan.first = {"a": 20.0, "b": 10.0, "c": 10.0}

    order: list[tuple[str, float]] = []
    while len(order) < 3:
        found = stage.next()
        assert found is not None
        stage.mono += found[1]
        order.append((stage.begin(), stage.mono))
        stage.end(order[-1][0])

    assert [("b", 10.0), ("c", 10.0), ("a", 20.0)] == order
    assert ["b", "c", "a"] == stage.plan.heard


def test_an_answer_is_followed_by_an_interval() -> None:
    """From its end, however long it took."""
    stage = Stage("a")
    stage.begin()
    stage.mono = 7.0
    stage.end("a")

    assert ("a", INTERVAL_S) == stage.next()


def test_what_is_under_way_is_not_asked_again() -> None:
    """With nothing else to ask there is nothing next."""
    stage = Stage("a")
    stage.begin()
    stage.mono = 1000.0

    assert None is stage.next()


def test_so_many_are_under_way_at_a_time_and_no_more() -> None:
    """Two of a peer that has not answered yet, then more; the next begins when one has ended."""
    stage = Stage("abcdefg")
    begun = [stage.begin_all()]
    stage.end("b")
    begun.append(stage.begin_all())
    stage.end("a")
    begun.append(stage.begin_all())

    assert ["ab", "cde", "f"] == begun
    assert 4 == MAX_IN_FLIGHT


def test_each_scope_has_its_own_backoff() -> None:
    """One that fails is tried ever more slowly, and the others keep their times."""
    stage = Stage("ab")
    stage.begin_all()
    stage.end("b")
    delays = []
    for _ in range(8):
        stage.end("a", REFUSED)
        found = stage.next()
        assert found is not None
        delays.append(found)
        stage.mono += found[1]
        stage.begin()

    expected = [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, INTERVAL_S / 3]
    assert {"a"} == {scope for scope, _ in delays}
    assert pytest.approx(expected) == [delay for _, delay in delays]
    assert INTERVAL_S == pytest.approx(stage.due_s("b") + stage.mono)


@pytest.mark.parametrize(
    ("error", "plan_s", "delay_s"),
    [
        (TransportError("503", 120.0), 0.0, 120.0),
        (TransportError("503", 0.0), 0.0, 0.5),
        (TransportError("503", 120.0), 300.0, 300.0),
        (PayloadError("html"), 50.0, 50.0),
        (PayloadError("html"), 0.0, 0.5),
    ],
)
def test_the_longest_of_all_delays_counts(error: SourceError, plan_s: float, delay_s: float) -> None:
    """Of the backoff, what the peer asks for, and what the plan wants."""
    stage = Stage("ab")
    stage.plan.retry_s = plan_s
    stage.begin_all()
    stage.end("b")
    stage.end("a", error)

    assert delay_s == stage.due_s("a")


def test_hastening_brings_forward_and_never_puts_off() -> None:
    """Only those that are named, and at most to the moment that is named."""
    stage = Stage("abc")
    stage.begin_all()
    stage.end("abc")
    stage.mono += INTERVAL_S - 1.0
    stage.schedule.hasten({Scope("a"), Scope("nobody")}, 0.5, stage.now)
    stage.schedule.hasten({Scope("b")}, 5.0, stage.now)

    due = [stage.due_s(scope) for scope in "abc"]
    assert [0.5, 1.0, 1.0] == due


def test_hastening_does_not_shorten_a_backoff() -> None:
    """A failing scope keeps its delay."""
    stage = Stage("ab")
    stage.begin_all()
    stage.end("b")
    stage.end("a", TransportError("503", 120.0))
    stage.schedule.hasten({Scope("a"), Scope("b")}, 0.5, stage.now)

    assert [120.0, 0.5] == [stage.due_s(one) for one in "ab"]


def test_after_a_restart_only_what_was_under_way_is_due() -> None:
    """The answers of the others hold, and delays are kept."""
    stage = Stage("abc")
    stage.begin_all()
    stage.end("a")
    stage.end("b", TransportError("503", 40.0))
    stage.mono = 5.0
    stage.schedule.restart(stage.now)

    due = [stage.due_s(scope) for scope in "abc"]
    assert [95.0, 35.0, 0.0] == due


def test_what_the_plan_forbids_waits() -> None:
    """Whatever is due; what it allows goes first."""
    stage = Stage("ab")
    stage.plan.barred = {"a": 30.0}

    assert ("b", ("a", 30.0)) == (stage.begin_all(), stage.next())


def test_scopes_come_and_go() -> None:
    """A new one has its first delay, one that went is not asked, and one that is back begins anew."""
    stage = Stage("ab")
    stage.begin_all()
    stage.end("ab")
    stage.plan.have("bc")
    stage.plan.first = {"c": 3.0, "a": 4.0}
    came = stage.next()
    stage.plan.have("abc")

    due = [stage.due_s(scope) for scope in "bc"]
    assert (("c", 3.0), [INTERVAL_S, 3.0], ("c", 3.0)) == (came, due, stage.next())


def test_without_targets_there_is_nothing_to_ask() -> None:
    """Until there are some."""
    stage = Stage("")
    before = stage.next()
    stage.plan.have("a")

    assert (None, ("a", 0.0)) == (before, stage.next())


def test_what_never_answered_is_not_hastened() -> None:
    """Nobody can have lost it: it comes when the plan says."""
    stage = Stage("ab")
    stage.plan.first = {"b": 5400.0}
    stage.begin()
    stage.end("a")
    stage.schedule.hasten({Scope("a"), Scope("b")}, 0.5, stage.now)

    assert [0.5, 5400.0] == [stage.due_s(scope) for scope in "ab"]
