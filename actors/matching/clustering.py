"""Groups the events of a component: events that rules connect, directly or through others.

A group is one match, with at most one event of a source. Pure: groups depend on the events alone, not on
the order in which they came. Sets of events are bits of an integer: bit i is event i, in order of keys.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from heapq import merge
from itertools import chain, combinations, combinations_with_replacement, product
from math import inf
from typing import TypeAlias

from msgspec import Struct

from actors.core.bitset import bits, connect, largest_clique
from actors.core.cooperative import SLICE, Sliced
from actors.matching.comparison import MUST_RANK, Comparator, Description, rank_with
from actors.matching.event import Chances, Event, EventKey
from actors.matching.overrides import Overridden, parted
from actors.matching.rules import ON_TIME, Certainty, Group, Member, Relation, Rule, price_gap

MARGIN = 0.25  # a rival whose rank is nearer than this prevents a link
RUN = 4096  # edges sorted in one step, which takes some milliseconds
FEW = 50  # up to this number all descriptions are compared, because searching takes as long

Edge: TypeAlias = tuple[float, int, int, Rule, float, bool]
"""A link of events a and b, a < b: negative rank, a, b, rule, largest price gap, whether both are on time.

The smallest edge is the best; the operator's links have the highest rank.
"""
Related: TypeAlias = list[tuple[int, int, Relation]]
Limits: TypeAlias = Mapping[int, Mapping[int, float]]
Resembling: TypeAlias = Callable[[Description], set[Description]]


class Component(Struct, eq=False, gc=False):
    """A set of connected events."""

    keys: set[EventKey]


class Node(Struct, eq=False, gc=False):
    """An event with its description, its component, and the last returned group.

    No description and no component refers to a node, so that no reference cycles arise, which nothing
    collects.
    """

    event: Event
    description: Description
    component: Component
    group: Group | None = None


class _Pairs:
    """The pairs of some events: edges, and by event sets of other events."""

    def __init__(self, nodes: list[Node]) -> None:
        self.edges: list[Edge] = []
        self.apart: list[tuple[int, int]] = []  # pairs that only prices keep from an edge
        self.compatible = [0] * len(nodes)  # events of other sources that may be the same match
        self.duplicates = [0] * len(nodes)  # events of its source with the same names and league
        self.forbidden = [0] * len(nodes)  # events that the operator keeps apart from it
        of_source: dict[str, int] = defaultdict(int)
        for i, node in enumerate(nodes):
            of_source[node.event.source] |= 1 << i
        self.same_source = [of_source[node.event.source] for node in nodes]  # including itself
        self._scopes = [node.event.scope for node in nodes]

    def add_duplicates(self, ours: list[int], theirs: list[int], *, anywhere: bool) -> None:
        """Record events of one source as repetitions of a match, within one scope unless `anywhere`."""
        for some, others in ((ours, theirs), (theirs, ours)):
            every = sum(1 << i for i in others)
            for i in some:
                again = self.same_source[i] & every & ~(1 << i)
                if not anywhere:
                    again = sum(1 << j for j in bits(again) if self._scopes[i] == self._scopes[j])
                self.duplicates[i] |= again

    def forbid(self, a: int, b: int) -> None:
        """Keep two events apart."""
        connect(self.forbidden, a, b)
        self.compatible[a] &= ~(1 << b)
        self.compatible[b] &= ~(1 << a)


def clustered(
    nodes: list[Node], comparator: Comparator, overridden: Overridden, resembling: Resembling
) -> Sliced[tuple[list[list[Node]], list[Group], bool]]:
    """Return the components, the sorted groups, and whether changed prices may change the groups."""
    pairs = _Pairs(nodes)
    yield from _compare(nodes, pairs, comparator, resembling)
    yield from _apply(overridden, nodes, pairs, comparator)
    edges = yield from _sorted(pairs.edges)
    rivals = _Rivals(pairs, edges)
    yield

    def may_join(ours: int, theirs: int, edge: Edge) -> bool:
        return not rivals.has(edge) and _may_join(pairs, ours, theirs, edge)

    groups, links = yield from _united(len(nodes), edges, may_join)
    parts = groups
    if len(groups) > 1:  # otherwise all are connected
        parts, _ = yield from _united(len(nodes), edges, lambda *_: True)
    found = []
    for group in groups:
        if group & (group - 1):
            inside = [edge for edge in links if group >> edge[1] & 1]
            related = _related(nodes, group, comparator)
            core = _sure_core(nodes, group, related, overridden)
            is_free = all(edge[3] is not Rule.MUST for edge in inside)
            limits = _limits(related) if is_free else {}
            found.append(_group(nodes, group, inside, comparator, core=core, limits=limits))
            yield
    home = {i: group for group in groups for i in bits(group)}
    rivals_of = chain(pairs.apart, ((edge[1], edge[2]) for edge in edges if len(groups) > 1))
    is_open = any(home[i] != home[j] for i, j in rivals_of)
    return [[nodes[i] for i in bits(part)] for part in parts], found, is_open


def _compare(
    nodes: list[Node], pairs: _Pairs, comparator: Comparator, resembling: Resembling
) -> Sliced[None]:
    """Compare the nodes that resemble each other, and add the comparisons to `pairs`."""
    at: dict[Description, list[int]] = {}
    for i, node in enumerate(nodes):
        at.setdefault(node.description, []).append(i)
    descriptions = [*at]
    for count, description in enumerate(descriptions):
        others = descriptions[count:]
        if len(others) > FEW:
            near = resembling(description)
            others = [other for other in others if other in near]
        for other in others:
            if (relation := comparator.relation(description, other)) is not None:
                yield from _compare_events(nodes, pairs, (at[description], at[other]), relation)
        yield


def _compare_events(
    nodes: list[Node], pairs: _Pairs, sides: tuple[list[int], list[int]], relation: Relation
) -> Sliced[None]:
    """Add the pairs of two descriptions' events."""
    ours, theirs = sides
    is_on_time = abs(relation.delta_s) <= ON_TIME
    if is_again(nodes[ours[0]].description, nodes[theirs[0]].description):
        pairs.add_duplicates(ours, theirs, anywhere=nodes[ours[0]].description.league.is_known)
    of_source: dict[str, list[tuple[int, Chances | None]]] = {}
    for j in theirs:
        of_source.setdefault(nodes[j].event.source, []).append((j, nodes[j].event.chances))
    for i in ours:
        source, chances = nodes[i].event.source, nodes[i].event.chances
        for j, their_chances in chain.from_iterable(
            some for name, some in of_source.items() if name != source
        ):
            if ours is theirs and j <= i:
                continue
            gap = price_gap(chances, their_chances)
            if relation.bears(gap):
                connect(pairs.compatible, i, j)
            if (condition := relation.condition(gap)) is not None:
                a, b = (i, j) if i < j else (j, i)
                rank = rank_with(relation, condition, gap)
                pairs.edges.append((-rank, a, b, condition.rule, condition.gap, is_on_time))
            elif relation.conditions:
                pairs.apart.append((i, j))
        yield


