"""The groups of one connected piece, found from nothing."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from math import inf
from typing import TypeAlias

from msgspec import Struct

from actors.core.cooperative import SLICE, Sliced
from actors.core.messages import SourceName
from actors.matching.comparison import MUST_RANK, Judge, Listing, Relation, rank_with
from actors.matching.event import EventKey
from actors.matching.graph import Graph, Node, Piece
from actors.matching.groups import Member, Members
from actors.matching.partition import Edge, Pairs, bits, connected, partition, toward_first
from actors.matching.rules import ON_TIME, Rule, price_gap

MARGIN_ELIMINATION = 0.1  # any candidate with a rank nearer than that spoils an elimination
FEW = 50  # listings that take no longer to compare with one than to look up which resemble it


Keys: TypeAlias = Mapping[EventKey, AbstractSet[EventKey]]
BySource: TypeAlias = dict[SourceName, list[tuple[Node, Relation]]]


class Overridden(Struct, frozen=True):
    """By event those that must be, and must not be, in its group."""

    must: Keys
    must_not: Keys

    def __contains__(self, key: EventKey) -> bool:
        """Return whether the operator says something about an event."""
        return key in self.must or key in self.must_not


def parts_of(piece: Piece, graph: Graph, overridden: Overridden) -> Sliced[list[Piece]]:
    """Return the pieces that the events of one form now, with their groups."""
    nodes = [graph[key] for key in sorted(piece.keys)]
    pairs = Pairs([node.key.source for node in nodes])
    yield from _compare(nodes, pairs, graph)
    yield from _apply(overridden, nodes, pairs, graph.judge)
    pairs.spoiled |= yield from _spoiled(nodes, pairs, graph)
    groups, edges = yield from partition(pairs)
    members = {}
    for group in groups:
        members[group] = _linked(nodes, group, (yield from toward_first(group, edges)), graph)
        yield
    pieces = []
    for part in (yield from connected(len(nodes), pairs.edges)):
        own = [nodes[i] for i in bits(part)]
        inside = [edge for edge in pairs.edges if part >> edge[2] & 1]
        is_fragile = any(edge[4] is Rule.ELIMINATION for edge in inside)
        fragile = tuple(dict.fromkeys(node.listing for node in own)) if is_fragile else ()
        there = [one for group, one in members.items() if group & part]
        pieces.append(Piece(tuple([node.key for node in own]), fragile, there))
        yield
    return pieces


def _linked(nodes: list[Node], group: int, links: dict[int, tuple[int, Edge]], graph: Graph) -> Members:
    first = nodes[(group & -group).bit_length() - 1].key
    members = {first: Member(first, Rule.FIRST)}
    for i, (j, edge) in links.items():
        one, to = nodes[i], nodes[j]
        basis, gap = graph.judge.basis(one.listing, to.listing), price_gap(one.chances, to.chances)
        relation = graph.judge.relation(one.listing, to.listing)
        condition = None if relation is None or edge[4] is Rule.MUST else relation.way(gap)
        most = inf if condition is None else condition.gap
        members[one.key] = Member(one.key, edge[4], to.key, basis, gap, most)
    return members


def _compare(nodes: list[Node], pairs: Pairs, graph: Graph) -> Sliced[None]:
    """Fill in the pairs."""
    at: dict[Listing, list[int]] = {}
    for i, node in enumerate(nodes):
        at.setdefault(node.listing, []).append(i)
    listings = [*at]
    for count, listing in enumerate(listings):
        others = listings[count:]
        if len(others) > FEW:
            resembling = graph.resembling_listings(listing)
            others = [other for other in others if other in resembling]
        for other in others:
            if (relation := graph.judge.relation(listing, other)) is not None:
                yield from _compare_events(nodes, pairs, (at[listing], at[other]), relation)
        yield


def _apply(overridden: Overridden, nodes: list[Node], pairs: Pairs, judge: Judge) -> Sliced[None]:
    """Keep apart and link what the operator says, but never one team with the prices of the other."""
    index = {node.key: i for i, node in enumerate(nodes)}
    by_hand = [i for i, node in enumerate(nodes) if node.key in overridden.must]
    for i, node in enumerate(nodes):
        for key in overridden.must_not.get(node.key, ()):
            if (j := index.get(key)) is not None:
                pairs.forbid(i, j)
    for count, i in enumerate(by_hand, 1):
        for j in by_hand[count:]:
            if judge.is_swapped(nodes[i].listing, nodes[j].listing):
                pairs.forbid(i, j)
        yield
    for i in by_hand:
        away = pairs.same_source[i] | pairs.forbidden[i]
        for key in overridden.must[nodes[i].key]:
            if (j := index.get(key)) is not None and i < j and not away >> j & 1:
                pairs.link(Rule.MUST, MUST_RANK, i, j, is_on_time=True)


def _spoiled(nodes: list[Node], pairs: Pairs, graph: Graph) -> Sliced[set[Edge]]:
    """Return the eliminations with another candidate nearly as near."""
    eliminations = [edge for edge in pairs.edges if edge[4] is Rule.ELIMINATION]
    candidates: dict[Listing, BySource] = {}
    spoiled = set()
    for count, edge in enumerate(eliminations, 1):
        a, b = nodes[edge[2]], nodes[edge[3]]
        for one in (a, b):
            if one.listing not in candidates:
                candidates[one.listing] = yield from _candidates(one.listing, graph)
        least = -edge[1] - MARGIN_ELIMINATION
        if _has_other(a, b, least, candidates) or _has_other(b, a, least, candidates):
            spoiled.add(edge)
        if count % SLICE == 0:
            yield
    return spoiled


def _candidates(listing: Listing, graph: Graph) -> Sliced[BySource]:
    """Return by source the events that resemble a listing, with their relation."""
    candidates: BySource = {}
    for other, relation in (yield from graph.related(listing)):
        for node in graph.at(other):
            candidates.setdefault(node.key.source, []).append((node, relation))
    yield
    return candidates


def _has_other(one: Node, other: Node, least: float, candidates: Mapping[Listing, BySource]) -> bool:
    """Return whether the other's source has one more candidate, with a rank above `least`."""
    for node, relation in candidates[one.listing].get(other.key.source, ()):
        if node.key != other.key:
            gap = price_gap(one.chances, node.chances)
            if rank_with(relation, relation.way(gap), gap) > least:
                return True
    return False


