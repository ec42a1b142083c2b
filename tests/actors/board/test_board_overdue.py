"""Removals by time: stale lists by the monotonic clock, finished matches by the wall clock."""

from __future__ import annotations

from math import inf

import pytest

from actors.board.board import Board
from actors.board.chunks import entries_of
from actors.board.snapshot import Snapshot
from actors.board.validity import is_due
from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.messages import BookmakerId, Scope
from tests.support.builders.boards import EMPTY, RULES, START, arrived
from tests.support.builders.messages import BOOKMAKER, batch, match
from tests.support.time.virtual import WALL_0

KICK_OFF = int(WALL_0) + 600
OTHER = Scope("other")


def _expired(base: Snapshot, mono: float, wall: float = WALL_0) -> Snapshot:
    board = Board(base, RULES)
    run_now(board.expire(Instant(mono, wall)))
    return run_now(board.finish(START))


def _ids(snapshot: Snapshot, bookmaker: BookmakerId = BOOKMAKER) -> set[str]:
    return {entry.source_match_id for entry in entries_of(snapshot.books[bookmaker].chunks)}


LISTED = arrived(EMPTY, batch([match("a"), match("b")]))


@pytest.mark.parametrize(("mono", "expected"), [(29.999, {"a", "b"}), (30.0, set()), (30.001, set())])
def test_list_is_withdrawn_exactly_at_its_deadline(mono: float, expected: set[str]) -> None:
    """At `stale_after_s` after the last confirmation all entries of a list are removed, in one commit."""
    snapshot = _expired(LISTED, mono)

    is_there = bool(expected)
    assert (expected, is_there) == (_ids(snapshot), snapshot.books[BOOKMAKER].is_serving)
    assert LISTED.version + (not is_there) == snapshot.version
    assert (snapshot is LISTED) is is_there


@pytest.mark.parametrize("wall", [WALL_0 - 3600, WALL_0 + 3600])
def test_wall_clock_does_not_make_a_list_stale(wall: float) -> None:
    """Staleness depends on the monotonic clock alone."""
    assert _expired(LISTED, 29.9, wall) is LISTED


def test_withdrawn_list_is_withdrawn_once() -> None:
    """After a withdrawal, later expiries change nothing and return the same snapshot."""
    withdrawn = _expired(LISTED, 30.0)

    assert withdrawn is _expired(withdrawn, 1e9)
    assert (inf, inf) == (withdrawn.valid_until, withdrawn.books[BOOKMAKER].deadline)


def test_scopes_go_stale_independently() -> None:
    """Only the entries of a stale scope are removed; the bookmaker serves while another scope is fresh."""
    base = arrived(LISTED, batch([match("x")], scope=OTHER, received_mono=10.0))

    first = _expired(base, 30.0)
    both = _expired(first, 40.0)

    assert [({"x"}, True), (set(), False)] == [
        (_ids(snapshot), snapshot.books[BOOKMAKER].is_serving) for snapshot in (first, both)
    ]
    assert [30.0, 40.0, inf] == [snapshot.valid_until for snapshot in (base, first, both)]


def test_empty_list_goes_stale_without_a_version() -> None:
    """A stale empty list changes no view, but its bookmaker is no longer serving."""
    base = arrived(EMPTY, batch([]))

    snapshot = _expired(base, 30.0)

    assert (True, False) == (base.books[BOOKMAKER].is_serving, snapshot.books[BOOKMAKER].is_serving)
    assert base.version == snapshot.version


@pytest.mark.parametrize(("received_mono", "is_there"), [(0.0, True), (10.0, False)])
def test_stale_list_without_a_match_is_forgotten_beside_another(
    received_mono: float, *, is_there: bool
) -> None:
    """A day that is over is no outage; where all lists are stale, it is."""
    base = arrived(LISTED, batch([], scope=OTHER))
    base = arrived(base, batch([match("a"), match("b")], received_mono=received_mono))

    assert is_there is (OTHER in _expired(base, 30.0).books[BOOKMAKER].lists)


