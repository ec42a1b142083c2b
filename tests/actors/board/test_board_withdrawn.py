"""Withdrawals by a source: its list is removed at once, and only a complete list restores it."""

from __future__ import annotations

from actors.board.board import Applied, Board
from actors.board.chunks import entries_of
from actors.board.diff import Verdict
from actors.board.snapshot import Snapshot
from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.messages import Batch
from tests.support.builders.boards import ALDER, BIRCH, EMPTY, RULES, after, versions
from tests.support.builders.messages import SCOPE, batch, match, withdrawn
from tests.support.time.virtual import WALL_0

LIST = batch([match("a"), match("b")])


def _ids(snapshot: Snapshot) -> list[str]:
    return [entry.id for entry in entries_of(snapshot.books[ALDER].chunks)]


def _applied(base: Snapshot, change: Batch, mono: float) -> Applied:
    return run_now(Board(base, RULES).apply(change, Instant(mono, WALL_0 + mono)))


def test_withdrawal_removes_the_list_in_one_commit() -> None:
    """All entries of the list are removed, and the bookmaker is no longer serving."""
    base = after(EMPTY, LIST, batch([match("c")], bookmaker=BIRCH))
    snapshot = after(base, withdrawn(received_mono=1.0), now=Instant(1.0, WALL_0 + 1.0))
    book = snapshot.books[ALDER]

    assert ([], 0, False, True) == (
        _ids(snapshot),
        book.count,
        book.is_serving,
        book.lists[SCOPE].withdrawn,
    )
    assert (base.version + 1,) * 3 == versions(snapshot)
    assert base.books[BIRCH] is snapshot.books[BIRCH]


def test_withdrawal_does_not_affect_another_scope() -> None:
    """A withdrawal removes the list of its own scope only."""
    base = after(EMPTY, LIST, batch([match("c")], scope="other"))

    assert ["alder_c"] == _ids(after(base, withdrawn()))


def test_late_withdrawal_is_accepted() -> None:
    """A withdrawal may be older than the list, stale, or of another list: removing prices does no harm."""
    base = after(
        EMPTY, batch([match("a")], list_id="list-9", received_mono=50.0), now=Instant(50.0, WALL_0)
    )

    assert Applied(Verdict.WITHDRAWN) == _applied(base, withdrawn(), 99.0)
    assert [] == _ids(after(base, withdrawn(), now=Instant(51.0, WALL_0)))


def test_withdrawal_without_a_list_changes_nothing() -> None:
    """A withdrawal changes nothing if there is no list or if it is already withdrawn."""
    once = after(after(EMPTY, LIST), withdrawn())

    assert EMPTY is after(EMPTY, withdrawn())
    assert once.version == after(once, withdrawn()).version


def test_complete_list_restores_a_withdrawn_list() -> None:
    """A complete list of any length restores it, since no match is left that it could lose."""
    many = batch([match(f"m{number}") for number in range(50)])
    base = after(after(EMPTY, many), withdrawn(received_mono=1.0))
    snapshot = after(base, batch([match("a")], list_id="list-2", received_mono=2.0))

    assert (["alder_a"], True) == (_ids(snapshot), snapshot.books[ALDER].is_serving)


def test_withdrawal_and_return_in_one_commit_change_nothing() -> None:
    """Readers see the same entries at the same version as before."""
    base = after(EMPTY, LIST)
    again = batch([match("a"), match("b")], list_id="list-2", received_mono=2.0)
    snapshot = after(base, withdrawn(received_mono=1.0), again, now=Instant(2.0, WALL_0 + 2.0))

    assert (["alder_a", "alder_b"], base.version) == (_ids(snapshot), snapshot.version)
    assert ["alder_a", "alder_b"] == [entry.id for entry in entries_of(base.books[ALDER].chunks)]
