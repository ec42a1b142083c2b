"""Parts the events of one connected piece into groups, one event of a source in each.

Pure: the result depends on the pairs alone, not on the order in which they came. Sets of events are bits of
an integer: bit i is event i, in the order of keys.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from heapq import merge
from typing import TypeAlias

from actors.core.cooperative import SLICE, Sliced
from actors.matching.rules import Rule, tier

MARGIN = 0.25  # a rival with a rank nearer than that makes two candidates

Edge: TypeAlias = tuple[int, float, int, int, Rule, bool]
"""A rule that links events a and b, a < b: tier, negative rank, a, b, rule, whether both are on time.

Edges are taken in this order: what the operator says, then by rank, what is only eliminated last.
"""


class Pairs:
    """What is known about the pairs of some events: edges, and by event the set of those that ..."""

    def __init__(self, sources: list[str]) -> None:
        self.edges: list[Edge] = []
        self.compatible = [0] * len(sources)  # ... are of other sources, and may be the same match
        self.duplicates = [0] * len(sources)  # ... are of its source, with the same names and league
        self.forbidden = [0] * len(sources)  # ... the operator keeps apart from it
        self.spoiled: set[Edge] = set()  # eliminations with another candidate
        of_source: dict[str, int] = defaultdict(int)
        for i, source in enumerate(sources):
            of_source[source] |= 1 << i
        self.same_source = [
            of_source[source] for source in sources
        ]  # ... are of its source, itself included

    def link(self, rule: Rule, rank: float, a: int, b: int, *, is_on_time: bool) -> None:
        """Add an edge."""
        self.edges.append((tier(rule), -rank, min(a, b), max(a, b), rule, is_on_time))

    def forbid(self, a: int, b: int) -> None:
        """Keep two events apart."""
        self.compatible[a] &= ~(1 << b)
        self.compatible[b] &= ~(1 << a)
        self.forbidden[a] |= 1 << b
        self.forbidden[b] |= 1 << a


def partition(pairs: Pairs) -> Sliced[tuple[list[int], list[Edge]]]:
    """Return the sets of events that are one match, two or more each, and the edges that count."""
    runs: list[list[Edge]] = []
    for at in range(0, len(pairs.edges), SLICE):
        runs.append(sorted(pairs.edges[at : at + SLICE]))
        yield
    rivals = _Rivals(pairs)
    yield from rivals.rank()
    fit: list[Edge] = []
    for count, edge in enumerate(merge(*runs)):
        if edge not in pairs.spoiled and not rivals.has(edge):
            fit.append(edge)
        if count % (SLICE // 8) == 0:
            yield
    group = [1 << i for i in range(len(pairs.compatible))]  # by event: the events of its group
    for count, edge in enumerate(fit):
        if count % SLICE == 0:
            yield
        ours, theirs = group[edge[2]], group[edge[3]]
        if ours != theirs and _may_join(pairs, ours, theirs, is_forced=edge[4] is Rule.MUST):
            for i in bits(ours | theirs):
                group[i] = ours | theirs
    return sorted(one for one in set(group) if one & (one - 1)), fit


def toward_first(group: int, edges: Iterable[Edge]) -> Sliced[dict[int, tuple[int, Edge]]]:
    """Return for each event of a group but the first the event that it is shown to be linked with.

    That is one a step nearer to the first; of several the one with the best edge. What is eliminated is
    shown only where all else does not hold the group together.
    """
    inside = [edge for edge in edges if group >> edge[2] & 1 and group >> edge[3] & 1]
    links = yield from _links(group, [edge for edge in inside if edge[4] is not Rule.ELIMINATION])
    return links if len(links) == group.bit_count() - 1 else (yield from _links(group, inside))


def _links(group: int, inside: list[Edge]) -> Sliced[dict[int, tuple[int, Edge]]]:
    near = group & -group
    left = group ^ near
    links: dict[int, tuple[int, Edge]] = {}
    while near:
        found: dict[int, tuple[tuple[int, float, int], Edge]] = {}
        for count, edge in enumerate(inside):
            if count % SLICE == 0:
                yield
            for one, other in (edge[2:4], edge[3:1:-1]):
                if left >> one & 1 and near >> other & 1:
                    best = (edge[0], edge[1], other)
                    if one not in found or best < found[one][0]:
                        found[one] = best, edge
        links |= {one: (best[2], edge) for one, (best, edge) in found.items()}
        near = sum(1 << one for one in found)
        left ^= near
        near = near if left else 0
    return links


def _may_join(pairs: Pairs, ours: int, theirs: int, *, is_forced: bool) -> bool:
    for i in bits(ours):
        against = pairs.same_source[i] | pairs.forbidden[i] if is_forced else ~pairs.compatible[i]
        if theirs & against:
            return False
    return True


def connected(count: int, edges: Iterable[Edge]) -> Sliced[list[int]]:
    """Return the sets of events that edges connect; each event is in one."""
    part = [1 << i for i in range(count)]
    for done, edge in enumerate(edges):
        if done % SLICE == 0:
            yield
        ours, theirs = part[edge[2]], part[edge[3]]
        if ours != theirs:
            for i in bits(ours | theirs):
                part[i] = ours | theirs
    return sorted(set(part))


def bits(mask: int) -> Iterator[int]:
    """Yield the numbers of the bits of a set, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class _Rivals:
    """Which other events could stand in an edge's place."""

    def __init__(self, pairs: Pairs) -> None:
        self._pairs = pairs
        self._neighbours = [0] * len(pairs.compatible)
        self._others: list[list[tuple[float, int]]] = [[] for _ in pairs.compatible]
        self._ranked: dict[int, tuple[list[float], list[int]]] = {}

    def rank(self) -> Sliced[None]:
        """Look at all edges."""
        for count, (_, negative, a, b, _, _) in enumerate(self._pairs.edges):
            self._neighbours[a] |= 1 << b
            self._neighbours[b] |= 1 << a
            self._others[a].append((negative, b))
            self._others[b].append((negative, a))
            if count % SLICE == 0:
                yield

    def has(self, edge: Edge) -> bool:
        """Return whether either end has another candidate that is nearly as good and excludes this one."""
        if edge[4] is Rule.MUST:
            return False
        return self._has(edge, edge[2], edge[3]) or self._has(edge, edge[3], edge[2])

    def _has(self, edge: Edge, one: int, other: int) -> bool:
        may_stay = self._pairs.compatible[other] | 1 << other
        if edge[5]:
            may_stay |= self._pairs.duplicates[other]  # the same match again: the order decides
        excluding = self._neighbours[one] & ~may_stay
        return bool(excluding and excluding & self._above(one, -edge[1] - MARGIN))

    def _above(self, one: int, rank: float) -> int:
        """Return the events with an edge to this one and a rank above that."""
        if one not in self._ranked:
            others = sorted(self._others[one])
            masks = [0]
            for _, other in others:
                masks.append(masks[-1] | 1 << other)
            self._ranked[one] = [negative for negative, _ in others], masks
        ranks, masks = self._ranked[one]
        return masks[bisect_left(ranks, -rank)]
