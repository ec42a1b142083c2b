"""Side events: events that have prices of other markets, but no 1X2 prices at any bookmaker.

Pure, in slices. They join the 1X2 fixtures without changing these. An event that loses its 1X2 prices stays
in its match while it is listed alike, until the linker places it. No match has two events of one source,
nor two events that the 1X2 links keep apart.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias, TypeVar

from immutables import Map
from msgspec import Struct, field
from msgspec.structs import replace

from actors.board.board import Books, Noted
from actors.board.chunks import beginning_with, entries_of
from actors.board.diff import named
from actors.board.snapshot import Entry
from actors.core.cooperative import SLICE, Sliced
from actors.core.messages import BookmakerId, Scope, SourceName, event_id_of
from actors.market_fixtures.heads import are_alike, head_of
from actors.matches.entries import unpriced_event_of
from actors.matches.model import FixtureChange, FixtureState, Head, Roster
from actors.matching.event import Event, EventKey, FixtureId, derived_id
from actors.matching.matcher import Group, Member
from actors.matching.rules import Rule

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
Listing: TypeAlias = tuple[str, str, str | None, int | None]


class SideEvent(Struct, frozen=True):
    """An event without 1X2 prices, as it is listed, and the fixture of its match.

    `member` is its link there, `others` are the events that it is linked with. Without `is_judged` these
    links come from the event's last 1X2 prices.
    """

    key: EventKey
    listing: Listing
    scope: Scope
    home: FixtureId
    member: Member
    others: tuple[EventKey, ...] = ()
    is_judged: bool = False

    @property
    def event(self) -> Event:
        """The event in the matcher's form, without prices to compare."""
        home, away, league, start_time = self.listing
        return Event(self.key, home, away, league, self.scope, start_time)


class SideEvents(Struct, frozen=True, eq=False):
    """All side events; `by_home` has a match's events, `heads` names matches that lost 1X2 prices."""

    by_event: Map[EventKey, SideEvent] = field(default_factory=Map)
    by_home: Map[FixtureId, tuple[EventKey, ...]] = field(default_factory=Map)
    heads: Map[FixtureId, Head] = field(default_factory=Map)


class SideLinks(Struct, frozen=True, eq=False):
    """Groups that have side events, and by key all their events, without prices.

    An event that is linked with no other is a group of its own.
    """

    groups: tuple[Group, ...]
    events: Mapping[EventKey, Event]

    def of(self, member: Member) -> Event:
        """Return a member's event as the linker saw it."""
        return self.events[member.key]


