"""Suggests the nearest valid name for a misspelt one."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(found: object, *lists: Iterable[str]) -> str:
    """Return a question with the name that is most like `found` but not equal; empty if there is none.

    The first list with such a name counts. Names are case-sensitive.
    """
    written = str(found)
    for names in lists:
        by_folded = {name.casefold(): str(name) for name in names if name != written}
        if near := get_close_matches(written.casefold(), by_folded, n=1):
            return f"; did you mean {by_folded[near[0]]!r}?"
    return ""
