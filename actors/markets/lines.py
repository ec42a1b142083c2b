"""Lines of one kind of market that contradict each other: one of their prices is wrong. Pure.

Over and away odds rise with the number of the line, under and home odds fall; equal prices are allowed.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from operator import itemgetter

from actors.markets.market import FORMS, Kind
from actors.markets.odds import Odds


def _directions(kind: Kind) -> tuple[int, ...]:
    """Return for each outcome 1 if its odds rise with the line, otherwise -1."""
    return tuple(1 if margin(0, 0, 1) < margin(0, 0, 0) else -1 for margin in FORMS[kind].outcomes.values())


_DIRECTIONS = {kind: _directions(kind) for kind, form in FORMS.items() if form.lines is not None}


def are_contradictory(kind: Kind, lines: Iterable[tuple[int, Odds]]) -> bool:
    """Return whether two lines (in quarters of a goal) of one entry contradict each other by their odds."""
    directions, ordered = _DIRECTIONS[kind], sorted(lines, key=itemgetter(0))
    return any(
        (after - before) * direction < 0
        for (_, lower), (_, upper) in pairwise(ordered)
        for before, after, direction in zip(lower, upper, directions, strict=True)
    )
