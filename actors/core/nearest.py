"""The nearest of some names to what somebody wrote."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(found: object, names: Iterable[str]) -> str:
    """Return a question with the name that is most like what was found; empty if none is."""
    by_folded = {name.casefold(): str(name) for name in names}
    near = get_close_matches(str(found).casefold(), by_folded, n=1)
    return f"; did you mean {by_folded[near[0]]!r}?" if near else ""
