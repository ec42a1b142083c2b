"""Removals by time: stale lists by the monotonic clock, finished matches by the wall clock."""

from __future__ import annotations

import pytest

from actors.board.board import Board
from actors.board.chunks import entries_of
from actors.board.snapshot import Snapshot
from actors.board.validity import is_due
from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.messages import BookmakerId
from tests.support.builders.boards import EMPTY, RULES, START, arrived
from tests.support.builders.messages import BOOKMAKER, SCOPE, batch, match
from tests.support.time.virtual import WALL_0

KICK_OFF = int(WALL_0) + 600


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


DAY_ONLY = match("a", start_time=None, latest_start=KICK_OFF)


def test_match_without_kick_off_leaves_after_its_last_moment() -> None:
    """If only the day of a match is known, it is over when the day ends: on a tick, read or arrival."""
    for after_latest, expected in [(10_799.9, {"a"}), (10_800.0, set())]:
        now = Instant(0.0, KICK_OFF + after_latest)
        base, late = _expired(arrived(EMPTY, batch([DAY_ONLY])), 0.0, KICK_OFF), Board(EMPTY, RULES)

        applied = run_now(late.apply(batch([DAY_ONLY]), now))

        assert expected == _ids(_expired(base, now.mono, now.wall)) == _ids(run_now(late.finish(START)))
        assert (not expected, int(not expected)) == (is_due(base.deadlines, RULES, now), applied.finished)


def _held(snapshot: Snapshot, wall: float) -> tuple[set[str], bool]:
    """Return the shown ids, and whether confirming their list would be as good as sending it again."""
    return _ids(snapshot), snapshot.holds(BOOKMAKER, SCOPE, batch().list_id, wall, RULES.max_matches)


def test_list_is_not_held_after_a_wrong_clock_removed_a_match() -> None:
    """A list that a fast clock shortened is held until the clock is right; then it must be sent again."""
    lists = [batch([match("a"), match("b")], received_mono=mono) for mono in (0.0, 1.0)]
    shortened = _expired(arrived(EMPTY, lists[0]), 0.0, WALL_0 + 172_800.0)
    again = arrived(shortened, lists[1])

    assert (set(), True) == _held(shortened, WALL_0 + 172_800.0)
    assert (set(), False) == _held(shortened, WALL_0)
    assert ({"a", "b"}, True) == _held(again, WALL_0)


def test_list_stays_held_when_a_match_ends() -> None:
    """The list stays held also if the clock goes back by less than the time since the match ended."""
    base = arrived(EMPTY, batch([match("a"), match("b", start_time=KICK_OFF)], stale_after_s=1e6))
    over = _expired(base, 20_000.0, WALL_0 + 20_000.0)

    assert ({"a"}, True) == _held(over, WALL_0 + 20_000.0) == _held(over, WALL_0 + 20_500.0 - 400.0)
