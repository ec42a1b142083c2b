"""Removals by time: stale lists by the monotonic clock, finished matches by the wall clock."""

from __future__ import annotations

from math import inf

import pytest

from actors.board.board import Board, BoardRules, is_due
from actors.board.chunks import entries_of
from actors.board.snapshot import Snapshot
from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.messages import Batch, BookmakerId, Scope
from tests.support.builders.boards import START
from tests.support.builders.messages import BOOKMAKER, SCOPE, batch, match
from tests.support.time.virtual import WALL_0

RULES = BoardRules(expire_after_kickoff_s=10_800.0)
BIRCH = BookmakerId("birch")
EMPTY = Snapshot.empty(1000, (BOOKMAKER, BIRCH))
KICK_OFF = int(WALL_0) + 600
OTHER = Scope("other")


def _after(base: Snapshot, *batches: Batch) -> Snapshot:
    board = Board(base, RULES)
    for one in batches:
        run_now(board.apply(one, Instant(one.received_mono, WALL_0 + one.received_mono)))
    return run_now(board.finish(START))


def _expired(base: Snapshot, mono: float, wall: float = WALL_0) -> Snapshot:
    board = Board(base, RULES)
    run_now(board.expire(Instant(mono, wall)))
    return run_now(board.finish(START))


def _ids(snapshot: Snapshot, bookmaker: BookmakerId = BOOKMAKER) -> set[str]:
    return {entry.source_match_id for entry in entries_of(snapshot.books[bookmaker].chunks)}


LISTED = _after(EMPTY, batch([match("a"), match("b")]))


@pytest.mark.parametrize(("mono", "expected"), [(29.999, {"a", "b"}), (30.0, set()), (30.001, set())])
def test_list_is_withdrawn_exactly_at_its_deadline(mono: float, expected: set[str]) -> None:
    """At `stale_after_s` after the last confirmation all entries of a list are removed, in one commit."""
    snapshot = _expired(LISTED, mono)

    is_there = bool(expected)
    assert (expected, is_there) == (_ids(snapshot), snapshot.books[BOOKMAKER].is_serving)
    assert LISTED.version + (not is_there) == snapshot.version
    assert (snapshot is LISTED) is is_there


def test_withdrawn_list_is_withdrawn_once() -> None:
    """After a withdrawal, later expiries change nothing and return the same snapshot."""
    withdrawn = _expired(LISTED, 30.0)

    assert withdrawn is _expired(withdrawn, 1e9)
    assert (inf, inf) == (withdrawn.valid_until, withdrawn.books[BOOKMAKER].deadline)


def test_scopes_go_stale_independently() -> None:
    """Only the entries of a stale scope are removed; the bookmaker serves while another scope is fresh."""
    base = _after(LISTED, batch([match("x")], scope=OTHER, received_mono=10.0))

    first = _expired(base, 30.0)
    both = _expired(first, 40.0)

    assert [({"x"}, True), (set(), False)] == [
        (_ids(one), one.books[BOOKMAKER].is_serving) for one in (first, both)
    ]
    assert [30.0, 40.0, inf] == [one.valid_until for one in (base, first, both)]


def test_empty_list_goes_stale_without_a_version() -> None:
    """A stale empty list changes no view, but its bookmaker is no longer serving."""
    base = _after(EMPTY, batch([]))

    snapshot = _expired(base, 30.0)

    assert (True, False) == (base.books[BOOKMAKER].is_serving, snapshot.books[BOOKMAKER].is_serving)
    assert base.version == snapshot.version


def test_stale_list_does_not_affect_other_bookmakers() -> None:
    """When one bookmaker's list goes stale, the entries of the others stay."""
    base = _after(LISTED, batch([match("a")], bookmaker=BIRCH, stale_after_s=60.0))

    snapshot = _expired(base, 30.0)

    assert (set(), {"a"}) == (_ids(snapshot), _ids(snapshot, BIRCH))
    assert snapshot.books[BIRCH] is base.books[BIRCH]


@pytest.mark.parametrize(
    ("after_kick_off", "expected"),
    [(0.0, {"a", "b"}), (10_799.9, {"a", "b"}), (10_800.0, {"b"}), (1e9, {"b"})],
)
def test_match_leaves_three_hours_after_its_kick_off(after_kick_off: float, expected: set[str]) -> None:
    """At `start_time + expire_after_kickoff_s` a match is over; one without a known kick-off never is."""
    base = _after(EMPTY, batch([match("a", start_time=KICK_OFF), match("b", start_time=None)]))

    snapshot = _expired(base, 0.0, KICK_OFF + after_kick_off)

    assert expected == _ids(snapshot)
    assert snapshot.version == base.version + (expected == {"b"})


