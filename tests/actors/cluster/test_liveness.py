"""How long a replica believes a collector, and when a collector counts as silent."""

from __future__ import annotations

from math import inf

import pytest

from actors.board.validity import HOLDS_S
from actors.cluster.liveness import SILENT_S, Evidence, MatcherClock, Silence
from actors.cluster.store import CollectorId, Look, Position

A, B = CollectorId("a"), CollectorId("b")
HEAD = Position(100)


def _look(number: int, head: Position = HEAD, **beats: int) -> Look:
    return Look(head, number, {CollectorId(name): beat for name, beat in beats.items()}, {})


def test_a_collector_is_believed_from_the_sending_of_the_look_that_it_answered() -> None:
    """The time counts from our look, not from the answer or from other replicas' looks in between."""
    evidence = Evidence()
    evidence.looked(_look(10), 1.0)
    evidence.looked(_look(20), 2.0)
    evidence.looked(_look(30, a=17), 3.0)
    evidence.applied(HEAD)

    assert 1.0 + HOLDS_S == evidence.until(A)


def test_a_collector_that_answered_no_look_of_this_replica_is_not_believed() -> None:
    """The collector answered only looks from before the first look of this replica."""
    evidence = Evidence()
    evidence.looked(_look(10, a=9), 1.0)
    evidence.looked(_look(20, a=9), 2.0)
    evidence.applied(HEAD)

    assert (-inf, -inf) == (evidence.until(A), evidence.until(B))


def test_an_answer_proves_nothing_before_what_was_committed_is_applied() -> None:
    """The collector's answer is true only together with the records that it had committed."""
    evidence = Evidence()
    evidence.looked(_look(10), 1.0)
    evidence.looked(_look(20, Position(100, 2), a=10), 2.0)

    evidence.applied(Position(100, 1))
    before = evidence.until(A)
    evidence.applied(Position(100, 2))
    assert (-inf, 1.0 + HOLDS_S) == (before, evidence.until(A))


def test_a_beat_that_stands_still_does_not_prolong() -> None:
    """An old beat proves nothing more, however often it is read again."""
    evidence = Evidence()
    evidence.looked(_look(10), 1.0)
    for number in range(11, 20):
        evidence.looked(_look(number, a=10), float(number))
    evidence.applied(HEAD)

    assert 1.0 + HOLDS_S == evidence.until(A)


@pytest.mark.parametrize(("sent_mono", "expected"), [(1.5 + SILENT_S, {A: 7}), (1.4 + SILENT_S, {})])
def test_silence_counts_from_an_answer_to_the_sending_of_a_look(
    sent_mono: float, expected: dict[CollectorId, int]
) -> None:
    """The time while a look is on its way does not count as silence of the collector."""
    silence = Silence()
    silence.looked(_look(1, a=7), 1.0, 1.5)

    assert expected == silence.looked(_look(2, a=7), sent_mono, sent_mono + 10.0)


def test_a_beat_ends_the_silence() -> None:
    """After a beat the silence counts from zero again."""
    silence = Silence()
    silence.looked(_look(1, a=7), 1.0, 1.0)
    silence.looked(_look(2, a=8), 3.0, 3.0)

    assert {} == silence.looked(_look(3, a=8), 1.0 + SILENT_S, 1.0 + SILENT_S)


def test_times_of_the_matcher_are_bounded_by_its_ticks() -> None:
    """Each tick lies between our look and the receipt of its answer; the narrowest bounds count."""
    clock = MatcherClock()
    for mono, sent, received in ((105.0, 4.0, 5.5), (110.0, 9.5, 10.1), (115.0, 13.0, 19.0)):
        clock.ticked(A, mono, sent, received)

    assert 120.0 - 0.1 == pytest.approx(clock.earliest(20.0))
    assert 100.5 == clock.ahead_most_s
    assert 13.0 + HOLDS_S == clock.until


def test_another_matcher_has_another_clock() -> None:
    """The bounds of the previous matcher's clock say nothing about the new matcher's clock."""
    clock = MatcherClock()
    clock.ticked(A, 105.0, 4.0, 5.0)
    clock.ticked(B, 3.0, 5.0, 6.0)

    assert (B, -2.0, 7.0) == (clock.by, clock.ahead_most_s, clock.earliest(10.0))


def test_a_tick_that_answers_no_look_of_ours_proves_nothing() -> None:
    """The round of that tick was read before this replica sent a look."""
    clock = MatcherClock()
    clock.ticked(A, 105.0, -inf, 5.0)

    assert (-inf, inf) == (clock.until, clock.ahead_most_s)
