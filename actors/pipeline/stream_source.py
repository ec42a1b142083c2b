"""The actor of a pushed source: keeps a connection, feeds its protocol, hands out what comes of it.

Lines are never conflated before the protocol has seen them. What goes on beside the connection is
`stream_upkeep.py`'s, the way to the bookmakers `stream_outlet.py`'s.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import NoReturn

import anyio
import structlog

from actors.core.clock import Instant, elapsed_s
from actors.core.cooperative import BUDGET_S, run_sliced
from actors.core.errors import SourceError, StreamError, TransportError
from actors.monitoring.transitions import failed, succeeded
from actors.pipeline.context import SourceContext
from actors.pipeline.stream_delivery import StreamOutlet
from actors.pipeline.stream_feed import CONNECTION_SCOPE, SCOPE, StreamFeed
from actors.pipeline.stream_http import Errands, OpenRest, StreamUpkeep
from actors.runtime.backoff import MIN_CAP_S, Backoff
from actors.runtime.supervisor import contained
from actors.source_api.options import secrets_of
from actors.source_api.stream import StreamKind, StreamOptions
from actors.transports.http import RestTransport
from actors.transports.lines import LineConnection, connected, tls_context

log = structlog.get_logger()

MAX_ERROR_CHARS = 300
IMAGE_WITHIN_S = 60.0
"""Seconds for which a server that does not call its stream late may vouch for nothing."""
ALIVE_BYTES = 1024
"""Bytes that break a silence as a line does, for a long line may be under way for longer."""
LOOK_AGAIN_S = 1.0
"""Seconds after which the clock is looked at, which goes on while timers stand still."""

OpenLines = Callable[[], AbstractAsyncContextManager[LineConnection]]


class StreamSourceActor:
    """One pushed source. `open_lines` and `open_rest` connect, unless a test has its own way."""

    def __init__(
        self,
        kind: StreamKind,
        context: SourceContext[StreamOptions],
        open_lines: OpenLines | None = None,
        open_rest: OpenRest | None = None,
    ) -> None:
        options = context.options
        self._kind = kind
        self._context = context
        self._options = options
        self._status = context.status
        self._feed = StreamFeed(
            kind.session(options), context.status.name, context.inboxes, options.staleness_s
        )
        self._outlet = StreamOutlet(context, self._feed)
        tls = tls_context(options.certificate, options.certificate_key)
        self._open_lines = open_lines or partial(
            connected, options.stream_url, options.timeout_s, options.max_line_bytes, tls, context.names
        )
        self._open_rest = open_rest or partial(
            RestTransport, options.timeout_s, tls, context.clock, context.names
        )
        self._backoff = Backoff(MIN_CAP_S, context.random)
        self._vouched_mono = 0.0
        self._token = ""
        self._log = log.bind(actor=context.status.actor.name, source=context.status.name)

    async def run(self) -> None:
        """Connect for ever, and run the errands beside."""
        async with self._open_rest() as rest, anyio.create_task_group() as tasks:
            errands = Errands(self._kind, self._options, rest, self._context.clock)
            upkeep = StreamUpkeep(self._kind, self._context, self._feed, self._outlet, errands)
            tasks.start_soon(contained, upkeep.run, name=self._status.actor.name)
            while True:
                delay_s = await self._connection(errands, upkeep)
                self._status.next_attempt_at = self._context.clock.now().wall + delay_s
                await anyio.sleep(delay_s)

    async def _connection(self, errands: Errands, upkeep: StreamUpkeep) -> float:
        """Live through one connection and give the seconds until the next."""
        self._status.attempts += 1
        try:
            await self._converse(errands, upkeep)
        except StreamError as error:
            return max(self._failed(error), await upkeep.mend(error))
        except SourceError as error:
            return self._failed(error)

    async def _converse(self, errands: Errands, upkeep: StreamUpkeep) -> NoReturn:
        """Connect and take what comes, until that ends with an error."""
        token = self._token = await errands.token()
        session = self._feed.session
        async with self._open_lines() as connection:
            session.connect(token)
            self._outlet.record(CONNECTION_SCOPE, b"", self._context.clock.now())
            heard_mono = self._vouched_mono = self._context.clock.now().mono
            heard_bytes = 0
            self._status.next_attempt_at = None
            while True:
                lines: list[bytes] = []
                silence_s = session.silence_s or self._options.silence_s
                left_s = heard_mono + silence_s - self._context.clock.now().mono
                with anyio.move_on_after(min(left_s, LOOK_AGAIN_S)):
                    lines = await connection.receive()
                now = self._context.clock.now()
                # Also when lines did come: after a suspension they are as old as it was long.
                if now.mono - heard_mono >= silence_s:
                    raise TransportError(f"no message for {silence_s:g} s", reason="silence")
                await self._take(lines, now, connection, errands, upkeep)
                if session.is_unreliable:
                    self._vouched_mono = now.mono
                if now.mono - self._vouched_mono >= IMAGE_WITHIN_S:
                    raise TransportError(f"no image within {IMAGE_WITHIN_S:g} s", reason="no_image")
                if any(lines) or connection.received_bytes - heard_bytes >= ALIVE_BYTES:
                    heard_mono, heard_bytes = now.mono, connection.received_bytes

    async def _take(
        self,
        lines: list[bytes],
        now: Instant,
        connection: LineConnection,
        errands: Errands,
        upkeep: StreamUpkeep,
    ) -> None:
        began = elapsed_s()
        for line in filter(None, lines):
            self._status.payloads += 1
            self._status.received_bytes += len(line)
            async with self._outlet.in_turn:
                self._outlet.record(SCOPE, line, now)
                heard = await run_sliced(self._feed.line(line, now))
                self._outlet.hand_out(heard.batches)
            errands.want_names(heard.lacking, heard.listed)
            for answer in (*heard.send, *self._outlet.request(now)):
                await self._send(connection, answer)
            self._status.slow_messages = self._feed.session.slow_messages
            if heard.withdraws:
                error = StreamError("the server says that its stream is late", "unreliable")
                failed(self._status, error, now, self._log, at_once=True)
            if heard.vouches:
                self._vouched_mono = now.mono
                self._backoff.succeeded(now.mono)
                upkeep.vouched()
                succeeded(self._status, now, self._log)
            if elapsed_s() - began > BUDGET_S:
                await anyio.lowlevel.checkpoint()
                began = elapsed_s()

    async def _send(self, connection: LineConnection, line: bytes) -> None:
        with anyio.move_on_after(self._options.timeout_s) as scope:
            await connection.send(line)
        if scope.cancelled_caught:
            raise TransportError(
                f"a line was not taken within {self._options.timeout_s:g} s", reason="timeout"
            )

    def _failed(self, error: SourceError) -> float:
        """Note a lost connection; give the seconds until the next."""
        now = self._context.clock.now()
        message = str(error)
        for secret in filter(None, (*secrets_of(self._options), self._token)):
            message = message.replace(secret, "***")
        error.args = (message[:MAX_ERROR_CHARS],)
        failed(self._status, error, now, self._log, at_once=self._status.last_success_at is not None)
        asked_for_s = error.retry_after_s if isinstance(error, TransportError) else None
        return max(self._backoff.failed(now.mono), asked_for_s or 0.0)
