"""The log goes somewhere that takes nothing: a pipe that nobody reads, closed, full (faults.md, J4)."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from itertools import count
from pathlib import Path

import pytest

from tests.support.systems.process import Service, logging_to, small_pipe
from tests.support.time.waiting import DEADLINE_S, eventually


def _answers(running: Service, number: int) -> set[int]:
    return {running.get("/health/live").status_code for _ in range(number)}


def _log(running: Service) -> dict[str, int]:
    """Return how many lines were lost, and why, by now."""
    lines: dict[str, int] = running.get("/api/stats").json()["log"]
    return lines


def _await_failed(running: Service, asked: int) -> None:
    """Wait until the lines of so many requests, and of those made here, have failed: after the answers."""
    made = count(asked)
    eventually(lambda: _log(running)["failed"] >= next(made), "the count of lines that failed")


def test_a_pipe_that_nobody_reads_stops_nothing(tmp_path: Path) -> None:
    """Requests are answered, and a signal ends the process in order."""
    with small_pipe() as (_, writing), logging_to(tmp_path, writing) as running:
        statuses = _answers(running, 100)  # some 200 bytes of log each
        running.process.send_signal(signal.SIGTERM)
        code, errors = running.process.wait(DEADLINE_S), running.process.communicate()[1]

    assert ({200}, 0, "") == (statuses, code, errors)


def test_a_second_signal_ends_the_process_though_nobody_reads(tmp_path: Path) -> None:
    """It waits for the log for less than a second, not for the drain."""
    with small_pipe() as (_, writing), logging_to(tmp_path, writing, drain_s=60) as running:
        _answers(running, 100)
        running.process.send_signal(signal.SIGTERM)
        eventually(lambda: running.get("/health/ready").status_code == 503, "it is stopping")
        running.process.send_signal(signal.SIGTERM)
        code = running.process.wait(DEADLINE_S)

    assert 128 + signal.SIGTERM == code


def test_lines_come_once_somebody_reads(tmp_path: Path) -> None:
    """What waited is written, in order and whole, and the end loses nothing."""
    with small_pipe() as (reading, writing), logging_to(tmp_path, writing) as running:
        _answers(running, 100)
        os.set_blocking(reading, False)
        text = b""

        def read() -> bool:
            nonlocal text
            with contextlib.suppress(BlockingIOError):
                while True:
                    text += os.read(reading, 65536)
            return text.count(b"request.served") >= 100

        eventually(read, "the lines that waited")
        running.process.send_signal(signal.SIGTERM)
        eventually(lambda: read() and running.process.poll() is not None, "the end")
        read()
        code = running.process.returncode

    events = [json.loads(line)["event"] for line in text.splitlines()]
    assert ("service.configured", "service.stopped", 0) == (events[0], events[-1], code)


@pytest.mark.parametrize("redirection", [">&-", ">/dev/full"])
def test_a_log_that_cannot_be_written_costs_only_its_lines(tmp_path: Path, redirection: str) -> None:
    """Nothing is said about it on standard error; lines that could not be written are counted."""
    with logging_to(tmp_path, subprocess.DEVNULL, redirection=redirection) as running:
        statuses = _answers(running, 10)
        if redirection == ">/dev/full":
            _await_failed(running, 10)
        log = _log(running)
        running.process.send_signal(signal.SIGTERM)
        code, errors = running.process.wait(DEADLINE_S), running.process.communicate()[1]

    assert ({200}, 0, "") == (statuses, code, errors)
    assert (0, redirection == ">/dev/full") == (log["dropped"], log["failed"] >= 10)


def test_a_reader_that_has_gone_costs_only_lines(tmp_path: Path) -> None:
    """As with `| head -1`."""
    reading, writing = os.pipe()
    with logging_to(tmp_path, writing) as running:
        os.close(writing)
        os.close(reading)
        statuses = _answers(running, 10)
        _await_failed(running, 10)
        running.process.send_signal(signal.SIGTERM)
        code, errors = running.process.wait(DEADLINE_S), running.process.communicate()[1]

    assert ({200}, 0, "") == (statuses, code, errors)