def is_again(a: Description, b: Description) -> bool:
    """Return whether a source may list one match under both descriptions, perhaps at another time."""
    return (a.home.text, a.away.text, a.league.key) == (b.home.text, b.away.text, b.league.key)


def _apply(
    overridden: Overridden, nodes: list[Node], pairs: _Pairs, comparator: Comparator
) -> Sliced[None]:
    """Apply the operator's decisions, but never link a team with its opponent's prices."""
    index = {node.event.key: i for i, node in enumerate(nodes)}
    by_hand = [i for i, node in enumerate(nodes) if overridden.must.of(node.event.key)]
    for key, i in index.items():
        for other in overridden.must_not.of(key):
            if (j := index.get(other)) is not None:
                pairs.forbid(i, j)
    for count, i in enumerate(by_hand, 1):
        for j in by_hand[count:]:
            if comparator.is_swapped(nodes[i].description, nodes[j].description):
                pairs.forbid(i, j)
        yield
    for i in by_hand:
        away = pairs.same_source[i] | pairs.forbidden[i]
        for key in overridden.must.of(nodes[i].event.key):
            if (j := index.get(key)) is not None and i < j and not away >> j & 1:
                far = parted(nodes[i].event.start_time, nodes[j].event.start_time)
                pairs.edges.append((far - MUST_RANK, i, j, Rule.MUST, inf, True))


def _sorted(edges: list[Edge]) -> Sliced[list[Edge]]:
    """Return edges, the best first."""
    runs: list[list[Edge]] = []
    for at in range(0, len(edges), RUN):
        runs.append(sorted(edges[at : at + RUN]))
        yield
    if len(runs) == 1:
        return runs[0]
    found = []
    for edge in merge(*runs):
        found.append(edge)
        if len(found) % SLICE == 0:
            yield
    return found


