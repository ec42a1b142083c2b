"""When new clients are turned away, and with which answers: by the rule alone, and on a real socket."""

from __future__ import annotations

import asyncio
import socket
from contextlib import closing

import pytest

from tests.support.builders.messages import match
from tests.support.peers.raw_client import problem_in
from tests.support.systems.site import Site, open_site
from web.server.load import FEW, HIGH_S, LATE_S, PATIENCE_S, RECENT_S, Load

LATE = LATE_S + 0.01
REQUEST = b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


def test_requests_that_come_at_once_may_wait() -> None:
    """The load is high only after requests waited too long for some time; then it stays high a while."""
    load = Load()
    for passed in (0.0, PATIENCE_S / 2, PATIENCE_S - 0.01):
        load.begin(LATE, passed)
        assert not load.is_high(passed)

    load.begin(LATE, PATIENCE_S)

    assert load.is_high(PATIENCE_S + HIGH_S - 0.01)
    assert not load.is_high(PATIENCE_S + HIGH_S)


def test_one_that_did_not_wait_ends_the_lateness() -> None:
    """After a request that did not wait, the time until the load is high begins anew."""
    load = Load()
    for passed in range(100):
        load.begin(LATE if passed % 2 else LATE_S, passed / 50)

    assert not load.is_high(2.0)


def test_without_patience_soon_after() -> None:
    """Requests that are late again soon after a high load are late for the same reason."""
    load = Load()
    for passed in (0.0, PATIENCE_S, PATIENCE_S + HIGH_S + 1):
        load.begin(LATE, passed)
    ends = PATIENCE_S + 2 * HIGH_S + 1

    assert load.is_high(ends - 0.01)

    load.begin(LATE_S, ends)
    load.begin(LATE, ends + RECENT_S)
    assert not load.is_high(ends + RECENT_S)


class _High(Load):
    """A load that is high until the test sets `is_over`."""

    is_over = False

    def is_high(self, now: float) -> bool:
        """Return whether the test has not yet ended the high load."""
        del now
        return not self.is_over


async def _ask(site: Site, request: bytes, *, begins: bool = False) -> bytes:
    """Send a request before the server accepts; return the whole answer, or its begin if `begins`."""
    with closing(socket.socket()) as client:
        client.connect(("127.0.0.1", int(site.base.rpartition(":")[2])))
        client.sendall(request)
        client.setblocking(False)  # noqa: FBT003 - the library's own signature
        loop, received = asyncio.get_running_loop(), b""
        while piece := await loop.sock_recv(client, 65_536):
            received += piece
            if begins:
                break
        return received


@pytest.mark.anyio
async def test_new_clients_are_turned_away_but_probes_and_streams_answered() -> None:
    """The answer is a usual problem 503, counted, without a body for HEAD; the connection is closed."""
    async with open_site() as site:
        site.publish("alder", match())
        site.connections.load = load = _High()
        load.waiting = FEW + 1

        refused = await _ask(site, b"GET /api/v2/odds" + REQUEST)
        head = await _ask(site, b"HEAD /api/v2/odds" + REQUEST)
        probe = await _ask(site, b"GET /health/live?x" + REQUEST)
        stream = await _ask(site, b"GET /api/v2/stream" + REQUEST, begins=True)
        load.is_over = True
        stats = (await site.json("/api/stats"))["http"]

    assert (503, "overloaded") == problem_in(refused)
    assert b"\r\nretry-after: 5\r\n" in refused
    assert head.endswith(b"\r\n\r\n")
    assert refused.partition(b"\r\n\r\n")[0].count(b"\r\n") == head.count(b"\r\n") - 2
    assert probe.startswith(b"HTTP/1.1 200")
    assert stream.startswith(b"HTTP/1.1 200")  # after a refusal an EventSource never connects again
    assert 2 == stats["turned_away"]


@pytest.mark.anyio
async def test_who_sends_nothing_or_half_a_head_does_not_wait() -> None:
    """Clients that send slowly never make the load high for the other clients."""
    async with open_site() as site:
        site.connections.load = load = _High()
        with closing(socket.socket()) as half, closing(socket.socket()) as silent:
            for connection, sent in ((half, b"GET /api/v2/odds HTTP/1.1\r\nHo"), (silent, b"")):
                connection.connect(("127.0.0.1", int(site.base.rpartition(":")[2])))
                connection.sendall(sent)
            await site.until(lambda: site.connections.open == 2)

            assert (0, 0) == (load.waiting, site.connections.turned_away.number)


@pytest.mark.anyio
async def test_who_has_left_already_is_closed_at_once() -> None:
    """The work for such a client would serve nobody, so other clients are served."""
    async with open_site() as site:
        site.connections.load = _High()
        with closing(socket.socket()) as gone:
            gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # closed by a reset
            gone.connect(("127.0.0.1", int(site.base.rpartition(":")[2])))
            gone.sendall(b"GET /api/v2/odds" + REQUEST)

        assert b"HTTP/1.1 200" in await _ask(site, b"GET /health/live" + REQUEST)
        stats = (await site.json("/api/stats"))["http"]
    assert {"/health/live": {"200": 1}} == stats["answers"]


@pytest.mark.anyio
async def test_what_waits_is_counted_until_it_begins() -> None:
    """A request ends its wait when it is answered, refused or given up, or when it waits for changes."""
    async with open_site() as site:
        site.publish("alder", match())
        for request in (
            b"GET /api/v2/odds",
            b"GET /nothing",
            b"POST /",
            b"nonsense",
            b"GET /?" + b"&" * 20,
        ):
            assert b"HTTP/1.1 " in await _ask(site, request + REQUEST)
        with closing(socket.socket()) as waiting:
            waiting.connect(("127.0.0.1", int(site.base.rpartition(":")[2])))
            waiting.sendall(b"GET /api/v2/changes?since=5001&wait=30" + REQUEST)
            await site.until(lambda: len(site.audience) == 1)

            assert 0 == site.connections.load.waiting
        await site.until(lambda: site.connections.open == 0)
        assert (0, 0) == (site.connections.load.waiting, site.connections.turned_away.number)
