"""The published snapshot: no read ever returns an entry past its deadline."""

from __future__ import annotations

import anyio
import anyio.lowlevel
import pytest

from actors.board.board import Board, BoardRules
from actors.board.chunks import entries_of
from actors.board.published import Overdue, Published
from actors.board.snapshot import RemovalReason, Snapshot
from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.errors import CommitLateError
from actors.core.messages import Batch, BookmakerId, Scope
from tests.support.builders.boards import START
from tests.support.builders.messages import BOOKMAKER, batch, match
from tests.support.systems.committing import Committing
from tests.support.time.virtual import WALL_0, ManualClock, VirtualClock, settle

RULES = BoardRules(expire_after_kickoff_s=10_800.0)
EMPTY = Snapshot.empty(1000, (BOOKMAKER,))
OTHER = BookmakerId("other")
KICK_OFF = int(WALL_0) + 600


def _after(base: Snapshot, *batches: Batch) -> Snapshot:
    board = Board(base, RULES)
    for one in batches:
        run_now(board.apply(one, Instant(one.received_mono, WALL_0 + one.received_mono)))
    return run_now(board.finish(START))


def _ids(snapshot: Snapshot) -> set[str]:
    return {entry.source_match_id for entry in entries_of(snapshot.books[BOOKMAKER].chunks)}


LISTED = _after(
    EMPTY,
    batch([match("a"), match("b")]),
    batch([match("c", start_time=KICK_OFF)], scope="slow", stale_after_s=100_000.0),
)


@pytest.mark.parametrize("mono", [0.0, 29.999])
def test_read_returns_the_published_snapshot(mono: float) -> None:
    """While nothing is overdue every read returns the same object."""
    clock = ManualClock()
    published = Committing(LISTED, RULES, clock)
    clock.pass_(mono)

    assert LISTED is published.current() is published.current()


@pytest.mark.parametrize("mono", [30.0, 30.001, 9_000.0])
def test_read_past_a_deadline_withdraws_the_list(mono: float) -> None:
    """From the deadline on, a read first withdraws the stale list, in a version of its own."""
    clock = ManualClock()
    published = Committing(LISTED, RULES, clock)
    clock.pass_(mono)

    snapshot = published.current()

    assert ({"c"}, LISTED.version + 1) == (_ids(snapshot), snapshot.version)
    assert snapshot is published.current()


def test_read_past_an_expiry_removes_the_match() -> None:
    """From three hours after its kick-off, by the wall clock, no read returns a match."""
    clock = ManualClock()
    published = Committing(LISTED, RULES, clock)
    clock.wall = KICK_OFF + 10_800.0

    snapshot = published.current()

    assert ({"a", "b"}, LISTED.version + 1) == (_ids(snapshot), snapshot.version)
    assert snapshot is published.current()


def test_read_leaves_the_digestion_of_a_withdrawal_to_others() -> None:
    """A question for changes includes the withdrawal; listeners are called after its digestion."""
    clock, heard = ManualClock(), []
    published = Committing(LISTED, RULES, clock)
    published.history.subscribe(lambda bookmakers: heard.append({*filter(None, bookmakers)}))
    clock.pass_(30.0)
    published.current()
    before = list(heard)

    asked = run_now(published.history.since(None, LISTED.version))

    assert asked is not None
    assert ["a", "b"] == [change.id.removeprefix(f"{BOOKMAKER}_") for change in asked.gone]
    assert {(None, RemovalReason.STALE)} == {(change.entry, change.reason) for change in asked.gone}
    assert ([], [{BOOKMAKER}]) == (before, heard)


def test_each_deadline_makes_a_version() -> None:
    """Lists with different deadlines are withdrawn in separate versions, and none is left afterwards."""
    clock = ManualClock()
    published = Committing(LISTED, RULES, clock)
    versions = []
    for mono in (29.0, 30.0, 99_999.0, 100_000.0, 1e9):
        clock.mono = mono
        versions.append(published.current().version - LISTED.version)

    assert versions == [0, 1, 1, 2, 2]
    assert not published.current().books[BOOKMAKER].is_serving


