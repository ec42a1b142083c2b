"""The log goes somewhere that takes nothing: a pipe that nobody reads, closed, full (faults.md, J4)."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.support.peers.plain_http import NO_TLS
from tests.support.systems.process import ROOT
from tests.support.time.waiting import eventually

CONFIG = """
[server]
drain_s = {drain_s}
log_level = "debug"
[sources.simulated]
kind = "simulated"
matches = 20
[bookmakers.alder]
name = "Alder"
source = "simulated"
key = "sharp"
"""
PIPE_BYTES = 4096


@contextlib.contextmanager
def _serving(
    folder: Path, output: Any, *, redirection: str = "", drain_s: float = 0.0
) -> Iterator[tuple[subprocess.Popen[str], httpx2.Client]]:
    """Run the service with that standard output, and return it with a client, once it is ready."""
    config = folder / "simulated.toml"
    config.write_text(CONFIG.format(drain_s=drain_s), "utf-8")
    with socket.create_server(("127.0.0.1", 0)) as free:
        bind = f"127.0.0.1:{free.getsockname()[1]}"
    command = f'exec "$@" {redirection}'
    arguments = [sys.executable, "-m", "web", "serve", "--config", str(config), "--bind", bind]
    with (
        subprocess.Popen(
            ["/bin/sh", "-c", command, "sh", *arguments],
            cwd=ROOT,
            stdout=output,
            stderr=subprocess.PIPE,
            text=True,
        ) as process,
        httpx2.Client(base_url=f"http://{bind}", trust_env=False, verify=NO_TLS) as client,
    ):
        try:
            eventually(lambda: _is_ready(client), "it is ready")
            yield process, client
        finally:
            process.kill()


def _is_ready(client: httpx2.Client) -> bool:
    with contextlib.suppress(httpx2.TransportError):
        return client.get("/health/ready").status_code == 200
    return False


def _answers(client: httpx2.Client, count: int) -> set[int]:
    return {client.get("/health/live").status_code for _ in range(count)}


@contextlib.contextmanager
def _small_pipe() -> Iterator[tuple[int, int]]:
    reading, writing = os.pipe()
    try:
        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        yield reading, writing
    finally:
        os.close(reading)
        os.close(writing)


def test_a_pipe_that_nobody_reads_stops_nothing(tmp_path: Path) -> None:
    """Requests are answered, and a signal ends the process in order."""
    with _small_pipe() as (_, writing), _serving(tmp_path, writing) as (process, client):
        statuses = _answers(client, 100)  # some 200 bytes of log each
        process.send_signal(signal.SIGTERM)
        code, errors = process.wait(20), process.communicate()[1]

    assert ({200}, 0, "") == (statuses, code, errors)


def test_a_second_signal_ends_the_process_though_nobody_reads(tmp_path: Path) -> None:
    """It waits for the log for less than a second, not for the drain."""
    with _small_pipe() as (_, writing), _serving(tmp_path, writing, drain_s=60) as (process, client):
        _answers(client, 100)
        process.send_signal(signal.SIGTERM)
        eventually(lambda: client.get("/health/ready").status_code == 503, "it is stopping")
        process.send_signal(signal.SIGTERM)
        code = process.wait(20)

    assert 128 + signal.SIGTERM == code


def test_lines_come_once_somebody_reads(tmp_path: Path) -> None:
    """What waited is written, in order and whole, and the end loses nothing."""
    with _small_pipe() as (reading, writing), _serving(tmp_path, writing) as (process, client):
        _answers(client, 100)
        os.set_blocking(reading, False)
        text = b""

        def read() -> bool:
            nonlocal text
            with contextlib.suppress(BlockingIOError):
                while True:
                    text += os.read(reading, 65536)
            return text.count(b"request.served") >= 100

        eventually(read, "the lines that waited")
        process.send_signal(signal.SIGTERM)
        eventually(lambda: read() and process.poll() is not None, "the end")
        read()
        code = process.returncode

    events = [json.loads(line)["event"] for line in text.splitlines()]
    assert ("service.started", "service.stopped", 0) == (events[0], events[-1], code)


@pytest.mark.parametrize("redirection", [">&-", ">/dev/full"])
def test_a_log_that_cannot_be_written_costs_only_its_lines(tmp_path: Path, redirection: str) -> None:
    """Nothing is said about it on standard error; lines that could not be written are counted."""
    with _serving(tmp_path, subprocess.DEVNULL, redirection=redirection) as (process, client):
        statuses = _answers(client, 10)
        log = client.get("/api/stats").json()["log"]
        process.send_signal(signal.SIGTERM)
        code, errors = process.wait(20), process.communicate()[1]

    assert ({200}, 0, "") == (statuses, code, errors)
    assert (0, redirection == ">/dev/full") == (log["dropped"], log["failed"] >= 10)


def test_a_reader_that_has_gone_costs_only_lines(tmp_path: Path) -> None:
    """As with `| head -1`."""
    reading, writing = os.pipe()
    with _serving(tmp_path, writing) as (process, client):
        os.close(writing)
        os.close(reading)
        statuses = _answers(client, 10)
        failed = client.get("/api/stats").json()["log"]["failed"]
        process.send_signal(signal.SIGTERM)
        code, errors = process.wait(20), process.communicate()[1]

    assert ({200}, 0, "", True) == (statuses, code, errors, failed >= 10)
