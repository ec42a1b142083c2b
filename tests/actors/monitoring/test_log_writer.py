"""Log lines from a thread: the loop never waits for whoever reads them."""

from __future__ import annotations

import errno
import io
import logging
from collections.abc import Iterator
from contextlib import closing
from threading import Event, Thread

import pytest

from actors.monitoring.log_writer import BackgroundHandler


def record(text: str) -> logging.LogRecord:
    """Return a record of the standard library with that message."""
    return logging.LogRecord("test", logging.INFO, __file__, 1, text, None, None)


class Stuck(io.StringIO):
    """A stream that takes nothing until `go` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.go = Event()

    def write(self, text: str) -> int:
        """Wait for `go`, then keep the text."""
        self.go.wait()
        return super().write(text)


class Full(io.StringIO):
    """A stream that cannot be written to."""

    def write(self, text: str) -> int:
        """Fail."""
        raise OSError(errno.ENOSPC, text)


@pytest.fixture
def stuck() -> Iterator[Stuck]:
    """Return a stream that takes nothing, which ends with the test."""
    stream = Stuck()
    yield stream
    stream.go.set()


def test_lines_are_written_in_order_before_the_end() -> None:
    """`close` writes what is left."""
    stream = io.StringIO()

    with closing(BackgroundHandler(stream)) as handler:
        for number in range(500):
            handler.emit(record(f"line {number}"))

    assert [f"line {number}" for number in range(500)] == stream.getvalue().splitlines()
    assert (0, 0) == (handler.dropped, handler.failed)


def test_a_reader_that_stands_still_costs_lines_and_no_time(stuck: Stuck) -> None:
    """What does not fit is dropped and counted; what waited is written when it goes on."""
    handler = BackgroundHandler(stuck, max_lines=10)
    for number in range(100):
        handler.emit(record(f"line {number}"))

    assert handler.dropped in {89, 90}  # the thread may have taken one
    stuck.go.set()
    handler.close()

    assert 100 - handler.dropped == len(stuck.getvalue().splitlines())


def test_the_end_waits_for_a_bounded_time(stuck: Stuck, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe that nobody reads does not keep the process."""
    monkeypatch.setattr("actors.monitoring.log_writer.FLUSH_S", 0.01)
    handler = BackgroundHandler(stuck)
    handler.emit(record("line"))

    handler.close()

    assert "" == stuck.getvalue()


def test_a_closed_stream_costs_its_lines() -> None:
    """So does a full disk; output that was closed from the start is not even a failure."""
    closed = io.StringIO()
    closed.close()
    for stream in (Full(), closed):
        with closing(BackgroundHandler(stream)) as handler:
            handler.emit(record("line"))
        assert 1 == handler.failed
    with closing(BackgroundHandler(None)) as nowhere:
        nowhere.emit(record("line"))
    assert 0 == nowhere.failed


def test_without_a_free_thread_lines_are_written_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that may have no more threads logs all the same."""

    def refuse(thread: Thread) -> None:
        raise RuntimeError(f"can't start new thread: {thread.name}")

    monkeypatch.setattr(Thread, "start", refuse)
    stream = io.StringIO()
    handler = BackgroundHandler(stream)

    handler.emit(record("line"))

    assert "line\n" == stream.getvalue()
