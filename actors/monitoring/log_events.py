"""Keeps counters of lost log lines, and the newest lines, without stacks, in bounded memory.

Only our own events that report a change of state are kept; their names contain no values.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from msgspec import Struct

from actors.monitoring.metrics import Count, Counts, Metrics

is_own = re.compile("[a-z]+[.][a-z_]+").fullmatch
"""Whether a text is the name of one of our events; other packages put values into their texts."""

MAX_EVENTS, MAX_FIELDS, MAX_CHARS = 100, 12, 300

_LEVELS = frozenset({"info", "warning", "error", "critical"})
_OFTEN = frozenset({"program.remarked"})  # up to 60 a minute, which would displace all other events
_NOT_SHOWN = frozenset({"timestamp", "level", "event", "exception", "stack"})


class EventReport(Struct, frozen=True):
    """A line of the log: a change of state."""

    at: float
    level: str
    event: str
    fields: Mapping[str, str]


@dataclass(slots=True)
class LogStatus:
    """Lines that did not reach the log; written by `log_writer` and `log_limits`.

    `dropped` counts lines for which the log's reader was too slow, `failed` lines that could not be
    written. `client_errors` counts clients' errors by kind; each kind is logged once a minute at most.
    `events` are the newest lines, in order; `log_events` writes them, from any thread.
    """

    metrics: Metrics = field(default_factory=Metrics)
    dropped: Count = field(init=False)
    failed: Count = field(init=False)
    client_errors: Counts = field(init=False)
    events: tuple[EventReport, ...] = ()

    def __post_init__(self) -> None:
        lost = self.metrics.counts["oddsboard_log_lost_lines_total"]
        self.dropped, self.failed = lost.labels("dropped"), lost.labels("failed")
        self.client_errors = Counts(self.metrics.counts["oddsboard_http_client_errors_total"])


def keep(status: LogStatus, line: Mapping[str, Any]) -> None:
    """Add a line to the newest events, if it is one of ours; its secrets are masked already.

    The tuple is replaced, never changed, because another thread may be reading it.
    """
    event, level = line.get("event"), line.get("level")
    if not (isinstance(event, str) and is_own(event)) or level not in _LEVELS or event in _OFTEN:
        return
    shown = [key for key in line if key not in _NOT_SHOWN][:MAX_FIELDS]
    fields = {str(key)[:MAX_CHARS]: _text(line[key]) for key in shown}
    at = datetime.fromisoformat(line["timestamp"]).timestamp()
    status.events = (*status.events[1 - MAX_EVENTS :], EventReport(round(at, 3), level, event, fields))


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        value = [f"{key}: {item}" for key, item in value.items()]
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return text if len(text) <= MAX_CHARS else f"{text[: MAX_CHARS - 1]}…"
