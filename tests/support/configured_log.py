"""The log as the service sets it up, within the process of the tests."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

import structlog

from actors.monitoring import logs
from actors.monitoring.log_events import LogStatus


@contextmanager
def configured(stream: TextIO, secrets: tuple[str, ...] = ()) -> Iterator[LogStatus]:
    """Log to `stream` within the block, without secrets, and write the remaining lines at its end."""
    configuration, root = structlog.get_config(), logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        yield logs.configure("info", stream, secrets)
        root.handlers[0].close()
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
        structlog.configure(**configuration)
