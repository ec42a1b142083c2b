"""The nearest of some names to what somebody wrote."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(found: object, *lists: Iterable[str]) -> str:
    """Return a question with the name that is most like what was found, and is not that; empty if none is.

    The first of the lists that has such a name counts. Names in another case are other names.
    """
    written = str(found)
    for names in lists:
        by_folded = {name.casefold(): str(name) for name in names if name != written}
        if near := get_close_matches(written.casefold(), by_folded, n=1):
            return f"; did you mean {by_folded[near[0]]!r}?"
    return ""
