"""The operator's decisions on teams, leagues and single events."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from itertools import product
from typing import Protocol, TypeVar

from msgspec import Struct

from actors.core.messages import SourceName
from actors.matching.event import Event, EventKey
from actors.matching.rules import DAY, LONGEST
from actors.naming.team_class import TeamClass, differ

K = TypeVar("K", bound=Hashable)


def joined(groups: Iterable[Iterable[K]]) -> dict[K, list[K]]:
    """Return the merged group of each item: groups with an item in common are merged."""
    of: dict[K, list[K]] = {}
    for group in groups:
        items = [*group]
        there = {id(known): known for item in items if (known := of.get(item)) is not None}
        every = max(there.values(), key=len, default=[])  # others go into the longest, so each moves seldom
        others = [item for known in there.values() if known is not every for item in known]
        for item in (*others, *items):
            if of.get(item) is not every:
                every.append(item)
                of[item] = every
    return of


class TeamAlias(Struct, frozen=True):
    """Spellings of one team; with `country`, in leagues of that country or of no known country."""

    names: tuple[str, ...]
    country: str | None = None


class Listing(Struct, frozen=True):
    """How a source lists an event: both teams as it spells them, and the first second of a day, UTC."""

    home: str
    away: str
    day: int

    def is_near(self, start: int | None) -> bool:
        """Return whether a kick-off is on that day, the day before or the day after."""
        return start is not None and -DAY <= start - self.day < 2 * DAY


class Pair(Struct, frozen=True):
    """Two events, and why they must, or must not, be one fixture.

    With `listed` these are any events of the two sources that are listed so, whatever their ids.
    """

    a: EventKey
    b: EventKey
    reason: str = ""
    listed: tuple[Listing, Listing] | None = None

    @property
    def sides(self) -> tuple[Hashable, Hashable]:
        """The two events, each by its key, or by its source and how that lists it."""
        if self.listed is None:
            return self.a, self.b
        return (self.a.source, self.listed[0]), (self.b.source, self.listed[1])


class Overrides(Struct, frozen=True):
    """The operator's decisions. Each of `leagues` has labels of one competition, `source:label` or plain.

    With `none` the operator says that there is nothing to say.
    """

    teams: tuple[TeamAlias, ...] = ()
    leagues: tuple[tuple[str, ...], ...] = ()
    must: tuple[Pair, ...] = ()
    must_not: tuple[Pair, ...] = ()
    none: bool = False


class _Described(Protocol):
    @property
    def start(self) -> int | None: ...
    @property
    def home_team(self) -> TeamClass: ...
    @property
    def away_team(self) -> TeamClass: ...


class _Node(Protocol):
    @property
    def event(self) -> Event: ...
    @property
    def description(self) -> _Described: ...


class ByHand:
    """Which of the events that are here the operator's pairs are about. Mutable, with one owner."""

    def __init__(self, pairs: Iterable[Pair]) -> None:
        self._by_key: dict[EventKey, list[int]] = {}
        self._by_names: dict[tuple[str, str, str], list[tuple[Listing, int]]] = {}
        self._here: list[dict[EventKey, None]] = []  # by side: those of pair n are 2n and 2n + 1
        self._of: dict[EventKey, set[EventKey]] = {}
        self._starts: dict[EventKey, int | None] = {}
        for pair in pairs:
            for key, listing in zip((pair.a, pair.b), pair.listed or (None, None), strict=True):
                side = len(self._here)
                self._here.append({})
                if listing is None:
                    self._by_key.setdefault(key, []).append(side)
                else:
                    names = key.source, listing.home, listing.away
                    self._by_names.setdefault(names, []).append((listing, side))

    def of(self, key: EventKey) -> AbstractSet[EventKey]:
        """Return the events here of which a pair says something together with this one."""
        return self._of.get(key, frozenset())

    def here(self, number: int) -> Iterator[tuple[EventKey, EventKey]]:
        """Yield the events here that the pair of that number is about, the first is 0."""
        return product(self._here[2 * number], self._here[2 * number + 1])

    def doubt(self, a: _Node, b: _Node) -> str:
        """Return why no surebet may rest on what a pair says of these two, empty if one may.

        A source may use an id again, for another match or one of another class, or list two matches alike.
        """
        ours, theirs = a.description, b.description
        if ours.start is None or theirs.start is None:
            return "a kick-off is unknown"
        if (far := abs(ours.start - theirs.start)) > LONGEST:
            return f"the kick-offs are {far / DAY:.0f} days apart"
        if differ(ours.home_team, theirs.home_team) or differ(ours.away_team, theirs.away_team):
            return "one is women's, youth or reserves, and the other is not"
        if self._has_several(a.event.key, b.event.source) or self._has_several(b.event.key, a.event.source):
            return "one source lists several matches so, at other times"
        return ""

    def _has_several(self, key: EventKey, source: SourceName) -> bool:
        """Return whether pairs name this event together with several of a source, at other times."""
        return len({self._starts[other] for other in self.of(key) if other.source == source}) > 1

    def add(self, event: Event) -> None:
        """Add an event that is not here."""
        for side in self._sides(event):
            self._here[side][event.key] = None
            self._starts[event.key] = event.start_time
            for other in self._here[side ^ 1]:
                if other != event.key:
                    self._of.setdefault(event.key, set()).add(other)
                    self._of.setdefault(other, set()).add(event.key)

    def remove(self, event: Event) -> None:
        """Remove an event as it was added."""
        for side in self._sides(event):
            self._here[side].pop(event.key, None)
        self._starts.pop(event.key, None)
        for other in self._of.pop(event.key, ()):
            self._of[other].discard(event.key)

    def _sides(self, event: Event) -> Iterator[int]:
        yield from self._by_key.get(event.key, ())
        for listing, side in self._by_names.get((event.source, event.home, event.away), ()):
            if listing.is_near(event.start_time):
                yield side


class Overridden(Struct, frozen=True):
    """The pairs that must be, and must not be, in one group, with the events that are here."""

    must: ByHand
    must_not: ByHand

    @classmethod
    def by(cls, overrides: Overrides) -> Overridden:
        """Return what these overrides say, without events."""
        return cls(ByHand(overrides.must), ByHand(overrides.must_not))

    def add(self, event: Event) -> None:
        """Add an event that is not here."""
        self.must.add(event)
        self.must_not.add(event)

    def remove(self, event: Event) -> None:
        """Remove an event as it was added."""
        self.must.remove(event)
        self.must_not.remove(event)


def parted(a: int | None, b: int | None) -> float:
    """Return how far apart two kick-offs are, from 0 to 1 (unknown), to link the nearest of several."""
    far = None if a is None or b is None else abs(a - b)
    return 1.0 if far is None else far / (far + DAY)