class SideUpdate:
    """The next side events in the making, after a commit of all boards. Owned by one caller.

    `before` and `after` are the 1X2 fixtures, `books` the books of the other markets' boards.
    """

    def __init__(
        self,
        base: SideEvents,
        before: FixtureState,
        after: FixtureState,
        roster: Roster,
        books: Sequence[Books],
    ) -> None:
        self._base, self._before, self._after = base, before, after
        self._roster, self._books = roster, books
        self.changed: tuple[EventKey, ...] = ()
        """The events that differ from the base, after `finish`."""
        self._touched: dict[EventKey, None] = {}
        self._events: dict[EventKey, SideEvent | None] = {}
        self._homes: dict[FixtureId, dict[EventKey, None]] = {}

    def take(self, noted: Noted) -> Sliced[None]:
        """Mark the events with changed entries, unless only prices changed."""
        for bookmaker, differences in noted.items():
            source = self._roster[bookmaker].source
            for count, (match_id, old) in enumerate(differences.before.items(), 1):
                new = named(differences.after[match_id])
                key, was = EventKey(source, event_id_of(match_id)), named(old)
                is_in = key in self._after.by_event
                if key in self._base.by_event if is_in else not _is_listed_alike(was, new):
                    self._touched[key] = None
                if count % SLICE == 0:
                    yield

    def follow(self, changes: Iterable[FixtureChange]) -> Sliced[None]:
        """Mark the events that these changes of 1X2 fixtures may move to another match."""
        for count, change in enumerate(changes, 1):
            if not are_alike(change.before, change.after):
                self._touch_home(change.id)
                for fixture in (change.before, change.after):
                    for member in () if fixture is None else fixture.members:
                        self._touched[member.key] = None
                        if (side := self._base.by_event.get(member.key)) is not None:
                            self._touch_home(side.home)
            if count % SLICE == 0:
                yield

    def look_at_all(self) -> Sliced[None]:
        """Mark all events, when the changes are unknown."""
        self._touched |= dict.fromkeys(sorted(self._base.by_event))  # in the same order on every machine
        for books in self._books:
            for bookmaker, book in books.items():
                source = self._roster[bookmaker].source
                for count, entry in enumerate(entries_of(book.chunks), 1):
                    self._touched[EventKey(source, event_id_of(entry.source_match_id))] = None
                    if count % SLICE == 0:
                        yield

    def finish(self, links: SideLinks | None) -> Sliced[SideEvents]:
        """Return the side events, or those of the base if nothing changed; these links are applied last."""
        for count, key in enumerate(self._touched, 1):
            self._settle(key)
            if count % (SLICE // 8) == 0:
                yield
        if links is not None:
            yield from self._link_all(links)
        changed = {key: new for key, new in self._events.items() if new != self._base.by_event.get(key)}
        self.changed = tuple(changed)
        if not changed:
            return self._base
        homes = {home: tuple(keys) for home, keys in self._homes.items()}
        return SideEvents(
            _with(self._base.by_event, changed),
            _with(self._base.by_home, {home: keys or None for home, keys in homes.items()}),
            _with(self._base.heads, self._heads(changed)),
        )

    def _touch_home(self, home: FixtureId) -> None:
        self._touched |= dict.fromkeys(self._base.by_home.get(home, ()))

    def _get(self, key: EventKey) -> SideEvent | None:
        """Return a side event in its current state."""
        return self._events[key] if key in self._events else self._base.by_event.get(key)

    def _at(self, home: FixtureId) -> dict[EventKey, None]:
        """Return the current side events of a match."""
        known = self._homes.get(home)
        return dict.fromkeys(self._base.by_home.get(home, ())) if known is None else known

    def _put(self, key: EventKey, new: SideEvent | None) -> None:
        old = self._get(key)
        self._events[key] = new
        for side, is_there in ((old, False), (new, True)):
            if side is None or (old is not None and new is not None and old.home == new.home):
                continue
            there = self._homes.setdefault(side.home, self._at(side.home))
            if is_there:
                there[key] = None
            else:
                there.pop(key, None)

    def _settle(self, key: EventKey) -> None:
        """Update an event from its listing, and put it into its match."""
        known = self._get(key)
        entry = None if key in self._after.by_event else self._first_entry(key)
        if entry is None:
            if known is not None:
                self._put(key, None)
        elif known is not None and known.listing == entry.match.listing:
            self._put(key, self._placed(replace(known, scope=entry.scope)))
        else:
            self._put(key, self._placed(self._begun(key, entry, known)))

    def _begun(self, key: EventKey, entry: Entry, known: SideEvent | None) -> SideEvent:
        """Return an unlinked event; it keeps the match of its 1X2 prices if it is listed alike there."""
        listing, first = entry.match.listing, Member(key, Rule.FIRST)
        fixture = self._before.of_event(key)
        if fixture is not None:
            was = unpriced_event_of(fixture, key, self._roster)
            if (was.home, was.away, was.league, was.start_time) == listing:
                member = next(member for member in fixture.members if member.key == key)
                others = tuple([other.key for other in fixture.members if other.key != key])
                return SideEvent(key, listing, entry.scope, fixture.id, member, others)
        home = self._own(key, None if known is None else known.home)
        return SideEvent(key, listing, entry.scope, home, first)

    def _placed(self, side: SideEvent) -> SideEvent:
        """Return an event, placed in the match of its linked events, or in its own match."""
        there = self._after.by_event
        fixtures = {there[other] for other in side.others if other in there}
        home = None if len(fixtures) > 1 else next(iter(fixtures), side.home)
        if home is None or not self._is_free(home, side, is_linked=bool(fixtures)):
            home = self._own(side.key, side.home)
        return side if home == side.home else replace(side, home=home)

    def _is_free(self, home: FixtureId, side: SideEvent, *, is_linked: bool) -> bool:
        """Return whether a match has no other event of the same source, so that the event fits."""
        fixture, source = self._after.get(home), side.key.source
        if fixture is not None and not is_linked:
            return False  # the id now means another match, or a restarted one
        events = [] if fixture is None else [member.key for member in fixture.members]
        events += [key for key in self._at(home) if key != side.key]
        return source not in {key.source for key in events}

    def _own(self, key: EventKey, home: FixtureId | None = None) -> FixtureId:
        """Return the id of a match that has no other event; `home` if possible."""
        if home is not None and self._is_alone(key, home):
            return home
        home, attempt = derived_id(key), 0
        while not self._is_alone(key, home):
            attempt += 1
            home = derived_id(key, attempt)
        return home

    def _is_alone(self, key: EventKey, home: FixtureId) -> bool:
        return home not in self._after.places and all(other == key for other in self._at(home))

    def _link_all(self, links: SideLinks) -> Sliced[None]:
        """Link the groups with unchanged events; then place their events again, where room has appeared."""
        groups = [group for group in links.groups if all(map(self._is_as_linked, map(links.of, group)))]
        for group in groups:
            self._link(group)
            yield
        for key in [member.key for group in groups for member in group]:
            if (side := self._get(key)) is not None:
                self._put(key, self._placed(side))

    def _link(self, group: Group) -> None:
        """Put the side events of a group into the match of the others, or all into one match."""
        keys = [member.key for member in group]
        is_with_main = any(key in self._after.by_event for key in keys)
        home: FixtureId | None = None
        for member in group:
            if (side := self._get(member.key)) is None:
                continue
            others = tuple([key for key in keys if key != member.key])
            new = replace(side, member=member, others=others, is_judged=True)
            if not is_with_main:
                if home is None:
                    is_shared = any(key not in keys for key in self._at(side.home))
                    home = self._own(side.key) if is_shared else side.home
                new = replace(new, home=home)
            new = self._placed(new)
            home = new.home
            self._put(member.key, new)

    def _is_as_linked(self, event: Event) -> bool:
        """Return whether an event is still listed as the linker saw it."""
        if (side := self._get(event.key)) is not None:
            return side.event == event
        fixture = self._after.of_event(event.key)
        return fixture is not None and unpriced_event_of(fixture, event.key, self._roster) == event

    def _first_entry(self, key: EventKey) -> Entry | None:
        """Return the entry that names an event: from the first market of its first bookmaker."""
        for name in self._by_source.get(key.source, ()):
            for books in self._books:
                for entry in beginning_with(books[name].chunks, f"{key.source_match_id} "):
                    if entry.is_named:
                        return entry
        return None

    @cached_property
    def _by_source(self) -> dict[SourceName, list[BookmakerId]]:
        names: dict[SourceName, list[BookmakerId]] = {}
        for name, info in self._roster.items():
            names.setdefault(info.source, []).append(name)
        return names

    def _heads(self, changed: Mapping[EventKey, SideEvent | None]) -> dict[FixtureId, Head | None]:
        """Return the heads of matches that lost their 1X2 prices; None for a head no longer needed."""
        homes = dict.fromkeys([*self._homes, *(new.home for new in changed.values() if new is not None)])
        heads: dict[FixtureId, Head | None] = {}
        for home in homes:
            if not self._at(home) or home in self._after.places:
                heads[home] = None
            elif home not in self._base.heads and (fixture := self._before.get(home)) is not None:
                heads[home] = head_of(fixture, self._roster.live)
        return heads


def _is_listed_alike(old: Entry | None, new: Entry | None) -> bool:
    if old is None or new is None:
        return old is new
    return old.match.listing == new.match.listing and old.scope == new.scope


def _with(base: Map[K, V], changes: Mapping[K, V | None]) -> Map[K, V]:
    mutation = base.mutate()
    for key, value in changes.items():
        if value is None:
            mutation.pop(key, None)
        else:
            mutation[key] = value
    return mutation.finish()
