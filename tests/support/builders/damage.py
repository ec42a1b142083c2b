"""The result of one trial with damaged input; each source has a module `damage_<source>` that makes trials.

Each module has `KINDS`, the names of its kinds of damage, and `trial(random, kind=None)`, which damages
one recorded input (of a random kind by default) and checks the result of our parser. With `IS_INVENTED` the
input is not recorded.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from actors.markets.market import Kind


class Trial(NamedTuple):
    """The result of one damaged input, over all of its bookmakers.

    `accepted` counts shown matches, and `rejected` refused ones by reason; `wrong` describes each shown
    price that the undamaged input does not have at that place. `kinds` are the kinds of market shown.
    """

    kind: str
    accepted: int
    rejected: Counter[str]
    wrong: tuple[str, ...]
    kinds: frozenset[Kind] = frozenset()
