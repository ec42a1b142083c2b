"""Reading times as the web writes them. Pure."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache


@lru_cache(maxsize=8192)
def unix_time(text: str | None) -> float | None:
    """Read a time like 2026-01-16T19:00:00Z (ISO 8601 with an offset) as Unix seconds.

    None for one that cannot be, or without an offset.
    """
    try:
        time = datetime.fromisoformat(text or "")
        return None if time.tzinfo is None else time.timestamp()
    except (ValueError, OverflowError):
        return None
