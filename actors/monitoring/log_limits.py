"""Keeps clients from flooding the log: counts their errors by kind, logs a kind once a minute at most.

asyncio and the HTTP server log each error singly, most with a stack, and a client can cause thousands a
second. A bug is logged with its stack, but also once a minute at most, because a client may repeat it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

import structlog

from actors.core.clock import elapsed_s
from actors.monitoring.log_events import LogStatus
from actors.runtime.facts import announce

log = structlog.get_logger()

LIMITED = ("asyncio", "hypercorn.error")
"""Loggers whose records are limited; their level is WARNING, so that the counters are complete."""
EVERY_S = 60.0

_KINDS = {
    "socket.accept() out of system resource": "no_descriptors",
    "socket.send() raised exception.": "sent_to_nobody",
}
_CONNECTION = "Unhandled exception in client_connected_cb"


class LogLimits(logging.Filter):
    """A filter for a handler; counts clients' errors in `status`. `now` returns seconds."""

    def __init__(self, status: LogStatus, now: Callable[[], float] = elapsed_s) -> None:
        super().__init__()
        self._status = status
        self._now = now
        self._logged: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether the record is to be logged unchanged."""
        error = _error(record)
        if record.name not in LIMITED:
            return not _is_event(record, "request.failed") or self._is_due(_place(record, error))
        kind = _client_error(record, error)
        if kind is None:
            return record.levelno >= logging.root.level and self._is_due(_place(record, error))
        if record.name != "hypercorn.error":  # hypercorn.error repeats the error when the connection ends
            self._status.client_errors.add(kind)
            if self._is_due(kind):
                announce(log, "http.client_errors", kind=kind, errors=self._status.client_errors[kind])
        return False

    def _is_due(self, key: str) -> bool:
        """Return whether this key was not logged within the last minute; if so, note that it is now."""
        last, now = self._logged.get(key), self._now()
        if last is not None and now - last < EVERY_S:
            return False
        self._logged[key] = now
        return True


def _client_error(record: logging.LogRecord, error: BaseException | None) -> str | None:
    """Return the kind of an error that a client caused, otherwise None."""
    first = record.getMessage().partition("\n")[0]
    if first in _KINDS:
        return _KINDS[first]
    if record.name == "asyncio" and first != _CONNECTION:
        return None
    if isinstance(error, OSError):  # from the connection: an OSError of the application becomes a 500
        return "timed_out" if isinstance(error, TimeoutError) else "disconnected"
    return None


def _error(record: logging.LogRecord) -> BaseException | None:
    """Return the exception of a record; of a group, the first error that no connection caused."""
    exc_info = record.msg.get("exc_info") if isinstance(record.msg, dict) else record.exc_info
    error = exc_info[1] if isinstance(exc_info, tuple) else exc_info
    while isinstance(error, BaseExceptionGroup):
        error = (error.split(OSError)[1] or error).exceptions[0]
    return error if isinstance(error, BaseException) else None


def _is_event(record: logging.LogRecord, event: str) -> bool:
    return isinstance(record.msg, dict) and record.msg.get("event") == event


def _place(record: logging.LogRecord, error: BaseException | None) -> str:
    """Return the exception's type and the place where it was raised, or the place that logged the line."""
    if error is None or (traceback := error.__traceback__) is None:
        return f"{record.name}:{record.pathname}:{record.lineno}"
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    return f"{type(error).__qualname__}:{traceback.tb_frame.f_code.co_filename}:{traceback.tb_lineno}"
