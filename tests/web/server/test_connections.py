"""The limit of connections, the choice of the connection to close, and slow clients, on a real server."""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
from collections.abc import Iterator

import anyio
import pytest

from tests.support.builders.messages import match
from tests.support.systems.site import EPOCH, FIRST_VERSION, NAMES, Site, open_site
from web.server import connections, reader, watch
from web.server.connections import Caps, Connection

pytestmark = pytest.mark.anyio

GET_ODDS = b"GET /api/v2/odds HTTP/1.1\r\nHost: x\r\n\r\n"
LIVE = b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n"
LIST = b"GET /api/v2/bookmakers HTTP/1.1\r\nHost: x\r\n\r\n"
WAIT = f"GET /api/v2/changes?since={FIRST_VERSION}-{EPOCH}&wait=30 HTTP/1.1\r\nHost: x\r\n\r\n".encode()
STREAM = b"GET /api/v2/stream HTTP/1.1\r\nHost: x\r\n\r\n"


class Crowd:
    """Clients of a site, each with a connection of its own."""

    def __init__(self, site: Site) -> None:
        self._port = int(site.base.rpartition(":")[2])
        self._site = site
        self.clients: list[socket.socket] = []

    async def join(
        self, sent: bytes = b"", *, is_refused: bool = False, buffer_bytes: int = 0
    ) -> socket.socket:
        """Connect one more client; unless the client is to be refused, wait until it is accepted."""
        client, held = socket.socket(), self._site.connections
        client.settimeout(0)
        if buffer_bytes:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer_bytes)
        self.clients.append(client)
        await asyncio.get_running_loop().sock_connect(client, ("127.0.0.1", self._port))
        if not is_refused:
            await self._site.until(lambda: client.getsockname() in map(_peer, held.by_request))
        client.send(sent)
        return client

    async def received(self, client: socket.socket) -> bytes:
        """Return the next answer, as long as its announced length, or b"" at the end of the connection."""
        loop, answer = asyncio.get_running_loop(), b""
        with anyio.fail_after(10):
            while piece := await loop.sock_recv(client, 65_536):
                answer += piece
                head, end, body = answer.partition(b"\r\n\r\n")
                length = re.search(rb"(?i)\r\ncontent-length: ([0-9]+)", head)
                if end and (length is None or len(body) >= int(length[1])):
                    break
        return answer


def _peer(connection: Connection) -> object:
    with contextlib.suppress(OSError):  # the connection may be closed meanwhile
        return connection.getpeername()
    return None


@contextlib.contextmanager
def crowd(site: Site) -> Iterator[Crowd]:
    """Return a crowd whose clients disconnect at the end of the block."""
    clients = Crowd(site)
    try:
        yield clients
    finally:
        for client in clients.clients:
            client.close()


async def test_above_the_cap_the_connection_that_is_idle_longest_is_closed() -> None:
    """A request makes its connection the newest connection; half a head does not."""
    async with open_site(caps=Caps(connections=3, most=100)) as site:
        with crowd(site) as clients:
            used, half, unused = await clients.join(), await clients.join(LIVE[:-2]), await clients.join()
            used.send(LIVE)
            assert (await clients.received(used)).startswith(b"HTTP/1.1 200")

            new = [await clients.join(), await clients.join()]

            assert b"" == await clients.received(half) == await clients.received(unused)
            for connection in (used, *new):
                connection.send(LIVE)
                assert (await clients.received(connection)).startswith(b"HTTP/1.1 200")


async def test_who_waits_or_follows_is_not_idle_and_who_comes_above_the_cap_is_refused() -> None:
    """A new client above the cap is answered for probes only; clients that wait or follow go on."""
    async with open_site(caps=Caps(connections=2, most=100)) as site:
        with crowd(site) as clients:
            _ = [await clients.join(STREAM) for _ in range(2)]
            await site.until(lambda: len(site.audience) == 2)
            waits = [await clients.join(WAIT) for _ in range(2)]
            await site.until(lambda: len(site.audience) == 4)

            new = await clients.join(LIVE)
            assert (await clients.received(new)).startswith(b"HTTP/1.1 200")
            new.send(LIST)
            refused = b""
            while piece := await clients.received(new):
                refused += piece

            assert refused.startswith(b"HTTP/1.1 503")
            assert b'"code":"overloaded"' in refused
            assert b"retry-after: 5" in refused.lower()
            assert b"connection: close" in refused.lower()
            assert 4 == len(site.audience)
            for wait in waits:
                wait.close()
            await site.until(lambda: len(site.audience) == 2)
            again = await clients.join(LIST)
            assert (await clients.received(again)).startswith(b"HTTP/1.1 404")


async def test_who_was_just_accepted_has_time_to_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    """Meanwhile all new clients above the cap wait, however many there are."""
    now = 0.0
    monkeypatch.setattr(connections, "elapsed_s", lambda: now)
    async with open_site(caps=Caps(connections=2, most=100)) as site:
        with crowd(site) as clients:
            slow, silent = await clients.join(), await clients.join()
            waiting = [await clients.join(is_refused=True) for _ in range(20)]
            await anyio.sleep(0.05)  # many turns of the loop; one turn would accept them
            slow.send(LIVE)
            assert (await clients.received(slow)).startswith(b"HTTP/1.1 200")
            assert 2 == len(site.connections.by_request)

            now += connections.TIME_TO_ASK_S

            assert b"" == await clients.received(silent) == await clients.received(slow)
            for connection in waiting:
                connection.send(LIVE)
            for connection in waiting:
                assert (await clients.received(connection)).startswith(b"HTTP/1.1 200")
                now += connections.TIME_TO_ASK_S


