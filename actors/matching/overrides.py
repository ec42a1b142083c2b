"""What the operator says about teams, leagues and single events."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import TypeVar

from msgspec import Struct

from actors.matching.event import EventKey

K = TypeVar("K", bound=Hashable)


def joined(groups: Iterable[Iterable[K]]) -> dict[K, list[K]]:
    """Return for each item all that are one with it: groups with an item in common are one."""
    of: dict[K, list[K]] = {}
    for group in groups:
        items = [*group]
        there = {id(some): some for one in items if (some := of.get(one)) is not None}
        every = max(there.values(), key=len, default=[])  # others go into the longest, so each moves seldom
        others = [one for some in there.values() if some is not every for one in some]
        for one in (*others, *items):
            if of.get(one) is not every:
                every.append(one)
                of[one] = every
    return of


class TeamAlias(Struct, frozen=True):
    """Spellings of one team; with `country`, in leagues of that country or an unknown one."""

    names: tuple[str, ...]
    country: str | None = None


class Pair(Struct, frozen=True):
    """Two events, and why they must, or must not, be one fixture."""

    a: EventKey
    b: EventKey
    reason: str = ""


class Overrides(Struct, frozen=True):
    """All of them. Each of `leagues` has labels of one competition, `source:label` or of any source."""

    teams: tuple[TeamAlias, ...] = ()
    leagues: tuple[tuple[str, ...], ...] = ()
    must: tuple[Pair, ...] = ()
    must_not: tuple[Pair, ...] = ()


class Overridden(Struct, frozen=True):
    """By event those that must be, and must not be, in its group."""

    must: Mapping[EventKey, AbstractSet[EventKey]]
    must_not: Mapping[EventKey, AbstractSet[EventKey]]

    @classmethod
    def by(cls, overrides: Overrides) -> Overridden:
        """Return what these say, by event."""
        return cls(_by_event(overrides.must), _by_event(overrides.must_not))


def _by_event(pairs: Iterable[Pair]) -> dict[EventKey, set[EventKey]]:
    of: dict[EventKey, set[EventKey]] = {}
    for pair in pairs:
        if pair.a != pair.b:
            of.setdefault(pair.a, set()).add(pair.b)
            of.setdefault(pair.b, set()).add(pair.a)
    return of
