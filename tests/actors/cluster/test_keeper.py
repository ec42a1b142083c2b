"""A collector on a model of the server: its commits, its beats, and its actions after it is deposed."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from itertools import pairwise
from math import inf
from random import Random

import anyio
import msgspec
import pytest
from anyio.abc import TaskGroup
from structlog.testing import capture_logs

from actors.board.board import Board
from actors.board.published import Published, Rejection, Request
from actors.board.snapshot import Book, Snapshot
from actors.board.validity import BoardRules
from actors.cluster.gate import Gate
from actors.cluster.keeper import LINKS, KeeperActor
from actors.cluster.liveness import SILENT_S, MatcherClock
from actors.cluster.outbox import Outbox
from actors.cluster.progress import LinksBox, Seen
from actors.cluster.store import Acquired, CollectorId, Commit, Lease, Position
from actors.cluster.wire.records import MarketsRecord, Record, decoded, encoded
from actors.core.cooperative import run_now
from actors.core.errors import StoreLostError
from actors.core.messages import Batch, BookmakerId, SourceName
from actors.market_fixtures.model import first_of_kind, markets_of
from actors.market_fixtures.sides import SideLinks
from actors.matches.candidates import Candidate, Candidates
from actors.matches.model import FixtureSettings, first_snapshot, fixtures_of, roster_of
from actors.matching.event import FixtureId
from actors.runtime.membership import ClusterStatus
from tests.support.builders.messages import BOOKMAKER, batch, match
from tests.support.simulation.shared import Data, ModelServer, ModelStore, Wire
from tests.support.time.virtual import WALL_0, VirtualClock

pytestmark = pytest.mark.anyio

SOURCE, ME, OTHER = SourceName("source"), CollectorId("me"), CollectorId("other")
UNREADABLE = "\ud800"


class _LosingStore(ModelStore):
    """Loses the answer to the first request for each lease."""

    async def acquire(self, collector: CollectorId, source: SourceName) -> Acquired | None:
        is_first = source not in self._server.data.leases
        found = await super().acquire(collector, source)
        if is_first:
            raise StoreLostError("the answer was lost")
        return found


class _Collector:
    """A keeper, and an aggregator that the test plays."""

    def __init__(self, of_markets: Snapshot | None = None, begins_at: float = inf) -> None:
        self.server, self.clock = ModelServer(), VirtualClock()
        self.wire, self.requests = Wire(Random(1)), list[Request]()
        self.dropped: list[SourceName] = []
        self.taken: dict[SourceName, bytes] = {}
        self.permitted: dict[SourceName, float] = {}
        first = Snapshot.empty(1, (BOOKMAKER, BookmakerId("birch")))
        self.published = Published(first, BoardRules(), self.clock, request=self.requests.append)
        self.changed, self.outbox = asyncio.Event(), Outbox(first, MatcherClock())
        self.published.follow(self.outbox.follow)
        self.published.follow(lambda _: self.changed.set())
        shown = first_snapshot(10**15, FixtureSettings(roster_of({})), "e1")  # not behind any record
        self.shown = Published(shown, BoardRules(), self.clock)
        own = Snapshot.empty(1, tuple(first.books)) if of_markets is None else of_markets
        self.totals = Published(own, BoardRules(), self.clock)
        handicaps = first_of_kind(shown, FixtureSettings(roster_of({})))
        state = msgspec.structs.replace(markets_of(handicaps), next_start=begins_at, is_foreign=True)
        handicaps = msgspec.structs.replace(handicaps, fixtures=state)
        self.gates = {SOURCE: Gate(), LINKS: Gate()}
        self.keeper = KeeperActor(
            id=ME,
            store=ModelStore(self.server, self.wire, Seen()),
            outbox=self.outbox,
            published=self.published,
            shown=self.shown,
            links=LinksBox(self.changed.set),
            sources={SOURCE: (BOOKMAKER,), LINKS: ()},
            gates=self.gates,
            drop=self.dropped.append,
            polls=self,
            changed=self.changed,
            status=ClusterStatus(("collector",), ME),
            clock=self.clock,
            markets=[self.totals],
            shown_markets=[Published(handicaps, BoardRules(), self.clock)],
        )

    def tell(self, sources: Iterable[SourceName]) -> dict[SourceName, bytes]:
        return dict.fromkeys(sources, b"polls")

    def permit(self, sources: Iterable[SourceName], until_mono: float) -> None:
        self.permitted = dict.fromkeys(sources, until_mono)

    def take(self, source: SourceName, told: bytes) -> None:
        self.taken[source] = told

    def change(self, change: Batch) -> None:
        board = Board(self.published.newest, BoardRules())
        run_now(board.apply(change, self.clock.now()))
        self.published.publish(run_now(board.finish(self.clock.now())))
        self.published.end_turn()

    def records(self) -> list[MarketsRecord]:
        return [decoded(logged.data) for logged in self.server.data.log]

    def positions(self) -> list[Position]:
        return [logged.at for logged in self.server.data.log]

    def committed(self) -> list[str]:
        """Return the ids of the matches in all records, in order."""
        records = self.records()
        books = [book for record in records for book in record.books.values()]
        return [entry.source_match_id for book in books for entry in book.entries]


@asynccontextmanager
async def _keeping(collector: _Collector) -> AsyncIterator[TaskGroup]:
    """Run a keeper during the block; when the block begins, the keeper has its leases."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(collector.keeper.run)
        await anyio.sleep(3.0)
        yield tasks
        tasks.cancel_scope.cancel()