class _Rivals:
    """Finds other events that could take the place of an edge's end. The best `edges` are first."""

    def __init__(self, pairs: _Pairs, edges: list[Edge]) -> None:
        self._pairs, self._edges = pairs, edges
        self._linked = [0] * len(pairs.compatible)  # by event: the events at the other ends of its edges
        self._ranked: dict[int, tuple[list[float], list[int]]] = {}
        for _, a, b, *_ in edges:
            connect(self._linked, a, b)

    def has(self, edge: Edge) -> bool:
        """Return whether an end has another candidate, nearly as good, that excludes the other end."""
        _, a, b, rule, *_ = edge
        return rule is not Rule.MUST and (self._has(edge, a, b) or self._has(edge, b, a))

    def _has(self, edge: Edge, node: int, other: int) -> bool:
        may_stay = self._pairs.compatible[other] | 1 << other
        if edge[5]:
            may_stay |= self._pairs.duplicates[other]  # a repetition of the same match: the order decides
        excluding = self._linked[node] & ~may_stay
        return bool(excluding and excluding & self._linked_by(node, edge[0] + MARGIN))

    def _linked_by(self, node: int, negative: float) -> int:
        """Return the events with an edge to this event that is better than this negative rank."""
        if node not in self._ranked:
            ranks: list[float] = []
            linked = [0]
            for rank, a, b, *_ in self._edges:
                if node in {a, b}:
                    ranks.append(rank)
                    linked.append(linked[-1] | 1 << (b if a == node else a))
            self._ranked[node] = ranks, linked
        ranks, linked = self._ranked[node]
        return linked[bisect_left(ranks, negative)]


def _united(
    count: int, edges: Iterable[Edge], may_join: Callable[[int, int, Edge], bool]
) -> Sliced[tuple[list[int], list[Edge]]]:
    """Return the sets of events that edges unite in their order, and the edges that united them."""
    home = [1 << i for i in range(count)]
    links: list[Edge] = []
    for number, edge in enumerate(edges, 1):
        if len(links) == count - 1:
            break  # all are united, usually by the first few edges
        ours, theirs = home[edge[1]], home[edge[2]]
        if ours != theirs and may_join(ours, theirs, edge):
            links.append(edge)
            for i in bits(ours | theirs):
                home[i] = ours | theirs
        if number % (SLICE // 16) == 0:
            yield
    return sorted(set(home)), links


def _may_join(pairs: _Pairs, ours: int, theirs: int, edge: Edge) -> bool:
    is_forced = edge[3] is Rule.MUST
    for i in bits(ours):
        against = pairs.same_source[i] | pairs.forbidden[i] if is_forced else ~pairs.compatible[i]
        if theirs & against:
            return False
    return True


def _related(nodes: list[Node], group: int, comparator: Comparator) -> Related:
    """Return the relations in a group, each with the events of its two descriptions."""
    listed: dict[Description, int] = defaultdict(int)
    for i in bits(group):
        listed[nodes[i].description] |= 1 << i
    return [
        (listed[ours], listed[theirs], relation)
        for ours, theirs in combinations_with_replacement(listed, 2)
        if (relation := comparator.relation(ours, theirs)) is not None
    ]


def _limits(related: Related) -> Limits:
    """Return for each event the largest price gaps to earlier events."""
    limits: dict[int, dict[int, float]] = defaultdict(dict)
    for some, others, relation in related:
        if relation.bearable < inf:
            for ours, theirs in product(bits(some), bits(others)):
                if ours != theirs:
                    limits[max(ours, theirs)][min(ours, theirs)] = relation.bearable
    return limits


def _sure_core(nodes: list[Node], group: int, related: Related, overridden: Overridden) -> int:
    """Return the largest set of events in a group that are all sure with each other."""
    sure = [0] * len(nodes)
    for some, others, relation in related:
        if relation.certainty is Certainty.SURE:
            for ours, theirs in ((some, others), (others, some)):
                for i in bits(ours):
                    sure[i] |= theirs & ~(1 << i)
    by_hand = [i for i in bits(group) if overridden.must.of(nodes[i].event.key)]
    for i, j in combinations(by_hand, 2):
        is_linked = nodes[j].event.key in overridden.must.of(nodes[i].event.key)
        if is_linked and not overridden.must.doubt(nodes[i], nodes[j]):
            connect(sure, i, j)
    return largest_clique(sure, group)


def _group(
    nodes: list[Node], group: int, inside: list[Edge], comparator: Comparator, *, core: int, limits: Limits
) -> Group:
    """Return the members of a group; each is linked with a member nearer to the first."""
    first = next(bits(group))
    certain = _certainty(core, first)
    members = {first: Member(nodes[first].event.key, Rule.FIRST, certainty=certain)}
    reached = [first]
    for to in reached:
        for edge in inside:
            new = edge[2] if edge[1] == to else edge[1] if edge[2] == to else to
            if new not in members:
                certain = _certainty(core, new)
                borne = {nodes[i].event.key: limit for i, limit in sorted(limits.get(new, {}).items())}
                a, b = nodes[new], nodes[to]
                gap = price_gap(a.event.chances, b.event.chances)
                evidence = comparator.evidence(a.description, b.description, gap)
                members[new] = Member(a.event.key, edge[3], b.event.key, evidence, edge[4], certain, borne)
                reached.append(new)
    return tuple([members[i] for i in sorted(members)])


def _certainty(core: int, i: int) -> Certainty:
    return Certainty.SURE if core >> i & 1 else Certainty.LIKELY
