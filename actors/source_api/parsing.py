"""Results of pure functions of short texts, kept from one poll to the next.

Pure as far as anybody can tell. Most of what a source says it has said before: the same names, prices
and dates. Looking one up is quicker than in an `lru_cache`, and a long text, which only a hostile
source sends, is never kept.

Long sequences in the making, kept so that the garbage collector has nothing to walk through.

A list of 20,000 texts is gone through by every collection that meets it, half a millisecond a time; a
short tuple of what can be part of no cycle only by the first, which then forgets it.

Reading times as the web writes them. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from functools import lru_cache
from itertools import chain
from typing import Generic, TypeVar

T = TypeVar("T")


class Memo(dict[str, T]):
    """`memo[text]` is `read(text)`, kept while `text` is short; begins anew when it is full."""

    def __init__(self, read: Callable[[str], T], *, size: int, max_chars: int) -> None:
        super().__init__()
        self._read = read
        self._size = size
        self._max_chars = max_chars

    def __missing__(self, text: str) -> T:
        """Read what is not known."""
        result = self._read(text)
        if len(text) <= self._max_chars:
            if len(self) >= self._size:
                self.clear()
            self[text] = result
        return result


class Gathered(Generic[T]):
    """What was added so far, in order; `seal` now and then, after some hundred items."""

    def __init__(self) -> None:
        self._sealed: list[tuple[T, ...]] = []
        self._open: list[T] = []
        self.add = self._open.append

    def __iter__(self) -> Iterator[T]:
        """Go through all of it."""
        return chain(chain.from_iterable(self._sealed), self._open)

    def seal(self) -> None:
        """Put away what was added since the last time."""
        if self._open:
            self._sealed.append(tuple(self._open))
            self._open.clear()


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