DAY_ONLY = match("a", start_time=None, latest_start=KICK_OFF)


def test_match_without_kick_off_leaves_after_its_last_moment() -> None:
    """A match with a known day only is over at the end of that day: on a tick, a read and on arrival."""
    for after_latest, expected in [(10_799.9, {"a"}), (10_800.0, set())]:
        now = Instant(0.0, KICK_OFF + after_latest)
        base, late = _after(EMPTY, batch([DAY_ONLY])), Board(EMPTY, RULES)

        applied = run_now(late.apply(batch([DAY_ONLY]), now))

        assert expected == _ids(_expired(base, now.mono, now.wall)) == _ids(run_now(late.finish(START)))
        assert (not expected, int(not expected)) == (is_due(base.deadlines, RULES, now), applied.finished)


def test_known_kick_off_takes_precedence_over_the_last_moment() -> None:
    """A match with both times is over by its kick-off."""
    base = _after(EMPTY, batch([match("a", start_time=KICK_OFF, latest_start=KICK_OFF + 1)]))

    assert (KICK_OFF, set()) == (base.first_start, _ids(_expired(base, 0.0, KICK_OFF + 10_800.0)))


@pytest.mark.parametrize("complete", [True, False])
def test_corrected_last_moment_is_kept_without_a_version(*, complete: bool) -> None:
    """The last moment is not public: a correction makes no version and no `updated`, but counts."""
    base = _after(EMPTY, batch([DAY_ONLY]))
    corrected = match("a", start_time=None, latest_start=KICK_OFF + 600)

    after = _after(base, batch([corrected], complete=complete, received_mono=1.0))

    (before,), (entry,) = (entries_of(one.books[BOOKMAKER].chunks) for one in (base, after))
    assert (base.version, before.updated, corrected) == (after.version, entry.updated, entry.match)
    assert {"a"} == _ids(_expired(after, 1.0, KICK_OFF + 10_800.0))


def test_expiry_follows_the_configuration() -> None:
    """`expire_after_kickoff_s` can be configured."""
    base = _after(EMPTY, batch([match("a", start_time=KICK_OFF)]))
    board = Board(base, BoardRules(expire_after_kickoff_s=60.0))

    run_now(board.expire(Instant(0.0, KICK_OFF + 60.0)))

    assert _ids(run_now(board.finish(START))) == set()


def test_finished_match_does_not_make_its_list_stale() -> None:
    """The list stays and its bookmaker serves, even if the list is now empty."""
    base = _after(EMPTY, batch([match("a", start_time=KICK_OFF)]))

    snapshot = _expired(base, 0.0, KICK_OFF + 10_800.0)

    assert (set(), True, 30.0) == (
        _ids(snapshot),
        snapshot.books[BOOKMAKER].is_serving,
        snapshot.valid_until,
    )


def test_snapshot_has_the_first_deadline_and_kick_off() -> None:
    """`valid_until` is the earliest deadline of all lists, `first_start` the earliest known kick-off."""
    snapshot = _after(
        EMPTY,
        batch([match("a", start_time=KICK_OFF + 5), match("b", start_time=None)]),
        batch([match("c", start_time=KICK_OFF)], scope=OTHER, stale_after_s=20.0),
        batch([match("d", start_time=KICK_OFF + 9)], bookmaker=BIRCH, stale_after_s=25.0),
    )

    books = [snapshot.books[bookmaker] for bookmaker in (BOOKMAKER, BIRCH)]
    assert (20.0, KICK_OFF) == (snapshot.valid_until, snapshot.first_start)
    assert [(20.0, KICK_OFF), (25.0, KICK_OFF + 9)] == [(book.deadline, book.first_start) for book in books]


def test_withdrawal_does_not_affect_other_lists() -> None:
    """`withdraw` removes one list of one bookmaker at once, until a complete list comes."""
    base = _after(LISTED, batch([match("x")], scope=OTHER), batch([match("a")], bookmaker=BIRCH))
    board = Board(base, RULES)

    run_now(board.withdraw(BOOKMAKER, SCOPE))
    snapshot = run_now(board.finish(START))

    assert ({"x"}, {"a"}) == (_ids(snapshot), _ids(snapshot, BIRCH))
    assert (base.version + 1, True) == (snapshot.version, snapshot.books[BOOKMAKER].lists[SCOPE].withdrawn)
