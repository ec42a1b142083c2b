"""A replica on a model of the server: what it shows when it misses records, or the board begins anew."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from random import Random

import anyio
import pytest
from msgspec.structs import replace
from structlog.testing import capture_logs

from actors.board.published import Published
from actors.board.snapshot import Snapshot
from actors.board.validity import HOLDS_S, BoardRules
from actors.cluster.follower import WARNED_S, FollowerActor
from actors.cluster.liveness import MatcherClock
from actors.cluster.progress import LinksBox, Seen
from actors.cluster.replay import kept
from actors.cluster.scripts import MISSING
from actors.cluster.store import CollectorId, Commit, Position
from actors.cluster.wire.records import BookRecord, Record, WireEntry, WireList, encoded
from actors.core.cooperative import run_now
from actors.core.errors import CommitLateError
from actors.core.messages import BookmakerId, Scope, SourceMatchId, SourceName
from actors.markets.market import Kind
from actors.matches.model import BookmakerInfo, FixtureSettings, first_snapshot, roster_of
from actors.runtime.membership import ClusterStatus
from tests.support.simulation.shared import Data, ModelServer, ModelStore, Wire
from tests.support.time.virtual import WALL_0, VirtualClock

pytestmark = pytest.mark.anyio

ALDER, BIRCH = BookmakerId("alder"), BookmakerId("birch")
SOURCE, SCOPE = SourceName("source"), Scope("scope")
TERMS = FixtureSettings(roster_of(dict.fromkeys((ALDER, BIRCH), BookmakerInfo(SOURCE))))
ME = CollectorId("me")
WEEK_S = 7 * 86_400.0


class _Replica:
    """A follower, and a collector that the test plays, on the given server or on a new one."""

    def __init__(self, server: ModelServer | None = None) -> None:
        self.server, self.wire = server or ModelServer(), Wire(Random(1))
        self.clock, self.is_beating = VirtualClock(), True
        self.restarts: list[Snapshot] = []
        self.published = Published(first_snapshot(0, TERMS, "none"), BoardRules(), self.clock)
        self.actor = FollowerActor(
            store=ModelStore(self.server, self.wire, Seen()),
            published=self.published,
            terms=TERMS,
            own=None,
            links=LinksBox(lambda: None),
            matcher=MatcherClock(),
            restarted=lambda boards: self.restarts.append(boards[Kind.ONE_X_TWO]),
            status=ClusterStatus(("replica",), None),
            clock=self.clock,
        )
        self._sequence = 0

    def begin(self) -> None:
        self.server.join(Seen(), 1000)
        acquired = self.server.acquire(ME, SOURCE)
        self._token = 0 if acquired is None else acquired.token

    def list(self, match_id: str) -> Position:
        """Commit that a match is listed."""
        entry = WireEntry(
            *(SCOPE, 1.0, 1.0, SourceMatchId(match_id), match_id, "Away", None, 2.0, 3.0, 4.0),
            *(int(WALL_0), None, None, None, 0.0, None, None),
        )
        book = BookRecord((entry,), (), {SCOPE: WireList(withdrawn=False, doubted=0)})
        return self._commit(book, is_seen=True)

    def fail(self) -> Position:
        """Commit that an attempt failed, which shows clients nothing new."""
        failing = WireList(withdrawn=False, doubted=0, is_failing=True)
        return self._commit(BookRecord(lists={SCOPE: failing}), is_seen=False)

    def _commit(self, book: BookRecord, *, is_seen: bool) -> Position:
        self._sequence += 1
        data = encoded(Record(ME, {ALDER: book}, at=WALL_0))
        commit = Commit(ME, self._sequence, is_seen, data, leases={SOURCE: self._token})
        at = self.server.commit(commit)
        assert at is not None
        return at

    async def beat(self) -> None:
        while self.is_beating:
            self.server.beat(ME, self.server.data.round)
            await anyio.sleep(0.5)

    def state(self) -> bytes:
        """Return the whole state that served bytes depend on."""
        return run_now(kept(self.actor._known()))

    def shown(self) -> set[str]:
        chunks = self.published.newest.books[ALDER].chunks
        return {str(name) for chunk in chunks for name in chunk.keys}


@asynccontextmanager
async def _following() -> AsyncIterator[_Replica]:
    replica = _Replica()
    replica.begin()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(replica.actor.run)
        yield replica
        tasks.cancel_scope.cancel()


@pytest.mark.parametrize("is_seen", [True, False])
async def test_a_replica_that_misses_records_begins_with_the_checkpoint(*, is_seen: bool) -> None:
    """The log was cut while the replica was away; its state equals that of a replica that missed nothing.

    This holds also if the missed records show nothing new to clients: later versions depend on them.
    """
    async with _following() as replica, anyio.create_task_group() as tasks:
        other = _Replica(replica.server)
        tasks.start_soon(other.actor.run)
        replica.list("m1")
        await anyio.sleep(2.0)
        replica.wire.is_cut_there = replica.wire.is_cut_back = True
        await anyio.sleep(2.0)
        at = [replica.list(name) for name in ("m2", "m3")][-1] if is_seen else replica.fail()
        replica.server.keep(at, await _state_at(replica.server), Position(at.version + 1))
        replica.list("m4")
        replica.wire.is_cut_there = replica.wire.is_cut_back = False
        await anyio.sleep(20.0)
        tasks.cancel_scope.cancel()

    assert {"m1", "m4", *(("m2", "m3") if is_seen else ())} == replica.shown()
    assert other.state() == replica.state()
    assert (1, 2) == (len(other.restarts), len(replica.restarts))


async def _state_at(server: ModelServer) -> bytes:
    """Return the checkpoint of a replica that has missed no record."""
    other = _Replica(server)
    other.actor.own, other.actor.checkpoint_records = ME, 1
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(other.actor.run)
        await anyio.sleep(2.0)
        tasks.cancel_scope.cancel()
    assert server.data.checkpoint is not None
    found = server.data.checkpoint[1]
    server.data.checkpoint = None
    return found


async def test_a_board_that_begins_anew_replaces_what_is_shown() -> None:
    """All data are lost: no old entry stays, versions are higher, and the reason is logged once."""
    with capture_logs() as logged:
        async with _following() as replica:
            last = replica.list("m1")
            await anyio.sleep(2.0)
            replica.server.data = Data()
            await anyio.sleep(2.0)

    assert [MISSING] == [line["error"] for line in logged if line["event"] == "board.damaged"]
    assert f"the board began anew: {MISSING}" == replica.actor.status.warning
    assert set() == replica.shown()
    assert replica.published.newest.version > last.version
    assert ["e1", "e2"] == [snapshot.epoch for snapshot in replica.restarts]


@pytest.mark.parametrize(("after_s", "is_warned"), [(WARNED_S - 10.0, True), (WARNED_S, False)])
async def test_a_process_that_starts_later_warns_no_longer_than_others(
    after_s: float, *, is_warned: bool
) -> None:
    """Each process warns for ten minutes from the moment when the board began anew."""
    replica = _Replica()
    replica.begin()
    replica.server.data.reason = MISSING
    replica.clock.wall_shift_s = 1 + after_s - WALL_0
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(replica.actor.run)
        await anyio.sleep(2.0)
        tasks.cancel_scope.cancel()

    assert is_warned == (replica.actor.status.warning is not None)


@pytest.mark.parametrize("fault", ["is_beating", "is_cut_there", "is_cut_back", "slow_s"])
async def test_reads_end_with_the_evidence(fault: str) -> None:
    """Reads end if the collector is silent, or the server is slow or cut off one way; other views go on."""
    async with _following() as replica, anyio.create_task_group() as tasks:
        replica.list("m1")
        tasks.start_soon(replica.beat)
        await anyio.sleep(30.0)
        await replica.published.read()
        before = replica.actor.status.warning
        if fault == "is_beating":
            replica.is_beating = False
        else:
            setattr(replica.wire, fault, 10 * HOLDS_S)
        await anyio.sleep(HOLDS_S)
        with pytest.raises(CommitLateError):
            await replica.published.read()
        await replica.published.read(lambda board: board.list_deadlines(BIRCH))
        tasks.cancel_scope.cancel()

    silent = (ME,) if fault == "is_beating" else ()
    assert (None, silent) == (before, replica.actor.status.silent)


@pytest.mark.parametrize("shift_s", [-WEEK_S, WEEK_S])
async def test_no_calendar_of_a_replica_ends_what_is_shown(shift_s: float) -> None:
    """The replica's clock is a week off; only the collector says that a match is over or a list stale."""
    async with _following() as replica, anyio.create_task_group() as tasks:
        replica.clock.wall_shift_s = shift_s
        replica.list("m1")
        tasks.start_soon(replica.beat)
        await anyio.sleep(60.0)
        await replica.published.read()
        tasks.cancel_scope.cancel()

    assert {"m1"} == replica.shown()


