"""A peer on a real loopback socket that runs the test's function for each connection, in its own thread."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import anyio
import pytest

from actors.core.errors import TransportError
from actors.transports.lines import LineConnection, connected

MAX = 2**20
CREDENTIALS = b'{"op":"authentication","id":1,"session":"the-session-token"}\r\n'


@dataclass
class LinePeer:
    """The peer, by the address on which it listens."""

    port: int

    def url(self, scheme: str = "tcp", host: str = "127.0.0.1") -> str:
        """Return the URL to connect to."""
        return f"{scheme}://{host}:{self.port}"


async def lines_of(connection: LineConnection, count: int) -> list[bytes]:
    """Receive until at least `count` lines have arrived, and return them."""
    lines: list[bytes] = []
    with anyio.fail_after(10):
        while len(lines) < count:
            lines += await connection.receive()
    return lines


async def trouble_with(url: str, context: ssl.SSLContext, *, timeout_s: float = 5.0) -> TransportError:
    """Connect, send credentials, and return the error that must follow."""
    with pytest.raises(TransportError) as caught, anyio.fail_after(timeout_s + 1):
        await _converse(url, context, timeout_s)
    return caught.value


async def _converse(url: str, context: ssl.SSLContext, timeout_s: float) -> None:
    async with connected(url, timeout_s, MAX, context) as connection:
        await connection.send(CREDENTIALS)
        await lines_of(connection, 1000)


@contextlib.contextmanager
def line_peer(converse: Callable[[socket.socket], None]) -> Iterator[LinePeer]:
    """Listen within the block; `converse` is called with each connection, one after the other."""
    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=_accept, args=(listener, converse), daemon=True)
    thread.start()
    try:
        yield LinePeer(listener.getsockname()[1])
    finally:
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)


def _accept(listener: socket.socket, converse: Callable[[socket.socket], None]) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with contextlib.suppress(OSError), connection:
            connection.settimeout(60)
            converse(connection)
