"""Hypercorn: serves on a socket until an event is set."""

from __future__ import annotations

import contextlib
import logging
import socket
from collections.abc import Callable, Coroutine

import anyio
from hypercorn.asyncio import serve as hypercorn_serve
from hypercorn.config import Config, Sockets
from hypercorn.typing import ASGIFramework
from hypercorn.utils import LifespanFailureError, LifespanTimeoutError

from actors.core.errors import CoreFailure
from web.server.listener import BACKLOG

Serve = Callable[[ASGIFramework, socket.socket, anyio.Event], Coroutine[None, None, None]]
"""Serves an application on a socket until the event is set."""

GRACE_S = 4.0
"""Seconds for requests in flight once no new ones are accepted: the whole exit takes 5."""


class _ListenerConfig(Config):
    """Has Hypercorn accept on our `Listener` itself, not on a plain socket made of its descriptor."""

    def __init__(self, sock: socket.socket) -> None:
        super().__init__()
        self._sock = sock

    def create_sockets(self) -> Sockets:
        return Sockets([], [self._sock], [])


async def serve(app: ASGIFramework, sock: socket.socket, stop: anyio.Event) -> None:
    """Serve until `stop` is set, and then for `GRACE_S` the requests in flight; closes `sock`.

    Shielded from cancellation, which would skip Hypercorn's shutdown (its issue 184): set `stop` before.

    Raises: CoreFailure if the server ends before.
    """
    config = _ListenerConfig(sock)
    config.backlog = BACKLOG
    config.graceful_timeout = GRACE_S
    config.include_server_header = False
    config.accesslog = None
    config.errorlog = logging.getLogger("hypercorn.error")
    try:
        with contextlib.closing(sock), anyio.CancelScope(shield=True):
            await hypercorn_serve(app, config, shutdown_trigger=stop.wait)
    except (OSError, RuntimeError, ValueError, LifespanFailureError, LifespanTimeoutError) as error:
        raise CoreFailure(f"the HTTP server failed: {error!r}") from error
    if not stop.is_set():
        raise CoreFailure("the HTTP server ended by itself")