async def test_far_above_the_cap_a_connection_is_closed_at_once() -> None:
    """New connections are closed at once until some of the other clients have left."""
    async with open_site(caps=Caps(connections=1, most=3)) as site:
        with crowd(site) as clients:
            streams = []
            for _ in range(3):
                streams.append(await clients.join(STREAM))
                await site.until(lambda: len(site.audience) == len(streams))

            assert b"" == await clients.received(await clients.join(is_refused=True))
            for stream in streams:
                stream.close()
            await site.until(lambda: site.connections.open == 0)
            assert (await clients.received(await clients.join(LIVE))).startswith(b"HTTP/1.1 200")


@pytest.mark.long
@pytest.mark.parametrize("request_", [WAIT, STREAM], ids=["wait", "stream"])
async def test_who_leaves_while_another_request_waits_is_noticed(
    request_: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client that has left also loses the places of the requests that it sent behind the first."""
    monkeypatch.setattr(watch, "LOOK_S", 0.01)
    async with open_site() as site:
        with crowd(site) as clients:
            for _ in range(5):
                await clients.join(request_ + WAIT * 3 + LIVE)
            await site.until(lambda: len(site.audience) == 5)

        await site.until(lambda: len(site.audience) == 0)
        await site.until(lambda: site.connections.open == 0)


async def test_who_takes_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream ends when one `send` lasts too long, even if the kernel still keeps the connection."""
    monkeypatch.setattr(watch, "LOOK_S", 0.01)
    monkeypatch.setattr(watch, "SEND_LIMIT_S", 0.1)
    async with open_site() as site:
        site.publish(next(iter(NAMES)), *(match(f"m{number}") for number in range(20_000)))
        with crowd(site) as clients:
            await clients.join(STREAM)
            await site.until(lambda: len(site.audience) == 1)

            await site.until(lambda: len(site.audience) == 0)
            await site.until(lambda: site.connections.open == 0)


async def test_who_sends_without_end_and_takes_nothing_is_cut(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bytes that the server drops while it cannot send an answer are limited."""
    monkeypatch.setattr(connections, "MAX_DROPPED", 1_000_000)
    site.publish(next(iter(NAMES)), *(match(f"m{number}") for number in range(20_000)))
    with crowd(site) as clients:
        client = await clients.join(b"GET /api/v2/odds HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n")

        with anyio.fail_after(5), contextlib.suppress(ConnectionError):
            while True:
                await asyncio.get_running_loop().sock_sendall(client, bytes(65_536))


async def test_the_kernel_does_not_disconnect_a_client_that_reads_slowly(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a client reads steadily, the kernel's limit is two minutes in place of 10 s."""
    monkeypatch.setattr(reader, "LOOK_S", 0.02)
    site.publish(next(iter(NAMES)), *(match(f"m{number}") for number in range(5_000)))
    with crowd(site) as clients:
        client = await clients.join(GET_ODDS, buffer_bytes=16_384)
        (connection,) = [
            held for held in site.connections.by_request if _peer(held) == client.getsockname()
        ]
        limits = [_limit_ms(connection)]
        loop = asyncio.get_running_loop()
        read = 0
        while read < 65_536:
            read += len(await loop.sock_recv(client, 8_192))
        await site.until(lambda: connection.is_steady)
        limits.append(_limit_ms(connection))

    assert [10_000, 120_000] == limits


async def test_a_client_that_takes_almost_nothing_is_disconnected(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For the kernel such a client reads, so without this rule it could hold its connection for ever."""
    monkeypatch.setattr(reader, "LOOK_S", 0.02)
    monkeypatch.setattr(reader, "SLOW_READER_S", 0.2)
    monkeypatch.setattr(reader, "STEADY_BYTES", 100 * reader.STEADY_BYTES)
    site.publish(next(iter(NAMES)), *(match(f"m{number}") for number in range(5_000)))
    with crowd(site) as clients:
        client = await clients.join(GET_ODDS, buffer_bytes=2_048)

        def is_gone() -> bool:
            with contextlib.suppress(OSError):
                client.recv(8)
            return site.connections.open == 0

        await site.until(is_gone)


def _limit_ms(connection: Connection) -> int:
    return connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)


async def test_between_two_parts_of_an_answer_a_connection_is_not_idle() -> None:
    """All of the first part is sent and more will come: another connection is closed above the cap."""
    held = connections.Connections("/refused/", Caps())
    client, accepted = socket.socketpair()
    with client, contextlib.closing(Connection(accepted, held)) as connection:
        client.send(LIST)
        connection.recv(4_096)
        connection.begin()
        connection.send(b"part")
        is_idle_between = connection.is_idle()
        connection.is_answering = False

        assert (False, True) == (is_idle_between, connection.is_idle())


async def test_a_connection_is_not_idle_while_a_part_of_its_answer_waits() -> None:
    """A connection is also not idle if the system took nothing of the part, or sends pieces together."""
    held = connections.Connections("/refused/", Caps())
    client, accepted = socket.socketpair()
    with client, contextlib.closing(Connection(accepted, held)) as connection:
        connection.settimeout(0)
        client.send(LIST)
        connection.recv(4_096)
        with contextlib.suppress(BlockingIOError):
            while True:
                connection.send(bytes(4_096))
        is_idle_before = connection.is_idle()
        client.recv(1_000_000)
        connection.sendmsg([b"the", b"end"])

        assert (False, True) == (is_idle_before, connection.is_idle())
