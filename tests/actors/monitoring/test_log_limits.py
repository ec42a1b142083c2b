"""Errors that clients cause are counted by kind, and logged once a minute at most."""

from __future__ import annotations

import asyncio
import errno
import logging
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
import structlog
from structlog.stdlib import ProcessorFormatter
from structlog.testing import capture_logs

from actors.monitoring.log_events import LogStatus
from actors.monitoring.log_limits import LIMITED, LogLimits

ASYNCIO, HYPERCORN = map(logging.getLogger, LIMITED)
TIMED_OUT = TimeoutError(errno.ETIMEDOUT, "Connection timed out")
RESET = ConnectionResetError(errno.ECONNRESET, "Connection reset by peer")
BUG = ValueError("a bug")


@dataclass
class Rig(logging.Handler):
    """A handler with the filter; `passed` has the first line of each record that passes the filter."""

    status: LogStatus = field(default_factory=LogStatus)
    now: float = 1000.0
    passed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.addFilter(LogLimits(self.status, lambda: self.now))

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the first line of the record."""
        self.passed.append(record.getMessage().partition("\n")[0])

    __hash__ = object.__hash__


@pytest.fixture
def rig() -> Iterator[Rig]:
    """Return a handler of all records of at least level info."""
    rig, root = Rig(), logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers[:] = [rig]
    root.setLevel(logging.INFO)
    for name in LIMITED:
        logging.getLogger(name).setLevel(logging.WARNING)  # as `logs.configure` does
    yield rig
    for name in LIMITED:
        logging.getLogger(name).setLevel(logging.NOTSET)
    root.handlers[:] = handlers
    root.setLevel(level)


def report(message: str, error: Exception | None = None) -> None:
    """Report an error to a loop as asyncio does, which writes the context below the message."""
    loop = asyncio.new_event_loop()
    context: dict[str, object] = {"message": message, "transport": "\n<forged>"}
    if error is not None:
        context["exception"] = error
    loop.call_exception_handler(context)
    loop.close()


def raised(error: Exception) -> Exception:
    """Return the exception with a traceback."""
    try:
        raise error
    except type(error):
        return error


def test_errors_of_connections_are_counted_by_kind(rig: Rig) -> None:
    """The count of errors is logged once a minute per kind, without a stack."""
    with capture_logs() as logs:
        for _ in range(100):
            report("Unhandled exception in client_connected_cb", raised(TIMED_OUT))
            report("Unhandled exception in client_connected_cb", ExceptionGroup("tasks", [RESET]))
            report("socket.accept() out of system resource", OSError(errno.EMFILE, "Too many open files"))
            ASYNCIO.warning("socket.send() raised exception.")
        rig.now += 61
        ASYNCIO.warning("socket.send() raised exception.")

    kinds = ["timed_out", "disconnected", "no_descriptors", "sent_to_nobody"]
    lines = [(line["event"], line["kind"], line["errors"]) for line in logs]
    assert [
        *(("http.client_errors", kind, 1) for kind in kinds),
        ("http.client_errors", "sent_to_nobody", 101),
    ] == lines
    assert {kind: 101 if kind == "sent_to_nobody" else 100 for kind in kinds} == rig.status.client_errors
    assert [] == rig.passed


def test_an_error_of_a_connection_is_counted_once(rig: Rig) -> None:
    """The sending application reports the error, and the end of the connection reports it again."""
    HYPERCORN.error("Error in ASGI Framework", exc_info=raised(TIMED_OUT))
    report("Unhandled exception in client_connected_cb", raised(TIMED_OUT))

    assert ({"timed_out": 1}, []) == (dict(rig.status.client_errors), rig.passed)


def test_a_bug_keeps_its_line_once_a_minute(rig: Rig) -> None:
    """Each bug is limited by itself; a bug is identified by its exception and where that was raised."""
    other = KeyError("another bug")
    for _ in range(2):
        for _ in range(100):
            HYPERCORN.error("Error in ASGI Framework", exc_info=raised(BUG))
            report("Task exception was never retrieved", ExceptionGroup("both", [RESET, raised(other)]))
            report("Task was destroyed but it is pending!")
        rig.now += 61

    lines = [
        "Error in ASGI Framework",
        "Task exception was never retrieved",
        "Task was destroyed but it is pending!",
    ]
    assert lines * 2 == rig.passed
    assert {} == rig.status.client_errors


def test_a_failed_request_has_a_line_a_minute(rig: Rig) -> None:
    """A client can repeat a failing request endlessly; other events of the service are not limited."""
    configuration = structlog.get_config()
    structlog.configure(
        processors=[ProcessorFormatter.wrap_for_formatter], logger_factory=structlog.stdlib.LoggerFactory()
    )
    try:
        logger = structlog.get_logger()
        for _ in range(3):
            logger.error("request.failed", exc_info=raised(BUG))
            logger.error("actor.crashed", exc_info=raised(BUG))
    finally:
        structlog.configure(**configuration)

    assert [1, 3] == [sum(name in line for line in rig.passed) for name in ("request.", "actor.")]


def test_errors_are_counted_at_every_level(rig: Rig) -> None:
    """Errors below the level of the log are counted, but not logged."""
    logging.getLogger().setLevel(logging.CRITICAL)

    report("Unhandled exception in client_connected_cb", raised(TIMED_OUT))
    HYPERCORN.error("Error in ASGI Framework", exc_info=raised(BUG))

    assert ({"timed_out": 1}, []) == (dict(rig.status.client_errors), rig.passed)
