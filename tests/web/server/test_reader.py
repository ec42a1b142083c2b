"""The socket of a client that is lost: its error is the end of the connection, for every HTTP server."""

from __future__ import annotations

import socket

import anyio
import pytest

from tests.support.time.waiting import DEADLINE_S
from web.server.reader import ReaderSocket

pytestmark = pytest.mark.anyio


async def test_a_client_that_the_kernel_gave_up_has_left() -> None:
    """The kernel says ETIMEDOUT, which is no ConnectionError."""
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        client.connect(listener.getsockname())
        with ReaderSocket(listener.accept()[0]) as connection:
            connection.setblocking(False)  # noqa: FBT003 - a flag of the standard library
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 50)

            with anyio.fail_after(DEADLINE_S), pytest.raises(ConnectionResetError, match="timed out"):
                await _send_for_ever(connection)


async def _send_for_ever(connection: socket.socket) -> None:
    while True:
        try:
            connection.send(bytes(65_536))
        except BlockingIOError:
            await anyio.sleep(0.01)
