"""Keeps the newest lines of the log for /monitor, without stacks, in bounded memory.

Only our own events, whose names hold no values, and of these what a person looks for: changes of state.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from actors.monitoring.status import LoggedEvent, LogStatus

is_own = re.compile("[a-z]+[.][a-z_]+").fullmatch
"""Whether a text is the name of an event of ours; texts of others may hold values."""

MAX_EVENTS, MAX_FIELDS, MAX_CHARS = 100, 12, 300

_LEVELS = frozenset({"info", "warning", "error", "critical"})
_OFTEN = frozenset({"program.remarked"})  # up to 60 a minute: they would push out all others
_NOT_SHOWN = frozenset({"timestamp", "level", "event", "exception", "stack"})


def keep(status: LogStatus, line: Mapping[str, Any]) -> None:
    """Add a line to the newest events, if it is one of ours; its secrets are masked already.

    The tuple is replaced, never changed, because the line may be of another thread than the reader.
    """
    event, level = line.get("event"), line.get("level")
    if not (isinstance(event, str) and is_own(event)) or level not in _LEVELS or event in _OFTEN:
        return
    shown = [key for key in line if key not in _NOT_SHOWN][:MAX_FIELDS]
    fields = {str(key)[:MAX_CHARS]: _text(line[key]) for key in shown}
    at = datetime.fromisoformat(line["timestamp"]).timestamp()
    status.events = (*status.events[1 - MAX_EVENTS :], LoggedEvent(at, level, event, fields))


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        value = [f"{key}: {item}" for key, item in value.items()]
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return text if len(text) <= MAX_CHARS else f"{text[: MAX_CHARS - 1]}…"
