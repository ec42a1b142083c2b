"""Commits of the board by example; the stateful test compares everything else with a naive board."""

from __future__ import annotations

from actors.board.board import Applied, Board
from actors.board.chunks import entries_of
from actors.board.diff import Verdict
from actors.board.snapshot import Snapshot
from actors.core.cooperative import run_now
from actors.core.messages import BookmakerId, ListId, Scope
from tests.support.builders.boards import ALDER, EMPTY, RULES, START, after, versions
from tests.support.builders.messages import SCOPE, batch, match
from tests.support.time.virtual import WALL_0


def _ids(snapshot: Snapshot, bookmaker: BookmakerId = ALDER) -> list[str]:
    return [entry.id for entry in entries_of(snapshot.books[bookmaker].chunks)]


def test_board_does_not_change_its_base() -> None:
    """A board never changes the snapshot that it was made from."""
    base = after(EMPTY, batch([match("a")]))
    before = (base.version, base.books[ALDER], _ids(base))

    after(base, batch([match("b")], received_mono=1.0))

    assert before == (base.version, base.books[ALDER], _ids(base))


def test_apply_counts_what_changed() -> None:
    """The verdict has the number of entries set, removed, and found finished."""
    base = after(EMPTY, batch([match("same"), match("gone"), match("old")]))
    over = match("over", start_time=int(WALL_0) - 10_800)
    arrived = batch([match("same"), match("new"), match("old", home="New"), over], received_mono=1.0)

    applied = run_now(Board(base, RULES).apply(arrived, START))
    confirmed = run_now(Board(base, RULES).apply(batch(complete=False), START))

    assert Applied(Verdict.ACCEPTED, upserted=2, removed=1, finished=1) == applied
    assert Applied(Verdict.CONFIRMED, upserted=0, removed=0, finished=0) == confirmed


def test_snapshot_holds_only_the_list_on_the_board() -> None:
    """`holds` is true only for the list on the board in that scope, which a 304 may confirm."""
    snapshot = after(EMPTY, batch([match("a")]))
    board = Board(snapshot, RULES)
    run_now(board.withdraw(ALDER, SCOPE))
    asked = [(SCOPE, "list-1"), (SCOPE, "list-2"), (Scope("elsewhere"), "list-1")]

    held = [snapshot.holds(ALDER, scope, ListId(list_id), WALL_0, 100) for scope, list_id in asked]

    assert [True, False, False] == held
    assert not run_now(board.finish(START)).holds(ALDER, SCOPE, batch().list_id, WALL_0, 100)


def test_updated_is_the_source_time_up_to_the_receive_time() -> None:
    """`updated` is the source's time if there is one, at most the receive time, to the millisecond."""
    for source_time, received_at, expected in [
        (None, 1000.0, 1000.0),
        (None, 1000.1234, 1000.123),
        (900.0, 1000.0, 900.0),
        (900.98765, 1000.0, 900.988),
        (1000.0, 1000.0, 1000.0),
        (4600.0, 1000.0, 1000.0),  # the source's clock is an hour ahead
        (-2600.0, 1000.0, -2600.0),
    ]:
        snapshot = after(EMPTY, batch([match(source_time=source_time)], received_at=received_at))
        (entry,) = entries_of(snapshot.books[ALDER].chunks)

        assert expected == entry.updated, (source_time, received_at)


def test_v2_changes_with_named_entries_only() -> None:
    """v1 gets a version for each difference, v2 only for entries with two names before or after it."""
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
