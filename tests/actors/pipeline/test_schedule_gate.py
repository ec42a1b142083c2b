"""The schedule alone, when the peer is in trouble: one request at a time, with increasing delays."""

from __future__ import annotations

from actors.core.errors import TransportError
from actors.pipeline.schedule import MAX_IN_FLIGHT
from tests.support.systems.schedule_stage import INTERVAL_S, Stage

REFUSED = TransportError("refused")


def test_two_failures_allow_one_request_at_a_time() -> None:
    """Two failures of different scopes without a success in between count as trouble of the peer."""
    stage = Stage("abcdef")
    stage.begin_all()
    stage.end("abcd", REFUSED)
    waits = stage.next()
    stage.mono += 60.0

    assert ("e", True) == (waits[0] if waits else "", bool(waits and waits[1] > 0))
    assert (True, 1) == (stage.schedule.is_troubled, len(stage.begin_all()))


def test_gate_delay_grows_with_each_failure() -> None:
    """The gate has one backoff for the whole peer, whichever scope fails."""
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


def test_gate_honours_retry_after() -> None:
    """While all scopes fail, a Retry-After for one of them applies to all."""
    stage = Stage("abc")
    stage.begin_all()
    stage.end("ab", TransportError("429", 200.0))
    stage.end("c", REFUSED)

    found = stage.next()
    assert found is not None
    assert found[1] >= 200.0


def test_success_opens_the_gate() -> None:
    """The other scopes are due at their own times again, several at once."""
    stage = Stage("abcdef")
    stage.begin_all()
    stage.end("abcd", REFUSED)
    stage.mono += 60.0
    stage.end(stage.begin())

    assert (False, MAX_IN_FLIGHT) == (stage.schedule.is_troubled, len(stage.begin_all()))


def test_one_failing_scope_does_not_close_the_gate() -> None:
    """A single failing scope does not count as trouble of the peer, however often it fails."""
    stage = Stage("abc")
    stage.begin_all()
    stage.end("bc")
    for _ in range(9):
        stage.end("a", REFUSED)

    assert False is stage.schedule.is_troubled


def test_only_scope_represents_the_peer() -> None:
    """If there is only one scope, its failure counts as the peer's."""
    stage = Stage("a")
    stage.begin_all()
    stage.end("a", REFUSED)

    assert True is stage.schedule.is_troubled


def test_answer_for_a_removed_scope_changes_nothing() -> None:
    """A failure of a removed scope changes nothing either, and is no trouble of the peer."""
    stage = Stage("abc")
    stage.begin_all()
    stage.plan.have("bc")
    stage.end("b")
    stage.end("c")
    assert ("b", INTERVAL_S) == stage.next()
    stage.end("a", REFUSED)
    stage.end("b", REFUSED)

    assert False is stage.schedule.is_troubled
