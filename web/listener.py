"""The listening socket: what the kernel does for each connection, and how much it takes in advance.

Readers of the whole list get it in one go; a client of the stream has little waiting in the kernel,
because all that waits there is older than what it could be sent instead.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable
from typing import Any
from weakref import WeakValueDictionary

from actors.errors import BindError

Client = tuple[str, int] | None
"""Address and port of the other end, as ASGI tells them."""

KeepFresh = Callable[[Client], None]
"""Is told of each connection that is to have little waiting."""

SLOW_READER_MS = 10_000
UNSENT_BYTES = 524_288
"""What the kernel takes in advance for one client; without it some megabytes.

A body that does not fit waits in asyncio, is copied there and sent in a second go: the 250 kB of 1,200
matches cost a twelfth more with 131,072.
"""
STREAM_UNSENT_BYTES = 16_384
"""The same for a client of the stream."""

BACKLOG = 256


class Listener(socket.socket):
    """A listening TCP socket that knows its connections for as long as they are open."""

    def __init__(self, family: int) -> None:
        # With the protocol, because asyncio turns Nagle's algorithm off only for what says that it is TCP.
        super().__init__(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self.connections: WeakValueDictionary[tuple[str, int], socket.socket] = WeakValueDictionary()

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection, as every socket does, and remember it."""
        connection, client = super().accept()
        self.connections[client[:2]] = connection
        return connection, client

    def keep_fresh(self, client: Client) -> None:
        """Let little wait for that client from now on; without effect where the kernel cannot be told."""
        if client is not None and (connection := self.connections.get(client)) is not None:
            with contextlib.suppress(OSError):  # it has gone
                _limit_unsent(connection, STREAM_UNSENT_BYTES)


def listen(host: str, port: int) -> Listener:
    """Open the listening socket; port 0 takes a free one. Raises: BindError if it cannot be had.

    Its options are inherited by every connection; TCP_USER_TIMEOUT has the kernel cut readers that take
    nothing.
    """
    sock = Listener(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, SLOW_READER_MS)
        _limit_unsent(sock, UNSENT_BYTES)
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


def _limit_unsent(sock: socket.socket, size: int) -> None:
    if hasattr(socket, "TCP_NOTSENT_LOWAT"):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, size)
