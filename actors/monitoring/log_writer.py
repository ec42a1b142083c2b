"""Writes log lines from a thread of its own: a reader that stands still never blocks the event loop.

At most `MAX_LINES` lines wait; more are dropped and counted. A stream that cannot be written to (closed, a
full disk) costs its lines, nothing else. Without a free thread it writes at once.
"""

from __future__ import annotations

import logging
from queue import SimpleQueue
from threading import Thread
from typing import TextIO

import structlog

log = structlog.get_logger()

MAX_LINES = 2_000
"""Lines that may wait: about a megabyte, and hours of an ordinary service at level info."""
FLUSH_S = 1.0
"""Seconds that the end of the process waits for the lines that are left."""


class BackgroundHandler(logging.Handler):
    """A handler of the standard library; `dropped` and `failed` count lines that were not written."""

    def __init__(self, stream: TextIO | None, max_lines: int = MAX_LINES) -> None:
        super().__init__()
        self.dropped = 0
        self.failed = 0
        self._stream = stream
        self._max_lines = max_lines
        self._lines: SimpleQueue[str | None] = SimpleQueue()
        self._thread: Thread | None = Thread(target=self._write_all, name="log", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:  # the system allows no more threads
            self._thread = None

    def emit(self, record: logging.LogRecord) -> None:
        """Format a record and have it written; never waits."""
        try:
            line = self.format(record) + "\n"
        except Exception:  # noqa: BLE001 - as every handler: a log line must not end what it tells of
            self.handleError(record)
            return
        if self._thread is None:
            self._write(line)
        elif self._lines.qsize() >= self._max_lines:
            self.dropped += 1
        else:
            self._lines.put(line)

    def close(self) -> None:
        """Write what is left, for at most `FLUSH_S` seconds; called by `logging.shutdown`."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._lines.put(None)
            thread.join(FLUSH_S)
        super().close()

    def _write_all(self) -> None:
        reported = 0
        while (line := self._lines.get()) is not None:
            self._write(line)
            if self._lines.empty() and self.dropped != reported:
                log.warning("log.dropped", lines=self.dropped - reported)
                reported = self.dropped

    def _write(self, line: str) -> None:
        if self._stream is None:  # the process was started with its output closed
            return
        try:
            self._stream.write(line)
            self._stream.flush()
        except (OSError, ValueError):  # full, gone, or closed
            self.failed += 1
