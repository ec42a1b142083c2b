"""Helpers of several venues' parsers: memos, long JSON lists, times. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import lru_cache
from typing import TypeVar

import msgspec

from actors.core.errors import UNREADABLE

T = TypeVar("T")

WHOLE_BYTES = 512 * 1024
"""The longest JSON document that is decoded in one step (some 5 ms); longer ones element by element."""

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


class Memo(dict[str, T]):
    """`memo[text]` is `read(text)`, a pure function, and quicker to look up than an `lru_cache`.

    A text of more than `max_chars` is not kept; a memo of `size` texts is emptied before the next text.
    """

    def __init__(self, read: Callable[[str], T], *, size: int, max_chars: int) -> None:
        super().__init__()
        self._read = read
        self._size = size
        self._max_chars = max_chars

    def __missing__(self, text: str) -> T:
        result = self._read(text)
        if len(text) <= self._max_chars:
            if len(self) >= self._size:
                self.clear()
            self[text] = result
        return result


@lru_cache(maxsize=8192)
def unix_time(text: str | None) -> float | None:
    """Read a time like 2026-01-16T19:00:00Z as Unix seconds; None if impossible or without an offset."""
    try:
        time = datetime.fromisoformat(text or "")
        return None if time.tzinfo is None else time.timestamp()
    except (ValueError, OverflowError):
        return None
