"""The actor of a pushed source: keeps a connection, and delivers the batches of each line."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import NoReturn

import anyio

from actors.core.clock import Instant, elapsed_s
from actors.core.cooperative import BUDGET_S, run_sliced
from actors.core.errors import SourceError, StreamError, TransportError
from actors.monitoring.transitions import failed, succeeded
from actors.pipeline.context import SourceContext, redact
from actors.pipeline.stream_delivery import StreamDelivery
from actors.pipeline.stream_feed import CONNECTION_SCOPE, SCOPE, StreamFeed
from actors.pipeline.stream_http import OpenHttp, StreamTasks
from actors.runtime.backoff import MIN_CAP_S, Backoff
from actors.runtime.supervisor import contained
from actors.source_api.options import secrets_of
from actors.source_api.stream import StreamKind, StreamOptions
from actors.transports.http import RestTransport
from actors.transports.lines import LineConnection, connected, tls_context

IMAGE_WITHIN_S = 60.0  # longest time without a confirmation, unless the server says that its stream is late
ALIVE_BYTES = 1024  # this many bytes end a silence like a line, because a long line may take longer
CLOCK_CHECK_S = 1.0  # seconds between two looks at the clock, because a suspension stops timers

OpenLines = Callable[[], AbstractAsyncContextManager[LineConnection]]


class StreamSourceActor:
    """One pushed source; tests may pass other `open_lines` and `open_http` to connect."""

    def __init__(
        self,
        kind: StreamKind,
        context: SourceContext[StreamOptions],
        open_lines: OpenLines | None = None,
        open_http: OpenHttp | None = None,
    ) -> None:
        options = context.options
        self._kind = kind
        self._context = context
        self._options = options
        self._status = context.status
        session, name = kind.session(options), context.status.name
        self._feed = StreamFeed(session, name, context.inboxes, options.staleness_s)
        self._delivery = StreamDelivery(context, self._feed)
        tls = tls_context(options.certificate, options.certificate_key)
        self._open_lines = open_lines or partial(
            connected, options.stream_url, options.timeout_s, options.max_line_bytes, tls
        )
        self._open_http = open_http or partial(RestTransport, options.timeout_s, context.clock, tls)
        self._backoff = Backoff(MIN_CAP_S, context.random)
        self._confirmed_mono = 0.0
        self._token = ""
        self._log = context.logger()

    async def run(self) -> None:
        """Connect for ever, and run the background tasks."""
        async with self._open_http() as client, anyio.create_task_group() as group:
            tasks = StreamTasks(self._kind, self._context, self._delivery, client)
            group.start_soon(contained, tasks.run, name=self._status.actor.name)
            while True:
                self._status.attempts.inc()
                try:
                    with self._context.attempt(SCOPE):
                        await self._receive(tasks)
                except StreamError as error:
                    delay_s = max(self._failed(error), await tasks.prepare_retry(error))
                except SourceError as error:
                    delay_s = self._failed(error)
                self._status.next_attempt_at = self._context.clock.now().wall + delay_s
                await anyio.sleep(delay_s)

    async def _receive(self, tasks: StreamTasks) -> NoReturn:
        """Connect and read every line. Raises: SourceError when the connection ends."""
        token = self._token = await tasks.http.token()
        session = self._feed.session
        async with self._open_lines() as connection:
            session.connect(token)
            self._context.record_payload(CONNECTION_SCOPE, self._context.clock.now())
            received_mono = self._confirmed_mono = self._context.clock.now().mono
            received_bytes = 0
            self._status.next_attempt_at = None
            while True:
                lines: list[bytes] = []
                silence_s = session.silence_s or self._options.silence_s
                left_s = received_mono + silence_s - self._context.clock.now().mono
                with anyio.move_on_after(min(left_s, CLOCK_CHECK_S)):
                    lines = await connection.receive()
                now = self._context.clock.now()
                # Also checked if lines came: after a suspension they are as old as the suspension was long.
                if now.mono - received_mono >= silence_s:
                    raise TransportError(f"no message for {silence_s:g} s", reason="silence")
                await self._take(lines, now, connection, tasks)
                if session.is_unreliable or self._feed.is_too_late:
                    self._confirmed_mono = now.mono
                if now.mono - self._confirmed_mono >= IMAGE_WITHIN_S:
                    raise TransportError(f"no image within {IMAGE_WITHIN_S:g} s", reason="no_image")
                if any(lines) or connection.received_bytes - received_bytes >= ALIVE_BYTES:
                    received_mono, received_bytes = now.mono, connection.received_bytes

    async def _take(
        self, lines: list[bytes], now: Instant, connection: LineConnection, tasks: StreamTasks
    ) -> None:
        began = elapsed_s()
        for line in filter(None, lines):
            self._status.payloads.inc()
            self._status.received_bytes.inc(len(line))
            slow_before = self._feed.session.slow_messages
            async with self._delivery.lock:
                self._context.record_payload(SCOPE, now, line)
                result = await run_sliced(self._feed.line(line, now))
                self._delivery.deliver(result.batches)
            reaction = result.reaction
            tasks.http.request_names(reaction.unnamed, result.listed)
            self._delivery.request_lacking(reaction.lacking, now)
            for answer in (*reaction.send, *self._delivery.lines_to_send(now)):
                await self._send(connection, answer)
            self._status.slow_messages.inc(self._feed.session.slow_messages - slow_before)
            self._status.delayed_s = self._feed.session.delay_s
            if reaction.withdraw:
                failed(self._status, self._lateness(), now, self._log, at_once=True)
            if reaction.vouches:
                self._confirmed_mono = now.mono
                self._backoff.succeeded(now.mono)
                tasks.refused_tokens = 0
                succeeded(self._status, now, self._log)
            if elapsed_s() - began > BUDGET_S:
                await anyio.lowlevel.checkpoint()
                began = elapsed_s()

    def _lateness(self) -> StreamError:
        """Return why the server's own statements forbid showing its prices."""
        if not self._feed.is_too_late:
            return StreamError("the server says that its stream is late", "unreliable")
        delay_s, stale_after_s = self._feed.session.delay_s, self._options.staleness_s
        found = f"the server says that its prices come up to {delay_s:g} s late"
        return StreamError(f"{found}, must be less than stale_after_s, {stale_after_s:g} s", "delayed")

    async def _send(self, connection: LineConnection, line: bytes) -> None:
        with anyio.move_on_after(self._options.timeout_s) as scope:
            await connection.send(line)
        if scope.cancelled_caught:
            raise TransportError(
                f"a line was not taken within {self._options.timeout_s:g} s", reason="timeout"
            )

    def _failed(self, error: SourceError) -> float:
        """Record a lost connection; return the seconds until the next one."""
        now = self._context.clock.now()
        redact(error, filter(None, (*secrets_of(self._options), self._token)))
        failed(self._status, error, now, self._log, at_once=self._status.last_success_at is not None)
        asked_for_s = error.retry_after_s if isinstance(error, TransportError) else None
        return max(self._backoff.failed(now.mono), asked_for_s or 0.0)
