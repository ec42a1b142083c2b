"""Splits a batch by kind of market, because each kind has its own board. Pure.

All boards share one version counter, so that a version names one state of all of them.
"""

from __future__ import annotations

from msgspec.structs import replace

from actors.core.cooperative import SLICE, Sliced
from actors.core.messages import Batch, Match, Removal, kind_of
from actors.markets.market import Kind

ONLY_ONE_X_TWO = (Kind.ONE_X_TWO,)


def parts(batch: Batch) -> Sliced[dict[Kind, Batch]]:
    """Return the batch's part for each of its kinds; parts differ in matches and removals only."""
    kinds = batch.kinds or ONLY_ONE_X_TWO
    if kinds == ONLY_ONE_X_TWO:
        return {Kind.ONE_X_TWO: batch}
    matches: dict[Kind, list[Match]] = {kind: [] for kind in kinds}
    removals: dict[str, list[Removal]] = {kind: [] for kind in kinds}
    for count, match in enumerate(batch.matches, 1):
        matches[match.market.kind].append(match)
        if count % SLICE == 0:
            yield
    for count, removal in enumerate(batch.removals, 1):
        if (some := removals.get(kind_of(removal.source_match_id))) is not None:
            some.append(removal)
        if count % SLICE == 0:
            yield
    return {
        kind: replace(batch, matches=tuple(matches[kind]), removals=tuple(removals[kind]), kinds=(kind,))
        for kind in kinds
    }
