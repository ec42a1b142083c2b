"""Logs structlog events and other packages' records as JSON lines, or coloured on a terminal."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, TextIO

import structlog
from structlog.dev import ConsoleRenderer, plain_traceback
from structlog.stdlib import ProcessorFormatter
from structlog.typing import EventDict, Processor

from actors.monitoring.log_events import LogStatus, is_own
from actors.monitoring.log_limits import LIMITED, LogLimits
from actors.monitoring.log_writer import BackgroundHandler
from actors.runtime.facts import conceal, followed, masked
from actors.runtime.supervisor import MAX_ERROR_CHARS, error_text

MAX_ERRORS = 100

_SHARED: tuple[Processor, ...] = (
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.StackInfoRenderer(),
)


_noting = ExitStack()
"""Ends when the log is set up anew, because only one journal follows the transitions of the process."""


class _ShortenedError(Exception):
    """Stands in the log for an exception whose text was too long."""


def configure(
    level: str, stream: TextIO, secrets: tuple[str, ...] = (), *, is_colourless: bool = False
) -> LogStatus:
    """Send all logs of at least `level` ("debug", "info", ...) to `stream`, with no secret in them.

    A terminal shows colours unless it `is_colourless`. Returns the counters of lost lines and the journal,
    which notes every transition from now on.
    """
    status = LogStatus()
    conceal(secrets)
    _noting.close()
    _noting.enter_context(followed(status.journal.note))

    def without_secrets(_logger: object, _name: str, event: EventDict) -> EventDict:
        return {key: item if _is_ours(key, item) else masked(item) for key, item in event.items()}

    handler = BackgroundHandler(stream, status)
    handler.addFilter(LogLimits(status))
    processors = [
        ProcessorFormatter.remove_processors_meta,
        *_renderers(stream, without_secrets, is_colourless=is_colourless),
    ]
    handler.setFormatter(ProcessorFormatter(foreign_pre_chain=_SHARED, processors=processors))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    for name in ("hypercorn", *LIMITED):  # clients' errors are counted at every level
        logging.getLogger(name).setLevel(logging.WARNING)
    structlog.configure(
        processors=[*_SHARED, ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    set_level(level)
    return status


def set_level(level: str) -> None:
    """Log events of at least this level from now on.

    Loggers that are bound already keep the filter that they have, so `level` must not be above `info`.
    """
    root = logging.getLogger()
    root.setLevel(level.upper())
    for noisy in ("httpx2", "httpcore2"):  # they log every request
        logging.getLogger(noisy).setLevel(max(logging.WARNING, root.level))
    shown = "debug" if root.level <= logging.DEBUG else "info"
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(shown))


def show(*lines: str) -> None:
    """Write plain lines after the log so far, only on a terminal; never waits."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler, BackgroundHandler) and handler.is_terminal:
            handler.enqueue(logging.makeLogRecord({"msg": "\n".join(lines)}))


def _is_ours(key: str, value: Any) -> bool:
    is_event = key == "event" and isinstance(value, str)
    return key in {"timestamp", "level"} or (is_event and is_own(value) is not None)


def _renderers(stream: TextIO, last: Processor, *, is_colourless: bool) -> list[Processor]:
    # Plain stacks: the richer renderers show local variables, which may contain secrets.
    first: list[Processor] = [_with_short_error, structlog.processors.format_exc_info]
    if stream.isatty():
        console = ConsoleRenderer(
            colors=not is_colourless, exception_formatter=plain_traceback, sort_keys=False
        )
        return [*first, last, _without_controls, console]
    return [*first, _main_fields_first, last, structlog.processors.JSONRenderer()]


def _with_short_error(_logger: object, _name: str, event: EventDict) -> EventDict:
    """Replace an exception if its text, or the text of a cause, is long; a plug-in may quote its input."""
    found = event.get("exc_info")
    error = found[1] if isinstance(found, tuple) else found
    if isinstance(error, BaseException) and any(map(_is_long, _behind(error))):
        event["exc_info"] = _ShortenedError(error_text(error)).with_traceback(error.__traceback__)
    return event


def _is_long(error: BaseException) -> bool:
    return len(error_text(error)) == MAX_ERROR_CHARS  # then the text was cut


def _behind(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception, its causes and its parts, a hundred at most."""
    waiting, seen = [error], set[int]()
    while waiting and len(seen) < MAX_ERRORS:
        found = waiting.pop()
        if id(found) not in seen:
            seen.add(id(found))
            yield found
            parts = found.exceptions if isinstance(found, BaseExceptionGroup) else ()
            waiting += [part for part in (found.__cause__, found.__context__, *parts) if part is not None]


def _main_fields_first(_logger: object, _name: str, event: EventDict) -> EventDict:
    first = {key: event.pop(key) for key in ("timestamp", "level", "event") if key in event}
    return {**first, **event}


def _without_controls(_logger: object, _name: str, event: EventDict) -> EventDict:
    """Replace control characters, such as ESC, by visible escapes; stacks keep their line ends."""
    return {_visible(key): _visible(item, key) for key, item in event.items()}


def _visible(value: Any, key: str = "") -> Any:
    if not isinstance(value, str) or value.isprintable():
        return value
    kept = "\n" if key in {"exception", "stack"} else ""
    return "".join(char if char.isprintable() or char in kept else ascii(char)[1:-1] for char in value)