def _compare_events(
    nodes: list[Node], pairs: Pairs, sides: tuple[list[int], list[int]], relation: Relation
) -> Sliced[None]:
    """Add the pairs of the events of two listings."""
    ours, theirs = sides
    is_on_time = abs(relation.delta_s) <= ON_TIME
    is_twice = is_again(nodes[ours[0]].listing, nodes[theirs[0]].listing)
    others = [(j, nodes[j].key.source, nodes[j].chances) for j in theirs]
    for i in ours:
        chances, source = nodes[i].chances, nodes[i].key.source
        for j, their_source, their_chances in others:
            if ours is theirs and j <= i:
                continue
            if their_source == source:
                if is_twice:
                    pairs.duplicates[i] |= 1 << j
                    pairs.duplicates[j] |= 1 << i
                continue
            gap = price_gap(chances, their_chances)
            if relation.bears(gap):
                pairs.compatible[i] |= 1 << j
                pairs.compatible[j] |= 1 << i
            if (way := relation.way(gap)) is not None:
                pairs.link(way.rule, rank_with(relation, way, gap), i, j, is_on_time=is_on_time)
        yield


def is_again(a: Listing, b: Listing) -> bool:
    """Return whether a source lists one match twice, perhaps with another kick-off."""
    return (a.home.text, a.away.text, a.league.key) == (b.home.text, b.away.text, b.league.key)
