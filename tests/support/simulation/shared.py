"""A model of the server that a cluster shares, in virtual time, and connections to it that fail.

It implements the scripts again, without Lua. A connection loses messages on their way there or back; a
request may also arrive long after its sender has given up.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha1
from math import inf
from random import Random
from typing import TypeVar

import anyio

from actors.cluster.progress import Seen
from actors.cluster.scripts import AHEAD, MISSING, PAUSE_MS, SILENT_MS
from actors.cluster.store import Acquired, CollectorId, Commit, Lease, Logged, Look, Position, Restored
from actors.core.errors import OtherBoardError, StoreDamagedError, StoreLostError
from actors.core.messages import SourceName

T = TypeVar("T")

TIMEOUT_S = 1.0


@dataclass
class Data:
    """All that a server keeps."""

    epoch: str = ""
    run: int = 0
    first: int = 0
    head: Position = Position(0)  # noqa: RUF009 - a frozen value
    round: int = 0
    log: list[Logged] = field(default_factory=list)
    leases: dict[SourceName, Lease] = field(default_factory=dict)
    tokens: dict[SourceName, int] = field(default_factory=dict)
    beats: dict[CollectorId, int] = field(default_factory=dict)
    polls: dict[SourceName, bytes] = field(default_factory=dict)
    kept: str = "none"
    """The state of the polls before this epoch: none, kept or lost."""
    acks: dict[CollectorId, tuple[int, Position]] = field(default_factory=dict)
    checkpoint: tuple[Position, bytes] | None = None
    before: tuple[Position, bytes] | None = None
    damage: str = ""
    """The damage since the last script; `reason` is why the previous epoch ended."""
    reason: str = ""


class ModelServer:
    """The scripts on `data`; `run` identifies the run of the server."""

    def __init__(self) -> None:
        self.data = Data()
        self.run = 1
        self.epochs = 0
        self.is_down = False
        self.is_full = False
        self.appended = asyncio.Event()
        self.looked_at = self.paused_until = -inf

    def restart(self, data: Data) -> None:
        """Go on with `data` as another run."""
        self.data, self.run = copy.deepcopy(data), self.run + 1

    def join(self, seen: Seen, unix_ms: int, damaged: str = "", why: str = "") -> str:
        """Do what JOIN does."""
        data, now = self.data, anyio.current_time()
        if damaged and damaged == data.epoch:
            data.damage = why
        is_left = seen.is_new and now - self.looked_at >= SILENT_MS / 1000
        is_same = data.epoch and data.run == self.run and seen.version <= data.head.version
        self.looked_at = now
        if is_same and not data.damage and not is_left:
            if data.kept == "none" and 0 < seen.version < data.first:
                data.kept = "lost"
            return data.epoch
        if data.damage and now < self.paused_until:
            raise StoreLostError("the board begins anew later")
        if data.damage:
            self.paused_until = now + PAUSE_MS / 1000
        self.epochs += 1
        first = max(data.head.version, seen.version, unix_ms) + AHEAD
        is_whole = (
            not data.damage
            and data.epoch
            and seen.version <= data.head.version
            and seen.round <= data.round
        )
        kept = "kept" if is_whole else "lost" if data.epoch or seen.version else "none"
        self.data = Data(f"e{self.epochs}", self.run, first, Position(first))
        is_missing = seen.version > data.head.version and (data.epoch or not seen.is_new)
        self.data.reason = data.damage or (MISSING if is_missing else "")
        self.data.round = max(data.round, seen.round)
        self.data.polls = data.polls if is_whole else {}
        self.data.kept = "lost" if is_whole and data.kept == "lost" else kept
        return self.data.epoch

    def check(self, epoch: str, seen: int) -> None:
        """Do the checks of all scripts except JOIN. Raises: StoreLostError, OtherBoardError."""
        if self.is_full:
            raise StoreLostError("out of memory")
        if self.data.epoch and self.data.damage:
            raise StoreDamagedError(self.data.damage)
        if self.data.epoch != epoch or self.data.head.version < seen:
            raise OtherBoardError("another board")

    def look(self) -> Look:
        """Do what LOOK does."""
        self.data.round += 1
        data, self.looked_at = self.data, anyio.current_time()
        is_lost, leases = data.kept == "lost", dict(data.leases)
        return Look(data.head, data.round, dict(data.beats), leases, is_lost, data.reason)

    def beat(
        self,
        collector: CollectorId,
        answered: int,
        polls: Mapping[SourceName, bytes] = {},
        acked: int = 0,
    ) -> bool:
        """Do what BEAT does."""
        beats, leases = self.data.beats, self.data.leases
        if collector not in beats or not self._has_acked(collector, acked):
            return False
        ours = {name for name, lease in leases.items() if lease.collector == collector}
        self.data.polls |= {name: polls[name] for name in polls.keys() & ours}
        beats[collector] = max(answered, beats[collector])
        return True

    def acquire(self, collector: CollectorId, source: SourceName) -> Acquired | None:
        """Do what ACQUIRE does."""
        data = self.data
        if (lease := data.leases.get(source)) is not None:
            is_ours = lease.collector == collector
            return Acquired(lease.token, data.polls.get(source, b"")) if is_ours else None
        token = data.tokens[source] = data.tokens.get(source, 0) + 1
        data.leases[source] = Lease(token, collector)
        data.beats.setdefault(collector, data.round)
        return Acquired(token, data.polls.get(source, b""))

    def commit(self, commit: Commit) -> Position | None:
        """Do what COMMIT does."""
        data = self.data
        sequence, at = data.acks.get(commit.collector, (0, data.head))
        if commit.sequence <= sequence:
            return at
        held = {source: Lease(token, commit.collector) for source, token in commit.leases.items()}
        if any(data.leases.get(source) != lease for source, lease in held.items()):
            return None
        if not self._has_acked(commit.collector, commit.acked):
            return None
        self._append(commit.data, is_seen=commit.is_seen)
        data.acks[commit.collector] = commit.sequence, data.head
        return data.head

    def depose(self, collector: CollectorId, beat: int, record: bytes) -> bool:
        """Do what DEPOSE does."""
        data = self.data
        if data.beats.get(collector) != beat:
            return False
        del data.beats[collector]
        data.acks.pop(collector, None)
        data.leases = {source: of for source, of in data.leases.items() if of.collector != collector}
        self._append(record, is_seen=True)
        return True

    def keep(self, at: Position, state: bytes, trim: Position) -> None:
        """Do what CHECKPOINT does."""
        data = self.data
        if data.checkpoint is None or data.checkpoint[0] < at:
            data.before, data.checkpoint = data.checkpoint, (at, state)
            data.log = [record for record in data.log if record.at >= trim]

    def _has_acked(self, collector: CollectorId, acked: int) -> bool:
        """Return whether a collector's last record is here; False if the collector was deposed since."""
        known = self.data.acks.get(collector)
        if known is not None and known[0] < acked:
            raise StoreDamagedError("the server's key 'acks' differs from what was stored")
        return known is not None or not acked

    def _append(self, record: bytes, *, is_seen: bool) -> None:
        data = self.data
        before = data.head
        version, sub = (before.version + 1, 0) if is_seen else (before.version, before.sub + 1)
        data.head = Position(
            version, sub, sha1(before.mark.encode() + record, usedforsecurity=False).hexdigest()
        )
        data.log.append(Logged(data.head, before, data.epoch, record))
        appended, self.appended = self.appended, asyncio.Event()
        appended.set()


