"""The aggregator actor: it alone changes the board, commits it, and mints versions.

Every change arrives in its mailbox: batches, links, and requests of reads. Each turn withdraws overdue
lists, applies the waiting items, makes the fixtures, and publishes board and fixtures with one swap. If a
batch crashes the actor, the next instance drops it, withdraws its list, and requests the list again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TypeAlias

import anyio
import anyio.lowlevel
import structlog
from structlog.typing import FilteringBoundLogger

from actors.board.board import Advance, Applied
from actors.board.published import Overdue, Published, Rejection
from actors.board.snapshot import Snapshot
from actors.core.clock import Clock, elapsed_s
from actors.core.cooperative import run_now, run_sliced
from actors.core.messages import Batch, BookmakerId, Failure, Scope
from actors.market_fixtures.boards import Drafts, MarketBoards, of_batch
from actors.market_fixtures.sides import SideLinks
from actors.matches.linking import Links
from actors.monitoring.status import ServiceStatus
from actors.monitoring.transitions import record_latencies, record_turn
from actors.runtime.conflation import merged_batches
from actors.runtime.facts import announce
from actors.runtime.mailbox import Mailbox

log: FilteringBoundLogger = structlog.get_logger()

TICK_S = 1.0
STEP_S = 0.005  # seconds until a turn yields: five times the usual, so that overload does not starve it
PAUSE_S = 1.0  # a tick this late means that the process or the machine was suspended
MAX_RECORDS = 20_000  # matches of a turn; a longer turn would let its own lists become stale
MAX_TRIES = 3  # builds of a commit: it is rebuilt if a deadline passes while it is built

Item: TypeAlias = Batch | Failure | Links | SideLinks | Overdue | Rejection
Intake: TypeAlias = Mailbox[Hashable, Item]


def new_intake() -> Intake:
    """Return the aggregator's mailbox: a batch for each bookmaker and scope, and the newest links."""
    return Mailbox(_key, _merged)


def _key(item: Item) -> Hashable:
    match item:
        case Batch():
            return item.bookmaker, item.scope
        case Failure():
            return Failure, item.bookmaker, item.scope
        case Rejection():
            return Rejection, item.bookmaker, item.entry.scope
        case _:
            return type(item)


def _merged(old: Item, new: Item) -> Item:
    if isinstance(old, Batch) and isinstance(new, Batch):
        return merged_batches(old, new)
    return new


@dataclass(slots=True)
class _Turn:
    """The items of a turn and their outcome."""

    batches: list[Batch] = field(default_factory=list)
    applied: list[Applied] = field(default_factory=list)
    rejected: list[tuple[BookmakerId, Scope, str]] = field(default_factory=list)
    links: Links | None = None
    records: int = 0


