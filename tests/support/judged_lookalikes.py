"""The verdict of the linker on two matches that look like one."""

from __future__ import annotations

from collections import Counter
from random import Random

from msgspec import Struct, field

from actors.matching.rules import Certainty, Rule
from tests.support.builders.events import SATURDAY, event, groups
from tests.support.lookalikes import Lookalike, lookalike

PRICES = (0.35, 0.3, 0.35), (0.36, 0.3, 0.34)  # the two agree, as prices of one match do


class Verdict(Struct):
    """The counts of pairs of each kind, and of linked pairs, and the links that contradict all evidence."""

    pairs: Counter[str] = field(default_factory=Counter)
    linked: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = []


def verdict(seed: str, count: int) -> Verdict:
    """Return the results of `count` pairs."""
    random, found = Random(seed), Verdict()
    for _ in range(count):
        pair = lookalike(random)
        found.pairs[pair.kind] += 1
        if (how := _linked(pair)) is not None:
            found.linked[pair.kind] += 1
            if not pair.may_be_linked or how != (Certainty.LIKELY, False):
                found.wrong.append(f"{how}: {pair}")
    return found


def _linked(pair: Lookalike) -> tuple[Certainty, bool] | None:
    """Return how sure the link of the two is, and whether it is by the rule `same`; None without a link."""
    listed = [
        event(source, shown.home, shown.away, shown.label, start=SATURDAY + shown.late_s, chances=chances)
        for source, shown, chances in zip("ab", (pair.first, pair.other), PRICES, strict=True)
    ]
    for group in groups(*listed):
        return group[-1].certainty, group[-1].rule is Rule.SAME
    return None
