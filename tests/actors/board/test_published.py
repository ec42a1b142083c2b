"""The published snapshot: no read ever returns an entry past its deadline."""

from __future__ import annotations

import anyio
import anyio.lowlevel
import pytest

from actors.board.board import Board, BoardRules
from actors.board.chunks import entries_of
from actors.board.published import Published
from actors.board.snapshot import RemovalReason, Snapshot
from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.messages import Batch, Scope
from tests.support.builders.messages import BOOKMAKER, batch, match
from tests.support.time.virtual import WALL_0, ManualClock

RULES = BoardRules(expire_after_kickoff_s=10_800.0)
EMPTY = Snapshot.empty(1000, (BOOKMAKER,))
KICK_OFF = int(WALL_0) + 600


def _after(base: Snapshot, *batches: Batch) -> Snapshot:
    board = Board(base, RULES)
    for one in batches:
        run_now(board.apply(one, Instant(one.received_mono, WALL_0 + one.received_mono)))
    return board.commit()


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
    published = Published(LISTED, RULES, clock)
    clock.pass_(mono)

    assert LISTED is run_now(published.current()) is run_now(published.current())


@pytest.mark.parametrize("mono", [30.0, 30.001, 9_000.0])
def test_read_past_a_deadline_withdraws_the_list(mono: float) -> None:
    """From the deadline on, a read first withdraws the stale list, in a version of its own."""
    clock = ManualClock()
    published = Published(LISTED, RULES, clock)
    clock.pass_(mono)

    snapshot = run_now(published.current())

    assert ({"c"}, LISTED.version + 1) == (_ids(snapshot), snapshot.version)
    assert snapshot is run_now(published.current())


def test_read_past_an_expiry_removes_the_match() -> None:
    """From three hours after its kick-off, by the wall clock, no read returns a match."""
    clock = ManualClock()
    published = Published(LISTED, RULES, clock)
    clock.wall = KICK_OFF + 10_800.0

    snapshot = run_now(published.current())

    assert ({"a", "b"}, LISTED.version + 1) == (_ids(snapshot), snapshot.version)
    assert snapshot is run_now(published.current())


def test_read_leaves_the_digestion_of_a_withdrawal_to_others() -> None:
    """A question for changes includes the withdrawal; listeners are called after its digestion."""
    clock, heard = ManualClock(), []
    published = Published(LISTED, RULES, clock)
    published.history.subscribe(lambda bookmakers: heard.append(set(bookmakers)))
    clock.pass_(30.0)
    run_now(published.current())
    before = list(heard)

    asked = run_now(published.history.since(None, LISTED.version))

    assert asked is not None
    assert ["a", "b"] == [change.source_match_id for change in asked.changes]
    assert {(None, RemovalReason.STALE)} == {(change.entry, change.reason) for change in asked.changes}
    assert ([], [{BOOKMAKER}]) == (before, heard)


def test_each_deadline_makes_a_version() -> None:
    """Lists with different deadlines are withdrawn in separate versions, and none is left afterwards."""
    clock = ManualClock()
    published = Published(LISTED, RULES, clock)
    versions = []
    for mono in (29.0, 30.0, 99_999.0, 100_000.0, 1e9):
        clock.mono = mono
        versions.append(run_now(published.current()).version - LISTED.version)

    assert versions == [0, 1, 1, 2, 2]
    assert not run_now(published.current()).books[BOOKMAKER].is_serving


def test_suspended_process_withdraws_everything_at_once() -> None:
    """After a long stop all overdue entries are removed in one commit, before the first answer."""
    clock = ManualClock()
    published = Published(LISTED, RULES, clock)
    clock.pass_(200_000.0)

    snapshot = run_now(published.current())

    assert (set(), LISTED.version + 1) == (_ids(snapshot), snapshot.version)


def test_stale_empty_list_makes_no_version() -> None:
    """The withdrawal of an empty list changes no view, but its bookmaker is no longer serving."""
    clock = ManualClock()
    published = Published(_after(EMPTY, batch([])), RULES, clock)
    clock.pass_(30.0)

    snapshot = run_now(published.current())

    assert (EMPTY.version, False) == (snapshot.version, snapshot.books[BOOKMAKER].is_serving)
    assert snapshot is run_now(published.current())


@pytest.mark.parametrize("shift", [3600.0, -3600.0])
def test_wall_clock_does_not_affect_staleness(shift: float) -> None:
    """A step of the wall clock by an hour changes no deadline and no version."""
    clock = ManualClock()
    published = Published(LISTED, RULES, clock)
    clock.wall += shift
    before = run_now(published.current())
    clock.mono = 30.0

    assert (LISTED, {"c"}) == (before, _ids(run_now(published.current())))


def test_new_snapshot_replaces_its_base() -> None:
    """A commit based on the newest snapshot is published and replaces it."""
    published = Published(LISTED, RULES, ManualClock())
    new = _after(LISTED, batch([match("a")], received_mono=1.0))

    assert published.replace(LISTED, new)
    shown = run_now(published.current())
    assert (new.version, new.books) == (shown.version, shown.books)
    assert (True, {}) == (bool(new.differences), shown.differences)


def test_snapshot_based_on_an_older_one_is_refused() -> None:
    """A commit based on a snapshot from before a read's withdrawal is refused and must be repeated."""
    clock = ManualClock()
    published = Published(LISTED, RULES, clock)
    new = _after(LISTED, batch([match("x")], received_mono=1.0, scope="new"))
    clock.pass_(30.0)
    withdrawn = run_now(published.current())

    assert not published.replace(LISTED, new)
    assert withdrawn is run_now(published.current())
    assert published.replace(
        withdrawn, _after(withdrawn, batch([match("x")], received_mono=29.0, scope="new"))
    )
    assert {"c", "x"} == _ids(run_now(published.current()))


def test_snapshot_overdue_at_publication_is_not_shown() -> None:
    """If a snapshot has overdue entries when it is published, the first read removes them."""
    clock = ManualClock()
    published = Published(EMPTY, RULES, clock)
    new = _after(EMPTY, batch([match("a")], scope=Scope("fast"), stale_after_s=5.0))
    clock.pass_(5.0)

    assert published.replace(EMPTY, new)
    shown = run_now(published.current())
    assert (set(), new.version + 1) == (_ids(shown), shown.version)


def _many() -> Batch:
    """Return 20,000 matches, half of which kick off a minute after the others."""
    many = [match(f"{number:05}", start_time=KICK_OFF + number % 2 * 60) for number in range(20_000)]
    return batch(many, stale_after_s=1e9)


@pytest.mark.anyio
async def test_readers_share_one_withdrawal_in_slices() -> None:
    """All readers get the snapshot after one sliced withdrawal of many matches; other tasks run as well."""
    clock, turns, seen = ManualClock(), 0, []
    published = Published(_after(EMPTY, _many()), RULES, clock)
    clock.wall = KICK_OFF + 10_800.0

    async def reader() -> None:
        seen.append(await published.read())

    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(reader)
        while len(seen) < 5:
            await anyio.lowlevel.checkpoint()
            turns += 1

    assert (1, 10_000) == (len({id(one) for one in seen}), seen[0].books[BOOKMAKER].count)
    assert turns > 3


@pytest.mark.anyio
async def test_cancelled_reader_leaves_the_withdrawal_to_the_next() -> None:
    """A cancelled reader has changed nothing and does not block the next one."""
    clock = ManualClock()
    published = Published(_after(EMPTY, _many()), RULES, clock)
    clock.wall = KICK_OFF + 10_800.0

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(published.read)
        await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()

    assert 10_000 == (await published.read()).books[BOOKMAKER].count