async def test_a_collector_commits_what_its_sources_list_and_beats() -> None:
    """Once the collector has the leases of its sources, it answers each round."""
    collector = _Collector()
    async with _keeping(collector):
        collector.change(batch([match("m1")], received_mono=3.0))
        await anyio.sleep(1.0)
        beat = collector.server.data.beats[ME]

    assert ["m1"] == collector.committed()
    assert [WALL_0 + 3.0] == [record.at for record in collector.records() if record.books]
    assert beat > 0
    assert collector.gates[SOURCE].is_open is False
    assert {} == collector.server.data.leases


async def test_a_collector_with_something_overdue_does_not_beat() -> None:
    """The collector's lists are stale and not withdrawn by its aggregator: nobody may believe it."""
    collector = _Collector()
    async with _keeping(collector):
        collector.change(batch([match("m1")], received_mono=3.0, stale_after_s=5.0))
        await anyio.sleep(6.0)
        before = collector.server.data.beats[ME]
        await anyio.sleep(6.0)
        after = collector.server.data.beats[ME]

    assert before == after


async def test_a_collector_with_an_overdue_market_does_not_beat() -> None:
    """Nobody may believe any list of the collector until all its boards are in order."""
    book = Book(1, 1, deadline=6.0)
    collector = _Collector(Snapshot(1, {BOOKMAKER: book}, valid_until=6.0))
    async with _keeping(collector):
        await anyio.sleep(6.0)
        before = collector.server.data.beats[ME]
        await anyio.sleep(1.0)
        after = collector.server.data.beats[ME]

    assert before == after


async def test_the_matcher_ticks_with_a_version_when_a_match_begins() -> None:
    """The matcher's own clock decides; before the kick-off its ticks show clients nothing new."""
    collector = _Collector(begins_at=WALL_0 + 3.0)
    async with _keeping(collector):
        await anyio.sleep(2.0)
    ticks = [
        (record.tick.wall >= WALL_0 + 3.0, at.sub == 0)
        for record, at in zip(collector.records(), collector.positions(), strict=True)
        if record.tick is not None
    ]

    assert {(False, False), (True, True)} == {*ticks}


async def test_links_of_side_events_are_committed_once() -> None:
    """The linker makes the same links again and again until the board has them."""
    collector, links = _Collector(), SideLinks((), {})
    async with _keeping(collector):
        for _ in range(3):
            collector.keeper.links.sides.put(links)
            await anyio.sleep(1.0)
        is_due_again = collector.keeper.links.sides.due is not None
        collector.keeper.links.applied(collector.positions()[-1])
        collector.keeper.links.sides.put(links)
        await anyio.sleep(1.0)

    assert not is_due_again
    assert 2 == sum(record.sides is not None for record in collector.records())


