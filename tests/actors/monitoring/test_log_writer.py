"""Log lines are written by a thread: the loop never waits for their reader."""

from __future__ import annotations

import fcntl
import json
import logging
import os
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from threading import Thread

import pytest
import structlog

from actors.monitoring.log_events import LogStatus
from actors.monitoring.log_writer import BackgroundHandler
from tests.support.configured_log import configured
from tests.support.time.waiting import eventually

PIPE_BYTES = 4096
LINE = "x" * 99  # a hundred bytes with the line end


def record(text: str) -> logging.LogRecord:
    """Return a record of the standard library with this message."""
    return logging.LogRecord("test", logging.INFO, __file__, 1, text, None, None)


@dataclass
class Pipe:
    """A pipe that takes 4,096 bytes until somebody reads from it."""

    reading: int
    output: TextIOWrapper
    received: bytes = b""

    def lines(self) -> list[str]:
        """Read all available bytes, and return all lines so far."""
        with suppress(BlockingIOError):
            while piece := os.read(self.reading, 65536):
                self.received += piece
        return self.received.decode().splitlines()


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    """Return a small pipe; its writing end stays open, because a thread may go on writing to it."""
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    os.set_blocking(reading, False)
    with os.fdopen(writing, "w", encoding="ascii", closefd=False) as output:
        yield Pipe(reading, output)
        with suppress(OSError):
            os.close(reading)  # this ends a write that waits


def test_lines_are_written_in_order_before_the_end(pipe: Pipe) -> None:
    """`close` waits for the remaining lines; characters that the encoding lacks become escapes."""
    status = LogStatus()
    handler = BackgroundHandler(pipe.output, status)
    for number in range(500):
        handler.handle(record(f"line {number:<20}"))
    handler.handle(record("é \ud800"))
    closing_it = Thread(target=handler.close)
    closing_it.start()
    while closing_it.is_alive():
        with suppress(BlockingIOError):
            pipe.received += os.read(pipe.reading, 1000)
    with suppress(BlockingIOError):
        pipe.received += os.read(pipe.reading, PIPE_BYTES)

    lines = pipe.received.decode().splitlines()
    assert [*(f"line {number:<20}" for number in range(500)), "\\xe9 \\ud800"] == lines
    assert (0, 0) == (status.dropped.number, status.failed.number)


def test_a_reader_that_stands_still_costs_lines_and_no_time(
    pipe: Pipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lines that do not fit are dropped and counted; lines that waited are written when somebody reads."""
    monkeypatch.setattr("actors.monitoring.log_writer.FLUSH_S", 20.0)
    status = LogStatus()
    handler = BackgroundHandler(pipe.output, status, max_waiting=5000)
    for _ in range(300):
        handler.handle(record(LINE))

    assert 300 - status.dropped.number in range(40, 101)  # lines that wait or are in the pipe
    closer = Thread(target=handler.close)
    closer.start()
    eventually(lambda: pipe.lines() and not closer.is_alive(), "all that waited is written")

    assert [LINE] * (300 - status.dropped.number) == pipe.lines()


def test_a_gap_is_told_where_it_is(pipe: Pipe) -> None:
    """Once half of the waiting lines are written, or at the end, a line says how many are missing."""
    logger = structlog.get_logger()
    with configured(pipe.output) as status:
        for _ in range(300):
            logger.info("test.logged", text="x" * 10_000)
        kept = 300 - status.dropped.number
        eventually(lambda: len(pipe.lines()) == kept, "all that waited is written")
        logger.info("test.ended")
        eventually(lambda: len(pipe.lines()) == kept + 2, "the last lines are written")

    gap, last = [json.loads(line) for line in pipe.lines()[kept:]]
    assert ("log.dropped", 300 - kept, "test.ended") == (gap["event"], gap["lines"], last["event"])
    assert kept in range(190, 220)


def test_the_end_waits_for_a_bounded_time(pipe: Pipe, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe that nobody reads does not keep the process from ending."""
    monkeypatch.setattr("actors.monitoring.log_writer.FLUSH_S", 0.01)
    handler = BackgroundHandler(pipe.output, LogStatus())
    for _ in range(100):
        handler.handle(record(LINE))

    handler.close()
    handler.handle(record("one that comes too late"))

    assert handler._thread.is_alive()


def test_output_that_takes_nothing_costs_its_lines(pipe: Pipe) -> None:
    """A full disk or a reader that has gone loses the lines, and they are counted."""
    os.close(pipe.reading)
    with Path("/dev/full").open("w", encoding="ascii") as full:
        for output in (full, pipe.output):
            status = LogStatus()
            with closing(BackgroundHandler(output, status)) as handler:
                handler.handle(record("line"))

            assert (0, 1) == (status.dropped.number, status.failed.number)


def test_without_a_free_thread_lines_are_written_at_once(
    pipe: Pipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that may start no more threads still writes its log."""

    def refuse(thread: Thread) -> None:
        raise RuntimeError(f"can't start new thread: {thread.name}")

    with monkeypatch.context() as patched:
        patched.setattr(Thread, "start", refuse)
        handler = BackgroundHandler(pipe.output, LogStatus())

    handler.handle(record("line"))
    handler.close()

    assert ["line"] == pipe.lines()
