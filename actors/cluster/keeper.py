"""The actor of a collector: commits its own board, keeps the leases of its sources, and beats.

It alone decides which sources run here. A commit under a lost lease is refused; then all lists of this
collector have already left the board, so that it drops them here and begins anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf
from typing import Protocol

import anyio
import msgspec
import structlog
from structlog.typing import FilteringBoundLogger

from actors.board.chunks import find
from actors.board.published import Published
from actors.board.snapshot import Snapshot
from actors.cluster.gate import Gate
from actors.cluster.liveness import SILENT_S, Silence
from actors.cluster.outbox import Due, Outbox
from actors.cluster.progress import LinksBox
from actors.cluster.store import CollectorId, Commit, Look, Position, Store
from actors.cluster.wire.fixtures import wire_links, wire_side_links
from actors.cluster.wire.records import MarketsRecord, Record, Tick, encoded, record_of, unencodable
from actors.core.clock import Clock
from actors.core.cooperative import run_sliced
from actors.core.errors import CommitLateError, OtherBoardError, StoreDamagedError, StoreLostError
from actors.core.messages import BookmakerId, SourceMatchId, SourceName
from actors.market_fixtures.model import MarketState
from actors.markets.market import Kind
from actors.matches.model import fixtures_of
from actors.runtime.facts import announce
from actors.runtime.membership import ClusterStatus

log: FilteringBoundLogger = structlog.get_logger()

LINKS = SourceName("@links")
"""The lease of the matcher; no source can have that name."""
CYCLE_S = 0.5  # a look and a beat in each cycle
RETRY_S = 0.3
LEAVE_S = 1.0  # time for withdrawing its lists at the end
SHARE = 4  # takes at most one of `SHARE` sources in a cycle, so that other collectors get some


class Polls(Protocol):
    """The polls of a process's sources, which move with the leases."""

    def tell(self, sources: Iterable[SourceName]) -> Mapping[SourceName, bytes]:
        """Return the state of polls for the next holder, for each of these sources that is polled."""
        ...

    def permit(self, sources: Iterable[SourceName], until_mono: float) -> None:
        """Permit the polls reported last until that time."""
        ...

    def take(self, source: SourceName, told: bytes) -> None:
        """Continue a source's polls from the last holder's state; empty if that was lost."""
        ...


@dataclass(slots=True)
class _Pending:
    """A commit whose answer is not known yet."""

    commit: Commit
    acked: Callable[[Position], None]
    """Called with the record's position in the log."""


