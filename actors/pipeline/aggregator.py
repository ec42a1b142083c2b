"""The aggregator actor: the only one that applies batches to the board and mints versions.

Each turn drains the mailbox, commits once and swaps the published snapshot; there is one at least every
second, so that staleness and expiry do not wait for a batch. Mailbox and snapshot outlive the actor. A
batch that crashes it is dropped by the next instance, its list withdrawn and requested again.
"""

from __future__ import annotations

from collections.abc import Callable

import anyio
import structlog

from actors.board.board import Applied, Board
from actors.board.published import Published
from actors.board.snapshot import Snapshot
from actors.core.clock import Clock, elapsed_s
from actors.core.cooperative import run_now, run_sliced
from actors.core.messages import Batch, BookmakerId
from actors.monitoring.status import ServiceStatus
from actors.monitoring.transitions import record_latencies, record_turn
from actors.runtime.conflation import Intake

log = structlog.get_logger()

TICK_S = 1.0
PAUSE_S = 1.0
"""Seconds that a tick is late when the process, or the machine, must have been suspended."""


class AggregatorActor:
    """Applies the batches in its mailbox; calls `blame(bookmaker)` for one that crashed it.

    `resumed()` is called after the process was suspended, because timers elsewhere are late then.
    """

    def __init__(
        self,
        intake: Intake,
        published: Published,
        status: ServiceStatus,
        blame: Callable[[BookmakerId], None],
        clock: Clock,
        *,
        resumed: Callable[[], None],
    ) -> None:
        self._intake = intake
        self._published = published
        self._status = status
        self._blame = blame
        self._clock = clock
        self._resumed = resumed
        self._log = log.bind(actor="aggregator")

    async def run(self) -> None:
        """Run for ever: a turn after every arrival, at every deadline, at least once a second."""
        self._recover()
        await run_sliced(self._published.history.digest())
        last_mono = self._clock.now().mono
        while True:
            first = await self._next()
            last_mono = self._check_for_a_pause(last_mono)
            await self._turn(first)

    async def _next(self) -> Batch | None:
        left = (await self._published.read()).valid_until - self._clock.now().mono
        with anyio.move_on_after(min(TICK_S, max(left, 0.0))):
            return await self._intake.get()
        return None

    def _check_for_a_pause(self, last_mono: float) -> float:
        """Return the time; call `resumed` if much more time has passed than a tick takes."""
        now = self._clock.now().mono
        if now - last_mono > TICK_S + PAUSE_S:
            self._resumed()
        return now

    async def _turn(self, first: Batch | None) -> None:
        began = elapsed_s()
        base = await self._published.read()
        waiting = self._intake.depth
        board = Board(base, self._published.rules)
        applied = [] if first is None else [await self._apply(board, first)]
        while waiting and (batch := self._intake.get_nowait()) is not None:
            applied.append(await self._apply(board, batch))
            waiting -= 1
        while not self._published.replace(base, snapshot := self._committed(board)):
            base = await self._published.read()
            board = Board(base, self._published.rules)
            applied = [await self._apply_again(board, batch) for batch in self._intake.unacked]
        record_latencies(self._status, self._intake.unacked, applied, self._clock.now())
        self._intake.ack_all()
        self._note(base, snapshot, applied, elapsed_s() - began)
        await run_sliced(self._published.history.digest())

    async def _apply(self, board: Board, batch: Batch) -> Applied:
        applied = await run_sliced(board.apply(batch, self._clock.now()))
        self._intake.mark_processed()
        return applied

    async def _apply_again(self, board: Board, batch: Batch) -> Applied:
        self._intake.in_flight = batch
        applied = await run_sliced(board.apply(batch, self._clock.now()))
        self._intake.in_flight = None
        return applied

    def _committed(self, board: Board) -> Snapshot:
        if len(self._intake.unacked) == 1:  # then no other batch can be the cause
            self._intake.in_flight = self._intake.unacked[0]
        snapshot = board.commit()
        self._intake.in_flight = None
        return snapshot

    def _recover(self) -> None:
        """Drop the batch that crashed the last instance; it cannot be cancelled, because it never waits."""
        batch = self._intake.requeue_unacked()
        if batch is None:
            return
        base = run_now(self._published.current())
        board = Board(base, self._published.rules)
        run_now(board.withdraw(batch.bookmaker, batch.scope))
        self._published.replace(base, board.commit())
        self._status.board.dropped += 1
        self._log.error("batch.dropped", bookmaker=batch.bookmaker, scope=batch.scope)
        self._blame(batch.bookmaker)

    def _note(self, base: Snapshot, snapshot: Snapshot, applied: list[Applied], took_s: float) -> None:
        now = self._clock.now()
        if snapshot.version != base.version:
            changes = sum(one.upserted + one.removed for one in applied)
            self._status.board.commits.add(took_s, changes, now.mono)
            took_ms = round(took_s * 1e3, 3)
            self._log.debug("board.committed", version=snapshot.version, took_ms=took_ms)
        record_turn(self._status, snapshot, applied, now, self._log)
