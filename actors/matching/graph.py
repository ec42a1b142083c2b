"""The events, by key and by listing, and which of them resemble each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from msgspec import Struct

from actors.core.cooperative import SLICE, Sliced
from actors.core.messages import SourceMatchId, SourceName
from actors.matching.blocking import Candidates
from actors.matching.comparison import Judge, Listing, Relation, listing_of, rank_with, swapped
from actors.matching.event import Chances, Event, EventKey
from actors.matching.groups import Group, Members
from actors.matching.leagues import League
from actors.matching.rules import Condition, price_gap
from actors.matching.words import Name, parse

_BITS = 30
_ONE = 1 << _BITS


class Piece(Struct, eq=False, gc=False):
    """Connected events. `groups` holds while it is worked on; else the nodes have them.

    `fragile` are its listings if a link by elimination depends on candidates outside as well.
    """

    keys: tuple[EventKey, ...]
    fragile: tuple[Listing, ...] = ()
    groups: list[Members] | None = None
    number: int = 0


class Node(Struct, eq=False, gc=False):
    """An event in the graph: its piece, and the group that was last returned for it.

    There are as many as events, so prices are kept in a quarter of the memory of a tuple. No listing and no
    piece refers to a node: there are no cycles, which nothing would find.
    """

    key: EventKey
    listing: Listing
    packed: int | None
    piece: Piece
    group: Group | None = None

    @property
    def chances(self) -> Chances | None:
        """The probabilities in its prices."""
        return None if self.packed is None else unpacked(self.packed)


def packed(chances: Chances | None) -> int | None:
    """Return probabilities as a node keeps them: home and draw, 30 bits each, in 32 bytes."""
    if chances is None:
        return None
    home, draw = int(chances[0] * _ONE), int(chances[1] * _ONE)
    return min(home, _ONE - 1) << _BITS | min(draw, _ONE - 1)


def unpacked(chances: int) -> Chances:
    """Return them again, to nine decimals."""
    home, draw = (chances >> _BITS) / _ONE, (chances & (_ONE - 1)) / _ONE
    return home, draw, 1 - home - draw


class Found(Struct, frozen=True, gc=False):
    """Another event that resembles one; `way` is None if no rule holds."""

    node: Node
    relation: Relation
    gap: float | None
    way: Condition | None

    @property
    def rank(self) -> float:
        """How much speaks for one match."""
        return rank_with(self.relation, self.way, self.gap)


class Graph:
    """All events; two that resemble each other have a relation."""

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self._nodes: dict[SourceName, dict[SourceMatchId, Node]] = defaultdict(dict)  # none of them large
        self._candidates = Candidates(judge)

    def get(self, key: EventKey) -> Node | None:
        """Return an event, None if it is not here."""
        return self._nodes[key.source].get(key.source_match_id)

    def __getitem__(self, key: EventKey) -> Node:
        """Return an event. Raises: KeyError if it is not here."""
        return self._nodes[key.source][key.source_match_id]

    def __iter__(self) -> Iterator[Node]:
        """Iterate over all events; they may change meanwhile."""
        for nodes in list(self._nodes.values()):
            yield from list(nodes.values())

    def at(self, listing: Listing) -> list[Node]:
        """Return the events of a listing."""
        nodes = self._nodes
        return [nodes[key.source][key.source_match_id] for key in listing.keys]

    def lists(self, node: Node, event: Event) -> bool:
        """Return whether an event of that name is listed alike, whatever its prices."""
        one = node.listing
        return (
            one.home is parse(event.home)
            and one.away is parse(event.away)
            and one.start == event.start_time
            and one.league is self.judge.league(event)
        )

    def listing(self, event: Event) -> Listing:
        """Return the listing of an event, which is the same for all events that list a match alike."""
        league = self.judge.league(event)
        return self.listing_at(parse(event.home), parse(event.away), league, event.start_time)

    def listing_at(self, home: Name, away: Name, league: League, start: int | None) -> Listing:
        """Return the listing with these."""
        return self._candidates.listing(home, away, league, start) or listing_of(home, away, league, start)

    def add(self, node: Node) -> None:
        """Add an event."""
        listing = node.listing
        self._nodes[node.key.source][node.key.source_match_id] = node
        if not listing.keys:
            self._candidates.add(listing)
        listing.keys = *listing.keys, node.key
        listing.source = _source_of(listing)

    def remove(self, node: Node) -> None:
        """Remove an event that is there, and its listing if it was the last."""
        listing = node.listing
        del self._nodes[node.key.source][node.key.source_match_id]
        listing.keys = tuple([key for key in listing.keys if key != node.key])
        listing.source = _source_of(listing)
        if not listing.keys:
            self._candidates.remove(listing)

    def near(self, listing: Listing) -> Sliced[dict[Listing, Relation]]:
        """Return the listings that a rule could link with one, itself among them if it has a kick-off.

        Those that have only events of one source, and it has only events of that, too, are left out.
        """
        relation, near, source = self.judge.relation, dict[Listing, Relation](), listing.source
        if source is not None and not self._has_other(source):
            return near
        found = self._candidates.near(listing)
        there = found if source is None else [other for other in found if other.source != source]
        for count, other in enumerate(there, 1):
            one = relation(listing, other)
            if one is not None and one.ways:
                near[other] = one
            if count % (SLICE // 8) == 0:
                yield
        return near

    def found(self, node: Node, other: Listing, relation: Relation) -> Iterator[Found]:
        """Yield the events of another listing, or its own, that are of other sources than the node."""
        source, chances = node.key.source, node.chances
        for there in self.at(other):
            if there.key.source != source:
                gap = price_gap(chances, there.chances)
                yield Found(there, relation, gap, relation.way(gap))

    def resembling(self, node: Node) -> Iterator[Found]:
        """Yield the events of other sources that resemble one, in no order."""
        source = node.key.source
        for other in self._candidates.find(node.listing) if self._has_other(source) else ():
            if other.source != source:
                relation = self.judge.relation(node.listing, other)
                if relation is not None:
                    yield from self.found(node, other, relation)

    def resembling_listings(self, listing: Listing) -> set[Listing]:
        """Return all listings that have a relation with one, itself among them, and some that have none."""
        return self._candidates.find(listing)

    def related(self, listing: Listing) -> Sliced[list[tuple[Listing, Relation]]]:
        """Return the listings that resemble one, itself among them, in no order."""
        related = []
        for count, other in enumerate(self.resembling_listings(listing), 1):
            if (relation := self.judge.relation(listing, other)) is not None:
                related.append((other, relation))
            if count % (SLICE // 8) == 0:
                yield
        return related

    def swapped(self, node: Node) -> Iterator[Found]:
        """Yield the events of other sources that resemble one with home and away the other way round."""
        bare = Node(node.key, swapped(node.listing), None, node.piece)
        yield from self.resembling(bare)

    def _has_other(self, source: SourceName) -> bool:
        """Return whether there are events of another source."""
        return any(name != source and nodes for name, nodes in self._nodes.items())


def _source_of(listing: Listing) -> SourceName | None:
    sources = {key.source for key in listing.keys}
    return sources.pop() if len(sources) == 1 else None
