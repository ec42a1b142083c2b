"""Reading header fields of an answer: dates, delays, values byte for byte.

Pure. What cannot be read is as good as absent: a header is never worth losing a payload for.
"""

from __future__ import annotations

import re
from datetime import UTC
from email.utils import parsedate_to_datetime

import httpx2

MAX_RETRY_AFTER_S = 3600.0


def retry_after_s(value: str | None, now: float) -> float | None:
    """Read Retry-After, seconds or a date (RFC 9110, 10.2.3), at `now` (Unix seconds).

    At most an hour; None if there is none that can be read.
    """
    if value is None:
        return None
    if re.fullmatch("[0-9]+", value.strip()):
        return min(float(value), MAX_RETRY_AFTER_S)
    date = http_date(value)
    return None if date is None else min(max(date - now, 0.0), MAX_RETRY_AFTER_S)


def http_date(value: str | None) -> float | None:
    """Read an HTTP date (RFC 9110, 5.6.7) as Unix seconds; None if there is none that can be read."""
    try:
        date = parsedate_to_datetime(value or "")
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def raw(response: httpx2.Response, name: bytes) -> str | None:
    """Give a header's value byte for byte (as latin-1), so that it can be given back as it came."""
    return next(
        (value.decode("latin-1") for key, value in response.headers.raw if key.lower() == name), None
    )
