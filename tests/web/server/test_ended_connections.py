"""An ended connection leaves no task, and no object that only Python's collector can free."""

from __future__ import annotations

import asyncio
import gc
import socket
from collections.abc import Iterator

import anyio.lowlevel
import pytest

from tests.support.builders.messages import match
from tests.support.systems.site import EPOCH, Site

pytestmark = pytest.mark.anyio

CLIENTS = 20
FEW = 16
"""Objects that one client may leave: Quart's search for a path that is not found leaves 8."""
TURNS = 50
"""Turns of the loop in which everything of a closed connection ends by itself."""

GET = b"GET /api/v2/odds HTTP/1.1\r\nHost: x\r\n%b\r\n"
SENT = {
    "nothing": b"",
    "half a head": b"GET /api/v2/odds HTTP/1.1\r\nHo",
    "a request": GET % b"",
    "two requests, one answer read": 2 * (GET % b""),
    "a last request": GET % b"Connection: close\r\n",
    "a request to wait": b"GET /api/v2/changes?since=%b-%b&wait=30 HTTP/1.1\r\nHost: x\r\n\r\n",
    "a stream": b"GET /api/v2/stream HTTP/1.1\r\nHost: x\r\n\r\n",
    "a body": b"POST /api/v2/odds HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nlong",
    "a path that is not there": b"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n",
    "a refused head": b"GET / HTTP/1.1\r\nno header\r\n\r\n",
    "a web socket": GET % b"Upgrade: websocket\r\nConnection: upgrade\r\nSec-WebSocket-Version: 13\r\n",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
}
UNANSWERED = {"nothing", "half a head", "a request to wait"}


@pytest.fixture
def _no_collector() -> Iterator[None]:
    """Collect only on request, without the objects of other tests, which would take most of the time."""
    gc.disable()
    gc.freeze()
    yield
    gc.unfreeze()
    gc.enable()


@pytest.mark.usefixtures("_no_collector")
@pytest.mark.parametrize("kind", SENT)
async def test_what_has_ended_is_freed_at_once(site: Site, kind: str) -> None:
    """Otherwise one collection would free thousands of ended clients while nothing else can run."""
    version = str(site.publish("birch", match("x.1", away="")))
    sent = SENT[kind].replace(b"%b-%b", f"{version}-{EPOCH}".encode())
    before = asyncio.all_tasks()
    await _come_and_go(site, sent, is_answered=kind not in UNANSWERED)  # first run: makes lasting objects
    gc.collect()

    await _come_and_go(site, sent, is_answered=kind not in UNANSWERED)

    assert FEW * CLIENTS > gc.collect()
    assert before == asyncio.all_tasks()


async def test_a_client_that_ends_its_side_has_its_answer(site: Site) -> None:
    """After the answers the connection is closed: no task waits for another request of this client."""
    loop, port = asyncio.get_running_loop(), int(site.base.rpartition(":")[2])
    with socket.socket() as client:
        client.settimeout(0)
        await loop.sock_connect(client, ("127.0.0.1", port))
        await loop.sock_sendall(client, 2 * (GET % b""))
        client.shutdown(socket.SHUT_WR)
        received = b""
        while received.count(b'"matches_count":') < 2:
            received += await loop.sock_recv(client, 65_536)
        await _let_run()
        still_open = site.connections.open

    assert (2, 0) == (received.count(b"HTTP/1.1 200"), still_open)


async def test_one_task_watches_how_long_a_connection_is_idle(site: Site) -> None:
    """The set of tasks is the same after each request."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(site.base.rpartition(":")[2]))
    found = []
    for _ in range(3):
        writer.write(b"HEAD /api/v2/odds HTTP/1.1\r\nHost: x\r\n\r\n")
        await reader.readuntil(b"\r\n\r\n")
        await _let_run()
        found.append(asyncio.all_tasks())
    writer.close()

    assert found[:1] * 3 == found


async def _come_and_go(site: Site, sent: bytes, *, is_answered: bool) -> None:
    loop, port = asyncio.get_running_loop(), int(site.base.rpartition(":")[2])
    for _ in range(CLIENTS):
        with socket.socket() as client:
            client.settimeout(0)
            await loop.sock_connect(client, ("127.0.0.1", port))
            await loop.sock_sendall(client, sent)
            if is_answered:
                await loop.sock_recv(client, 65_536)
            else:
                await site.until(lambda: site.connections.open > 0)
                await _let_run()
    await site.until(lambda: site.connections.open == 0)
    await _let_run()


async def _let_run() -> None:
    for _ in range(TURNS):
        await anyio.lowlevel.checkpoint()
