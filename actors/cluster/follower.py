"""The actor of a replica: builds the board from a checkpoint and the log, and tracks how long it is valid.

It has its own connection, because a read of the log waits. While the server is away the published board
keeps its last state, until its deadlines end it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

import anyio
import msgspec
import structlog
from structlog.typing import FilteringBoundLogger

from actors.board.published import Published
from actors.board.snapshot import Snapshot
from actors.board.validity import HOLDS_S
from actors.cluster.liveness import Evidence, MatcherClock
from actors.cluster.progress import LinksBox
from actors.cluster.replay import State, applied, kept, restored, shown
from actors.cluster.store import CollectorId, Logged, Look, Position, Store
from actors.cluster.wire.records import decoded
from actors.core.clock import Clock
from actors.core.cooperative import run_sliced
from actors.core.errors import OtherBoardError, StoreDamagedError, StoreLostError
from actors.market_fixtures.boards import MarketBoards
from actors.market_fixtures.update import MarketUpdater
from actors.markets.market import Kind
from actors.matches.model import FixtureSettings
from actors.matches.update import FixtureUpdater
from actors.runtime.facts import announce
from actors.runtime.membership import ClusterStatus

log: FilteringBoundLogger = structlog.get_logger()

LOOK_S = 0.5
RETRY_S = 0.3
WARNED_S = 600.0  # after a new board because of damage; its first version is the time in ms
UNREADABLE = (msgspec.MsgspecError, LookupError, ValueError, TypeError)
"""Errors from a record or a state that no process of this release can have written."""
CHECKPOINT_RECORDS = 2_000
"""Records after which a checkpoint is stored and the log cut, which bounds a new replica's reading."""
CHECKPOINT_BYTES = 16_000_000
"""The same limit in bytes, but at least the size of two states, because the server has to hold them."""


