"""The listening socket and its connections: what they let in, how many bytes the kernel buffers unsent.

What a client sends passes the gate (`request_head.py`) before the server sees it. The seam is `recv`, which
asyncio's selector loop calls: so it serves every HTTP server on that loop.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable
from secrets import token_hex
from typing import Any
from weakref import WeakValueDictionary

from actors.core.errors import BindError
from web.protocol.request_head import HeadGate

Client = tuple[str, int] | None  # address and port, as in an ASGI scope
KeepFresh = Callable[[Client], None]
"""Limits what is buffered for the client of a stream: what waits is older than what could be sent."""

SLOW_READER_MS = 10_000  # the kernel then disconnects a client that reads nothing
UNSENT_BYTES = 524_288
"""Unsent bytes in the kernel for one client: with 131,072 a list of 1,200 matches takes a tenth longer."""
STREAM_UNSENT_BYTES = 16_384

BACKLOG = 256


class Connection(socket.socket):
    """An accepted connection: what it receives is what its gate passes."""

    gate: HeadGate

    def recv(self, size: int, flags: int = 0, /) -> bytes:
        """Receive what may be seen of it. Raises: BlockingIOError while that is nothing yet."""
        data = super().recv(size, flags)
        if data and not (data := self.gate.feed(data)):
            raise BlockingIOError
        return data


class Listener(socket.socket):
    """A listening socket that finds its connections by client, as long as the server holds them.

    `refusals` is the secret path below which the gate asks for the answer to a request that it refused.
    """

    def __init__(self, family: int) -> None:
        # TCP is named, because asyncio turns Nagle's algorithm off only for a socket that names it.
        super().__init__(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self.connections: WeakValueDictionary[tuple[str, int], socket.socket] = WeakValueDictionary()
        self.refusals = f"/{token_hex(16)}/"

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection, put the gate in front of it, and remember it."""
        accepted, client = super().accept()
        family, kind, protocol = accepted.family, accepted.type, accepted.proto
        connection = Connection(family, kind, protocol, fileno=accepted.detach())
        connection.gate = HeadGate(self.refusals.encode())
        self.connections[client[:2]] = connection
        return connection, client

    def keep_fresh(self, client: Client) -> None:
        """Buffer little for this client from now on, if it is still connected and the kernel can do so."""
        connection = None if client is None else self.connections.get(client)
        if connection is not None:
            with contextlib.suppress(OSError):  # closed meanwhile
                _limit_unsent(connection, STREAM_UNSENT_BYTES)


def listen(host: str, port: int) -> Listener:
    """Open the listening socket; port 0 takes a free one. Raises: BindError if that is not possible."""
    sock = Listener(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):  # for each connection, as all options here
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, SLOW_READER_MS)
        _limit_unsent(sock, UNSENT_BYTES)
        sock.bind((host, port))
        sock.listen(BACKLOG)
    except (OSError, TypeError, ValueError) as error:  # the last two for a host that is no name
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
