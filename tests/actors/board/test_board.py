"""Commits of the board: one new version for all changes of a commit, and none without a change."""

from __future__ import annotations

from math import inf

from actors.board.board import Applied, Board
from actors.board.chunks import entries_of
from actors.board.diff import Verdict
from actors.board.snapshot import Snapshot
from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.messages import BookmakerId, ListId, Removal, Scope, SourceMatchId
from tests.support.builders.boards import ALDER, BIRCH, EMPTY, RULES, START, after, versions
from tests.support.builders.messages import SCOPE, batch, match
from tests.support.time.virtual import WALL_0


def _ids(snapshot: Snapshot, bookmaker: BookmakerId = ALDER) -> list[str]:
    return [entry.id for entry in entries_of(snapshot.books[bookmaker].chunks)]


def test_first_list_is_published_in_order() -> None:
    """A complete list is shown at the next version, ordered by id."""
    snapshot = after(EMPTY, batch([match("b"), match("a"), match("-")]))

    assert _ids(snapshot) == ["alder_-", "alder_a", "alder_b"]
    assert versions(snapshot) == (1001, 1001, 1001)
    assert (3, 3, True) == (
        snapshot.books[ALDER].count,
        snapshot.books[ALDER].named,
        snapshot.books[ALDER].is_serving,
    )


def test_board_does_not_change_its_base() -> None:
    """A board never changes the snapshot that it was made from."""
    base = after(EMPTY, batch([match("a")]))
    before = (base.version, base.books[ALDER], _ids(base))

    after(base, batch([match("b")], received_mono=1.0))

    assert before == (base.version, base.books[ALDER], _ids(base))


def test_commit_without_changes_returns_the_base() -> None:
    """Without a change the commit returns the same snapshot object, at any time."""
    board = Board(after(EMPTY, batch([match("a")])), RULES)
    run_now(board.expire(Instant(29.9, WALL_0 + 29.9)))
    base = run_now(board.finish(START))

    assert run_now(Board(base, RULES).finish(START)) is base
    assert EMPTY is run_now(Board(EMPTY, RULES).finish(START))


def test_invisible_changes_do_not_make_a_version() -> None:
    """A repeated list, a confirmation, a repeated delta or a move between scopes keeps the version."""
    for silent in [
        batch([match("a")], received_mono=1.0),
        batch([match("a", source_time=WALL_0 + 1)], received_mono=1.0, list_id="another"),
        batch(complete=False, received_mono=1.0),
        batch([match("a")], complete=False, received_mono=1.0),
        batch(removals=[Removal(SourceMatchId("x"), "withdrawn")], complete=False, received_mono=1.0),
        batch([match("a")], received_mono=1.0, scope="elsewhere"),
        batch([], received_mono=1.0, scope="elsewhere"),
    ]:
        base = after(EMPTY, batch([match("a")]))

        snapshot = after(base, silent)

        assert versions(base) == versions(snapshot), silent
        assert 1.0 in {state.confirmed_mono for state in snapshot.books[ALDER].lists.values()}, silent
        assert _ids(base) == _ids(snapshot), silent


def test_confirmation_keeps_all_chunks() -> None:
    """A confirmed list keeps all of its chunk objects, and so everything derived from them."""
    base = after(EMPTY, batch([match(f"m{number}") for number in range(500)]))

    snapshot = after(base, batch(complete=False, received_mono=9.0))

    assert base.books[ALDER].chunks == snapshot.books[ALDER].chunks
    assert (39.0, 39.0) == (snapshot.valid_until, snapshot.books[ALDER].deadline)


def test_apply_counts_what_changed() -> None:
    """The verdict has the number of entries set, removed, and found finished."""
    base = after(EMPTY, batch([match("same"), match("gone"), match("old")]))
    over = match("over", start_time=int(WALL_0) - 10_800)
    arrived = batch([match("same"), match("new"), match("old", home="New"), over], received_mono=1.0)

    applied = run_now(Board(base, RULES).apply(arrived, START))
    confirmed = run_now(Board(base, RULES).apply(batch(complete=False), START))

    assert Applied(Verdict.ACCEPTED, upserted=2, removed=1, finished=1) == applied
    assert Applied(Verdict.CONFIRMED, upserted=0, removed=0, finished=0) == confirmed


def test_empty_list_is_served() -> None:
    """A bookmaker with an empty list is serving; an empty list is no change of what is shown."""
    snapshot = after(EMPTY, batch([]))

    book = snapshot.books[ALDER]
    assert (True, 0, 30.0, inf) == (book.is_serving, book.count, book.deadline, book.first_start)
    assert versions(EMPTY) == versions(snapshot)
    assert not snapshot.books[BIRCH].is_serving


def test_snapshot_holds_only_the_list_on_the_board() -> None:
    """`holds` is true only for the list on the board in that scope, which a 304 may confirm."""
    snapshot = after(EMPTY, batch([match("a")]))
    board = Board(snapshot, RULES)
    run_now(board.withdraw(ALDER, SCOPE))
    asked = [(SCOPE, "list-1"), (SCOPE, "list-2"), (Scope("elsewhere"), "list-1")]

    held = [snapshot.holds(ALDER, scope, ListId(list_id), WALL_0, 100) for scope, list_id in asked]

    assert [True, False, False] == held
    assert not run_now(board.finish(START)).holds(ALDER, SCOPE, batch().list_id, WALL_0, 100)