async def test_a_deposed_collector_drops_its_lists_and_begins_anew() -> None:
    """After a refused commit the collector takes the lease again, with a new token, and lists all."""
    collector = _Collector()
    async with _keeping(collector):
        collector.change(batch([match("m1")], received_mono=3.0))
        await anyio.sleep(1.0)
        first = collector.server.data.leases[SOURCE].token
        collector.server.depose(ME, collector.server.data.beats[ME], collector.server.data.log[0].data)
        before = len(collector.committed())
        with capture_logs() as logs:
            await anyio.sleep(3.0)
        again = collector.server.data.leases[SOURCE].token

    assert SOURCE in collector.dropped
    assert again > first
    assert ["m1"] == collector.committed()[before:]
    assert b"polls" == collector.taken[SOURCE]
    assert [LINKS, SOURCE] == next(line["sources"] for line in logs if line["event"] == "lease.lost")


@pytest.mark.parametrize("is_quiet", [True, False])
async def test_a_collector_whose_record_was_lost_begins_the_board_anew(*, is_quiet: bool) -> None:
    """Others committed as many records, so no version is lower; the next record or beat is refused."""
    collector = _Collector()
    collector.keeper.sources = {SOURCE: (BOOKMAKER,)}  # no lease of links, so no ticks
    async with _keeping(collector):
        collector.change(batch([match("m1")], received_mono=3.0))
        await anyio.sleep(1.0)
        server, older = collector.server, copy.deepcopy(collector.server.data)
        collector.change(batch([match("m1"), match("m2")], received_mono=4.0))
        await anyio.sleep(1.0)
        lost, server.data = server.data, older
        server.commit(Commit(OTHER, 1, is_seen=True, data=lost.log[-1].data, leases={}))
        if not is_quiet:
            collector.change(batch([match("m1"), match("m2"), match("m3")], received_mono=5.0))
        await anyio.sleep(3.0)

    assert "e2" == server.data.epoch
    assert ["m1", "m2", *([] if is_quiet else ["m3"])] == sorted(collector.committed())
    assert server.data.first > lost.head.version


async def test_another_collector_takes_over_from_one_that_died() -> None:
    """The dead collector's lists leave after 3 s; then the other runs its sources, with new tokens."""
    collector, other = _Collector(), _Collector()
    server = collector.server
    other.keeper.store, other.keeper.id = ModelStore(server, other.wire, Seen()), OTHER
    async with _keeping(collector) as tasks:
        tasks.start_soon(other.keeper.run)
        await anyio.sleep(2.0)
        collector.wire.is_moving.clear()
        await anyio.sleep(SILENT_S - 0.5)
        before = dict(server.data.leases)
        await anyio.sleep(3.0)
        left = [record.collector for record in collector.records() if record.leaves]
        leases = dict(server.data.leases)
        is_open = {name: gate.is_open for name, gate in other.gates.items()}

    assert ({SOURCE: Lease(1, ME), LINKS: Lease(1, ME)}, [ME]) == (before, left)
    assert {SOURCE: Lease(2, OTHER), LINKS: Lease(2, OTHER)} == leases
    assert {SOURCE: True, LINKS: True} == is_open


async def test_nothing_is_committed_of_a_source_that_another_has_taken() -> None:
    """The lease of links, which this collector still has, does not allow commits of the lost source."""
    collector = _Collector()
    async with _keeping(collector):
        leases = collector.server.data.leases
        leases[SOURCE] = Lease(leases[SOURCE].token + 1, OTHER)
        collector.change(batch([match("m1")], received_mono=3.0))
        await anyio.sleep(1.0)

    assert ([], True) == (collector.committed(), SOURCE in collector.dropped)


