"""Streams of the real program: ended properly, and hardly in the way of the end when not read."""

from __future__ import annotations

import contextlib
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.peers.loading import CLIENTS, loading, read_to_the_end
from tests.support.systems.process import Service, service, simulated
from tests.support.time.waiting import eventually

REQUEST = b"GET /api/v2/stream HTTP/1.1\r\nHost: board\r\n\r\n"
STREAMS = 100
DRAIN_S = 2.0
SMALL = 4096


def _connected(running: Service, stack: contextlib.ExitStack, *, buffer: int = 0) -> socket.socket:
    connection = stack.enter_context(socket.socket())
    if buffer:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    connection.settimeout(10)
    connection.connect(running.address)
    connection.sendall(REQUEST)
    return connection


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_under_load_fails_no_request(
    tmp_path: Path,
    number: signal.Signals,
    capfd: pytest.CaptureFixture[str],
    record_property: Callable[[str, object], None],
) -> None:
    """100 streams are open, and clients on kept and new connections ask, when it comes (faults.md, I1)."""
    config = simulated(tmp_path, drain_s=DRAIN_S, matches=200, server="max_streams = 200")
    with service(config) as running, contextlib.ExitStack() as stack:
        running.wait_ready()
        outcomes = stack.enter_context(loading(running.base))
        streams = [_connected(running, stack) for _ in range(STREAMS)]
        for stream in streams:
            assert stream.recv(1 << 16).startswith(b"HTTP/1.1 200")
        running.process.send_signal(number)
        began = time.monotonic()
        eventually(lambda: running.events("service.stopping"), "it is stopping")
        ready = running.get("/health/ready").status_code
        received = read_to_the_end(streams, DRAIN_S + 10)
        code, took_s = running.process.wait(20), time.monotonic() - began

    failed = [outcome for outcome in outcomes if outcome not in {(200, ""), (0, "refused")}]
    told = sum(body.endswith(b"}\n\n\r\n0\r\n\r\n") and b"\nevent: bye\n" in body for body in received)
    record_property(
        "figure",
        f"Python {sys.version_info[0]}.{sys.version_info[1]}, {number.name}: {len(failed)} of"
        f" {len(outcomes):,} requests failed, {told} of {STREAMS} streams told,"
        f" exit code {code} after {took_s:.1f} s with a drain of {DRAIN_S:g} s",
    )
    assert ([], 503, 0, "") == (failed, ready, code, capfd.readouterr().err)
    assert told >= 0.9 * STREAMS  # on a busy machine a second is not enough for all
    assert CLIENTS == len([outcome for outcome in outcomes if outcome[1]])
    assert took_s < DRAIN_S + 5


@pytest.mark.long
def test_clients_that_do_not_read_hardly_delay_the_end(tmp_path: Path) -> None:
    """With clients that read nothing of a list being sent, the end comes within the drain and 5 s."""
    config = simulated(tmp_path, drain_s=DRAIN_S, matches=5_000, updates_per_s=100.0)
    with service(config) as running, contextlib.ExitStack() as stack:
        running.wait_ready()
        stuck = [_connected(running, stack, buffer=SMALL) for _ in range(5)]
        reader = _connected(running, stack)
        while b"event: changes" not in reader.recv(1 << 20):
            pass
        code = running.stop(within_s=DRAIN_S + 5)
        got = [len(_left_over(connection)) for connection in stuck]

    assert 0 == code
    assert max(got) < 1_000_000  # less than the list, so sending was really blocked


def _left_over(connection: socket.socket) -> bytes:
    """Return what was received before the connection was reset."""
    received = b""
    with contextlib.suppress(OSError):
        while piece := connection.recv(1 << 20):
            received += piece
    return received