def test_suspended_process_withdraws_everything_at_once() -> None:
    """After a long stop all overdue entries are removed in one commit, before the first answer."""
    clock = ManualClock()
    published = Committing(LISTED, RULES, clock)
    clock.pass_(200_000.0)

    snapshot = published.current()

    assert (set(), LISTED.version + 1) == (_ids(snapshot), snapshot.version)


def test_stale_empty_list_makes_no_version() -> None:
    """The withdrawal of an empty list changes no view, but its bookmaker is no longer serving."""
    clock = ManualClock()
    published = Committing(_after(EMPTY, batch([])), RULES, clock)
    clock.pass_(30.0)

    snapshot = published.current()

    assert (EMPTY.version, False) == (snapshot.version, snapshot.books[BOOKMAKER].is_serving)
    assert snapshot is published.current()


@pytest.mark.parametrize("shift", [3600.0, -3600.0])
def test_wall_clock_does_not_affect_staleness(shift: float) -> None:
    """A step of the wall clock by an hour changes no deadline and no version."""
    clock = ManualClock()
    published = Committing(LISTED, RULES, clock)
    clock.wall += shift
    before = published.current()
    clock.mono = 30.0

    assert (LISTED, {"c"}) == (before, _ids(published.current()))


def test_new_snapshot_replaces_its_base() -> None:
    """A commit based on the newest snapshot is published and replaces it."""
    published = Committing(LISTED, RULES, ManualClock())
    new = _after(LISTED, batch([match("a")], received_mono=1.0))

    published.publish(new)
    shown = published.current()
    assert (new.version, new.books) == (shown.version, shown.books)
    assert (True, {}) == (bool(new.differences), shown.differences)


def test_snapshot_overdue_at_publication_is_not_shown() -> None:
    """If a snapshot has overdue entries when it is published, the first read removes them."""
    clock = ManualClock()
    published = Committing(EMPTY, RULES, clock)
    new = _after(EMPTY, batch([match("a")], scope=Scope("fast"), stale_after_s=5.0))
    clock.pass_(5.0)

    published.publish(new)
    shown = published.current()
    assert (set(), new.version + 1) == (_ids(shown), shown.version)


@pytest.mark.anyio
async def test_read_waits_only_while_its_own_view_is_overdue() -> None:
    """A read of another view answers at once; one of this view asks for a turn, and gives up in time."""
    clock, asked = VirtualClock(), list[object]()
    two = Snapshot.empty(1000, (BOOKMAKER, OTHER))
    listed = _after(two, batch([match("a")]), batch([match("b")], bookmaker=OTHER, stale_after_s=1e6))
    published = Published(listed, RULES, clock, request=asked.append)
    await anyio.sleep(30)

    assert listed is await published.read(lambda snapshot: snapshot.list_deadlines(OTHER))
    assert [] == asked
    with pytest.raises(CommitLateError):
        await published.read()
    assert (31.0, [Overdue()]) == (clock.now().mono, asked)


@pytest.mark.anyio
async def test_reads_share_the_turn_that_they_wait_for() -> None:
    """All get the snapshot that the aggregator publishes meanwhile."""
    published = Published(LISTED, RULES, VirtualClock(), request=lambda _: None)
    await anyio.sleep(30)
    seen = list[Snapshot]()

    async def reader() -> None:
        seen.append(await published.read())

    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(reader)
        await settle()
        board = Board(LISTED, RULES)
        run_now(board.expire(Instant(30.0, WALL_0 + 30)))
        published.publish(run_now(board.finish(START)))
        published.end_turn()

    assert [{"c"}] * 5 == [_ids(snapshot) for snapshot in seen]
    assert 1 == len({id(snapshot) for snapshot in seen})
