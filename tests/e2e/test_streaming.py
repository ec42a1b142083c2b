"""Streams of the real program: ended properly, and hardly in the way of the end when not read."""

from __future__ import annotations

import contextlib
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.support.peers.loading import read_to_the_end
from tests.support.peers.plain_http import NO_TLS
from tests.support.systems.process import Service, service
from tests.support.time.waiting import eventually

CONFIG = """
[server]
drain_s = {drain_s}
max_streams = 200
[sources.simulated]
kind = "simulated"
matches = {matches}
updates_per_s = {updates_per_s}
[bookmakers.alder]
name = "Alder"
source = "simulated"
key = "sharp"
"""
REQUEST = b"GET /api/v2/stream HTTP/1.1\r\nHost: board\r\n\r\n"
STREAMS = 100
DRAIN_S = 2.0
SMALL = 4096


@contextlib.contextmanager
def _running(
    folder: Path, matches: int, updates_per_s: float, drain_s: float = DRAIN_S
) -> Iterator[Service]:
    config = folder / "simulated.toml"
    text = CONFIG.format(drain_s=drain_s, matches=matches, updates_per_s=updates_per_s)
    config.write_text(text, "utf-8")
    with (
        service(config) as running,
        httpx2.Client(base_url=running.base, trust_env=False, verify=NO_TLS) as client,
    ):
        eventually(lambda: client.get("/health/ready").status_code == 200, "it is ready")
        yield running


def _connected(running: Service, stack: contextlib.ExitStack, *, buffer: int = 0) -> socket.socket:
    one = stack.enter_context(socket.socket())
    if buffer:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    one.settimeout(10)
    one.connect(("127.0.0.1", int(running.base.rpartition(":")[2])))
    one.sendall(REQUEST)
    return one


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_streams_get_bye_before_the_end(
    tmp_path: Path, number: signal.Signals, capfd: pytest.CaptureFixture[str]
) -> None:
    """A hundred streams last until the drain is over and get `bye`, with exit code 0 in time (I1)."""
    with _running(tmp_path, 200, 50.0) as running, contextlib.ExitStack() as stack:
        streams = [_connected(running, stack) for _ in range(STREAMS)]
        for one in streams:
            assert one.recv(1 << 16).startswith(b"HTTP/1.1 200")
        running.process.send_signal(number)
        received = read_to_the_end(streams, DRAIN_S + 5)
        code = running.process.wait(5)
        eventually(lambda: running.events("service.stopped"), "the last line of the log")

    assert (0, "") == (code, capfd.readouterr().err)
    assert STREAMS == sum(
        one.endswith(b"}\n\n\r\n0\r\n\r\n") and b"\nevent: bye\n" in one for one in received
    )
    assert all(b"event: changes" in one for one in received)


@pytest.mark.long
def test_clients_that_do_not_read_hardly_delay_the_end(tmp_path: Path) -> None:
    """With clients that read nothing of a list being sent, the end comes within the drain and 5 s."""
    with _running(tmp_path, 5_000, 100.0) as running, contextlib.ExitStack() as stack:
        stuck = [_connected(running, stack, buffer=SMALL) for _ in range(5)]
        reader = _connected(running, stack)
        while b"event: changes" not in reader.recv(1 << 20):
            pass
        code = running.stop(within_s=DRAIN_S + 5)
        got = [len(_left_over(one)) for one in stuck]

    assert 0 == code
    assert max(got) < 1_000_000  # less than the list, so sending was really blocked


def _left_over(one: socket.socket) -> bytes:
    """Return what was received before the connection was reset."""
    received = b""
    with contextlib.suppress(OSError):
        while piece := one.recv(1 << 20):
            received += piece
    return received
