"""How telling a word of a team's name is: the fewer clubs of the shipped table have it, the more."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from math import log

from actors.matching.tables import rows, spellings
from actors.matching.words import parse

LEAST = 0.5
COMMON = 8  # clubs of the table that have a common word


@lru_cache(maxsize=1)
def _counts() -> tuple[int, Counter[str]]:
    clubs = [{word for one in spellings(row) for word in parse(one).words} for row in rows("clubs.tsv")]
    return len(clubs), Counter(word for words in clubs for word in words)


@lru_cache(maxsize=1 << 15)
def weight(word: str) -> float:
    """Return the inverse document frequency: the logarithm of how many clubs there are for one with it."""
    clubs, count = _counts()
    return max(LEAST, log(clubs / max(1, count[word])))


def is_common(word: str) -> bool:
    """Return whether many clubs have the word, so that two opponents may share it by chance."""
    return _counts()[1][word] >= COMMON