@dataclass(slots=True)
class KeeperActor:
    """Commits the changes of `published`, the board of this process alone, as found by `outbox`.

    `sources` are the sources that it may collect, with their bookmakers; `LINKS` among them stands for the
    `links` and has no bookmaker. `drop` withdraws a source's lists from that board; `changed` is set when
    the board changes. The holder of `LINKS` sends ticks for `shown`, the shared board. `markets` are this
    process's boards of markets other than 1X2, `shown_markets` the shared boards.
    """

    id: CollectorId
    store: Store
    outbox: Outbox
    published: Published
    shown: Published
    links: LinksBox
    sources: Mapping[SourceName, tuple[BookmakerId, ...]]
    gates: Mapping[SourceName, Gate]
    drop: Callable[[SourceName], None]
    polls: Polls
    changed: asyncio.Event
    status: ClusterStatus
    clock: Clock
    markets: Sequence[Published] = ()
    shown_markets: Sequence[Published] = ()
    _held: dict[SourceName, int] = field(default_factory=dict)
    _asked: set[SourceName] = field(default_factory=set)
    """Sources with an unanswered request for the lease."""
    _epoch: str = ""
    _damage: str = ""
    """Why the last joined epoch is damaged; empty if it is not."""
    _sequence: int = 0
    _acked: int = 0
    """The sequence of the last record that the log must have; 0 if there is none."""
    _pending: _Pending | None = None
    _beaten_mono: float = -inf
    _joined_mono: float = -inf
    _known: set[SourceName] = field(default_factory=set)
    """Sources that this process had when another epoch began, and that nobody has taken since."""
    _silence: Silence = field(default_factory=Silence)

    async def run(self) -> None:
        """Run for ever; at the end withdraw the lists of this process."""
        self._end_all()
        try:
            while True:
                try:
                    await self._join()
                    while True:
                        await self._cycle()
                except (StoreLostError, OtherBoardError, StoreDamagedError) as error:
                    if isinstance(error, StoreDamagedError):
                        self._damage = self.status.keeper.damaged(error, log)
                    self.status.keeper.lost(str(error), self.clock.now(), log)
                    await anyio.sleep(RETRY_S)
        finally:
            self._end_all()
            with anyio.move_on_after(LEAVE_S, shield=True):
                await self._leave()

    async def _join(self) -> None:
        now = self.clock.now()
        epoch = await self.store.join(int(now.wall * 1000), self._damage)
        self._damage = ""
        if epoch == self._epoch:
            return
        self._epoch, self._pending, self._silence = epoch, None, Silence()
        self._acked = 0
        self._joined_mono = now.mono
        self.outbox.reset()
        self.links.drop()
        self._asked.clear()
        if now.mono - self._beaten_mono >= SILENT_S:  # others may have listed the sources
            self._lose_all()
        self._known |= self._held.keys()
        self._held.clear()

    async def _cycle(self) -> None:
        sent_mono = self.clock.now().mono
        look = await self.store.look()
        answered_mono = self.clock.now().mono
        await self._keep_leases(look)
        for collector, beat in self._silence.looked(look, sent_mono, answered_mono).items():
            if collector != self.id and await self.store.depose(collector, beat, self._leaving(collector)):
                announce(log, "collector.deposed", collector=collector)
        await self._tick(look)
        has_beaten, is_first, left_s = False, True, CYCLE_S
        while left_s > 0:
            self.changed.clear()
            is_in_order, is_first = await self._commit(with_times=is_first), False
            if is_in_order and not has_beaten:
                await self._beat(look.round)
                has_beaten = True
            left_s = sent_mono + CYCLE_S - self.clock.now().mono
            with anyio.move_on_after(max(left_s, 0.0)):
                await self.changed.wait()

    async def _keep_leases(self, look: Look) -> None:
        ours = {name: lease.token for name, lease in look.leases.items() if lease.collector == self.id}
        if self._held and self.id not in look.beats:
            self._lose_all()
        if any(self._held.get(name, token) != token for name, token in ours.items()) or any(
            name not in self._held and name not in self._asked for name in ours
        ):  # the log may have records of our sources that this process does not know
            await self.store.depose(self.id, look.beats[self.id], self._leaving(self.id))
            self._lose_all()
            return
        self._known -= look.leases.keys() - ours.keys()
        for name in self.sources.keys() & look.leases.keys() - ours.keys():
            self._lose(name)
        await self._take(look, ours.keys() - self._held.keys())
        for name in self._held:
            self.gates[name].open()

    async def _take(self, look: Look, unanswered: AbstractSet[SourceName]) -> None:
        """Take this process's former sources, then some free ones.

        While polls may be lost, free sources wait for a former holder. A source may already be ours if a
        reply was lost.
        """
        free = [name for name in self.sources if name not in look.leases or name in unanswered]
        others = [name for name in free if name not in self._known]
        if look.are_polls_lost and self.clock.now().mono - self._joined_mono < SILENT_S:
            others.clear()
        for name in (*filter(self._known.__contains__, free), *others[: -(-len(self.sources) // SHARE)]):
            self._asked.add(name)
            acquired = await self.store.acquire(self.id, name)
            self._asked.discard(name)
            if acquired is not None:
                self._held[name] = acquired.token
                if name not in self._known and (acquired.polls or look.are_polls_lost):
                    self.polls.take(name, acquired.polls)
                self._known.discard(name)
                announce(log, "lease.acquired", source=name, token=acquired.token, collector=self.id)

    async def _tick(self, look: Look) -> None:
        """If this is the matcher, commit a tick, with a new version if it may change what clients see."""
        if LINKS not in self._held or self._pending is not None:
            return
        now, shown = self.clock.now(), self.shown.newest
        is_behind = shown.epoch != self._epoch or shown.version < look.head.version
        boards = shown, *[board.newest for board in self.shown_markets]
        is_seen = is_behind or any(_may_change(board, now.wall) for board in boards)
        record = Record(self.id, tick=Tick(now.mono, now.wall, look.round))
        self._pending = _Pending(self._commit_of(record, [LINKS], is_seen=is_seen), lambda _: None)
        await self._send(self._pending)

    async def _commit(self, *, with_times: bool) -> bool:
        """Commit all changes; return whether the board had nothing overdue when they were collected."""
        boards = self.published, *self.markets
        is_in_order = all(board.is_valid(board.newest.deadlines) for board in boards)
        if self._pending is not None:  # older than the changes now
            await self._send(self._pending)
            return False
        names = [name for source in self._held for name in self.sources[source]]
        due = await run_sliced(self.outbox.due(names, with_times=with_times))
        for kind, books in due.changed.items():
            if (bad := unencodable(books)) is not None:
                await self._reject(due, kind, *bad)
                return False
        if due.changed:
            names_of = {name for books in due.changed.values() for name in books}
            sources = [name for name in self._held if not names_of.isdisjoint(self.sources[name])]
            record = record_of(self.id, due.changed, due.clock)
            commit = self._commit_of(record, sources, is_seen=due.is_seen)
            self._pending = _Pending(commit, lambda _: self.outbox.acked(due))
            if not await self._send(self._pending):
                return False
        else:
            self.outbox.acked(due)
        if (links := self.links.due) is not None and LINKS in self._held:
            commit = self._commit_of(Record(self.id, links=wire_links(links)), [LINKS], is_seen=True)
            self._pending = _Pending(commit, self.links.committed)
            is_in_order = await self._send(self._pending) and is_in_order
        return await self._link_sides() and is_in_order

    async def _link_sides(self) -> bool:
        """Commit the links of side events, if there are any; return False if a lease is lost."""
        sides = self.links.sides.due
        if sides is None or LINKS not in self._held:
            return True
        record = MarketsRecord(self.id, sides=wire_side_links(sides))
        self._pending = _Pending(self._commit_of(record, [LINKS], is_seen=True), self.links.sides.committed)
        return await self._send(self._pending)

    async def _reject(
        self, due: Due, kind: Kind, name: BookmakerId, match_id: SourceMatchId, why: str
    ) -> None:
        """Have the list of an entry that cannot be encoded withdrawn, so that the other lists go on."""
        if (entry := find(due.book(name, kind).chunks, match_id)) is not None:
            with suppress(CommitLateError):
                await self.published.reject(name, entry, why)

    def _commit_of(self, record: Record, sources: Iterable[SourceName], *, is_seen: bool) -> Commit:
        self._sequence += 1
        leases = {source: self._held[source] for source in sources}
        data = encoded(msgspec.structs.replace(record, at=self.clock.now().wall))
        return Commit(self.id, self._sequence, is_seen, data, leases, self._acked)

    async def _send(self, pending: _Pending) -> bool:
        """Commit a record; return False, with all sources lost, if a lease is lost."""
        at = await self.store.commit(pending.commit)
        self._pending = None
        if at is None:
            self._lose_all()
            return False
        self._acked = pending.commit.sequence
        pending.acked(at)
        return True

    async def _beat(self, answered: int) -> None:
        if not self._held:  # all sources have other holders
            self.status.keeper.well(self.clock.now(), log)
            return
        sent_mono = self.clock.now().mono
        if await self.store.beat(self.id, answered, self.polls.tell(self._held), self._acked):
            self._beaten_mono = sent_mono
            self.polls.permit(self._held, sent_mono + SILENT_S)
            self.status.keeper.well(self.clock.now(), log)
        else:
            self._lose_all()

    def _lose(self, source: SourceName) -> None:
        """Stop a source here, and withdraw its lists."""
        self._held.pop(source, None)
        if self.gates[source].is_open:
            self.gates[source].close()
            self.drop(source)

    def _lose_all(self) -> None:
        """Log the loss of all leases, and stop all sources here."""
        if self._held:
            announce(log, "lease.lost", sources=sorted(self._held), collector=self.id)
        self._end_all()

    def _end_all(self) -> None:
        """Stop all sources here, when the log has no lists of this process any more."""
        for source in self.sources:
            self._lose(source)
        self._known.clear()
        self._pending = None
        self._acked = 0
        self.outbox.reset()
        self.links.drop()

    async def _leave(self) -> None:
        try:
            look = await self.store.look()
            if (beat := look.beats.get(self.id)) is not None:
                await self.store.depose(self.id, beat, self._leaving(self.id))
        except (StoreLostError, OtherBoardError, StoreDamagedError):
            pass  # another collector will find this one silent
        await self.store.close()

    def _leaving(self, collector: CollectorId) -> bytes:
        return encoded(Record(collector, leaves=True, at=self.clock.now().wall))


def _may_change(board: Snapshot, wall: float) -> bool:
    """Return whether a tick may change a shown board: a surebet, or which matches have begun."""
    fixtures = fixtures_of(board)
    has_begun = isinstance(fixtures, MarketState) and fixtures.next_start <= wall
    return has_begun or bool(fixtures.candidates.by_fixture)