@pytest.mark.parametrize(
    ("after_kick_off", "expected"),
    [(0.0, {"a", "b"}), (10_799.9, {"a", "b"}), (10_800.0, {"b"}), (1e9, {"b"})],
)
def test_match_leaves_three_hours_after_its_kick_off(after_kick_off: float, expected: set[str]) -> None:
    """At `start_time + expire_after_kickoff_s` a match is over; one without a known kick-off never is."""
    base = arrived(EMPTY, batch([match("a", start_time=KICK_OFF), match("b", start_time=None)]))

    snapshot = _expired(base, 0.0, KICK_OFF + after_kick_off)

    assert expected == _ids(snapshot)
    assert snapshot.version == base.version + (expected == {"b"})


DAY_ONLY = match("a", start_time=None, latest_start=KICK_OFF)


def test_match_without_kick_off_leaves_after_its_last_moment() -> None:
    """A match with a known day only is over at the end of that day: on a tick, a read and on arrival."""
    for after_latest, expected in [(10_799.9, {"a"}), (10_800.0, set())]:
        now = Instant(0.0, KICK_OFF + after_latest)
        base, late = _expired(arrived(EMPTY, batch([DAY_ONLY])), 0.0, KICK_OFF), Board(EMPTY, RULES)

        applied = run_now(late.apply(batch([DAY_ONLY]), now))

        assert expected == _ids(_expired(base, now.mono, now.wall)) == _ids(run_now(late.finish(START)))
        assert (not expected, int(not expected)) == (is_due(base.deadlines, RULES, now), applied.finished)


def test_known_kick_off_takes_precedence_over_the_last_moment() -> None:
    """A match with both times is over by its kick-off."""
    base = arrived(EMPTY, batch([match("a", start_time=KICK_OFF, latest_start=KICK_OFF + 1)]))

    assert (KICK_OFF, set()) == (base.first_start, _ids(_expired(base, 0.0, KICK_OFF + 10_800.0)))


@pytest.mark.parametrize("complete", [True, False])
def test_corrected_last_moment_is_kept_without_a_version(*, complete: bool) -> None:
    """The last moment is not public: a correction makes no version and no `updated`, but counts."""
    base = arrived(EMPTY, batch([DAY_ONLY]))
    corrected = match("a", start_time=None, latest_start=KICK_OFF + 600)

    after = arrived(base, batch([corrected], complete=complete, received_mono=1.0))

    (before,), (entry,) = (entries_of(snapshot.books[BOOKMAKER].chunks) for snapshot in (base, after))
    assert (base.version, before.updated, corrected) == (after.version, entry.updated, entry.match)
    assert {"a"} == _ids(_expired(after, 1.0, KICK_OFF + 10_800.0))


@pytest.mark.parametrize("complete", [True, False])
def test_match_that_goes_in_play_is_kept_without_a_version(*, complete: bool) -> None:
    """No list shows it: no version and no `updated`."""
    base = arrived(EMPTY, batch([match("a", in_play=False)]))

    after = arrived(base, batch([match("a", in_play=True)], complete=complete, received_mono=1.0))

    (before,), (entry,) = (entries_of(snapshot.books[BOOKMAKER].chunks) for snapshot in (base, after))
    assert (base.version, before.updated, True) == (after.version, entry.updated, entry.match.in_play)


def test_finished_match_does_not_make_its_list_stale() -> None:
    """The list stays and its bookmaker serves, even if the list is now empty."""
    base = arrived(EMPTY, batch([match("a", start_time=KICK_OFF)]))

    snapshot = _expired(base, 0.0, KICK_OFF + 10_800.0)

    assert (set(), True, 30.0) == (
        _ids(snapshot),
        snapshot.books[BOOKMAKER].is_serving,
        snapshot.valid_until,
    )
