"""What parsers of several venues need: memos, long JSON lists, times. Pure."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from typing import TypeVar

import msgspec

T = TypeVar("T")

WHOLE_BYTES = 512 * 1024
"""A JSON document of up to this size is decoded in one step, some 5 ms. In a longer one the elements of
its list are split off as `msgspec.Raw`, which takes 1.5 ms a MiB, and decoded one by one."""

_elements = msgspec.json.Decoder(list[msgspec.Raw])


def split(body: bytes) -> list[msgspec.Raw]:
    """Split a JSON list into its elements without decoding them.

    Raises: one of UNREADABLE if it is none, or is not UTF-8.
    """
    body.decode()  # msgspec does not check the encoding of what it skips
    return _elements.decode(body)


class Memo(dict[str, T]):
    """`memo[text]` is `read(text)`, a pure function, and quicker to look up than an `lru_cache`.

    Most of what a source sends it has sent before. A text of more than `max_chars`, which only a
    hostile source sends, is not kept; a memo of `size` texts is emptied before the next one.
    """

    def __init__(self, read: Callable[[str], T], *, size: int, max_chars: int) -> None:
        super().__init__()
        self._read = read
        self._size = size
        self._max_chars = max_chars

    def __missing__(self, text: str) -> T:
        """Read a text that is not kept."""
        result = self._read(text)
        if len(text) <= self._max_chars:
            if len(self) >= self._size:
                self.clear()
            self[text] = result
        return result


@lru_cache(maxsize=8192)
def unix_time(text: str | None) -> float | None:
    """Read a time like 2026-01-16T19:00:00Z (ISO 8601 with an offset) as Unix seconds.

    None for an impossible time, or one without an offset.
    """
    try:
        time = datetime.fromisoformat(text or "")
        return None if time.tzinfo is None else time.timestamp()
    except (ValueError, OverflowError):
        return None
