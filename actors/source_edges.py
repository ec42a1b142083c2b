"""The way down and the way up of a source: its record, and one log line for each.

Shared by all actors of sources. A source is down after two failed attempts in a row; what fails in
between is only counted.
"""

from __future__ import annotations

import structlog

from actors.clock import Instant
from actors.errors import SourceError
from actors.status import SourceStatus

FAILURES_TO_BE_DOWN = 2


def failed(
    status: SourceStatus, error: SourceError, now: Instant, log: structlog.typing.FilteringBoundLogger
) -> None:
    """Note a failed attempt; log `source.down` at the second in a row."""
    status.failures += 1
    status.failures_total += 1
    status.last_error = str(error)
    if status.failing_since is None:
        status.failing_since, status.failing_since_mono = now.wall, now.mono
    if status.failures >= FAILURES_TO_BE_DOWN and not status.is_down:
        status.is_down = True
        log.warning("source.down", error=status.last_error, attempts=status.failures)


def succeeded(status: SourceStatus, now: Instant, log: structlog.typing.FilteringBoundLogger) -> None:
    """Note a good attempt; log `source.recovered` if the source was down."""
    if status.is_down:
        down_for_s = now.mono - (
            now.mono if status.failing_since_mono is None else status.failing_since_mono
        )
        log.info("source.recovered", down_for_s=round(down_for_s, 3), attempts=status.failures + 1)
    status.failures = 0
    status.is_down = False
    status.failing_since = status.failing_since_mono = None
    status.last_error = None
    status.last_success_at = now.wall