async def test_lists_that_nobody_has_proven_yet_are_not_read() -> None:
    """A replica that joins does not believe an answer that was given before the replica asked."""
    async with _following() as replica:
        replica.list("m1")
        await anyio.sleep(2.0)

        assert {"m1"} == replica.shown()
        with pytest.raises(CommitLateError):
            await replica.published.read()


@pytest.mark.parametrize(
    ("archived", "begun"), [(None, 4), (3, 2), (4, 4)], ids=["no archive", "older", "as old"]
)
async def test_a_process_whose_archive_lacks_records_begins_before_them(
    archived: int | None, begun: int
) -> None:
    """A process whose archive lacks records begins with the older checkpoint; others with the newest."""
    replica = _Replica()
    replica.begin()
    data, first = replica.server.data, replica.server.data.head.version
    kept = []
    for _ in range(2):
        at = [replica.list("m1") for _ in range(2)][-1]
        kept.append((at, await _state_at(replica.server)))
    data.before, data.checkpoint = kept
    replica.list("m1")
    if archived is not None:
        replica.actor.archived = lambda epoch: first + archived if epoch == "e1" else 0
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(replica.actor.run)
        await anyio.sleep(2.0)
        tasks.cancel_scope.cancel()

    assert [first + begun] == [snapshot.version for snapshot in replica.restarts]
    assert first + 5 == replica.published.newest.version


