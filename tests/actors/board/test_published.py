"""The published snapshot: no read ever returns an entry past its deadline."""

from __future__ import annotations

import anyio
import anyio.lowlevel
import pytest
from msgspec.structs import replace

from actors.board.board import Board
from actors.board.chunks import entries_of
from actors.board.published import Overdue, Published
from actors.board.snapshot import Snapshot
from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.errors import CommitLateError
from tests.support.builders.boards import BIRCH, EMPTY, RULES, START, arrived
from tests.support.builders.messages import BOOKMAKER, batch, match
from tests.support.time.virtual import WALL_0, ManualClock, VirtualClock, settle

KICK_OFF = int(WALL_0) + 600


def _ids(snapshot: Snapshot) -> set[str]:
    return {entry.source_match_id for entry in entries_of(snapshot.books[BOOKMAKER].chunks)}


LISTED = arrived(
    EMPTY,
    batch([match("a"), match("b")]),
    batch([match("c", start_time=KICK_OFF)], scope="slow", stale_after_s=100_000.0),
)


def test_new_snapshot_replaces_its_base() -> None:
    """A commit based on the newest snapshot is published and replaces it."""
    published = Published(LISTED, RULES, ManualClock())
    new = arrived(LISTED, batch([match("a")], received_mono=1.0))

    published.publish(new)
    shown = published.newest
    assert (new.version, new.books) == (shown.version, shown.books)
    assert (True, {}) == (bool(new.differences), shown.differences)


def test_versions_are_counted_one_by_one() -> None:
    """The count ignores how far version numbers jump when another board takes the old board's place."""
    published = Published(LISTED, RULES, ManualClock())
    published.publish(new := arrived(LISTED, batch([match("a")], received_mono=1.0)))
    published.publish(replace(new, first_start=5.0))
    published.restart(replace(new, version=10**12))

    assert 1 == published.versions


@pytest.mark.anyio
async def test_read_waits_only_while_its_own_view_is_overdue() -> None:
    """A read of another view answers at once; a read of the overdue view asks for a turn and times out."""
    clock, asked = VirtualClock(), list[object]()
    listed = arrived(EMPTY, batch([match("a")]), batch([match("b")], bookmaker=BIRCH, stale_after_s=1e6))
    published = Published(listed, RULES, clock, request=asked.append)
    await anyio.sleep(30)

    assert listed is await published.read(lambda snapshot: snapshot.list_deadlines(BIRCH))
    assert [] == asked
    with pytest.raises(CommitLateError):
        await published.read()
    assert (31.0, [Overdue()]) == (clock.now().mono, asked)


@pytest.mark.anyio
async def test_reads_share_the_turn_that_they_wait_for() -> None:
    """All waiting reads get the snapshot that the aggregator publishes meanwhile."""
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
