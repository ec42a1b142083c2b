"""What parsers of several venues need: long JSON lists, times. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache

import msgspec

from actors.core.errors import UNREADABLE

WHOLE_BYTES = 512 * 1024
"""The longest JSON document that is decoded in one step (some 5 ms); longer ones element by element."""

MAX_TIME_CHARS = 64  # a longer text is no time, and must not fill the cache

_elements = msgspec.json.Decoder(list[msgspec.Raw])
_first_element = re.compile(rb'\s*\[(\s*\{\s*"[^"\\]*"\s*:\s*"?)').match


def split(body: bytes) -> Iterator[msgspec.Raw]:
    """Return the elements of a JSON list, undecoded. Raises: UNREADABLE if it is no JSON list in UTF-8.

    A long list of objects is read in blocks: up to a place that looks like the start of its first element,
    if what is before it are whole elements and a comma. What cannot be cut is read in one step.
    """
    first = _first_element(body)
    at = 0 if first is None else first.start(1)
    while first is not None and len(body) - at > WHOLE_BYTES:
        cut = body.rfind(first[1], at, at + WHOLE_BYTES)
        block = body[at:cut].rstrip() if cut > at else b""
        try:
            whole = _read(b"[%b]" % block[:-1]) if block.endswith(b",") else []
        except UNREADABLE:
            whole = []
        if not whole:
            break
        yield from whole
        at = cut
    yield from _read(body if at == 0 else b"[" + body[at:])


def _read(text: bytes) -> list[msgspec.Raw]:
    text.decode()  # msgspec does not check the encoding of what it skips
    return _elements.decode(text)


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
