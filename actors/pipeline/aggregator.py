"""The aggregator actor: the only one that applies batches to the board and mints versions.

Each turn drains the mailbox, commits once and swaps the published snapshot; then it has the fixtures made
of what changed, so that no price waits for those of its commit. A batch that crashes the actor is dropped
by the next instance, its list withdrawn and requested again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import anyio
import structlog
from structlog.typing import FilteringBoundLogger

from actors.board.board import Applied, Board
from actors.board.published import Published
from actors.board.snapshot import Snapshot
from actors.core.clock import Clock, elapsed_s
from actors.core.cooperative import Lane, run_now, run_sliced
from actors.core.messages import Batch, BookmakerId
from actors.monitoring.status import ServiceStatus
from actors.monitoring.transitions import record_latencies, record_turn
from actors.runtime.conflation import Intake

log: FilteringBoundLogger = structlog.get_logger()

TICK_S = 1.0
PAUSE_S = 1.0  # that a tick is late when the process, or the machine, must have been suspended


@dataclass(slots=True)
class AggregatorActor:
    """Applies the batches in its mailbox; calls `blame` with the bookmaker of one that crashed it.

    `resumed` is called after the process was suspended, because timers elsewhere are late then. `tick_s` is
    the longest time between two turns.
    """

    intake: Intake
    published: Published
    status: ServiceStatus
    blame: Callable[[BookmakerId], None]
    clock: Clock
    resumed: Callable[[], None]
    tick_s: float = TICK_S
    _singly: int = field(init=False, default=0)
    """So many turns take one batch each, so that it is known which of them crashes."""
    _log: FilteringBoundLogger = field(init=False, default_factory=lambda: log.bind(actor="aggregator"))

    async def run(self) -> None:
        """Run for ever: a turn after every arrival, at every deadline, at least every `tick_s`."""
        self._recover()
        last_mono = self.clock.now().mono
        while True:
            await run_sliced(self.published.digest(), Lane.BOARD)
            snapshot = await self.published.read()
            left_s = 0.0 if snapshot.is_behind else snapshot.valid_until - self.clock.now().mono
            first: Batch | None = None
            with anyio.move_on_after(min(self.tick_s, max(left_s, 0.0))):
                first = await self.intake.get()
            now_mono = self.clock.now().mono
            if now_mono - last_mono > self.tick_s + PAUSE_S:
                self.resumed()
            last_mono = now_mono
            await self._turn(first)

    async def _turn(self, first: Batch | None) -> None:
        began = elapsed_s()
        base = await self.published.read()
        waiting = 0 if self._singly else self.intake.depth
        self._singly = max(self._singly - 1, 0)
        board = self.published.board(base)
        applied = [] if first is None else [await self._apply(board, first)]
        while waiting and (batch := self.intake.get_nowait()) is not None:
            applied.append(await self._apply(board, batch))
            waiting -= 1
        async with self.published.finishing:
            while True:
                if (newest := await self.published.read()) is not base:
                    base = newest
                    if not board.rebase(base):
                        board = self.published.board(base)
                        applied = [await self._apply_again(board, batch) for batch in self.intake.unacked]
                if self.published.replace(base, snapshot := await self._committed(board)):
                    break
            batches = self.intake.unacked
            record_latencies(self.status, batches, applied, self.clock.now())
            self.intake.ack_all()
            self._note(base, snapshot, applied, elapsed_s() - began)
            if snapshot.unapplied is not None:
                await self._make_fixtures(batches)

    async def _apply(self, board: Board, batch: Batch) -> Applied:
        applied = await run_sliced(board.apply(batch, self.clock.now()), Lane.BOARD)
        self.intake.mark_processed()
        return applied

    async def _apply_again(self, board: Board, batch: Batch) -> Applied:
        self.intake.in_flight = batch
        applied = await run_sliced(board.apply(batch, self.clock.now()), Lane.BOARD)
        self.intake.in_flight = None
        return applied

    async def _committed(self, board: Board) -> Snapshot:
        if board.shows_news:
            return board.commit()  # the prices first
        self._blame_the_only_one()
        snapshot = await run_sliced(board.finish(self.clock.now()), Lane.BOARD)
        self.intake.in_flight = None
        return snapshot

    async def _make_fixtures(self, batches: Iterable[Batch]) -> None:
        """Have the followers of lists called, then fixtures made of what these batches changed."""
        began = elapsed_s()
        await run_sliced(self.published.digest(), Lane.BOARD)
        for batch in batches:  # a crash is due to them again
            self.intake.in_flight = batch
            self.intake.mark_processed()
        self._blame_the_only_one()
        await self.published.read()
        self.intake.ack_all()
        self.status.board.fixtures.add(elapsed_s() - began, 0, self.clock.now().mono)
        await run_sliced(self.published.digest(), Lane.BOARD)

    def _blame_the_only_one(self) -> None:
        """Have a crash be the batch's if there is only one: no other can be the cause."""
        if len(self.intake.unacked) == 1:
            self.intake.in_flight = self.intake.unacked[0]

    def _recover(self) -> None:
        """Drop the batch that crashed the last instance; if it is one of several, apply each alone."""
        base, crashed = self.published.newest, self.intake.unacked
        batch = self.intake.requeue_unacked()
        if batch is None:
            self._singly = len(crashed)
            crashed = crashed if base.unapplied is not None else ()  # else none of them is on the board
        else:
            crashed = (batch,)
        if crashed:
            board = self.published.board(base)
            for one in crashed:
                run_now(board.withdraw(one.bookmaker, one.scope))
            self.published.replace(base, run_now(board.finish(self.clock.now())))
        if batch is not None:
            self.status.board.dropped += 1
            self._log.error("batch.dropped", bookmaker=batch.bookmaker, scope=batch.scope)
            self.blame(batch.bookmaker)

    def _note(self, base: Snapshot, snapshot: Snapshot, applied: list[Applied], took_s: float) -> None:
        now = self.clock.now()
        if snapshot.version != base.version:
            changes = sum(one.upserted + one.removed for one in applied)
            self.status.board.commits.add(took_s, changes, now.mono)
            self._log.debug("board.committed", version=snapshot.version, took_ms=round(took_s * 1e3, 3))
        record_turn(self.status, snapshot, applied, now, self._log)
