"""The actor of a pushed source: keeps a connection, feeds its protocol, hands out what comes of it.

Lines are never conflated before the protocol has seen them. A bookmaker that has lost the list gets
a fresh image from the server, never one from memory. The errands beside the stream are run by
`stream_errands.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import NoReturn

import anyio
import structlog

from actors.backoff import MIN_CAP_S, Backoff
from actors.clock import Instant, elapsed_s
from actors.desk import Desk
from actors.errors import SourceError, TransportError
from actors.messages import Batch, ListId, Payload, Scope
from actors.options import secrets_of
from actors.slices import BUDGET_S
from actors.source_edges import failed, succeeded
from actors.stream_errands import Errands, OpenRest
from actors.stream_feed import (
    CONNECTION_SCOPE,
    DISTRUST_SCOPE,
    NAMES_SCOPE,
    REFRESH_SCOPE,
    SCOPE,
    StreamFeed,
)
from actors.streams import StreamError, StreamKind, StreamOptions
from actors.transports.rest import RestTransport
from actors.transports.tls import tls_context
from actors.transports.tls_lines import LineConnection, connected

log = structlog.get_logger()

PATIENCE_S, LONGEST_PATIENCE_S = 5.0, 300.0
"""Seconds an image may be under way to the board before another one is asked for."""
DENIED_RETRY_S = 60.0
ERRAND_RETRY_S = 5.0
KEEP_ALIVE_S = 600.0
NEAREST_S = 600.0
MAX_ERROR_CHARS = 300
IMAGE_WITHIN_S = 60.0
"""Seconds in which a connection must have brought an image or a patch."""

OpenLines = Callable[[], AbstractAsyncContextManager[LineConnection]]


class StreamSourceActor:
    """One pushed source. `open_lines` and `open_rest` connect, unless a test has its own way."""

    def __init__(
        self,
        kind: StreamKind,
        desk: Desk[StreamOptions],
        open_lines: OpenLines | None = None,
        open_rest: OpenRest | None = None,
    ) -> None:
        options = desk.options
        self._kind = kind
        self._desk = desk
        self._options = options
        self._status = desk.status
        self._feed = StreamFeed(kind.session(options), desk.status.name, desk.inboxes, options.staleness_s)
        context = tls_context(options.certificate, options.certificate_key)
        self._open_lines = open_lines or partial(
            connected, options.stream_url, options.timeout_s, options.max_line_bytes, context
        )
        self._open_rest = open_rest or partial(RestTransport, options.timeout_s, context)
        self._backoff = Backoff(MIN_CAP_S, desk.random)
        self._asked_for_image_mono = 0.0
        self._wants_image = False
        self._patience_s = PATIENCE_S
        self._max_matches = kind.max_subscribed(options)
        self._nearest: list[str] = []
        self._is_live = False
        self._logins_in_vain = 0
        self._token = ""
        self._log = log.bind(actor=desk.status.actor.name, source=desk.status.name)

    async def run(self) -> None:
        """Connect for ever, and run the errands beside."""
        async with self._open_rest() as rest, anyio.create_task_group() as tasks:
            errands = Errands(self._kind, self._options, rest, self._desk.clock)
            for errand in (self._name, self._keep_alive, self._follow_nearest):
                tasks.start_soon(errand, errands)
            tasks.start_soon(self._heed_requests)
            while True:
                delay_s = await self._connection(errands)
                self._status.next_attempt_at = self._desk.clock.now().wall + delay_s
                await anyio.sleep(delay_s)

    async def _connection(self, errands: Errands) -> float:
        """Live through one connection and give the seconds until the next."""
        self._status.attempts += 1
        try:
            await self._converse(errands)
        except StreamError as error:
            return max(self._failed(error), await self._mend(error, errands))
        except SourceError as error:
            return self._failed(error)

    async def _converse(self, errands: Errands) -> NoReturn:
        """Connect and take what comes, until that ends with an error."""
        token = self._token = await errands.token()
        silence_s = self._options.silence_s
        async with self._open_lines() as connection:
            self._feed.session.connect(token)
            self._record(CONNECTION_SCOPE, b"", self._desk.clock.now())
            began_mono = heard_mono = self._desk.clock.now().mono
            self._is_live = False
            self._status.next_attempt_at = None
            while True:
                lines: list[bytes] = []
                with anyio.move_on_after(heard_mono + silence_s - self._desk.clock.now().mono):
                    lines = await connection.receive()
                now = self._desk.clock.now()
                # Also when lines did come: after a suspension they are as old as it was long.
                if now.mono - heard_mono >= silence_s:
                    raise TransportError(f"no message for {silence_s:g} s", reason="silence")
                await self._take(lines, now, connection, errands)
                if not self._is_live and now.mono - began_mono >= IMAGE_WITHIN_S:
                    raise TransportError(f"no image within {IMAGE_WITHIN_S:g} s", reason="no_image")
                heard_mono = now.mono if any(lines) else heard_mono

    async def _take(
        self, lines: list[bytes], now: Instant, connection: LineConnection, errands: Errands
    ) -> None:
        began = elapsed_s()
        for line in filter(None, lines):
            self._status.payloads += 1
            self._status.received_bytes += len(line)
            self._record(SCOPE, line, now)
            heard = self._feed.line(line, now)
            self._hand_out(heard.batches)
            errands.want_names(heard.lacking, heard.listed)
            for answer in (*heard.send, *self._request(now)):
                await self._send(connection, answer)
            if heard.vouches:
                self._is_live = True
                self._backoff.succeeded(now.mono)
                self._logins_in_vain = 0
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

    def _hand_out(self, batches: Iterable[Batch]) -> None:
        for batch in batches:
            if batch.complete:
                self._wants_image = False
                self._asked_for_image_mono = batch.received_mono
            self._desk.inboxes[batch.bookmaker].put_nowait(batch)

    def _request(self, now: Instant) -> tuple[bytes, ...]:
        """Ask for an image when somebody wants one, or when the list did not get to the board."""
        if not (self._wants_image or self._is_missing(now)):
            return ()
        if sent := self._feed.session.refresh().send:
            self._wants_image = False
            self._asked_for_image_mono = now.mono
            self._record(REFRESH_SCOPE, b"", now)
        return sent

    def _is_missing(self, now: Instant) -> bool:
        """Tell whether the list is long overdue on the board; ever more patient while it stays away."""
        if now.mono - self._asked_for_image_mono < self._patience_s:
            return False
        snapshot, list_id = self._desk.published.read(), self._feed.list_id
        is_held = all(snapshot.holds(one, SCOPE, list_id) for one in self._desk.inboxes)
        is_missing = not (self._feed.is_given and is_held)
        self._patience_s = min(2 * self._patience_s, LONGEST_PATIENCE_S) if is_missing else PATIENCE_S
        return is_missing

    async def _heed_requests(self) -> None:
        while True:
            await self._desk.refresh.wait()
            self._desk.refresh.clear()
            self._wants_image = True
            self._feed.distrust()
            self._record(DISTRUST_SCOPE, b"", self._desk.clock.now())

    async def _name(self, errands: Errands) -> None:
        """Get the names of matches that have none."""
        while True:
            try:
                body, names = await errands.fetch_names()
            except SourceError as error:
                await self._errand_failed(error, errands)
            else:
                now = self._desk.clock.now()
                if body:
                    self._record(NAMES_SCOPE, body, now)
                self._hand_out(self._feed.names(names))

    async def _keep_alive(self, errands: Errands) -> None:
        while True:
            await anyio.sleep(KEEP_ALIVE_S)
            try:
                await errands.keep_alive()
            except SourceError as error:
                errands.drop_token()
                await self._errand_failed(error, errands)

    async def _follow_nearest(self, errands: Errands) -> None:
        """While not all matches may be subscribed to, follow those whose kick-offs come near."""
        while True:
            await anyio.sleep(NEAREST_S)
            before = self._nearest
            if before and await self._narrow(errands) and self._nearest != before:
                self._wants_image = True

    async def _mend(self, error: StreamError, errands: Errands) -> float:
        """Do what may let the next connection succeed; give the least seconds until then."""
        if error.is_login and self._kind.login(self._options) is not None:
            errands.drop_token()
            self._logins_in_vain += 1
            return 0.0 if self._logins_in_vain <= 1 else DENIED_RETRY_S
        if not error.is_too_much:
            return 0.0 if error.is_passing else DENIED_RETRY_S
        if self._nearest:
            self._max_matches = max(self._max_matches // 2, 1)
        return 0.0 if await self._narrow(errands) else DENIED_RETRY_S

    async def _narrow(self, errands: Errands) -> bool:
        """Subscribe to the nearest matches alone from now on; False if they cannot be told."""
        try:
            nearest = await errands.nearest(self._max_matches)
        except SourceError as error:
            await self._errand_failed(error, errands)
            return False
        if not self._nearest:
            self._log.info("stream.narrowed", matches=len(nearest))
        if nearest != self._nearest:
            self._nearest = nearest
            self._feed.session.narrow(nearest)
        return True

    async def _errand_failed(self, error: SourceError, errands: Errands) -> None:
        if error.reason == "login":
            errands.drop_token()
        self._status.failed_by[f"errand_{error.reason}"] += 1
        asked_for_s = error.retry_after_s if isinstance(error, TransportError) else None
        await anyio.sleep(max(asked_for_s or 0.0, ERRAND_RETRY_S))

    def _failed(self, error: SourceError) -> float:
        """Note a lost connection; give the seconds until the next."""
        now = self._desk.clock.now()
        message = str(error)
        for secret in filter(None, (*secrets_of(self._options), self._token)):
            message = message.replace(secret, "***")
        error.args = (message[:MAX_ERROR_CHARS],)
        failed(self._status, error, now, self._log, at_once=self._status.last_success_at is not None)
        asked_for_s = error.retry_after_s if isinstance(error, TransportError) else None
        return max(self._backoff.failed(now.mono), asked_for_s or 0.0)

    def _record(self, scope: Scope, body: bytes, now: Instant) -> None:
        if self._desk.is_recorded:
            self._desk.record(
                Payload(
                    source=self._status.name,
                    scope=scope,
                    list_id=ListId(""),
                    body=body,
                    received_at=now.wall,
                    received_mono=now.mono,
                    stale_after_s=self._options.staleness_s,
                )
            )
