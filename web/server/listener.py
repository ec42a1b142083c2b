"""The listening socket: what the kernel does for each connection, and how much it takes in advance.

A whole list goes out in one go, if the kernel has room; for a client of the stream little waits there,
because all that waits is older than what it could be sent instead.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable
from typing import Any
from weakref import WeakValueDictionary

from actors.core.errors import BindError

Client = tuple[str, int] | None
"""Address and port of the other end, as ASGI tells them."""

KeepFresh = Callable[[Client], None]
"""Is told of each connection that is to have little waiting."""

SLOW_READER_MS = 10_000
UNSENT_BYTES = 524_288
"""What waits unsent in the kernel for one client before it takes no more; without it some megabytes.

A body that does not fit waits in asyncio, is copied there and sent in a second go: on this machine's own
network the 250 kB of 1,200 matches cost a tenth more with 131,072.
"""
STREAM_UNSENT_BYTES = 16_384
"""The same for a client of the stream."""

BACKLOG = 256


class Listener(socket.socket):
    """A listening socket that remembers its connections, by client, for as long as somebody holds them."""

    def __init__(
        self, family: int = -1, kind: int = -1, proto: int = -1, fileno: int | None = None
    ) -> None:
        super().__init__(family, kind, proto, fileno)
        self.connections: WeakValueDictionary[tuple[str, int], socket.socket] = WeakValueDictionary()

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection, as every socket does, and remember it."""
        connection, client = super().accept()
        self.connections[client[:2]] = connection
        return connection, client

    def keep_fresh(self, client: Client) -> None:
        """Let little wait on that client's connection, for all that it will carry.

        Without effect where the kernel cannot be told.
        """
        if client is not None and (connection := self.connections.get(client)) is not None:
            with contextlib.suppress(OSError):  # it has gone
                _limit_unsent(connection, STREAM_UNSENT_BYTES)


def listen(host: str, port: int) -> Listener:
    """Open the listening socket; port 0 takes a free one. Raises: BindError if it cannot be had.

    Its options are inherited by every connection; TCP_USER_TIMEOUT has the kernel cut readers that take
    nothing.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named because asyncio turns Nagle's algorithm off only for what says that it is TCP.
    sock = Listener(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
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
    """Return the URL at which `sock` listens."""
    host, port = sock.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _limit_unsent(sock: socket.socket, size: int) -> None:
    if hasattr(socket, "TCP_NOTSENT_LOWAT"):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, size)