async def test_a_collector_in_reserve_is_well() -> None:
    """A collector without leases has no error, before and after the board began anew.

    After the loss of the polls, the collector that had a source takes it at once; its own polls go on.
    """
    collector, other = _Collector(), _Collector()
    other.keeper.store, other.keeper.id = ModelStore(collector.server, other.wire, Seen()), OTHER
    async with _keeping(collector) as tasks:
        tasks.start_soon(other.keeper.run)
        await anyio.sleep(3.0)
        before = other.keeper.status.keeper.error
        collector.server.data = Data()
        await anyio.sleep(3.0)
        holders = {lease.collector for lease in collector.server.data.leases.values()}

    assert ({ME}, {}, {}) == (holders, collector.taken, other.taken)
    assert (None, None) == (before, other.keeper.status.keeper.error)


async def test_any_number_of_sources_is_taken_in_four_looks() -> None:
    """A look takes a quarter of all sources at most, so that collectors that start together share them."""
    collector = _Collector()
    many = [SourceName(f"source-{number}") for number in range(199)]
    collector.gates |= {name: Gate() for name in many}
    collector.keeper.sources = {LINKS: (), **dict.fromkeys(many, ())}
    taken = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(collector.keeper.run)
        for _ in range(4):
            await anyio.sleep(0.499)
            taken.append(len(collector.server.data.leases))
        tasks.cancel_scope.cancel()

    assert [50, 100, 150, 200] == taken


async def test_polls_are_permitted_until_another_may_take_over() -> None:
    """Polls are permitted for 3 s after the sending of the last beat that the server received."""
    collector = _Collector()
    async with _keeping(collector):
        before = collector.permitted[SOURCE]
        collector.wire.is_cut_back = True
        await anyio.sleep(6.0)

    assert 5.0 < before <= 3.0 + SILENT_S
    assert before == collector.permitted[SOURCE]


async def test_a_lease_whose_answer_was_lost_comes_with_its_polls() -> None:
    """The lease is requested again: only the answer has the polls that the last holder reported."""
    collector = _Collector()
    server = collector.server
    server.join(Seen(), 1)
    server.acquire(OTHER, SOURCE)
    server.beat(OTHER, 1, {SOURCE: b"theirs"})
    server.depose(OTHER, server.data.beats[OTHER], encoded(Record(OTHER, leaves=True)))
    collector.keeper.store = _LosingStore(server, collector.wire, Seen())
    async with _keeping(collector):
        await anyio.sleep(2.0)

    assert b"theirs" == collector.taken[SOURCE]


async def test_an_entry_that_cannot_be_encoded_costs_its_list_alone() -> None:
    """The entry's list is withdrawn from the collector's own board; the keeper goes on."""
    collector = _Collector()
    async with _keeping(collector):
        collector.change(batch([match("m1"), match("m2", home=UNREADABLE)], received_mono=3.0))
        await anyio.sleep(2.0)
    (found, *_) = collector.requests

    assert isinstance(found, Rejection)
    assert ("m2", []) == (found.entry.source_match_id, collector.committed())


async def test_the_matcher_ticks_each_half_second() -> None:
    """A tick has the matcher's times and the round it read; it makes a version only with candidates."""
    collector = _Collector()
    async with _keeping(collector):
        await anyio.sleep(2.0)
        idle, round_before = collector.positions(), collector.server.data.round
        shown, candidates = collector.shown.newest, Candidates({FixtureId("fx"): Candidate()})
        fixtures = msgspec.structs.replace(fixtures_of(shown), candidates=candidates)
        collector.shown.publish(msgspec.structs.replace(shown, fixtures=fixtures))
        await anyio.sleep(5.0)
    ticks = [record.tick for record in collector.records() if record.tick is not None]

    assert 0 < len(idle)
    assert all(position.sub for position in idle)
    assert not any(position.sub for position in collector.positions()[len(idle) :])
    assert [0.5] == sorted({round(b.mono - a.mono, 1) for a, b in pairwise(ticks)})
    assert round_before in {tick.round for tick in ticks}
