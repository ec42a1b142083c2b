"""Which events are one match: groups as a pure function of the events and the overrides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from actors.core.cooperative import Sliced
from actors.matching.abstentions import Abstention, in_order, nearest, reason_of, shortfalls
from actors.matching.comparison import Judge
from actors.matching.event import Event, EventKey
from actors.matching.evidence import Evidence
from actors.matching.graph import packed
from actors.matching.groups import Group, Member, group_of
from actors.matching.overrides import Overrides
from actors.matching.pieces import Pieces
from actors.matching.rules import Reason, Rule, price_gap

__all__ = ["Abstention", "Changes", "Explanation", "Group", "Linker", "Member"]


class Changes(Struct, frozen=True):
    """What an update changed: groups that are new or different, and events that are no longer in any."""

    groups: tuple[Group, ...] = ()
    alone: tuple[EventKey, ...] = ()


class Explanation(Struct, frozen=True):
    """What was found about two events: the rule that links them or the reason against it.

    Linked ones without a rule of their own have it from other members. `lacks` has each way in which a rule
    can hold, in order, with what it lacks, empty if it holds.
    """

    rule: Rule | None
    reason: Reason | None
    evidence: Evidence
    lacks: tuple[tuple[Rule, str], ...]
    is_linked: bool


class Linker:
    """The groups of the events that it was given. Mutable, with one owner."""

    def __init__(self, overrides: Overrides) -> None:
        self.overrides = overrides
        self._judge = Judge(overrides)
        self._pieces = Pieces(self._judge, overrides)
        self._graph = self._pieces.graph

    def update(self, changed: Iterable[Event], gone: Iterable[EventKey] = ()) -> Sliced[Changes]:
        """Add or replace events, remove others, and return what that changed in the groups.

        No event in both, and none twice. The generator must be run to its end before the next call.
        """
        pieces = self._pieces
        alone: list[EventKey] = []
        for key in gone:
            if (node := pieces.remove(key)) is not None and node.group is not None:
                alone.append(key)
            yield
        for event in changed:
            if not self.has(event):
                old = pieces.remove(event.key)
                yield from pieces.add(event, old.group if old else None)
            yield
        yield from pieces.settle()
        return (yield from self._changes(alone))

    def _changes(self, alone: list[EventKey]) -> Sliced[Changes]:
        groups: list[Group] = []
        for piece in self._pieces.touched:
            if piece.groups is None:
                continue
            now = [group_of(members) for members in piece.groups if len(members) > 1]
            of = {member.key: group for group in now for member in group}
            for key in piece.keys:
                node, group = self._graph[key], of.get(key)
                if group is None and node.group is not None:
                    alone.append(node.key)
                elif group is not None and group[0].key == node.key and group != node.group:
                    groups.append(group)
                node.group = node.group if group == node.group else group
            piece.groups = None
            yield
        self._pieces.touched.clear()
        return Changes(tuple(groups), tuple(alone))

    def has(self, event: Event) -> bool:
        """Return whether an event is here as it is."""
        node = self._graph.get(event.key)
        return node is not None and node.packed == packed(event.chances) and self._graph.lists(node, event)

    def lists(self, event: Event) -> bool:
        """Return whether an event is here as it is, but perhaps with other prices, or none."""
        node = self._graph.get(event.key)
        return node is not None and self._graph.lists(node, event)

    def group(self, key: EventKey) -> Group | None:
        """Return the group that an event was last said to be in."""
        node = self._graph.get(key)
        return None if node is None else node.group

    def override(self, overrides: Overrides, events: Iterable[Event]) -> Sliced[Changes]:
        """Replace the overrides and link all events, given again, anew; return what that changed."""
        before = self._graph
        self.overrides = overrides
        self._judge = Judge(overrides)
        self._pieces = pieces = Pieces(self._judge, overrides)
        self._graph = pieces.graph
        for event in events:
            old = before.get(event.key)
            yield from pieces.add(event, old.group if old else None)
        yield from pieces.settle()
        return (yield from self._changes([]))

    def explain(self, a: EventKey, b: EventKey) -> Explanation:
        """Return the evidence about two events. Raises: KeyError for an event that is not here."""
        one, other = self._graph[a], self._graph[b]
        gap = price_gap(one.chances, other.chances)
        evidence = self._judge.evidence(one.listing, other.listing, gap)
        relation = self._judge.relation(one.listing, other.listing)
        way = relation.way(gap) if relation is not None else None
        is_linked = one.group is not None and one.group is other.group
        if is_linked:
            rule, reason = _rule_in(one.group or (), a, b) or (way.rule if way else None), None
        else:
            rule, reason = None, reason_of(self._graph, self._pieces.overridden, one, other)
        lacks = shortfalls(evidence)
        if relation is None or not relation.ways:  # whatever the rules say
            lacks = tuple((one, lack or str(reason or Reason.NAME)) for one, lack in lacks)
        return Explanation(rule, reason, evidence, lacks, is_linked=is_linked)

    def keys(self) -> Iterator[EventKey]:
        """Iterate over all events that are here; they may change meanwhile."""
        return (node.key for node in self._graph)

    def abstentions(self) -> Sliced[tuple[Abstention, ...]]:
        """Return for each event without a link, and each group, the nearest candidate that is not linked.

        Ordered by rank, the highest first; pairs with home and away swapped come last.
        """
        return in_order((yield from self.nearest(self.keys())))

    def nearest(self, keys: Iterable[EventKey]) -> Sliced[list[Abstention]]:
        """Return the same for some events, of a group for its first only, in their order."""
        found: list[Abstention] = []
        for key in keys:
            node = self._graph.get(key)
            if node is not None and (node.group is None or node.group[0].key == key):
                one = nearest(self._graph, self._pieces.overridden, node)
                if one is not None:
                    found.append(one)
            yield
        return found


def _rule_in(group: Group, a: EventKey, b: EventKey) -> Rule | None:
    """Return the rule of the link between two members, None if others connect them."""
    return next((one.rule for one in group if (one.key, one.to) in {(a, b), (b, a)}), None)
