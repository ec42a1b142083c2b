"""Hypercorn: the listening socket, and serving until told to stop."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Coroutine

import anyio
from hypercorn.asyncio import serve as hypercorn_serve
from hypercorn.config import Config
from hypercorn.utils import LifespanFailureError, LifespanTimeoutError
from quart import Quart

from actors.errors import BindError, CoreFailure

Serve = Callable[[Quart, socket.socket, anyio.Event], Coroutine[None, None, None]]
"""Serves an application on a socket until the event is set."""

GRACE_S = 4.0
"""Seconds that requests in flight may take once no new ones are accepted: the exit takes 5 in all."""

SLOW_READER_MS = 10_000
UNSENT_BYTES = 131_072
"""What the kernel takes in advance for one client; without it some megabytes, and all of them old."""

BACKLOG = 256


def listen(host: str, port: int) -> socket.socket:
    """Open the listening socket; port 0 takes a free one. Raises: BindError if it cannot be had.

    TCP_USER_TIMEOUT, inherited by every connection, has the kernel cut readers that take nothing.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, SLOW_READER_MS)
        if hasattr(socket, "TCP_NOTSENT_LOWAT"):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT_BYTES)
        sock.bind((host, port))
        sock.listen(BACKLOG)
    except (OSError, TypeError, ValueError) as error:  # the latter two for a host that is no name
        sock.close()
        raise BindError(
            f"cannot listen on {host}:{port}: {getattr(error, 'strerror', None) or error}"
        ) from error
    return sock


def address_of(sock: socket.socket) -> str:
    """Give the URL at which `sock` listens."""
    host, port = sock.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


async def serve(app: Quart, sock: socket.socket, stop: anyio.Event) -> None:
    """Serve until `stop` is set, then let requests in flight finish for `GRACE_S`; takes over `sock`.

    Shielded from cancellation, which would skip Hypercorn's shutdown (its issue 184): whoever cancels
    must set `stop`.

    Raises: CoreFailure if the server ends without having been told to.
    """
    config = Config()
    config.bind = [f"fd://{sock.detach()}"]
    config.backlog = BACKLOG
    config.graceful_timeout = GRACE_S
    config.include_server_header = False
    config.accesslog = None
    config.errorlog = logging.getLogger("hypercorn.error")
    try:
        with anyio.CancelScope(shield=True):
            await hypercorn_serve(app, config, shutdown_trigger=stop.wait)
    except (OSError, RuntimeError, ValueError, LifespanFailureError, LifespanTimeoutError) as error:
        raise CoreFailure(f"the HTTP server failed: {error!r}") from error
    if not stop.is_set():
        raise CoreFailure("the HTTP server ended by itself")
