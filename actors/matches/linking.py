"""Between the fixtures and the matcher: events that changed go there, its groups come back as links.

Pure, in slices. Links have the events that they were made for: an event that changed meanwhile is
left out when they are applied. It is on its way to the matcher again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Protocol

from msgspec import Struct, field

from actors.board.snapshot import Snapshot
from actors.core.cooperative import SLICE, Sliced
from actors.matches.draft import FixtureUpdate
from actors.matches.entries import event_of, unpriced_event_of
from actors.matches.links import join, part
from actors.matches.model import Fixture, FixtureChanges, FixtureState, Roster
from actors.matching.event import Event, EventKey
from actors.matching.matcher import Group, GroupChanges, Member
from actors.matching.rules import Rule, rules_of

MAX_WAITING = 100_000  # events; with more all are linked again, which needs no more memory
LOOKED_AT_AGAIN = 1000  # events at once
PORTION = 48  # events linked in one commit: some milliseconds, for which prices wait


class Partition(Protocol):
    """Groups events (`matcher.py:Matcher`)."""

    def keys(self) -> Iterator[EventKey]:
        """Iterate over all events that are here; they may change meanwhile."""
        ...

    def update(self, changed: Iterable[Event], gone: Iterable[EventKey] = ()) -> Sliced[GroupChanges]:
        """Add or replace events, remove others, and return what that changed in the groups."""
        ...

    def lists(self, event: Event) -> bool:
        """Return whether an event is here as it is, but perhaps with other prices, or none."""
        ...

    def group(self, key: EventKey) -> Group | None:
        """Return the group that an event is in, None if it is in none."""
        ...

    def open(self, most: int) -> list[EventKey]:
        """Return so many events that other prices may group otherwise, others the next time."""
        ...


class Waiting:
    """The events that are still to be linked; outlives the linker, which begins with all there are."""

    def __init__(self) -> None:
        self._keys: dict[EventKey, None] | None = None
        self._arrived = asyncio.Event()

    @property
    def depth(self) -> int:
        """The number of events, 0 where it is all."""
        return len(self._keys or ())

    def add(self, snapshot: Snapshot) -> None:
        """Add the events that a commit changed."""
        changes = snapshot.fixture_changes
        if isinstance(changes, FixtureChanges) and changes.events:
            if self._keys is not None:
                self._keys |= dict.fromkeys(changes.events)
                if len(self._keys) > MAX_WAITING:
                    self._keys = None
            self._arrived.set()

    def begin_anew(self) -> None:
        """Have all events linked again."""
        self._keys = None
        self._arrived.set()

    async def get(self) -> Iterable[EventKey] | None:
        """Wait for events and return them, None for all."""
        await self._arrived.wait()
        self._arrived.clear()
        return self.get_nowait()

    def get_nowait(self) -> Iterable[EventKey] | None:
        """Return the events that wait, perhaps none, or None for all."""
        keys, self._keys = self._keys, {}
        return keys


class Links(Struct, frozen=True, eq=False):
    """Groups that are to be fixtures, an event alone as a group of one; `events` are theirs, not priced.

    `pending` events are still to be linked after them. The aggregator sets `applied` when a version has
    them, or when it dropped them.
    """

    groups: tuple[Group, ...]
    events: Mapping[EventKey, Event]
    pending: int = 0
    applied: asyncio.Event = field(default_factory=asyncio.Event)


class Linking:
    """Has a matcher group the events of fixtures, and returns the links that fixtures lack."""

    def __init__(self, linker: Partition, roster: Roster) -> None:
        self.linker = linker
        self._roster = roster

    def update(
        self, state: FixtureState, keys: Iterable[EventKey] | None, *, look_again: bool = False
    ) -> Sliced[list[Links]]:
        """Have these events, or (None) all there are, grouped as `state` has them.

        With `look_again` also some events that other prices may group otherwise. Returns in portions the
        links that differ from those of `state`, first those that end others; all have to be applied, or
        dropped, before the next call.
        """
        again = self.linker.open(LOOKED_AT_AGAIN) if look_again else []
        due, gone, events = yield from self._sorted(state, keys, dict.fromkeys(again))
        changes = yield from self.linker.update(events, gone)
        ending: list[Group] = []
        others: list[Group] = []
        looked_at: set[EventKey] = set()
        for key in chain(changes.alone, (group[0].key for group in changes.groups), due):
            if key not in looked_at:
                group = self._group(key)
                looked_at.update([member.key for member in group])
                if not _is_grouped(state.of_event(key), group) and self._is_known(state, group):
                    (ending if _ends_links(state, group) else others).append(group)
                yield
        return (yield from self._links(state, ending + others))

    def _sorted(
        self, state: FixtureState, keys: Iterable[EventKey] | None, again: Mapping[EventKey, None]
    ) -> Sliced[tuple[list[EventKey], list[EventKey], list[Event]]]:
        """Return which events are there, which are gone, and which the matcher has to look at.

        It looks at the events in `again`, those that differ, and those not grouped as their fixture is.
        """
        if keys is None:
            here = (member.key for fixture in state for member in fixture.members)
            keys = dict.fromkeys(chain(self.linker.keys(), here))
        due: list[EventKey] = []
        gone: list[EventKey] = []
        events: list[Event] = []
        settled: set[EventKey] = set()
        for count, key in enumerate({**dict.fromkeys(keys), **again}, 1):
            if (fixture := state.of_event(key)) is None:
                gone.append(key)
            else:
                due.append(key)
                if key not in settled and _is_grouped(fixture, self._group(key)):
                    settled.update([member.key for member in fixture.members])
                if key in again or key not in settled or not self._lists(fixture, key):
                    events.append(event_of(fixture, key, self._roster))
            if count % (SLICE // 4) == 0:
                yield
        return due, gone, events

    def _group(self, key: EventKey) -> Group:
        """Return the group of an event; alone in it if it is in none."""
        return self.linker.group(key) or (Member(key, Rule.FIRST),)

    def _lists(self, fixture: Fixture, key: EventKey) -> bool:
        """Return whether the linker has an event as it is, but perhaps with other prices."""
        return self.linker.lists(unpriced_event_of(fixture, key, self._roster))

    def _is_known(self, state: FixtureState, group: Group) -> bool:
        """Return whether the events of a group are there as they were grouped: none has changed again."""
        return all(
            (there := state.of_event(member.key)) is not None and self._lists(there, member.key)
            for member in group
        )

    def _links(self, state: FixtureState, groups: Iterable[Group]) -> Sliced[list[Links]]:
        """Return the links of groups, in portions."""
        portions: list[Links] = []
        some: list[Group] = []
        events: dict[EventKey, Event] = {}
        for group in groups:
            some.append(group)
            for member in group:
                if (fixture := state.of_event(member.key)) is not None:
                    events[member.key] = unpriced_event_of(fixture, member.key, self._roster)
            if len(events) >= PORTION:
                portions.append(Links(tuple(some), events))
                some, events = [], {}
            yield
        return [*portions, Links(tuple(some), events)] if some else portions


def _ends_links(state: FixtureState, group: Group) -> bool:
    """Return whether an event of a group is in a fixture with others."""
    keys = {member.key for member in group}
    fixtures = [fixture for key in keys if (fixture := state.of_event(key)) is not None]
    return any(member.key not in keys for fixture in fixtures for member in fixture.members)


def _is_grouped(fixture: Fixture | None, group: Group) -> bool:
    """Return whether a fixture has the events of a group, by the same rules."""
    return fixture is not None and rules_of(fixture.members) == rules_of(group)


def apply(draft: FixtureUpdate, links: Links, roster: Roster) -> Iterator[Fixture]:
    """Make the groups fixtures, as far as their events are those compared; yield each that has several.

    The matcher looks again at each event that is not as it was: it may be grouped otherwise meanwhile.
    """
    for group in links.groups:
        if _is_grouped(_fixture_of(draft, group[0].key), group):
            continue
        draft.events |= dict.fromkeys([member.key for member in group])
        if all(_is_current(draft, links.events[member.key], roster) for member in group):
            if len(group) == 1:
                part(draft, group[0].key)
            else:
                yield join(draft, group)


def _fixture_of(draft: FixtureUpdate, key: EventKey) -> Fixture | None:
    fixture_id = draft.id_of(key)
    return None if fixture_id is None else draft.get(fixture_id)


def _is_current(draft: FixtureUpdate, event: Event, roster: Roster) -> bool:
    fixture = _fixture_of(draft, event.key)
    return fixture is not None and unpriced_event_of(fixture, event.key, roster) == event
