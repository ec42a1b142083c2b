"""How much of an answer the kernel buffers: much of a body, little of a stream."""

from __future__ import annotations

import contextlib
import gc
import logging
import resource
import socket
from contextlib import closing

import anyio.lowlevel
import pytest
from structlog.testing import capture_logs

from tests.support.builders.messages import match
from tests.support.systems.site import NAMES, Site
from web.server.descriptors import PER_SOURCE, RESERVE, fitted
from web.server.listener import STREAM_UNSENT_BYTES, UNSENT_BYTES, Listener, listen

SMALL = 4096
ENOUGH = 500
"""Turns of the loop after which a client that does not read can be sent nothing more."""


def _hosts() -> list[str]:
    """Return the hosts that this machine can listen on."""
    hosts = ["127.0.0.1"]
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET6) as probe:
        probe.bind(("::1", 0))
        hosts.append("::1")
    return hosts


pytestmark = pytest.mark.skipif(not hasattr(socket, "TCP_NOTSENT_LOWAT"), reason="the kernel has no limit")


def _unsent(connection: socket.socket) -> int:
    return connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT)


def _pair(listener: Listener) -> tuple[socket.socket, socket.socket]:
    client = socket.create_connection(listener.getsockname()[:2])
    return client, listener.accept()[0]


def test_clients_leave_descriptors_to_the_service_and_its_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the reserve for the service and its sources, a third of the descriptors is for connections."""
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1000, 1000))
    monkeypatch.setattr(resource, "setrlimit", lambda *_: None)
    found = [fitted(10_000, 10, 10, sources)[0].connections for sources in (0, 30)]

    assert [(1000 - RESERVE) // 3, (1000 - RESERVE - 30 * PER_SOURCE) // 3] == found


@pytest.mark.parametrize("host", _hosts())
def test_the_send_buffer_is_small_only_for_streams(host: str) -> None:
    """Each connection begins with the larger buffer, which is for bodies."""
    with closing(listen(host, 0)) as listener:
        (stream, streaming), (reader, reading) = _pair(listener), _pair(listener)
        with stream, streaming, reader, reading:
            before = _unsent(streaming)

            listener.keep_fresh(stream.getsockname()[:2])

            assert (UNSENT_BYTES, STREAM_UNSENT_BYTES) == (before, _unsent(streaming))
            assert _unsent(reading) == UNSENT_BYTES


def test_a_closed_or_unknown_connection_is_ignored() -> None:
    """A connection is not remembered after it is closed."""
    with closing(listen("127.0.0.1", 0)) as listener:
        client, connection = _pair(listener)
        with client:
            connection.close()

            for pair in (client.getsockname(), ("127.0.0.1", 1), None):
                listener.keep_fresh(pair)
            del connection
            gc.collect()

            assert not listener.connections


@pytest.mark.anyio
async def test_little_of_a_stream_is_buffered_for_a_client_that_does_not_read(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    """Of 1.6 MB that no client reads, less than half of a body's buffer is sent."""
    site.publish(next(iter(NAMES)), *(match(f"m{number}") for number in range(8_000)))
    caplog.set_level(logging.DEBUG)
    with capture_logs() as logs:
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL)
            client.connect(("127.0.0.1", int(site.base.rpartition(":")[2])))
            client.sendall(b"GET /api/v2/stream HTTP/1.1\r\nHost: board\r\n\r\n")
            await site.until(lambda: len(site.audience) == 1)
            for _ in range(ENOUGH):
                await anyio.lowlevel.checkpoint()
        await site.until(lambda: len(site.audience) == 0)
        sent = [line["body_bytes"] for line in logs if line.get("path") == "/api/v2/stream"]

    assert 0 < sent[0] < UNSENT_BYTES / 2