@pytest.mark.parametrize("bound", ["checkpoint_records", "checkpoint_bytes"])
async def test_a_collector_keeps_the_state_for_others(bound: str) -> None:
    """A collector writes a checkpoint after some records or bytes; the log is cut at the previous one."""
    async with _following() as replica:
        replica.actor.own = ME
        setattr(replica.actor, bound, 1)
        await anyio.sleep(1.0)
        replica.list("m1")
        await anyio.sleep(1.0)
        first = replica.server.data.checkpoint
        for _ in range(40):
            replica.list("m1")
            await anyio.sleep(1.0)
    last = replica.server.data.checkpoint

    assert first is not None
    assert last is not None
    assert last[0] > first[0]
    assert len(replica.server.data.log) < 40


@pytest.mark.parametrize("what", ["unreadable", "of other parts", "missing"])
async def test_a_record_that_cannot_be_followed_begins_the_board_anew(what: str) -> None:
    """The replica asks once for a new board and says why; the new versions are above the old ones."""
    async with _following() as replica:
        replica.list("m1")
        await anyio.sleep(2.0)
        replica.wire.is_cut_there = replica.wire.is_cut_back = True
        await anyio.sleep(3.0)
        last = replica.list("m2")
        data = replica.server.data
        if what == "missing":
            data.log.pop()
            last = replica.list("m3")
        else:
            broken = b"\xc1" if what == "unreadable" else encoded(Record(ME, {ALDER: BookRecord((None,))}))  # type: ignore[arg-type]
            data.log[-1] = replace(data.log[-1], data=broken)
        replica.wire.mend()
        await anyio.sleep(10.0)

    newest, status = replica.published.newest, replica.actor.status
    assert ["e1", "e2"] == [first.epoch for first in replica.restarts if first.version != last.version][-2:]
    assert newest.version > last.version
    assert status.warning is not None
    assert status.warning.startswith("the board began anew: ")
    assert len(replica.restarts) <= 3


@pytest.mark.parametrize(
    ("is_seen", "more"),
    [(True, ["m3"]), (True, ["m3", "m4"]), (False, [])],
    ids=["the same version again", "later versions", "the version before a hidden record"],
)
async def test_data_that_were_set_back_a_little_begin_the_board_anew(
    *, is_seen: bool, more: Sequence[str]
) -> None:
    """Other processes, which missed the lost records, committed as many since, so no version is lower."""
    async with _following() as replica:
        replica.list("m1")
        await anyio.sleep(2.0)
        older = copy.deepcopy(replica.server.data)
        last = replica.list("m2") if is_seen else replica.fail()
        await anyio.sleep(2.0)
        replica.server.data = older
        for name in more:
            last = replica.list(name)
        await anyio.sleep(5.0)

    newest, status = replica.published.newest, replica.actor.status
    assert ("e2", set()) == (newest.epoch, replica.shown())
    assert newest.version > last.version
    assert "set back" in status.damage


async def test_what_stays_broken_is_not_asked_for_again_and_again() -> None:
    """The board begins anew once a minute at most, and the replica pauses between its requests."""
    async with _following() as replica:
        replica.list("m1")
        for _ in range(120):
            data = replica.server.data
            data.log = [replace(record, data=b"\xc1") for record in data.log]
            if not data.log:
                acquired = replica.server.acquire(ME, SOURCE)
                assert acquired is not None
                replica._token = acquired.token
                replica.list("m1")
            await anyio.sleep(1.0)

    assert 2 <= replica.server.epochs <= 4
    assert len(replica.restarts) <= 2 * replica.server.epochs
