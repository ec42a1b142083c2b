"""What parsers of several venues need: times. Pure."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache

MAX_TIME_CHARS = 64  # a longer text is no time, and must not fill the cache


def unix_time(text: str | None) -> float | None:
    """Read a time like 2026-01-16T19:00:00Z as Unix seconds; None if impossible or without an offset."""
    return None if text is None or len(text) > MAX_TIME_CHARS else _unix_time(text)


@lru_cache(maxsize=8192)
def _unix_time(text: str) -> float | None:
    try:
        time = datetime.fromisoformat(text)
        return None if time.tzinfo is None else time.timestamp()
    except (ValueError, OverflowError):
        return None