@dataclass(slots=True)
class FollowerActor:
    """Publishes the log's content in `published`; `own` is this process as a collector.

    The collector with the smallest id stores checkpoints for all. `markets` are the boards of other kinds
    of market, published together with it. `restarted` is called with boards that do not follow the ones
    before; `links` gets the applied position, `matcher` each tick. `archived`, if this process has an
    archive, returns the newest archived version of an epoch, or 0: the records since then are replayed, if
    the log still has them.
    """

    store: Store
    published: Published
    terms: FixtureSettings
    own: CollectorId | None
    links: LinksBox
    matcher: MatcherClock
    restarted: Callable[[Mapping[Kind, Snapshot]], None]
    status: ClusterStatus
    clock: Clock
    markets: MarketBoards = field(default_factory=MarketBoards)
    archived: Callable[[str], int] | None = None
    checkpoint_records: int = CHECKPOINT_RECORDS
    checkpoint_bytes: int = CHECKPOINT_BYTES
    _updater: FixtureUpdater = field(init=False)
    _of_kinds: Mapping[Kind, MarketUpdater] = field(init=False)
    _state: State | None = None
    _evidence: Evidence = field(default_factory=Evidence)
    _look: Look | None = None
    _joined_mono: float = -inf
    _warned_until_mono: float = -inf
    _damage: str = ""
    """Why the last joined epoch is damaged; empty if it is not."""
    _gap_at: Position | None = None
    """The position after which the log had a gap, if it ever had one."""
    _unkept: int = 0
    _unkept_bytes: int = 0
    _kept_bytes: int = 0
    _kept_at: Position = Position(0)  # noqa: RUF009 - a frozen value

    def __post_init__(self) -> None:
        """Make the updaters of fixtures."""
        self._updater = FixtureUpdater(self.terms)
        updaters = self.markets.updaters.items()
        self._of_kinds = {kind: updater for kind, updater in updaters if updater is not None}

    async def run(self) -> None:
        """Run for ever."""
        try:
            while True:
                try:
                    await self._join()
                    await self._follow()
                except (StoreLostError, OtherBoardError, StoreDamagedError, *UNREADABLE) as error:
                    if not isinstance(error, StoreLostError | OtherBoardError):
                        self._damage = self.status.follower.damaged(error, log)
                    self.status.follower.lost(str(error), self.clock.now(), log)
                    self._end_turn()
                    await anyio.sleep(RETRY_S)
        finally:
            await self.store.close()

    async def _join(self) -> None:
        epoch = await self.store.join(int(self.clock.now().wall * 1000), self._damage)
        self._damage = ""
        if self._state is None or self._state.snapshot.epoch != epoch:
            self._evidence, self.matcher.until = Evidence(), -inf
            await self._restore(epoch)

    async def _restore(self, epoch: str) -> None:
        """Replace the shown board by the state on the server."""
        found = await self.store.restore()
        newest = None if found.at is None or self.archived is None else found.at.version
        if newest is not None and self.archived is not None and self.archived(epoch) < newest:
            found = await self.store.restore(is_before=True)
        self._state = state = await run_sliced(restored(found, self.terms, epoch))
        now = self.clock.now()
        self._joined_mono = now.mono
        self._warned_until_mono = now.mono + WARNED_S - max(now.wall - found.first / 1000, 0.0)
        self._unkept = self._unkept_bytes = 0
        self._kept_at, self._kept_bytes = found.at or Position(0), len(found.state)
        first = self._shown(state)
        for kind, published in self._boards.items():
            published.restart(first[kind])
        self.restarted(first)
        self.links.drop()
        self.status.begin(epoch, state.at.version)
        announce(log, "board.joined", version=state.at.version, epoch=epoch)

    async def _follow(self) -> None:
        looked_mono = -inf
        while True:
            left_s = looked_mono + LOOK_S - self.clock.now().mono
            if left_s <= 0:
                looked_mono, left_s = self.clock.now().mono, LOOK_S
                await self._take_look(looked_mono)
            state = self._known()
            if not await self._apply(await self.store.tail(state.at, left_s)):
                at = self._known().at
                announce(log, "log.gap_found", version=at.version)
                if at == self._gap_at:
                    raise StoreDamagedError(f"the log lacks the records after version {at.version}")
                self._gap_at = at
                await self._restore(state.snapshot.epoch)
            self._end_turn()
            await self._keep()

    async def _take_look(self, sent_mono: float) -> None:
        self._look = look = await self.store.look()
        state = self._known()
        _check_kept(state.at, look.head)
        self._evidence.looked(look, sent_mono)
        self.status.head = look.head.version
        self.status.leases = {name: lease.collector for name, lease in look.leases.items()}
        self.status.follower.well(self.clock.now(), log)
        self.status.note(look.damage if sent_mono < self._warned_until_mono else "", look.evicts, log)
        self._refresh(state)
        silent = [name for name in {*self.status.leases.values()} if self._is_silent(name, sent_mono)]
        self.status.silent = tuple(sorted(silent))

    def _is_silent(self, collector: str, mono: float) -> bool:
        until = self._evidence.until(CollectorId(collector))
        return max(until, self._joined_mono + HOLDS_S) <= mono

    async def _apply(self, records: Sequence[Logged]) -> bool:
        """Apply and publish these records; return False if one does not follow the record before."""
        for logged in records:
            state = self._known()
            if logged.epoch != state.snapshot.epoch or logged.after != state.at:
                _check_kept(state.at, logged.after)
                return False
            self._state = new = await run_sliced(
                applied(state, logged.at, decoded(logged.data), self._updater, self._of_kinds)
            )
            self._note_tick(state, new)
            self._publish(self._shown(new))
        if records:
            self._unkept += len(records)
            self._unkept_bytes += sum([len(logged.data) for logged in records])
            self._refresh(self._known())
            for published in self._boards.values():
                await run_sliced(published.digest())
            self.links.applied(self._known().at)
        return True

    def _refresh(self, state: State) -> None:
        """Publish the current validity of the lists."""
        self._evidence.applied(state.at)
        self.status.follow(state.at.version, self.clock.now().mono)
        shown_now = self._shown(state).items()
        self._publish(
            {
                kind: msgspec.structs.replace(of_kind, differences={}, fixture_changes=None)
                for kind, of_kind in shown_now
            }
        )

    def _note_tick(self, old: State, new: State) -> None:
        if new.tick is not None and new.tick is not old.tick and new.clock is not None:
            tick, received_mono = new.tick, self.clock.now().mono
            self.matcher.ticked(new.clock, tick.mono, self._evidence.sent(tick.round), received_mono)

    def _shown(self, state: State) -> dict[Kind, Snapshot]:
        parts = self._evidence.until, self.matcher
        return {kind: shown(state, *parts, kind) for kind in self._boards}

    @property
    def _boards(self) -> dict[Kind, Published]:
        """The published boards of all kinds of market, 1X2 first."""
        return {Kind.ONE_X_TWO: self.published, **self.markets.published}

    def _publish(self, boards: Mapping[Kind, Snapshot]) -> None:
        """Publish the boards of a version, all at one moment."""
        for kind, published in self._boards.items():
            published.publish(boards[kind])
        self.markets.committed()

    def _end_turn(self) -> None:
        for published in self._boards.values():
            published.end_turn()

    async def _keep(self) -> None:
        look, state = self._look, self._known()
        most_bytes = max(self.checkpoint_bytes, 2 * self._kept_bytes)
        is_due = self._unkept >= self.checkpoint_records or self._unkept_bytes >= most_bytes
        if look is None or not is_due or self.own is None:
            return
        if self.own == min(look.beats, default=None):
            data = await run_sliced(kept(state))
            await self.store.checkpoint(state.at, data, self._kept_at)
            self._kept_at, self._kept_bytes = state.at, len(data)
            self._unkept = self._unkept_bytes = 0

    def _known(self) -> State:
        if self._state is None:
            raise StoreLostError("there is no board yet")
        return self._state


def _check_kept(at: Position, place: Position) -> None:
    """Check that a place of the log is the applied one or a later one.

    The version alone proves nothing: other processes may have used a lost version again.
    Raises: StoreDamagedError.
    """
    if place != at and not place.is_later(at):
        found = f"the log ends before version {at.version}, or has another record there"
        raise StoreDamagedError(f"data were set back: {found}")
