"""Hypercorn: serving on a socket until told to stop."""

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
"""Seconds that requests in flight may take once no new ones are accepted: the exit takes 5 in all."""


class _Given(Config):
    """Serves on that socket itself: of its descriptor Hypercorn would make one that remembers nothing."""

    def __init__(self, sock: socket.socket) -> None:
        super().__init__()
        self._sock = sock

    def create_sockets(self) -> Sockets:
        return Sockets([], [self._sock], [])


async def serve(app: ASGIFramework, sock: socket.socket, stop: anyio.Event) -> None:
    """Serve until `stop` is set, then let requests in flight finish for `GRACE_S`; takes over `sock`.

    Shielded from cancellation, which would skip Hypercorn's shutdown (its issue 184): whoever cancels
    must set `stop`.

    Raises: CoreFailure if the server ends without having been told to.
    """
    config = _Given(sock)
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
