"""Results of pure functions of short texts, kept from one poll to the next.

Pure as far as anybody can tell. Most of what a source says it has said before: the same names, prices
and dates. Looking one up is quicker than in an `lru_cache`, and a long text, which only a hostile
source sends, is never kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

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
