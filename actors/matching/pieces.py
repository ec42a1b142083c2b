"""The connected pieces of the graph of events, whose edges are rules that hold.

The groups of a piece depend on its events alone, so an event that comes or goes costs what the pieces that
it touches cost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from actors.core.cooperative import Sliced
from actors.matching.blocking import Candidates
from actors.matching.comparison import Judge, Listing
from actors.matching.event import Event, EventKey
from actors.matching.graph import Graph, Node, Piece, packed
from actors.matching.groups import Group
from actors.matching.overrides import Overrides, Pair
from actors.matching.parting import Overridden, parts_of
from actors.matching.rules import price_gap


class Pieces:
    """All events in their pieces. `touched` are the pieces that may have other groups than before."""

    def __init__(self, judge: Judge, overrides: Overrides) -> None:
        self.graph = Graph(judge)
        self.touched: dict[Piece, None] = {}
        self.overridden = Overridden(_by_key(overrides.must), _by_key(overrides.must_not))
        self._dirty: dict[Piece, None] = {}  # to be parted anew
        self._fragile = Candidates(judge)
        self._fragile_count: Counter[Listing] = Counter()
        self._last = 0

    def remove(self, key: EventKey) -> Node | None:
        """Remove an event, if it is there."""
        node = self.graph.get(key)
        if node is None:
            return None
        self._unsettle(node)
        piece = node.piece
        self.graph.remove(node)
        piece.keys = tuple([one for one in piece.keys if one != key])
        if piece.keys:
            self._touch(piece)
        else:
            self._drop(piece)
        return node

    def add(self, event: Event, group: Group | None) -> Sliced[None]:
        """Add an event that is not there; `group` is what was last returned for it."""
        return self._add(event.key, self.graph.listing(event), packed(event.chances), group)

    def _add(
        self, key: EventKey, listing: Listing, chances: int | None, group: Group | None
    ) -> Sliced[None]:
        graph = self.graph
        own = Piece((key,), groups=[])
        node = Node(key, listing, chances, own, group)
        self._unsettle(node)
        graph.add(node)
        near = yield from graph.near(listing)
        there: set[Piece] = set()
        for other, relation in near.items():
            for known in graph.at(other):  # nearly all of one piece: prices are compared with few of them
                if known.piece in there or known.key.source == key.source:
                    continue
                if relation.way(price_gap(node.chances, known.chances)) is not None:
                    there.add(known.piece)
        there.update(one.piece for name in self.overridden.must.get(key, ()) if (one := graph.get(name)))
        self._set(own)
        self._merge([own, *sorted(there, key=_number)])

    def settle(self) -> Sliced[None]:
        """Part anew what came, went or changed."""
        while self._dirty:
            piece, _ = self._dirty.popitem()
            parts = yield from parts_of(piece, self.graph, self.overridden)
            self._drop(piece)
            for part in parts:
                self._set(part)

    def _touch(self, piece: Piece) -> None:
        self._dirty[piece] = self.touched[piece] = None

    def _drop(self, piece: Piece) -> None:
        self._dirty.pop(piece, None)
        self.touched.pop(piece, None)
        for listing in piece.fragile:
            self._fragile_count[listing] -= 1
            if not self._fragile_count[listing]:
                del self._fragile_count[listing]
                self._fragile.remove(listing)

    def _set(self, piece: Piece) -> None:
        self._last += 1
        piece.number = self._last
        for key in piece.keys:
            self.graph[key].piece = piece
        self.touched[piece] = None
        for listing in piece.fragile:
            if not self._fragile_count[listing]:
                self._fragile.add(listing)
            self._fragile_count[listing] += 1

    def _unsettle(self, node: Node) -> None:
        """Part anew the pieces in which a candidate less, or more, may decide an elimination."""
        if not self._fragile_count:
            return
        listing, relation = node.listing, self.graph.judge.relation
        resembling = [
            one
            for one in self._fragile.find(listing)
            if one.source != node.key.source and relation(listing, one) is not None
        ]
        there = {one.piece for other in resembling for one in self.graph.at(other)}
        for piece in sorted(there, key=_number):
            if piece.fragile:
                self._touch(piece)

    def _merge(self, pieces: list[Piece]) -> None:
        """Make one piece of several, to be parted anew."""
        if len(pieces) > 1:
            largest = max(pieces, key=lambda one: (len(one.keys), one.number))
            for piece in pieces:
                if piece is not largest:
                    self._drop(piece)
                    for key in piece.keys:
                        self.graph[key].piece = largest
                    largest.keys += piece.keys
            self._touch(largest)


def _number(piece: Piece) -> int:
    return piece.number


def _by_key(pairs: Iterable[Pair]) -> dict[EventKey, set[EventKey]]:
    """Return by event those others with which it stands in a pair."""
    of: dict[EventKey, set[EventKey]] = {}
    for pair in pairs:
        if pair.a != pair.b:
            of.setdefault(pair.a, set()).add(pair.b)
            of.setdefault(pair.b, set()).add(pair.a)
    return of
