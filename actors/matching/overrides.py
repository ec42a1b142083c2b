"""What the operator says about teams, leagues and single events."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from itertools import product
from typing import Protocol, TypeVar

from msgspec import Struct

from actors.matching.event import Event, EventKey
from actors.matching.rules import DAY, LONGEST
from actors.matching.team_class import TeamClass, differ

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
        """What each of the two events is known by: its key, or its source and how that lists it."""
        if self.listed is None:
            return self.a, self.b
        return (self.a.source, self.listed[0]), (self.b.source, self.listed[1])


class Overrides(Struct, frozen=True):
    """What the operator says. Each of `leagues` has labels of one competition, `source:label` or plain.

    With `none` the operator says that there is nothing to say.
    """

    teams: tuple[TeamAlias, ...] = ()
    leagues: tuple[tuple[str, ...], ...] = ()
    must: tuple[Pair, ...] = ()
    must_not: tuple[Pair, ...] = ()
    none: bool = False


class ByHand:
    """Which of the events that are here the operator's pairs are about. Mutable, with one owner."""

    def __init__(self, pairs: Iterable[Pair]) -> None:
        self._by_key: dict[EventKey, list[int]] = {}
        self._by_names: dict[tuple[str, str, str], list[tuple[Listing, int]]] = {}
        self._here: list[dict[EventKey, None]] = []  # by side: those of pair n are 2n and 2n + 1
        self._of: dict[EventKey, set[EventKey]] = {}
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

    def add(self, event: Event) -> None:
        """Add an event that is not here."""
        for side in self._sides(event):
            self._here[side][event.key] = None
            for other in self._here[side ^ 1]:
                if other != event.key:
                    self._of.setdefault(event.key, set()).add(other)
                    self._of.setdefault(other, set()).add(event.key)

    def remove(self, event: Event) -> None:
        """Remove an event as it was added."""
        for side in self._sides(event):
            self._here[side].pop(event.key, None)
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


class _Described(Protocol):
    @property
    def start(self) -> int | None: ...
    @property
    def home_team(self) -> TeamClass: ...
    @property
    def away_team(self) -> TeamClass: ...


def doubt_by_hand(a: _Described, b: _Described) -> str:
    """Return why a link by hand may have outlived its match, so that no surebet rests on it; empty if not.

    A source may use an id again: for another match, or for one of another class.
    """
    if a.start is None or b.start is None:
        return "a kick-off is unknown"
    if abs(a.start - b.start) > LONGEST:
        return f"the kick-offs are {abs(a.start - b.start) / DAY:.0f} days apart"
    if differ(a.home_team, b.home_team) or differ(a.away_team, b.away_team):
        return "one is women's, youth or reserves, and the other is not"
    return ""
