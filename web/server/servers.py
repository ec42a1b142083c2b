"""The HTTP server: Hypercorn with our own sockets, connections and protocol."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import sys
from collections.abc import Iterator

import anyio
from hypercorn import protocol as hypercorn_protocol
from hypercorn.asyncio import run as hypercorn_run
from hypercorn.asyncio import serve as hypercorn_serve
from hypercorn.asyncio.tcp_server import TCPServer
from hypercorn.config import Config, Sockets
from hypercorn.events import Event, Updated
from hypercorn.protocol.h11 import H11Protocol
from hypercorn.typing import ASGIFramework, ASGIReceiveCallable, ASGISendCallable, Scope
from hypercorn.utils import LifespanFailureError, LifespanTimeoutError

from actors.core.errors import CoreFailure
from web.server.gated import GatedProtocol
from web.server.listener import ACCEPTED_AT_ONCE, Listener

GRACE_S = 4.0
"""Seconds for requests in flight once new requests are refused; the whole exit takes 5 s."""


class _ListenerConfig(Config):
    """Makes Hypercorn accept on our `Listener` itself, not on a plain socket with its descriptor."""

    def __init__(self, sock: socket.socket) -> None:
        super().__init__()
        self._sock = sock

    def create_sockets(self) -> Sockets:
        return Sockets([], [self._sock], [])


class _Connection(TCPServer):
    """A connection of Hypercorn that frees all its objects as soon as it is closed.

    Hypercorn's own tasks wait 5 s for a next request. Their 60 objects form cycles, and the garbage
    collector frees the cycles of thousands of connections in one step of 0.3 s.

    One task watches how long the connection is idle. Hypercorn makes and cancels a task for each request,
    which takes a third of the time of a small answer.
    """

    _idle_since: float | None = None
    """When the last answer ended, or the connection was accepted; None while it answers a request."""

    async def run(self) -> None:
        self._idle_since = self.loop.time()
        try:
            await super().run()
        finally:
            self.protocol = _ENDED  # type: ignore[assignment]  # it refers to a method of this object
            self.writer.transport._read_ready_cb = None  # type: ignore[attr-defined]  # noqa: SLF001 - the transport's own method: a cycle
            if (error := self.reader.exception()) is not None:
                error.__traceback__ = None  # its frames refer to the reader

    async def protocol_send(self, event: Event) -> None:
        if isinstance(event, Updated):
            self._idle_since = self.loop.time() if event.idle else None
        else:
            await super().protocol_send(event)

    async def _idle_timeout(self) -> None:
        patience_s = self.config.keep_alive_timeout
        while True:
            now = self.loop.time()
            left_s = patience_s if self._idle_since is None else self._idle_since + patience_s - now
            if left_s <= 0.0:
                break
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.context.terminated.wait(), left_s)
                if self._idle_since is None:
                    return  # the connection ends with the answer
                break
        await asyncio.shield(self._initiate_server_close())

    async def _read_data(self) -> None:
        await super()._read_data()
        await self.idle_task.stop()  # the client has ended its side, so no request comes


class _Ended:
    async def handle(self, event: Event) -> None:
        """Do nothing: the connection has ended."""


_ENDED = _Ended()


async def serve(app: ASGIFramework, sock: socket.socket, stop: anyio.Event) -> None:
    """Serve until `stop` is set, then finish requests in flight for `GRACE_S`; closes `sock`.

    Shielded from cancellation, which would skip Hypercorn's shutdown (its issue 184); set `stop` to end it.
    Raises: CoreFailure if the server ends earlier, or if the event loop does not call our sockets' methods.
    """
    if not isinstance(loop := asyncio.get_running_loop(), asyncio.SelectorEventLoop):
        kind = f"{type(loop).__module__}.{type(loop).__qualname__}"
        raise CoreFailure(f"the event loop was {kind}, must be asyncio's on a selector")
    config = _ListenerConfig(sock)
    config.backlog = ACCEPTED_AT_ONCE
    config.keep_alive_max_requests = sys.maxsize  # the gate counts requests
    config.graceful_timeout = GRACE_S
    config.include_server_header = False
    config.accesslog = None
    config.errorlog = logging.getLogger("hypercorn.error")
    hypercorn_run.TCPServer = _Connection  # type: ignore[attr-defined]  # Hypercorn has no parameter for it
    hypercorn_protocol.H11Protocol = GatedProtocol if isinstance(sock, Listener) else H11Protocol  # type: ignore[attr-defined]
    with _until(stop), contextlib.closing(sock), anyio.CancelScope(shield=True):
        await hypercorn_serve(_noted(app, sock), config, shutdown_trigger=stop.wait)


def _noted(app: ASGIFramework, sock: socket.socket) -> ASGIFramework:
    """Return `app`, wrapped so that our listener learns when a request begins and ends."""
    if not isinstance(sock, Listener):
        return app

    async def noted(scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        sock.begin(scope["client"])
        try:
            await app(scope, receive, send)
        finally:
            sock.end(scope["client"])

    return noted


@contextlib.contextmanager
def _until(stop: anyio.Event) -> Iterator[None]:
    """Raise CoreFailure if the block fails, or ends before `stop` is set."""
    try:
        yield
    except (OSError, RuntimeError, ValueError, LifespanFailureError, LifespanTimeoutError) as error:
        raise CoreFailure(f"the HTTP server failed: {error!r}") from error
    if not stop.is_set():
        raise CoreFailure("the HTTP server ended by itself")
