"""What the operator says about teams, leagues and single events."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import TypeVar

from msgspec import Struct

from actors.matching.event import EventKey

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


class Pair(Struct, frozen=True):
    """Two events, and why they must, or must not, be one fixture."""

    a: EventKey
    b: EventKey
    reason: str = ""


class Overrides(Struct, frozen=True):
    """What the operator says. Each of `leagues` has labels of one competition, `source:label` or plain."""

    teams: tuple[TeamAlias, ...] = ()
    leagues: tuple[tuple[str, ...], ...] = ()
    must: tuple[Pair, ...] = ()
    must_not: tuple[Pair, ...] = ()


class Overridden(Struct, frozen=True):
    """The events that must be, and must not be, in the group of each event."""

    must: Mapping[EventKey, AbstractSet[EventKey]]
    must_not: Mapping[EventKey, AbstractSet[EventKey]]

    @classmethod
    def by(cls, overrides: Overrides) -> Overridden:
        """Return what these overrides say, by event."""
        return cls(_by_event(overrides.must), _by_event(overrides.must_not))


def _by_event(pairs: Iterable[Pair]) -> dict[EventKey, set[EventKey]]:
    of: dict[EventKey, set[EventKey]] = {}
    for pair in pairs:
        if pair.a != pair.b:
            of.setdefault(pair.a, set()).add(pair.b)
            of.setdefault(pair.b, set()).add(pair.a)
    return of
