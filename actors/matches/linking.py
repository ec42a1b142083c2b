"""Between the fixtures and the linker: events that changed go there, its groups come back as a commit.

Pure, in slices, with one owner. What it proposes of events that changed meanwhile is dropped: they come
again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Protocol

from msgspec import Struct

from actors.board.snapshot import Snapshot
from actors.core.cooperative import SLICE, Sliced
from actors.matches.draft import Draft
from actors.matches.entries import event_of, unpriced_event_of
from actors.matches.links import join, part
from actors.matches.model import Fixture, FixtureChanges, FixtureState
from actors.matches.update import Advancing
from actors.matching.event import Event, EventKey
from actors.matching.matcher import Changes, Group

MAX_WAITING = 100_000  # events; with more all are linked again, which needs no more memory
PORTION = 48  # events linked in one commit: some milliseconds, in which nothing else is committed


class Partition(Protocol):
    """What groups events (`linker.py:Linker`)."""

    def keys(self) -> Iterator[EventKey]:
        """Iterate over all events that are here; they may change meanwhile."""
        ...

    def update(self, changed: Iterable[Event], gone: Iterable[EventKey] = ()) -> Sliced[Changes]:
        """Add or replace events, remove others, and return what that changed in the groups."""
        ...

    def has(self, event: Event) -> bool:
        """Return whether an event is here as it is."""
        ...

    def lists(self, event: Event) -> bool:
        """Return whether an event is here as it is, but perhaps with other prices, or none."""
        ...

    def group(self, key: EventKey) -> Group | None:
        """Return the group that an event is in, None if it is in none."""
        ...


class Waiting:
    """The events that are still to be linked; outlives the linker, which begins with all there are."""

    def __init__(self) -> None:
        self._keys: dict[EventKey, bool] | None = None
        self._arrived = asyncio.Event()

    @property
    def depth(self) -> int:
        """The number of events, 0 where it is all."""
        return len(self._keys or ())

    def add(self, snapshot: Snapshot) -> None:
        """Add those that a commit changed."""
        changes = snapshot.fixture_changes
        if not isinstance(changes, FixtureChanges):
            return
        if changes.events:
            if self._keys is not None:
                self._keys |= changes.events
                if len(self._keys) > MAX_WAITING:
                    self._keys = None
            self._arrived.set()

    def begin_anew(self) -> None:
        """Have all events linked again."""
        self._keys = None
        self._arrived.set()

    async def get(self) -> Mapping[EventKey, bool] | None:
        """Wait for events and return them, None for all; True is that of a match that is over."""
        await self._arrived.wait()
        self._arrived.clear()
        return self.get_nowait()

    def get_nowait(self) -> Mapping[EventKey, bool] | None:
        """Return what waits, which may be nothing, or None for all."""
        keys, self._keys = self._keys, {}
        return keys


class Proposal(Struct, frozen=True):
    """Groups to be fixtures, and events to be fixtures of their own."""

    groups: tuple[Group, ...]
    alone: tuple[EventKey, ...]


class Linking:
    """What of the linker's groups is still to be published, by one event of each."""

    def __init__(self, linker: Partition, advancing: Advancing) -> None:
        self.linker = linker
        self._advancing = advancing
        self._roster = advancing.roster
        self._due: dict[EventKey, None] = {}
        self._again: dict[EventKey, bool] = {}
        self._proposal = Proposal((), ())

    @property
    def is_due(self) -> bool:
        """Whether there is anything to publish."""
        return bool(self._due)

    @property
    def is_outdated(self) -> bool:
        """Whether an update is needed because the prices of what was proposed had changed."""
        return bool(self._again)

    def update(self, state: FixtureState, keys: Mapping[EventKey, bool] | None) -> Sliced[None]:
        """Have these events, or (None) all there are, linked as `state` has them; True: learn of it."""
        again, self._again = self._again, {}
        other: dict[EventKey, bool] = {}  # to be published again; True for those that are linked now
        wanted: Iterable[EventKey]
        known: Iterable[EventKey]
        if keys is None:
            wanted = (member.key for fixture in state for member in fixture.members)
            known = self.linker.keys()
        else:
            wanted = known = {**keys, **again}
        gone: list[EventKey] = []
        for count, key in enumerate(known, 1):
            if state.of_event(key) is None:
                gone.append(key)
                self._due.pop(key, None)
            if count % SLICE == 0:
                yield
        changes = yield from self.linker.update(self._events(state, wanted, other), gone)
        if keys is None:  # first: what the operator has just kept apart must not wait for all others
            yield from self._withdraw(state)
        yield from self._take(changes)
        for count, (key, is_linked) in enumerate(other.items(), 1):
            if (group := self.linker.group(key)) is not None:
                self._due[group[0].key] = None
            elif is_linked:
                self._due[key] = None
            if count % SLICE == 0:
                yield

    def _events(
        self, state: FixtureState, keys: Iterable[EventKey], other: dict[EventKey, bool]
    ) -> Iterator[Event]:
        """Yield the events of these keys that are there.

        Add those to `other` that are not as the linker has them, and whether they are linked; also where
        only the fixture is not: what came back before anybody looked is new there, and a proposal may have
        been dropped for a change that was undone.
        """
        for key in keys:
            if (fixture := state.of_event(key)) is not None:
                event = event_of(fixture, key, self._roster)
                if not (self.linker.has(event) and self._is_as_grouped(fixture, key)):
                    other[key] = len(fixture.members) > 1
                yield event

    def _is_as_grouped(self, fixture: Fixture, key: EventKey) -> bool:
        """Return whether the fixture of an event has the events of its group, and no others."""
        group = self.linker.group(key)
        keys = {key} if group is None else {one.key for one in group}
        return keys == {one.key for one in fixture.members}

    def _take(self, changes: Changes) -> Sliced[None]:
        keys = chain(changes.alone, (group[0].key for group in changes.groups))
        while some := [*islice(keys, SLICE)]:
            self._due |= dict.fromkeys(some)
            yield

    def _withdraw(self, state: FixtureState) -> Sliced[None]:
        """Have fixtures made anew whose events are not of one group, as after a restart."""
        for chunk in state.chunks:
            for fixture in chunk.fixtures.values():
                if len(fixture.members) > 1:
                    groups = ((one.key, self.linker.group(one.key)) for one in fixture.members)
                    firsts = dict.fromkeys(group[0].key if group else key for key, group in groups)
                    if len(firsts) > 1:
                        self._due |= firsts
            yield

    def _proposed(self, most: int) -> Proposal:
        """Return the next groups, of about so many events, which are then no longer due."""
        groups: list[Group] = []
        alone: list[EventKey] = []
        count = 0
        while self._due and count < most:
            key = next(iter(self._due))
            del self._due[key]
            if (group := self.linker.group(key)) is None:
                alone.append(key)
                count += 1
            else:
                self._due.pop(group[0].key, None)
                groups.append(group)
                count += len(group)
        return Proposal(tuple(groups), tuple(alone))

    def apply(self, draft: Draft) -> Iterator[None]:
        """Make of the fixtures what is due next, as far as their events are what was linked."""
        self._proposal = proposal = self._proposed(PORTION)
        for key in proposal.alone:
            if self._is_current(draft, key):
                part(draft, key)
        yield
        for group in proposal.groups:
            if all(self._is_current(draft, one.key) for one in group):
                joined = join(draft, group)
                vetoed = self._advancing.vetoed(joined, {one.key.source for one in group})
                if vetoed and not self._has_all(joined):
                    self._again |= dict.fromkeys([one.key for one in group], False)  # either's may be new
                for key in vetoed:
                    part(draft, key)
            yield

    def _has_all(self, fixture: Fixture) -> bool:
        """Return whether the linker has the events of a fixture as they are: then it would say the same."""
        events = (event_of(fixture, one.key, self._roster) for one in fixture.members)
        return all(self.linker.has(event) for event in events)

    def put_back(self) -> None:
        """Have what was applied last published again, because its commit was not."""
        proposal = self._proposal
        self._due |= dict.fromkeys([*proposal.alone, *(group[0].key for group in proposal.groups)])

    def _is_current(self, draft: Draft, key: EventKey) -> bool:
        fixture_id = draft.id_of(key)
        fixture = None if fixture_id is None else draft.get(fixture_id)
        return fixture is not None and self.linker.lists(unpriced_event_of(fixture, key, self._roster))
