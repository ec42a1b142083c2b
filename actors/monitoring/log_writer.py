"""Writes log lines from its own thread, so that a stalled reader of the log never blocks the event loop.

Beyond `MAX_WAITING` waiting bytes, lines are dropped and counted until only half as many wait. If the
output fails (closed, full disk) only its lines are lost. If no thread can start, lines are
written directly.
"""

from __future__ import annotations

import os
from contextlib import suppress
from logging import LogRecord
from logging.handlers import QueueHandler
from math import inf
from queue import SimpleQueue
from threading import Thread
from typing import TextIO

import structlog

from actors.monitoring.log_events import LogStatus
from actors.runtime.facts import announce

log = structlog.get_logger()

MAX_WAITING = 2_000_000
"""Bytes that may wait: hours of a normal service's lines at level info."""
FLUSH_S = 0.9
"""Seconds that the end of the process waits for the remaining lines."""


class BackgroundHandler(QueueHandler):
    """A handler that writes formatted lines to the descriptor of `stream`, and counts losses in `status`.

    It bypasses the stream itself: a hanging write would hold the stream's lock, and block the process's
    end.
    """

    def __init__(self, stream: TextIO, status: LogStatus, max_waiting: float = MAX_WAITING) -> None:
        self._lines: SimpleQueue[bytes | None] = SimpleQueue()
        super().__init__(self._lines)
        self._output, self._encoding = stream.fileno(), stream.encoding
        self.is_terminal = stream.isatty()
        self._status = status
        self._max_waiting = max_waiting
        self._put = self._taken = 0
        self._reported = 0
        self._is_full = False
        self._thread = Thread(target=self._write_all, name="log", daemon=True)
        with suppress(RuntimeError):  # the system allows no further thread
            self._thread.start()

    def enqueue(self, record: LogRecord) -> None:
        """Queue a formatted record; without a thread write it now, which may block."""
        line = f"{record.msg}\n".encode(self._encoding, "backslashreplace")
        if not self._thread.is_alive():
            self._write(line)
            return
        waiting = self._put - self._taken
        self._is_full = waiting > (self._max_waiting / 2 if self._is_full else self._max_waiting)
        if self._is_full:
            self._status.dropped.inc()
        else:
            self._report()
            self._put += len(line)
            self._lines.put(line)

    def close(self) -> None:
        """Write the remaining lines, for at most `FLUSH_S` seconds; called by `logging.shutdown`."""
        self._max_waiting = inf  # room for the line with the count of dropped lines
        self._report()
        self._lines.put(None)
        if self._thread.is_alive():
            self._thread.join(FLUSH_S)
        super().close()

    def _report(self) -> None:
        dropped = self._status.dropped.number
        lines, self._reported = dropped - self._reported, dropped
        if lines:
            announce(log, "log.dropped", lines=lines)

    def _write_all(self) -> None:
        while (line := self._lines.get()) is not None:
            self._write(line)
            self._taken += len(line)

    def _write(self, line: bytes) -> None:
        try:
            while line:
                line = line[os.write(self._output, line) :]
        except OSError:
            self._status.failed.inc()
