"""The version of each view: the last commit that changed what it shows, and no other."""

from __future__ import annotations

import pytest

from actors.board import Board, BoardRules
from actors.chunks import entries_of
from actors.clock import Instant
from actors.messages import Batch, BookmakerId, Match, Scope
from actors.slices import finish
from actors.snapshot import Snapshot
from tests.support.builders import BOOKMAKER, batch, match
from tests.support.virtual import WALL_0

RULES = BoardRules()
ALDER, BIRCH = BOOKMAKER, BookmakerId("birch")
EMPTY = Snapshot.empty(1000, (ALDER, BIRCH))
START = Instant(0.0, WALL_0)
UNNAMED = match("u", home="")


def _after(base: Snapshot, *batches: Batch, now: Instant = START) -> Snapshot:
    board = Board(base, RULES)
    for one in batches:
        finish(board.apply(one, now))
    return board.commit()


def _versions(snapshot: Snapshot, bookmaker: BookmakerId = ALDER) -> tuple[int, int, int]:
    book = snapshot.books[bookmaker]
    return snapshot.version, book.v1_version, book.v2_version


def test_nameless_entry_changes_v1_only() -> None:
    """v2 does not show entries with an empty name, so their changes are no versions of it."""
    base = _after(EMPTY, batch([match("a")]))

    added = _after(base, batch([match("a"), UNNAMED], received_mono=1.0))
    removed = _after(added, batch([match("a")], received_mono=2.0))

    assert [(1002, 1002, 1001), (1003, 1003, 1001)] == [_versions(added), _versions(removed)]
    assert (2, 1) == (added.books[ALDER].count, added.books[ALDER].named)


def test_gaining_or_losing_a_name_changes_v2() -> None:
    """An entry that comes into v2's view, or leaves it, changes both views."""
    base = _after(EMPTY, batch([UNNAMED]))

    gained = _after(base, batch([match("u")], received_mono=1.0))
    lost = _after(gained, batch([UNNAMED], received_mono=2.0))

    assert [(1001, 1001, 1000), (1002, 1002, 1002), (1003, 1003, 1003)] == [
        _versions(base),
        _versions(gained),
        _versions(lost),
    ]


@pytest.mark.parametrize(
    ("old", "new", "v2_sees_it"),
    [
        (None, match(home=""), False),
        (match(away=""), match(away="", league=None), False),
        (match(home=""), match(away=""), False),
        (match(home=""), None, False),
        (match(home=""), match(), True),
        (match(), match(away=""), True),
        (None, match(), True),
        (match(), match(league=None), True),
        (match(), None, True),
    ],
)
def test_v2_sees_only_entries_with_names(old: Match | None, new: Match | None, *, v2_sees_it: bool) -> None:
    """v1 has a version for every difference; v2 for those of entries with two names, before or after."""
    base = _after(EMPTY, batch([old] if old else []), batch([match("other")], scope="other"))

    snapshot = _after(base, batch([new] if new else [], received_mono=1.0))

    assert (1002, 1002, 1002 if v2_sees_it else 1001) == _versions(snapshot)


def test_removal_counts_as_a_change() -> None:
    """A view that shows less than before has a new version."""
    base = _after(EMPTY, batch([match("a"), match("b")]))

    assert (1002, 1002, 1002) == _versions(_after(base, batch([match("b")], received_mono=1.0)))


def test_other_bookmakers_are_handed_on() -> None:
    """A bookmaker without a change keeps its book, the same object, with its own versions."""
    base = _after(EMPTY, batch([match("a")]), batch([match("a")], bookmaker=BIRCH))

    snapshot = _after(base, batch([match("b")], received_mono=1.0))

    assert snapshot.books[BIRCH] is base.books[BIRCH]
    assert [(1002, 1002, 1002), (1002, 1001, 1001)] == [_versions(snapshot), _versions(snapshot, BIRCH)]
    assert [ALDER, BIRCH] == list(snapshot.books)


def test_match_that_leaves_and_returns_before_the_commit_mints_nothing() -> None:
    """Only a commit that changes something public is a version; from one scope to another is nothing."""
    shown = match("a", source_time=WALL_0 - 60)
    base = _after(EMPTY, batch([shown]), batch([], scope="elsewhere"))

    moved = _after(base, batch([], received_mono=1.0), batch([shown], received_mono=1.0, scope="elsewhere"))

    assert [Scope("elsewhere")] == [entry.scope for entry in entries_of(moved.books[ALDER].chunks)]
    assert _versions(base) == _versions(moved)
