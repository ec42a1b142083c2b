"""The published snapshot: no read ever gives an entry past its deadline, whoever is late."""

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
def test_read_gives_what_was_published(mono: float) -> None:
    """As long as nothing is overdue every read gives the same object."""
    clock = ManualClock()
    published = Published(LISTED, RULES, clock)
    clock.pass_(mono)

    assert LISTED is run_now(published.current()) is run_now(published.current())


@pytest.mark.parametrize("mono", [30.0, 30.001, 9_000.0])
def test_read_past_a_deadline_withdraws_first(mono: float) -> None:
    """Exactly at the deadline and any time later the stale list is gone, in a version of its own."""
    clock = ManualClock()
    published = Published(LISTED, RULES, clock)
    clock.pass_(mono)

    snapshot = run_now(published.current())

    assert ({"c"}, LISTED.version + 1) == (_ids(snapshot), snapshot.version)
    assert snapshot is run_now(published.current())


def test_read_past_an_expiry_takes_the_match_off_first() -> None:
    """Three hours after its kick-off, by the wall clock, a match is not read any more."""
    clock = ManualClock()
    published = Published(LISTED, RULES, clock)
    clock.wall = KICK_OFF + 10_800.0

    snapshot = run_now(published.current())

    assert ({"a", "b"}, LISTED.version + 1) == (_ids(snapshot), snapshot.version)
    assert snapshot is run_now(published.current())


def test_a_read_leaves_to_others_what_is_long_about_a_withdrawal() -> None:
    """Who asks what changed is told all of it; who listens hears of it when it has been digested."""
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


def test_each_deadline_is_a_version() -> None:
    """What falls due one after the other is withdrawn one after the other; then nothing is left to do."""
    clock = ManualClock()
    published = Published(LISTED, RULES, clock)
    versions = []
    for mono in (29.0, 30.0, 99_999.0, 100_000.0, 1e9):
        clock.mono = mono
        versions.append(run_now(published.current()).version - LISTED.version)

    assert versions == [0, 1, 1, 2, 2]
    assert not run_now(published.current()).books[BOOKMAKER].is_serving


def test_suspended_process_withdraws_everything_at_once() -> None:
    """After a long stop all that is overdue goes in one commit, before the first answer."""
    clock = ManualClock()
    published = Published(LISTED, RULES, clock)
    clock.pass_(200_000.0)

    snapshot = run_now(published.current())

    assert (set(), LISTED.version + 1) == (_ids(snapshot), snapshot.version)


def test_empty_list_stops_serving_without_a_version() -> None:
    """The withdrawal of an empty list changes no view, but 503 is due from then on."""
    clock = ManualClock()
    published = Published(_after(EMPTY, batch([])), RULES, clock)
    clock.pass_(30.0)

    snapshot = run_now(published.current())

    assert (EMPTY.version, False) == (snapshot.version, snapshot.books[BOOKMAKER].is_serving)
    assert snapshot is run_now(published.current())


@pytest.mark.parametrize("shift", [3600.0, -3600.0])
def test_wall_clock_leaves_staleness_alone(shift: float) -> None:
    """An hour forward or back on the wall clock changes no deadline and no version."""
    clock = ManualClock()
    published = Published(LISTED, RULES, clock)
    clock.wall += shift
    before = run_now(published.current())
    clock.mono = 30.0

    assert (LISTED, {"c"}) == (before, _ids(run_now(published.current())))


def test_new_snapshot_replaces_what_it_was_made_from() -> None:
    """A commit on the newest snapshot is published, without what it replaced."""
    published = Published(LISTED, RULES, ManualClock())
    new = _after(LISTED, batch([match("a")], received_mono=1.0))

    assert published.replace(LISTED, new)
    shown = run_now(published.current())
    assert (new.version, new.books) == (shown.version, shown.books)
    assert (True, {}) == (bool(new.differences), shown.differences)


def test_snapshot_made_before_a_withdrawal_is_refused() -> None:
    """A read that withdrew since wins: what was made from the older snapshot must be made anew."""
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


def test_snapshot_that_is_overdue_when_published_is_not_shown() -> None:
    """An aggregator that took too long publishes something overdue; the first read withdraws it."""
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
async def test_readers_wait_for_one_withdrawal_in_slices() -> None:
    """Many matches past their time: all get what is left, and others have their turn meanwhile."""
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
async def test_a_reader_that_goes_leaves_the_withdrawal_to_the_next() -> None:
    """Cut off half-way it has changed nothing, and holds nobody up."""
    clock = ManualClock()
    published = Published(_after(EMPTY, _many()), RULES, clock)
    clock.wall = KICK_OFF + 10_800.0

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(published.read)
        await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()

    assert 10_000 == (await published.read()).books[BOOKMAKER].count
