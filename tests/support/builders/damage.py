"""What a trial of damaged input says, alike for all sources: a module `damage_<source>` makes the trials.

Each has `KINDS`, the names of what can be done to its input, and `trial(random, kind=None)`, which
damages one recorded input, of a random kind unless one is named, and judges what ours makes of it.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple


class Trial(NamedTuple):
    """One damaged input: how it was damaged, and what was made of it, over all of its bookmakers.

    `accepted` counts the matches shown, `rejected` those that were not, by reason; `wrong` tells of
    each price that the unharmed input does not have at that place.
    """

    kind: str
    accepted: int
    rejected: Counter[str]
    wrong: tuple[str, ...]
