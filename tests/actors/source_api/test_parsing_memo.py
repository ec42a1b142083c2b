"""Memos: a text that was parsed is not parsed again, unless it is long or there is no room."""

from __future__ import annotations

import pytest

from actors.source_api.parsing import Memo


def _counting(size: int, max_chars: int) -> tuple[Memo[int], list[str]]:
    read: list[str] = []

    def length(text: str) -> int:
        read.append(text)
        return len(text)

    return Memo(length, size=size, max_chars=max_chars), read


def test_short_text_is_parsed_once() -> None:
    """The same text gives the same result and is parsed the first time only."""
    memo, read = _counting(size=8, max_chars=3)

    assert ([3, 3, 0], ["abc", ""]) == ([memo["abc"], memo["abc"], memo[""]], read)


def test_long_text_is_not_kept() -> None:
    """Long texts, which only a hostile source sends, take no memory."""
    memo, read = _counting(size=8, max_chars=3)

    assert ([4, 4], ["abcd"] * 2, 0) == ([memo["abcd"], memo["abcd"]], read, len(memo))


def test_full_memo_is_emptied() -> None:
    """A memo never has more entries than its size."""
    memo, read = _counting(size=2, max_chars=3)
    results = [memo[text] for text in ("a", "b", "c", "a")]

    assert ([1] * 4, ["a", "b", "c", "a"], {"c", "a"}) == (results, read, set(memo))


def test_text_that_cannot_be_parsed_is_not_kept() -> None:
    """The error is raised each time."""

    def refuse(text: str) -> int:
        raise ValueError(text)

    memo = Memo(refuse, size=2, max_chars=3)
    for _ in range(2):
        with pytest.raises(ValueError, match="abc"):
            memo["abc"]
