"""The end of the process: in order after a signal, at once after a second one (faults.md, I)."""

from __future__ import annotations

import contextlib
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.support.systems.process import Service, service, simulated
from tests.support.time.waiting import DEADLINE_S, eventually

SIGNALS = pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
STOPPED = ["service.stopping", "service.stopped"]


@contextlib.contextmanager
def _running(folder: Path, drain_s: float) -> Iterator[tuple[Service, httpx2.Client]]:
    with service(simulated(folder, drain_s=drain_s)) as running, running.client() as client:
        running.wait_ready()
        yield running, client


def _stop_events(running: Service) -> list[str]:
    return [line["event"] for line in running.log if line["event"].startswith("service.s")][1:]


@SIGNALS
def test_a_draining_service_is_not_ready_but_serves_odds(
    tmp_path: Path, number: signal.Signals, capfd: pytest.CaptureFixture[str]
) -> None:
    """During the drain readiness is 503 and odds are 200; then the exit code is 0."""
    with _running(tmp_path, drain_s=1.0) as (running, client):
        running.process.send_signal(number)
        eventually(lambda: client.get("/health/ready").status_code == 503, "readiness is 503")
        during = [client.get(path).status_code for path in ("/api/odds", "/api/v2/odds", "/health/live")]
        reason = client.get("/health/ready").json()["reason"]
        code = running.process.wait(DEADLINE_S)
        eventually(lambda: len(_stop_events(running)) == 2, "the last line of the log")

    assert ([200, 200, 200], "draining", 0) == (during, reason, code)
    assert (STOPPED, "") == (_stop_events(running), capfd.readouterr().err)


def test_a_draining_service_sends_its_clients_away(tmp_path: Path) -> None:
    """Every answer ends its connection then: a list, a 304, an error, a probe, a page, a stream."""
    paths = (
        "/api/v2/odds",
        "/api/odds?bookmaker=nobody",
        "/nothing",
        "/health/live",
        "/",
        "/api/v2/stream",
    )
    with _running(tmp_path, drain_s=30) as (running, client):
        before = {client.head(path).headers.get("connection") for path in paths}
        running.process.send_signal(signal.SIGTERM)
        eventually(lambda: client.get("/health/ready").status_code == 503, "readiness is 503")
        during = {client.head(path).headers.get("connection") for path in paths}
        not_modified = client.get("/api/v2/odds", headers={"If-None-Match": "*"})
        with socket.create_connection(running.address, 10) as kept:
            kept.sendall(b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n")
            received = b"".join(iter(lambda: kept.recv(65536), b""))  # to its end

    assert ({None}, {"close"}) == (before, during)
    assert (304, "close") == (not_modified.status_code, not_modified.headers["connection"])
    assert 1 == received.lower().count(b"connection: close")


@SIGNALS
def test_open_connections_do_not_delay_the_exit(tmp_path: Path, number: signal.Signals) -> None:
    """Idle ones and one with half a request are closed well before the limit for open requests (5 s)."""
    with _running(tmp_path, drain_s=0.1) as (running, _), contextlib.ExitStack() as open_ones:
        idle = [open_ones.enter_context(socket.create_connection(running.address, 5)) for _ in range(12)]
        for connection in idle[:10]:
            connection.sendall(b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n")
            assert connection.recv(65536).startswith(b"HTTP/1.1 200")
        idle[10].sendall(b"GET /api/odds HTTP/1.1\r\nHo")

        code = running.stop(number, within_s=4)

    assert 0 == code


@pytest.mark.parametrize(
    ("number", "second"),
    [(signal.SIGTERM, signal.SIGTERM), (signal.SIGINT, signal.SIGINT), (signal.SIGTERM, signal.SIGINT)],
)
def test_a_second_signal_ends_the_process_at_once(
    tmp_path: Path, number: signal.Signals, second: signal.Signals, capfd: pytest.CaptureFixture[str]
) -> None:
    """With 128 and the signal's number, although a stream is open and the drain has a minute left (I4)."""
    with _running(tmp_path, drain_s=60) as (running, client), client.stream("GET", "/api/v2/stream"):
        running.process.send_signal(number)
        eventually(lambda: running.events("service.stopping"), "it is stopping")
        code = running.stop(second, within_s=5)
        eventually(lambda: running.events("service.killed"), "the last line of the log")

    assert (128 + second, second.name) == (code, running.events("service.killed")[0]["signal"])
    assert "" == capfd.readouterr().err


@SIGNALS
def test_a_signal_right_after_the_start_is_handled(
    tmp_path: Path, number: signal.Signals, capfd: pytest.CaptureFixture[str]
) -> None:
    """From the line `service.started` on, a signal gives exit code 0 and no traceback (faults.md, I3)."""
    with service(simulated(tmp_path)) as running:
        code = running.stop(number)

    assert (0, "") == (code, capfd.readouterr().err)
