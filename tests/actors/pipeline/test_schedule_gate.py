"""The schedule alone, when the peer is in trouble: one request at a time, ever more slowly."""

from __future__ import annotations

from actors.core.errors import TransportError
from actors.pipeline.schedule import MAX_IN_FLIGHT
from tests.support.systems.schedule_stage import INTERVAL_S, Stage

REFUSED = TransportError("refused")


def test_when_two_fail_one_request_at_a_time_is_let_through() -> None:
    """With no success between them it is the peer that is in trouble."""
    stage = Stage("abcdef")
    stage.begin_all()
    stage.end("abcd", REFUSED)
    waits = stage.next()
    stage.mono += 60.0

    assert ("e", True) == (waits[0] if waits else "", bool(waits and waits[1] > 0))
    assert (True, 1) == (stage.schedule.is_troubled, len(stage.begin_all()))


def test_the_gate_waits_longer_with_each_failure() -> None:
    """As one backoff for the whole peer, whoever it is that fails."""
    stage = Stage("abcdefgh")
    stage.begin_all()
    stage.end("abcd", REFUSED)
    delays = []
    for _ in range(6):
        found = stage.next()
        assert found is not None
        delays.append(found[1])
        stage.mono += found[1]
        stage.end(stage.begin(), REFUSED)

    assert [2.0, 4.0, 8.0, 16.0, 30.0, 30.0] == delays


def test_the_gate_honours_what_the_peer_asks_for() -> None:
    """A Retry-After to one scope is meant for all, when all are refused."""
    stage = Stage("abc")
    stage.begin_all()
    stage.end("ab", TransportError("429", 200.0))
    stage.end("c", REFUSED)

    found = stage.next()
    assert found is not None
    assert found[1] >= 200.0


def test_a_success_opens_the_gate() -> None:
    """The others are due at their own times again, several at once."""
    stage = Stage("abcdef")
    stage.begin_all()
    stage.end("abcd", REFUSED)
    stage.mono += 60.0
    stage.end(stage.begin())

    assert (False, MAX_IN_FLIGHT) == (stage.schedule.is_troubled, len(stage.begin_all()))


def test_one_failing_scope_opens_no_gate() -> None:
    """However often it fails."""
    stage = Stage("abc")
    stage.begin_all()
    stage.end("bc")
    for _ in range(9):
        stage.end("a", REFUSED)

    assert False is stage.schedule.is_troubled


def test_the_only_scope_is_the_source() -> None:
    """Where there is one, its failure is the peer's."""
    stage = Stage("a")
    stage.begin_all()
    stage.end("a", REFUSED)

    assert True is stage.schedule.is_troubled


def test_an_answer_for_a_scope_that_has_gone_changes_nothing() -> None:
    """Nor does its failure, and it does not count as trouble of the peer."""
    stage = Stage("abc")
    stage.begin_all()
    stage.plan.have("bc")
    stage.end("b")
    stage.end("c")
    assert ("b", INTERVAL_S) == stage.next()
    stage.end("a", REFUSED)
    stage.end("b", REFUSED)

    assert False is stage.schedule.is_troubled