@dataclass(slots=True)
class AggregatorActor:
    """Applies the items of its mailbox; calls `blame` with an item that crashed it.

    `advance` makes the fixtures of a commit (None: no fixtures). `markets` are the boards of the other
    kinds of market, which are committed right after the board of 1X2. `on_rejected` is called with a list
    that was withdrawn because one of its entries cannot be shown, and with the reason. `resumed` is called
    after a suspension of the process, because timers elsewhere are late then. `tick_s` is the longest time
    between two turns.
    """

    intake: Intake
    published: Published
    status: ServiceStatus
    blame: Callable[[Item], None]
    clock: Clock
    resumed: Callable[[], None]
    on_rejected: Callable[[BookmakerId, Scope, str], None] = lambda *_: None
    advance: Advance | None = None
    markets: MarketBoards = field(default_factory=MarketBoards)
    tick_s: float = TICK_S
    _singly: int = field(init=False, default=0)
    """The number of further turns that take one item each, to find the item that crashes."""

    @property
    def _log(self) -> FilteringBoundLogger:
        """The actor's logger, bound anew each time because the log's level may have changed."""
        bound: FilteringBoundLogger = log.bind(actor="aggregator")
        return bound

    async def run(self) -> None:
        """Run for ever: a turn at the start, on every arrival, at every deadline, and every `tick_s`."""
        self._recover()
        last_mono = self.clock.now().mono
        first: Item | None = None
        while True:
            await self._turn(first)
            left_s = min(board.newest.valid_until for board in self._boards) - self.clock.now().mono
            with anyio.move_on_after(min(self.tick_s, max(left_s, 0.0))):
                first = None
                first = await self.intake.get()
            now_mono = self.clock.now().mono
            if now_mono - last_mono > self.tick_s + PAUSE_S:
                self.resumed()
            last_mono = now_mono

    @property
    def _boards(self) -> tuple[Published, ...]:
        """The published boards, the board of 1X2 first."""
        return self.published, *(self.markets.published[kind] for kind in self.markets.updaters)

    async def _turn(self, first: Item | None) -> None:
        began, base = elapsed_s(), self.published.newest
        waiting = 0 if self._singly else self.intake.depth
        self._singly = max(self._singly - 1, 0)
        board, turn = Drafts(self.published, self.advance, self.markets), _Turn()
        await run_sliced(board.expire(self.clock.now()), STEP_S)
        yielded = began
        while first is not None:
            await self._take(board, first, turn)
            self.intake.mark_processed()
            if elapsed_s() - yielded >= STEP_S:  # many short items add up to a long step
                await anyio.lowlevel.checkpoint()
                yielded = elapsed_s()
            first = self.intake.get_nowait() if waiting and turn.records < MAX_RECORDS else None
            waiting -= 1
        snapshot = await self._finished(board)
        board.publish()
        now, took_s = self.clock.now(), elapsed_s() - began
        self.intake.ack_all()
        if turn.links is not None:
            turn.links.applied.set()
        for rejected in turn.rejected:
            self.on_rejected(*rejected)
        record_latencies(self.status, turn.batches, turn.applied, now)
        if snapshot.version != base.version:
            changes = sum(applied.upserted + applied.removed for applied in turn.applied)
            self.status.board.commits.add(took_s, changes, now.mono)
            self._log.debug("board.committed", version=snapshot.version, took_ms=round(took_s * 1e3, 3))
        bookmakers = [batch.bookmaker for batch in turn.batches]
        applied = zip(bookmakers, turn.applied, strict=True)
        record_turn(self.status, snapshot, applied, now, self._log)
        for published in self._boards:
            published.end_turn()
        for published in self._boards:
            await run_sliced(published.digest(), STEP_S)

    async def _take(self, board: Drafts, item: Item, turn: _Turn) -> None:
        match item:
            case Batch():
                applied = await run_sliced(board.apply(item, self.clock.now()), STEP_S)
                turn.applied.append(of_batch(applied))
                turn.batches.append(item)
                turn.records += len(item.matches)
            case Failure():
                board.fail(item.bookmaker, item.scope, item.at_mono)
            case Links():
                turn.links = item
                board.link(item)
            case SideLinks():
                board.link(item)
            case Rejection(bookmaker, entry, why):
                if (scope := await run_sliced(board.reject(bookmaker, entry), STEP_S)) is not None:
                    turn.rejected.append((bookmaker, scope, why))
            case Overdue():  # each turn withdraws overdue lists anyway
                pass

    async def _finished(self, board: Drafts) -> Snapshot:
        """Return the next snapshot of 1X2, without overdue lists in any board."""
        items = self.intake.unacked
        if len(items) == 1 and not isinstance(items[0], Overdue):  # only this item can cause a crash
            self.intake.in_flight = items[0]
        for _ in range(MAX_TRIES):
            now = self.clock.now()
            await run_sliced(board.expire(now), STEP_S)
            snapshot = await run_sliced(board.finish(now), STEP_S)
            if not board.is_due(self.clock.now()):
                break
        self.intake.in_flight = None
        return snapshot

    def _recover(self) -> None:
        """Drop the item that crashed the last instance; if it is unknown, apply the items one by one."""
        crashed = len(self.intake.unacked)
        item = self.intake.requeue_unacked()
        if item is None:
            self._singly = crashed
            return
        if isinstance(item, Batch):
            board = Drafts(self.published, self.advance, self.markets)
            run_now(board.withdraw(item.bookmaker, item.scope))
            run_now(board.finish(self.clock.now()))
            board.publish()
            self.status.board.dropped.inc()
            announce(self._log, "batch.dropped", bookmaker=item.bookmaker, scope=item.scope)
        self.blame(item)
