"""The actor of a source that is a program: runs it for ever, and delivers the batches of its lines.

It never stops reading: while the board is busy, the inboxes merge the batches of each list.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from math import inf
from typing import NoReturn, Protocol

import anyio
from anyio.abc import TaskGroup

from actors.core.clock import Instant
from actors.core.cooperative import run_sliced
from actors.core.errors import SourceError, TransportError
from actors.core.messages import Batch, Scope
from actors.monitoring.transitions import failed, succeeded
from actors.pipeline.context import SourceContext, redact, redacted
from actors.pipeline.program.feed import (
    EXIT_SCOPE,
    EXPIRY_SCOPE,
    LINES_SCOPE,
    REFRESH_SCOPE,
    START_SCOPE,
    ProgramFeed,
)
from actors.pipeline.program.remarks import Remarks, Withdrawals
from actors.runtime.backoff import Backoff
from actors.runtime.supervisor import contained
from actors.source_api.options import secrets_of
from actors.source_api.program import ProgramKind, ProgramOptions, environment_of
from actors.transports.process import running

RESTART_S, LONGEST_RESTART_S = 1.0, 60.0
LEAST_SHARE = 0.5  # the fixed share of the delay before a restart; the rest is random
REST_OF_OUTPUT_S = 5.0  # seconds for reading the output that remains after the exit
LOOK_S = 1.0  # seconds between two looks at the clock, because a suspension stops timers


class RunningProgram(Protocol):
    """A process; see `transports/process`."""

    async def receive(self) -> bytes:
        """Wait for output; return the complete lines so far. Raises: TransportError at its end."""

    async def remark(self) -> str | None:
        """Wait for a line on standard error; None at its end."""

    def has_exited(self) -> bool:
        """Return whether the process has exited; its own children may still have its output open."""

    def ending(self) -> TransportError:
        """Return an error that says how the process ended."""


OpenProgram = Callable[[], AbstractAsyncContextManager[RunningProgram]]


class ProgramSourceActor:
    """A program; tests may pass another `open_program` to start it."""

    def __init__(
        self,
        kind: ProgramKind,
        context: SourceContext[ProgramOptions],
        open_program: OpenProgram | None = None,
    ) -> None:
        options = context.options
        self._context = context
        self._options = options
        self._status = context.status
        self._feed = ProgramFeed(kind.lists(options), context.inboxes, options.staleness_s)
        self._open = open_program or partial(running, options.command, environment_of(options))
        self._taking = anyio.Lock(fast_acquire=True)  # from a call of the feed until its delivery
        self._backoff = Backoff(
            LONGEST_RESTART_S, context.random, base_s=RESTART_S, least_share=LEAST_SHARE
        )
        self._log = context.logger()
        self._remarks, self._withdrawals = Remarks(self._log, secrets_of(options)), Withdrawals()

    async def run(self) -> None:
        """Run the program for ever, one process after the other."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(contained, self._maintain_lists, name=self._status.actor.name)
            while True:
                self._status.attempts.inc()
                try:
                    await self._attempt(tasks)
                except SourceError as error:
                    delay_s = self._failed(error)
                self._status.next_attempt_at = self._context.clock.now().wall + delay_s
                await anyio.sleep(delay_s)

    async def _attempt(self, tasks: TaskGroup) -> NoReturn:
        """Run a process to its end. Raises: SourceError with the reason of its end."""
        async with self._open() as program:
            reading = anyio.CancelScope()
            name = self._status.actor.name
            tasks.start_soon(contained, self._log_remarks, program, reading, name=name)
            try:
                await self._receive(program)
            except SourceError:
                await self._withdraw()
                raise
            finally:  # also if this actor crashes
                reading.cancel()
                for scope in self._feed.lists.scopes():
                    self._context.report_failure(scope)

    async def _receive(self, program: RunningProgram) -> NoReturn:
        """Read every line. Raises: SourceError when the process has ended or must be ended."""
        now = self._context.clock.now()
        self._feed.lists.begin()
        self._context.record_payload(START_SCOPE, now)
        self._status.next_attempt_at = None
        silence_s, spoken_mono, ended_mono = self._options.longest_silence_s, now.mono, inf
        while True:
            lines = b""
            with anyio.move_on_after(min(spoken_mono + silence_s - now.mono, LOOK_S)):
                lines = await program.receive()
            now = self._context.clock.now()
            # Also checked if lines came: after a suspension they are as old as the suspension was long.
            if now.mono - spoken_mono >= silence_s:
                raise TransportError(f"no line for {silence_s:g} s", reason="silence")
            if lines:
                spoken_mono = now.mono
                await self._take(lines, now)
            if program.has_exited():
                ended_mono = min(ended_mono, now.mono)
            if ended_mono + (REST_OF_OUTPUT_S if lines else 0.0) <= now.mono:
                raise program.ending()

    async def _take(self, lines: bytes, now: Instant) -> None:
        """Read and deliver lines. Raises: PayloadError at the first line that breaks the protocol."""
        async with self._taking:
            self._status.received_bytes.inc(len(lines))
            taken = await run_sliced(self._feed.lines(lines, now))
            self._status.payloads.inc(lines.count(b"\n", 0, taken.used_bytes))
            if taken.used_bytes:
                self._context.record_payload(LINES_SCOPE, now, lines[: taken.used_bytes])
            if taken.error is not None:
                broken, _, _ = lines[taken.used_bytes :].partition(b"\n")
                self._context.record_payload(LINES_SCOPE, now, broken + b"\n")
            self._deliver(taken.batches)
        for text in self._withdrawals.told(taken.changes):
            self._remarks.add(f"W! {text}", now)
        if any(batch.complete for batch in taken.batches):
            self._backoff.succeeded(now.mono)
            succeeded(self._status, now, self._log)
        if not self._status.failures:  # otherwise `last_error` says how the last process ended
            why = self._withdrawals.newest()
            self._status.last_error = why and redacted(why, secrets_of(self._options))
        if taken.error is not None:
            raise taken.error

    async def _maintain_lists(self) -> None:
        """Send all lists again when the board has lost some; remove single stale matches."""
        refresh = self._context.refresh
        while True:
            with anyio.move_on_after(LOOK_S):
                await refresh.wait()
            is_refresh = refresh.is_set()
            refresh.clear()
            async with self._taking:
                now = self._context.clock.now()
                batches = self._feed.refresh(now) if is_refresh else self._feed.expire(now)
                self._record_own(REFRESH_SCOPE if is_refresh else EXPIRY_SCOPE, batches, now)

    async def _withdraw(self) -> None:
        if self._options.on_exit == "withdraw":
            async with self._taking:
                now = self._context.clock.now()
                self._record_own(EXIT_SCOPE, self._feed.exit(now), now)

    def _record_own(self, scope: Scope, batches: tuple[Batch, ...], now: Instant) -> None:
        """Record and deliver batches that the service made, not the program."""
        if batches:
            self._context.record_payload(scope, now)
            self._deliver(batches)

    def _deliver(self, batches: tuple[Batch, ...]) -> None:
        for batch in batches:
            self._context.inboxes[batch.bookmaker].put_nowait(batch)

    async def _log_remarks(self, program: RunningProgram, scope: anyio.CancelScope) -> None:
        with scope:
            while (remark := await program.remark()) is not None:
                self._remarks.add(remark, self._context.clock.now())

    def _failed(self, error: SourceError) -> float:
        """Record the end of a process; return the seconds until the next one."""
        now = self._context.clock.now()
        redact(error, secrets_of(self._options))
        failed(self._status, error, now, self._log, at_once=self._status.last_success_at is not None)
        return self._backoff.failed(now.mono)
