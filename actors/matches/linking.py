"""Passes changed events to the matcher, and returns its groups as links of fixtures.

Pure, in slices. Links name the events for which they were made: events that have changed since are skipped
when links are applied, because they will reach the matcher again.
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

MAX_WAITING = 100_000  # events; above that all events are linked again, which needs no list
LOOKED_AT_AGAIN = 1000  # events in one check
PORTION = 48  # events linked in one commit: some milliseconds, during which prices wait


class Partition(Protocol):
    """Groups events (`matcher.py:Matcher`)."""

    def keys(self) -> Iterator[EventKey]:
        """Iterate over all its events; they may change meanwhile."""
        ...

    def update(self, changed: Iterable[Event], gone: Iterable[EventKey] = ()) -> Sliced[GroupChanges]:
        """Add or replace events, remove others, and return the changes of groups."""
        ...

    def lists(self, event: Event) -> bool:
        """Return whether it has an event, equal except for prices."""
        ...

    def group(self, key: EventKey) -> Group | None:
        """Return the group of an event, None if it is in none."""
        ...

    def open(self, most: int) -> list[EventKey]:
        """Return `most` events at most whose groups may depend on prices; the next call returns others."""
        ...


class Waiting:
    """The events that are not linked yet; outlives the linker, which begins with all events."""

    def __init__(self) -> None:
        self._keys: dict[EventKey, None] | None = None
        self._arrived = asyncio.Event()

    @property
    def depth(self) -> int:
        """The number of events that wait by name; 0 also while the whole board waits."""
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
        """Return the waiting events, perhaps none, or None for all."""
        keys, self._keys = self._keys, {}
        return keys


class Links(Struct, frozen=True, eq=False):
    """Groups to become fixtures (a single event is a group); `events` are their events, without prices.

    `pending` more events are not linked yet. The aggregator sets `applied` when a version has the links, or
    when it dropped them.
    """

    groups: tuple[Group, ...]
    events: Mapping[EventKey, Event]
    pending: int = 0
    applied: asyncio.Event = field(default_factory=asyncio.Event)


class Linking:
    """Has a matcher group the fixtures' events, and returns the missing links."""

    def __init__(self, linker: Partition, roster: Roster) -> None:
        self.linker = linker
        self._roster = roster

    def update(
        self, state: FixtureState, keys: Iterable[EventKey] | None, *, look_again: bool = False
    ) -> Sliced[list[Links]]:
        """Group these events, or (None) all, in their state in `state`, and return the missing links.

        With `look_again` some events whose groups may depend on prices are included. The links that differ
        from `state` come in portions, first those that end other links; all must be applied or dropped
        before the next call.
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
        """Return the existing events, the removed ones, and the events that the matcher must compare.

        These are the events in `again`, changed events, and events that are not grouped like their fixture.
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
        """Return the group of an event; an event in no group is a group of one."""
        return self.linker.group(key) or (Member(key, Rule.FIRST),)

    def _lists(self, fixture: Fixture, key: EventKey) -> bool:
        """Return whether the linker has an event, equal except for prices."""
        return self.linker.lists(unpriced_event_of(fixture, key, self._roster))

    def _is_known(self, state: FixtureState, group: Group) -> bool:
        """Return whether the events of a group are unchanged since they were grouped."""
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
    """Return whether an event of a group shares a fixture with an event outside the group."""
    keys = {member.key for member in group}
    fixtures = [fixture for key in keys if (fixture := state.of_event(key)) is not None]
    return any(member.key not in keys for fixture in fixtures for member in fixture.members)


def _is_grouped(fixture: Fixture | None, group: Group) -> bool:
    """Return whether a fixture has exactly the events of a group, linked by the same rules."""
    return fixture is not None and rules_of(fixture.members) == rules_of(group)


def apply(draft: FixtureUpdate, links: Links, roster: Roster) -> Iterator[Fixture]:
    """Make the groups fixtures if all their events are unchanged; yield each with several events.

    The matcher compares all events again that were not linked as in their group.
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