@dataclass
class Wire:
    """The network between a process and the server; `fired` counts lost and delayed messages.

    While `is_moving` is not set, the process stands still: it sends nothing, and takes no answer.
    """

    random: Random
    delay_s: float = 0.001
    slow_s: float = 0.0
    is_moving: asyncio.Event = field(default_factory=asyncio.Event)
    is_cut_there: bool = False
    is_cut_back: bool = False
    fired: int = 0

    def __post_init__(self) -> None:
        """Begin without a fault."""
        self.mend()

    def mend(self) -> None:
        """End all faults."""
        self.is_cut_there = self.is_cut_back = False
        self.slow_s = 0.0
        self.is_moving.set()

    async def passed(self) -> None:
        """Wait as long as a message is on its way, or as the process stands still."""
        self.fired += self.slow_s > 0 or not self.is_moving.is_set()
        await anyio.sleep(self.random.uniform(0.0, self.delay_s + self.slow_s))
        await self.is_moving.wait()


class ModelStore:
    """A `Store` on a model server."""

    def __init__(self, server: ModelServer, wire: Wire, seen: Seen) -> None:
        self._server, self._wire, self._seen = server, wire, seen
        self._run: int | None = None
        self._epoch = ""

    async def join(self, unix_ms: int, damage: str = "") -> str:
        """Do the same as `Store.join`."""
        self._run, damaged = self._server.run, self._epoch if damage else ""
        self._epoch = await self._asked(lambda: self._server.join(self._seen, unix_ms, damaged, damage))
        self._seen.is_new = False
        return self._epoch

    async def look(self) -> Look:
        """Do the same as `Store.look`."""
        look = await self._done(self._server.look)
        self._seen.note(look.head.version, look.round)
        return look

    async def beat(
        self, collector: CollectorId, answered: int, polls: Mapping[SourceName, bytes], acked: int = 0
    ) -> bool:
        """Do the same as `Store.beat`."""
        return await self._done(lambda: self._server.beat(collector, answered, polls, acked))

    async def acquire(self, collector: CollectorId, source: SourceName) -> Acquired | None:
        """Do the same as `Store.acquire`."""
        return await self._done(lambda: self._server.acquire(collector, source))

    async def commit(self, commit: Commit) -> Position | None:
        """Do the same as `Store.commit`."""
        at = await self._done(lambda: self._server.commit(commit))
        self._seen.note(0 if at is None else at.version)
        return at

    async def depose(self, collector: CollectorId, beat: int, data: bytes) -> bool:
        """Do the same as `Store.depose`."""
        return await self._done(lambda: self._server.depose(collector, beat, data))

    async def restore(self, *, is_before: bool = False) -> Restored:
        """Do the same as `Store.restore`."""

        def restore() -> Restored:
            data = self._server.data
            return Restored(data.first, *((data.before if is_before else data.checkpoint) or ()))

        found = await self._done(restore)
        self._seen.note(found.first if found.at is None else found.at.version)
        return found

    async def checkpoint(self, at: Position, state: bytes, trim: Position) -> None:
        """Do the same as `Store.checkpoint`."""
        await self._done(lambda: self._server.keep(at, state, trim))

    async def tail(self, after: Position, wait_s: float) -> Sequence[Logged]:
        """Do the same as `Store.tail`."""
        if not await self._asked(lambda: self._newer(after)):
            with anyio.move_on_after(wait_s):
                await self._server.appended.wait()
        records = await self._asked(lambda: self._newer(after))
        for record in records[-1:]:
            self._seen.note(record.at.version)
        return records

    async def close(self) -> None:
        """Do the same as `Store.close`."""
        self._run = None

    def _newer(self, after: Position) -> list[Logged]:
        return [record for record in self._server.data.log if record.at > after][:50]

    async def _done(self, call: Callable[[], T]) -> T:
        epoch, seen = self._epoch, self._seen.version

        def checked() -> T:
            self._server.check(epoch, seen)
            return call()

        return await self._asked(checked)

    async def _asked(self, call: Callable[[], T]) -> T:
        """Have the server run a script, as far as the network allows."""
        wire, run = self._wire, self._run
        await wire.passed()
        if wire.is_cut_there:
            wire.fired += 1
            late_s = wire.random.uniform(0.0, 15.0)  # the kernel goes on sending it
            asyncio.get_running_loop().call_later(late_s, self._late, call, run)
            await self._lost()
        if self._server.is_down or run is None or run != self._server.run:
            self._run = None
            raise StoreLostError("no connection")
        try:
            found = call()
        except StoreLostError:
            self._run = None
            raise
        if wire.is_cut_back:
            wire.fired += 1
            await self._lost()
        await wire.passed()
        return found

    def _late(self, call: Callable[[], object], run: int | None) -> None:
        if run == self._server.run and not self._server.is_down:
            with contextlib.suppress(StoreLostError, OtherBoardError, StoreDamagedError):
                call()

    async def _lost(self) -> None:
        await anyio.sleep(TIMEOUT_S)
        self._run = None
        raise StoreLostError("no answer in time")
