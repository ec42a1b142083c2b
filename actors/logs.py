"""Logging: structlog events as JSON lines, or coloured text on a terminal.

Set up once by the command line. The standard library's logs, Hypercorn's among them, go the same
way, so that every line can be read by the same program.
"""

from __future__ import annotations

import logging
from typing import Any, TextIO

import structlog

_SHARED: tuple[structlog.typing.Processor, ...] = (
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.StackInfoRenderer(),
)


def configure(level: str, stream: TextIO, secrets: tuple[str, ...] = ()) -> None:
    """Send all logs of at least `level` ("debug", "info", ...) to `stream`, with no secret in them."""

    def without_secrets(logger: object, name: str, event: Any) -> str:
        del logger, name
        line = str(event)  # what the renderers before made of it
        for secret in secrets:
            line = line.replace(secret, "***")
        return line

    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=_SHARED,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *_renderers(stream),
                without_secrets,
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for noisy in ("httpx2", "httpcore2", "asyncio", "hypercorn"):  # every request, selector, socket
        logging.getLogger(noisy).setLevel(max(logging.WARNING, root.level))
    structlog.configure(
        processors=[*_SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )


def _renderers(stream: TextIO) -> list[structlog.typing.Processor]:
    # Plain stacks: the richer renderers show local variables, and with them secrets.
    if stream.isatty():
        return [structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)]
    return [structlog.processors.format_exc_info, _main_things_first, structlog.processors.JSONRenderer()]


def _main_things_first(
    logger: object, name: str, event: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    del logger, name
    first = {key: event.pop(key) for key in ("timestamp", "level", "event") if key in event}
    return {**first, **event}
