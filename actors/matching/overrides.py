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
    """Return the merged group of each item; groups with a common item are merged."""
    home: dict[K, list[K]] = {}
    for group in groups:
        items = [*group]
        there = {id(known): known for item in items if (known := home.get(item)) is not None}
        every = max(there.values(), key=len, default=[])  # the longest group absorbs the other groups
        others = [item for known in there.values() if known is not every for item in known]
        for item in (*others, *items):
            if home.get(item) is not every:
                every.append(item)
                home[item] = every
    return home


class TeamAlias(Struct, frozen=True):
    """Spellings of one team; a `country` limits them to leagues of that country or of an unknown one."""

    names: tuple[str, ...]
    country: str | None = None


class Listing(Struct, frozen=True):
    """A source's listing of an event: both teams in its spelling, and the first second of a day, UTC."""

    home: str
    away: str
    day: int

    def is_near(self, start: int | None) -> bool:
        """Return whether a kick-off is on that day, the day before or the day after."""
        return start is not None and -DAY <= start - self.day < 2 * DAY


class Pair(Struct, frozen=True):
    """Two events, and why they must, or must not, be one fixture.

    With `listed` it means all events of the two sources with these listings, whatever their ids.
    """

    a: EventKey
    b: EventKey
    reason: str = ""
    listed: tuple[Listing, Listing] | None = None

    @property
    def sides(self) -> tuple[Hashable, Hashable]:
        """The two events, each by its key, or by its source and listing."""
        if self.listed is None:
            return self.a, self.b
        return (self.a.source, self.listed[0]), (self.b.source, self.listed[1])


class Overrides(Struct, frozen=True):
    """The operator's decisions. Each of `leagues` has one competition's labels, `source:label` or plain.

    With `none` the operator confirms that there are no decisions.
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
    """The present events named by the operator's pairs. Mutable, with one owner."""

    def __init__(self, pairs: Iterable[Pair]) -> None:
        self._by_key: dict[EventKey, list[int]] = {}
        self._by_names: dict[tuple[str, str, str], list[tuple[Listing, int]]] = {}
        self._here: list[dict[EventKey, None]] = []  # by side: pair n has the sides 2n and 2n + 1
        self._partners: dict[EventKey, set[EventKey]] = {}
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
        """Return the present events that share a pair with this one."""
        return self._partners.get(key, frozenset())

    def here(self, number: int) -> Iterator[tuple[EventKey, EventKey]]:
        """Yield the pairs of present events for the operator's pair of that number, from 0."""
        return product(self._here[2 * number], self._here[2 * number + 1])

    def doubt(self, a: _Node, b: _Node) -> str:
        """Return why no surebet may rest on the operator's pair of these two, empty if a surebet may.

        A source may reuse an id for another match or class, or list two matches alike.
        """
        ours, theirs = a.description, b.description
        if ours.start is None or theirs.start is None:
            return "a kick-off is unknown"
        if (far := abs(ours.start - theirs.start)) > LONGEST:
            return f"the kick-offs are {far / DAY:.0f} days apart"
        if differ(ours.home_team, theirs.home_team) or differ(ours.away_team, theirs.away_team):
            return "one is women's, youth or reserves, and the other is not"
        if self._has_several(a.event.key, b.event.source) or self._has_several(b.event.key, a.event.source):
            return "one source lists several matches alike, at other times"
        return ""

    def _has_several(self, key: EventKey, source: SourceName) -> bool:
        """Return whether pairs combine this event with several events of a source, at different times."""
        return len({self._starts[other] for other in self.of(key) if other.source == source}) > 1

    def add(self, event: Event) -> None:
        """Add a new event."""
        for side in self._sides(event):
            self._here[side][event.key] = None
            self._starts[event.key] = event.start_time
            for other in self._here[side ^ 1]:
                if other != event.key:
                    self._partners.setdefault(event.key, set()).add(other)
                    self._partners.setdefault(other, set()).add(event.key)

    def remove(self, event: Event) -> None:
        """Remove an event, which must be as it was when it was added."""
        for side in self._sides(event):
            self._here[side].pop(event.key, None)
        self._starts.pop(event.key, None)
        for other in self._partners.pop(event.key, ()):
            self._partners[other].discard(event.key)

    def _sides(self, event: Event) -> Iterator[int]:
        yield from self._by_key.get(event.key, ())
        for listing, side in self._by_names.get((event.source, event.home, event.away), ()):
            if listing.is_near(event.start_time):
                yield side


class Overridden(Struct, frozen=True):
    """The operator's pairs that must, and must not, be in one group, with the present events."""

    must: ByHand
    must_not: ByHand

    @classmethod
    def by(cls, overrides: Overrides) -> Overridden:
        """Return the pairs that these overrides name, before any event is known."""
        return cls(ByHand(overrides.must), ByHand(overrides.must_not))

    def add(self, event: Event) -> None:
        """Add a new event."""
        self.must.add(event)
        self.must_not.add(event)

    def remove(self, event: Event) -> None:
        """Remove an event, which must be as it was when it was added."""
        self.must.remove(event)
        self.must_not.remove(event)


def parted(a: int | None, b: int | None) -> float:
    """Return the distance of two kick-offs from 0 to 1 (unknown), to prefer the nearest event."""
    far = None if a is None or b is None else abs(a - b)
    return 1.0 if far is None else far / (far + DAY)
