"""The next fixtures in the making: single changes to a state, then the state with all of them.

Pure, in slices. It assigns ids, decides which fixture survives a merge, and which views show a change.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from math import inf
from typing import TypeVar

from immutables import Map
from msgspec.structs import replace

from actors.board.diff import is_other
from actors.board.snapshot import Entry, Linked
from actors.core.cooperative import SLICE, Sliced
from actors.core.messages import BookmakerId, Match
from actors.markets.market import ONE_X_TWO, Market
from actors.matches.candidates import Books
from actors.matches.model import (
    Fixture,
    FixtureChange,
    FixtureChanges,
    FixtureChunk,
    FixtureRemoval,
    FixtureSettings,
    FixtureState,
    FixtureView,
    Head,
    Highest,
    Place,
    Roster,
    ViewKind,
)
from actors.matches.surebets import Surebet
from actors.matching.event import EventKey, FixtureId, derived_id
from actors.matching.matcher import Member
from actors.matching.rules import Rule

Entries = Mapping[BookmakerId, Entry]
Views = dict[ViewKind, set[BookmakerId | None]]
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class FixtureUpdate:
    """Changes of `base`, to become the fixtures of `version`. Owned by one caller; never waits."""

    def __init__(self, base: FixtureState, roster: Roster, version: int, books: Books) -> None:
        self.base, self.terms = base, base.terms
        self.version = version
        self.events: dict[EventKey, None] = {}
        """The events that may need new links."""
        self.reasons: dict[FixtureId, tuple[FixtureRemoval, FixtureId | None]] = {}
        self.candidates = base.candidates
        self.pending = base.pending
        self.aged: set[FixtureId] = set()
        """The fixtures with a surebet that ended because of its age."""
        self._roster = roster
        self._books = books
        self._fixtures: dict[FixtureId, Fixture | None] = {}
        self._before: dict[FixtureId, Fixture | None] = {}
        self._by_event: dict[EventKey, FixtureId | None] = {}

    @property
    def touched(self) -> list[FixtureId]:
        """The ids of the fixtures that differ from the base."""
        return list(self._fixtures)

    def get(self, fixture_id: FixtureId) -> Fixture | None:
        """Return a fixture in its current state."""
        if fixture_id in self._fixtures:
            return self._fixtures[fixture_id]
        return self._looked_up(fixture_id)

    def id_of(self, key: EventKey) -> FixtureId | None:
        """Return the current fixture of an event."""
        if key in self._by_event:
            return self._by_event[key]
        return self.base.by_event.get(key)

    def put(self, fixture: Fixture) -> None:
        """Add a fixture, or replace the one with its id."""
        self._fixtures[fixture.id] = fixture

    def adopt(self, terms: FixtureSettings) -> Sliced[None]:
        """Change the settings, on which doubts about prices depend, and mark all fixtures as changed."""
        self.terms = terms
        for count, fixture in enumerate(self.base, 1):
            self.put(replace(fixture))  # a new object, because derived values are cached by the object
            if count % SLICE == 0:
                yield

    def move(self, keys: Iterable[EventKey], into: FixtureId | None) -> None:
        """Record that these events are now in that fixture, or (None) in none, as no source lists them."""
        for key in keys:
            self._by_event[key] = into

    def remove(self, fixture_id: FixtureId, reason: FixtureRemoval, into: FixtureId | None = None) -> None:
        """Remove a fixture; its events are moved separately."""
        self._fixtures[fixture_id] = None
        self.reasons[fixture_id] = reason, into

    def begin(self, members: tuple[Member, ...], entries: Entries) -> Fixture:
        """Add a fixture that begins with the first of these events."""
        fixture_id, attempt = derived_id(members[0].key), 0
        while self.get(fixture_id) is not None:  # the event began that fixture, too, and left it
            attempt += 1
            fixture_id = derived_id(members[0].key, attempt)
        fixture = self.made(fixture_id, self.version, members, entries)
        self.put(fixture)
        self.reasons.pop(fixture_id, None)  # the reason for its removal earlier in this draft
        self.move([member.key for member in members], fixture_id)
        return fixture

    def made(
        self,
        fixture_id: FixtureId,
        created: int,
        members: tuple[Member, ...],
        entries: Entries,
        *,
        market: Market = ONE_X_TWO,
        head: Head | None = None,
    ) -> Fixture:
        """Return a fixture of these members, its entries in order.

        If the base's fixture has the same links, its age and the evidence of its links stay.
        """
        roster, live, before = self._roster, self._roster.live, self._looked_up(fixture_id)
        if before is not None and before.bookmakers == tuple(entries):  # the usual case
            names, lead = before.bookmakers, before.lead
        else:
            entries = dict(sorted(entries.items(), key=lambda item: roster[item[0]].place))
            names = tuple(entries)
            lead = min(names, key=lambda name: (roster[name].source_place, roster[name].place))
        if before is None or members is not before.members:
            members = rooted(members)
            if before is not None and bonds(before.members) == bonds(members):
                created, members = before.created, before.members
        named = entries[lead].match if head is None else head.match
        place, outdone = _place_of(named, fixture_id), self._outdone(entries)
        listed = tuple(entries.values())
        highest = None if outdone or before is None else self._highest_after(before, names, listed)
        if highest is None:
            counted = [
                entry.match for name, entry in entries.items() if name in live and name not in outdone
            ]
            highest = Highest.of(counted, market)
        return Fixture(
            *(fixture_id, created, members, names, listed, lead, place, highest),
            outdone=outdone,
            market=market,
            head=head,
        )

    def _highest_after(
        self, before: Fixture, names: tuple[BookmakerId, ...], listed: tuple[Entry, ...]
    ) -> Highest | None:
        """Return the highest prices, updated from the former ones; None if all prices must be checked."""
        if before.bookmakers != names or before.outdone:
            return None
        live, pairs = self._roster.live, zip(names, before.listed, listed, strict=True)
        changed = [(old.match, new.match) for name, old, new in pairs if old is not new and name in live]
        return before.highest.after(changed)

    def _outdone(self, entries: Entries) -> dict[BookmakerId, BookmakerId]:
        """Return each bookmaker with another of its company that was confirmed later."""
        latest: dict[str, tuple[bool, float, BookmakerId]] = {}
        names = [name for name in entries if name in shared] if (shared := self._roster.shared) else []
        for name in names:
            entry, company = entries[name], self._roster[name].company
            confirmed = self._books[name].vouched_mono(entry)
            is_live = name in self._roster.live  # collected prices count as never confirmed
            if company not in latest or (is_live, confirmed) > latest[company][:2]:
                latest[company] = is_live, confirmed, name
        freshest = {name: latest[self._roster[name].company][2] for name in names}
        return {name: other for name, other in freshest.items() if name != other}

    def part(self, fixture: Fixture, keys: set[EventKey]) -> dict[BookmakerId, Entry]:
        """Return the entries of a fixture that belong to these events."""
        roster, listed = self._roster, zip(fixture.bookmakers, fixture.listed, strict=True)
        return {
            name: entry
            for name, entry in listed
            if EventKey(roster[name].source, entry.match.source_match_id) in keys
        }

    def without(self, fixture: Fixture, keys: set[EventKey]) -> Fixture | None:
        """Take events out of a fixture and return it; if no event is left, remove it and return None."""
        members = tuple(member for member in fixture.members if member.key not in keys)
        if not members:
            self._fixtures[fixture.id] = None
            return None
        rest = self.part(fixture, {member.key for member in members})
        left = self.made(fixture.id, fixture.created, members, rest)
        self.put(left)
        return left

    def _looked_up(self, fixture_id: FixtureId) -> Fixture | None:
        """Return a fixture from the base."""
        if fixture_id not in self._before:
            self._before[fixture_id] = self.base.get(fixture_id)
        return self._before[fixture_id]

    def split(self, fixture: Fixture, key: EventKey) -> None:
        """Move an event of a fixture to a new fixture."""
        self.reasons[fixture.id] = FixtureRemoval.SPLIT, None
        entries = self.part(fixture, {key})
        self.without(fixture, {key})
        self.begin((Member(key, Rule.FIRST),), entries)

    def finish(self) -> Sliced[Linked | None]:
        """Return the fixtures with all changes, and the visible changes; None if nothing changed."""
        base, is_linked = self.base, self.pending == 0 < self.base.pending
        is_same = self.candidates is base.candidates and self.pending == base.pending
        is_same = is_same and self.terms is base.terms
        if is_same and not (self._fixtures or self.events):
            return None
        chunks, places = yield from self._arranged()
        changes = yield from self._seen()
        views = yield from _views(changes, len(self._roster))
        for kind, pendings in base.pendings.items() if is_linked else ():
            views[kind] = views.get(kind, set()) | {name for name, pending in pendings.items() if pending}
        state = FixtureState(
            base.first_version,
            self.terms,
            chunks,
            (yield from _changed(base.places, places)),
            (yield from _changed(base.by_event, self._by_event)),
            (yield from _changed(base.derived, (yield from self._derived()))),
            _with_views(base.versions, views, self.version),
            self.pending,
            _with_views(base.pendings, views, self.pending) if self.pending or base.pendings else {},
            self.candidates,
        )
        changed = tuple([FixtureView(kind, name) for kind, names in views.items() for name in names])
        noted = FixtureChanges(tuple(changes), tuple(self.events), changed)
        return Linked(state, noted, bool(changed))

    def _arranged(self) -> Sliced[tuple[tuple[FixtureChunk, ...], dict[FixtureId, Place | None]]]:
        """Return all fixtures in order, and the changed places."""
        changes: dict[Place, Fixture | None] = {}
        places: dict[FixtureId, Place | None] = {}
        for count, (fixture_id, new) in enumerate(self._fixtures.items(), 1):
            old = self._looked_up(fixture_id)
            if old is not None:
                changes[old.place] = None
            if new is not None:
                changes[new.place] = new
            if old is None or new is None or old.place != new.place:
                places[fixture_id] = None if new is None else new.place
            if count % SLICE == 0:
                yield
        return (yield from FixtureChunk.changed(self.base.chunks, changes)), places

    def _derived(self) -> Sliced[dict[FixtureId, EventKey | None]]:
        """Return the new events by their derived ids, and None for the ids of events that have gone."""
        derived: dict[FixtureId, EventKey | None] = {}
        for count, (key, fixture_id) in enumerate(self._by_event.items(), 1):
            if (fixture_id is None) == (key in self.base.by_event):
                derived[derived_id(key)] = None if fixture_id is None else key
            if count % SLICE == 0:
                yield
        return derived

    def _seen(self) -> Sliced[list[FixtureChange]]:
        changes: list[FixtureChange] = []
        is_same = self.terms is self.base.terms
        for count, (fixture_id, new) in enumerate(self._fixtures.items(), 1):
            old = self._looked_up(fixture_id)
            is_of_weak = not (is_seen(old, new) if is_same else old is not new)
            if not is_of_weak or _weak(old) != _weak(new):
                reason, into = self.reasons.get(fixture_id, (FixtureRemoval.ENDED, None))
                of_surebet = FixtureRemoval.AGE if fixture_id in self.aged else FixtureRemoval.GONE
                apart = frozenset[BookmakerId]()
                if old is not None and into is not None and (there := self.get(into)) is not None:
                    apart = _apart(old, there)
                what = reason, into, of_surebet, apart, is_of_weak
                changes.append(FixtureChange(fixture_id, old, new, *what))
            if count % SLICE == 0:
                yield
        return changes


def _changed(base: Map[K, V], changes: Mapping[K, V | None]) -> Sliced[Map[K, V]]:
    """Return a mapping with these values; None removes a key."""
    if not changes:
        return base
    mutation = base.mutate()
    for count, (key, value) in enumerate(changes.items(), 1):
        if value is None:
            mutation.pop(key, None)
        else:
            mutation[key] = value
        if count % SLICE == 0:
            yield
    return mutation.finish()


def _with_views(
    base: Mapping[ViewKind, Mapping[BookmakerId | None, int]], views: Views, value: int
) -> Mapping[ViewKind, Mapping[BookmakerId | None, int]]:
    """Return `base` with this value for these views."""
    new = {kind: {**base.get(kind, {}), **dict.fromkeys(names, value)} for kind, names in views.items()}
    return {**base, **new}


def _apart(old: Fixture, into: Fixture) -> frozenset[BookmakerId]:
    """Return the bookmakers whose match is not in the fixture into which their old fixture merged."""
    there = {entry.id for entry in into.listed}
    return frozenset([name for name, entry in old.entries.items() if entry.id not in there])


def _weak(fixture: Fixture | None) -> Surebet | None:
    return None if fixture is None else fixture.weak


def _place_of(lead: Match, fixture_id: FixtureId) -> Place:
    """Return the place of a fixture that takes its kick-off from this match."""
    start = lead.start_time
    return Place(inf if start is None else start, fixture_id)  # shares the entry's number object


def is_seen(old: Fixture | None, new: Fixture | None) -> bool:
    """Return whether readers see a difference."""
    if old is None or new is None:
        return old is not new
    if old.surebet != new.surebet or old.bookmakers != new.bookmakers or old.outdone != new.outdone:
        return True
    if old.head is not new.head and old.head != new.head:
        return True
    if old.has_begun != new.has_begun or old.is_main != new.is_main:
        return True
    if old.members is not new.members and bonds(old.members) != bonds(new.members):
        return True
    return any(
        before is not after
        and (
            is_other(before, after)
            or (before.match.in_play, before.match.url) != (after.match.in_play, after.match.url)
        )
        for before, after in zip(old.listed, new.listed, strict=True)
    )


def bonds(members: Iterable[Member]) -> list[tuple[object, ...]]:
    """Return how each member is linked: to which member, how surely, and whether the link has evidence."""
    return [
        (link.key, link.rule, link.to, link.max_price_gap, not link.evidence, link.certainty, link.limits)
        for link in members
    ]


def rooted(members: tuple[Member, ...]) -> tuple[Member, ...]:
    """Return members that all lead to a single member, even if links led to a removed event.

    A new link keeps the rule of the old one, but not its evidence: the two events have not been compared
    yet.
    """
    if len(members) == 1:
        return (Member(members[0].key, Rule.FIRST),)
    keys = {member.key for member in members}
    loose = [member for member in members if member.to not in keys]
    root = next((member for member in loose if member.to is None), loose[0])
    if len(loose) == 1 and root.to is None:
        return members
    new = {
        member.key: Member(member.key, member.rule, root.key, None, inf, member.certainty, member.limits)
        for member in loose
    } | {root.key: Member(root.key, Rule.FIRST, certainty=root.certainty)}
    return tuple(new.get(member.key, member) for member in members)


def _views(
    changes: Iterable[FixtureChange], bookmakers: int
) -> Sliced[dict[ViewKind, set[BookmakerId | None]]]:
    """Return the bookmakers whose views show these changes, by kind; `bookmakers` is their total number."""
    fixtures: set[BookmakerId | None] = set()
    surebets: set[BookmakerId | None] = set()
    weak: set[BookmakerId | None] = set()
    for count, change in enumerate(changes, 1):
        for shown in (change.before, change.after):
            if shown is None:
                continue
            if shown.market.quarters is not None and shown.standing is not None:
                weak.update(shown.bookmakers)
            if change.is_of_weak:
                continue
            if len(fixtures) < bookmakers:
                fixtures.update(shown.bookmakers)
            if shown.surebet is not None:
                surebets.update(shown.bookmakers)
        if count % SLICE == 0:
            yield
    seen = {ViewKind.FIXTURES: fixtures, ViewKind.SUREBETS: surebets, ViewKind.WEAK: weak}
    return {kind: {None, *names} for kind, names in seen.items() if names}
