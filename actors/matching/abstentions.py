"""Why events that resemble each other are not linked."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from actors.matching.event import EventKey
from actors.matching.evidence import Evidence, Likeness
from actors.matching.graph import Found, Graph, Node
from actors.matching.parting import Overridden
from actors.matching.rules import CONDITIONS, Reason, Rule, lacks, price_gap

NEAR = 0.9  # the least rank of a pair that is reported


class Abstention(Struct, frozen=True):
    """Two events that resemble each other and are not linked; the evidence is that of a against b."""

    a: EventKey
    b: EventKey
    reason: Reason
    rank: float
    evidence: Evidence


def in_order(found: Iterable[Abstention]) -> tuple[Abstention, ...]:
    """Return each pair once, by rank, the highest first; pairs with home and away swapped come last."""
    pairs = {(min(one.a, one.b), max(one.a, one.b)): one for one in found}
    return tuple(sorted(pairs.values(), key=lambda one: (-one.rank, one.a, one.b)))


def nearest(graph: Graph, overridden: Overridden, node: Node) -> Abstention | None:
    """Return the nearest candidate of an event outside its group and of a source that is not in it."""
    group = node.group or ()
    sources = {member.key.source for member in group} | {node.key.source}
    best: Found | None = None
    for found in graph.resembling(node):
        if found.rank < NEAR or found.node.key.source in sources:
            continue
        if best is None or (-found.rank, found.node.key) < (-best.rank, best.node.key):
            best = found
    if best is None:
        return _swapped(graph, node) if not group else None
    evidence = best.relation.evidence(best.gap)
    return Abstention(
        node.key, best.node.key, reason_of(graph, overridden, node, best.node), best.rank, evidence
    )


def _swapped(graph: Graph, node: Node) -> Abstention | None:
    """Return an event that lists the same match with home and away the other way round, if there is one."""
    there = [one for one in graph.swapped(node) if one.way is not None and one.node.group is None]
    if not there:
        return None
    found = min(there, key=lambda one: one.node.key)
    evidence = found.relation.evidence(found.gap)
    return Abstention(node.key, found.node.key, Reason.SWAPPED, 0.0, evidence)


def reason_of(graph: Graph, overridden: Overridden, a: Node, b: Node) -> Reason:
    """Return why two events are not linked."""
    if b.key in overridden.must_not.get(a.key, ()):
        return Reason.MUST_NOT
    if graph.judge.is_swapped(a.listing, b.listing):
        return Reason.SWAPPED
    relation, gap = graph.judge.relation(a.listing, b.listing), price_gap(a.chances, b.chances)
    if relation is None:
        names = graph.judge.basis(a.listing, b.listing)
        is_same = min(names.home.likeness, names.away.likeness) is Likeness.SAME
        return Reason.KICK_OFF if is_same else Reason.NAME
    if relation.way(gap) is None:
        return Reason.PRICES if relation.ways else relation.reason
    members = {member.key for node in (a, b) for member in node.group or ()} - {a.key, b.key}
    return Reason.MEMBER if members else Reason.TWO_CANDIDATES


def shortfalls(evidence: Evidence) -> tuple[tuple[Rule, str], ...]:
    """Return each way in which a rule can hold with what the evidence lacks for it, empty if nothing."""
    worse, better = sorted((evidence.home.likeness, evidence.away.likeness))
    far = float("inf") if evidence.kickoff_delta_s is None else abs(evidence.kickoff_delta_s)
    gap = evidence.price_gap
    found = []
    for one in CONDITIONS:
        lack = lacks(one, better, worse, far, evidence.league, evidence.country)
        if not lack and (one.priced if gap is None else gap > one.gap):
            lack = "prices"
        found.append((one.rule, lack))
    return tuple(found)
