"""The version of each view: that of the last commit that changed what the view shows."""

from __future__ import annotations

from actors.board.chunks import entries_of
from actors.core.messages import Scope
from tests.support.builders.boards import ALDER, BIRCH, EMPTY, after, versions
from tests.support.builders.messages import batch, match
from tests.support.time.virtual import WALL_0


def test_v2_changes_with_named_entries_only() -> None:
    """v1 has a version for every difference, v2 for those of entries with two names before or after."""
    for old, new, v2_sees_it in [
        (None, match(home=""), False),
        (match(away=""), match(away="", league=None), False),
        (match(home=""), match(away=""), False),
        (match(home=""), None, False),
        (match(home=""), match(), True),
        (match(), match(away=""), True),
        (None, match(), True),
        (match(), match(league=None), True),
        (match(), None, True),
    ]:
        base = after(EMPTY, batch([old] if old else []), batch([match("other")], scope="other"))

        snapshot = after(base, batch([new] if new else [], received_mono=1.0))

        assert (1002, 1002, 1002 if v2_sees_it else 1001) == versions(snapshot), (old, new)


def test_other_bookmakers_keep_their_books() -> None:
    """A bookmaker without a change keeps the same book object, and so its versions."""
    base = after(EMPTY, batch([match("a")]), batch([match("a")], bookmaker=BIRCH))

    snapshot = after(base, batch([match("b")], received_mono=1.0))

    assert snapshot.books[BIRCH] is base.books[BIRCH]
    assert [(1002, 1002, 1002), (1002, 1001, 1001)] == [versions(snapshot), versions(snapshot, BIRCH)]
    assert [ALDER, BIRCH] == list(snapshot.books)


def test_match_that_leaves_and_returns_before_the_commit_makes_no_version() -> None:
    """Only a commit that changes public content makes a version; a move between scopes is none."""
    shown = match("a", source_time=WALL_0 - 60)
    base = after(EMPTY, batch([shown]), batch([], scope="elsewhere"))

    moved = after(base, batch([], received_mono=1.0), batch([shown], received_mono=1.0, scope="elsewhere"))

    assert [Scope("elsewhere")] == [entry.scope for entry in entries_of(moved.books[ALDER].chunks)]
    assert versions(base) == versions(moved)
