"""Logging: structlog events as JSON lines, or coloured text on a terminal.

Set up once by the command line. The standard library's logs, Hypercorn's among them, have the same form.
"""

from __future__ import annotations

import logging
import re
from typing import Any, TextIO

import structlog

_OURS = frozenset({"timestamp", "level"})
"""Fields whose values are made here."""
_CONSTANT = re.compile("[a-z]+[.][a-z_]+").fullmatch
"""Our event names hold no values; those of other packages may."""
_SHARED: tuple[structlog.typing.Processor, ...] = (
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.StackInfoRenderer(),
)


def configure(level: str, stream: TextIO, secrets: tuple[str, ...] = ()) -> None:
    """Send all logs of at least `level` ("debug", "info", ...) to `stream`, with no secret in them."""

    def without_secrets(
        logger: object, name: str, event: structlog.typing.EventDict
    ) -> structlog.typing.EventDict:
        del logger, name
        return {
            key: value if _is_ours(key, value) else _masked(value, secrets) for key, value in event.items()
        }

    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=_SHARED,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *_renderers(stream, without_secrets),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for noisy in ("httpx2", "httpcore2", "asyncio", "hypercorn"):  # every request, selector, socket
        logging.getLogger(noisy).setLevel(max(logging.WARNING, root.level))
    logging.getLogger("uvicorn").setLevel(logging.ERROR)  # it warns of whatever a client sends
    structlog.configure(
        processors=[*_SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )


def _is_ours(key: str, value: Any) -> bool:
    return key in _OURS or (key == "event" and isinstance(value, str) and _CONSTANT(value) is not None)


def _masked(value: Any, secrets: tuple[str, ...]) -> Any:
    """Replace the secrets in a text, or in the text of another value."""
    text = value if isinstance(value, str) else str(value)
    masked = text
    for secret in secrets:
        masked = masked.replace(secret, "***")
    return value if masked == text else masked


def _renderers(stream: TextIO, last: structlog.typing.Processor) -> list[structlog.typing.Processor]:
    # Plain stacks: the richer renderers show local variables, and with them secrets.
    if stream.isatty():
        console = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
        return [structlog.processors.format_exc_info, last, console]
    json = structlog.processors.JSONRenderer()
    return [structlog.processors.format_exc_info, _main_fields_first, last, json]


def _main_fields_first(
    logger: object, name: str, event: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    del logger, name
    first = {key: event.pop(key) for key in ("timestamp", "level", "event") if key in event}
    return {**first, **event}
