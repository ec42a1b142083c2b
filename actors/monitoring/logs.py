"""Logging: structlog events, and those of other packages, as JSON lines, or coloured on a terminal."""

from __future__ import annotations

import logging
import re
from typing import Any, TextIO

import structlog
from structlog.stdlib import ProcessorFormatter
from structlog.typing import EventDict, Processor

_OURS = re.compile("[a-z]+[.][a-z_]+").fullmatch  # our event names hold no values; others may
_SHARED: tuple[Processor, ...] = (
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.StackInfoRenderer(),
)


def configure(level: str, stream: TextIO, secrets: tuple[str, ...] = ()) -> None:
    """Send all logs of at least `level` ("debug", "info", ...) to `stream`, with no secret in them."""

    def without_secrets(_logger: object, _name: str, event: EventDict) -> EventDict:
        return {key: one if _is_ours(key, one) else _masked(one, secrets) for key, one in event.items()}

    handler = logging.StreamHandler(stream)
    processors = [ProcessorFormatter.remove_processors_meta, *_renderers(stream, without_secrets)]
    handler.setFormatter(ProcessorFormatter(foreign_pre_chain=_SHARED, processors=processors))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for noisy in ("httpx2", "httpcore2", "asyncio", "hypercorn"):  # every request, selector, socket
        logging.getLogger(noisy).setLevel(max(logging.WARNING, root.level))
    logging.getLogger("uvicorn").setLevel(logging.ERROR)  # it warns of whatever a client sends
    structlog.configure(
        processors=[*_SHARED, ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )


def _is_ours(key: str, value: Any) -> bool:
    is_event = key == "event" and isinstance(value, str)
    return key in {"timestamp", "level"} or (is_event and _OURS(value) is not None)


def _masked(value: Any, secrets: tuple[str, ...]) -> Any:
    """Replace the secrets in a text, or in the text of another value."""
    text = masked = str(value)
    for secret in secrets:
        masked = masked.replace(secret, "***")
    return value if masked == text else masked


def _renderers(stream: TextIO, last: Processor) -> list[Processor]:
    # Plain stacks: the richer renderers show local variables, and with them secrets.
    if stream.isatty():
        console = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
        return [structlog.processors.format_exc_info, last, console]
    json = structlog.processors.JSONRenderer()
    return [structlog.processors.format_exc_info, _main_fields_first, last, json]


def _main_fields_first(_logger: object, _name: str, event: EventDict) -> EventDict:
    first = {key: event.pop(key) for key in ("timestamp", "level", "event") if key in event}
    return {**first, **event}
