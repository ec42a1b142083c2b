"""What changed of the fixtures since which version: the last change of each, back to an oldest version.

As the board's history (`actors/board/history.py`), for two kinds of view, each whole or by bookmaker.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import islice, takewhile

from msgspec import Struct

from actors.board.history import MAX_ANSWER, HistoryLimits
from actors.board.snapshot import Snapshot
from actors.core.cooperative import SLICE, Sliced
from actors.core.messages import BookmakerId
from actors.matches.model import (
    Fixture,
    FixtureChange,
    FixtureChanges,
    FixtureState,
    FixtureView,
    Kind,
    RemovalReason,
    fixtures_of,
)
from actors.matching.event import FixtureId


class Gone(Struct, frozen=True, gc=False):
    """When and why a fixture left a view."""

    version: int
    reason: RemovalReason
    into: FixtureId | None = None


class FixtureRecord(Struct, frozen=True, eq=False, gc=False):
    """The last change of a fixture in the views of a kind: what they show, or why it has gone.

    `left` has the bookmakers whose views it left.
    """

    id: FixtureId
    version: int
    fixture: Fixture | None
    gone: Gone | None
    left: Mapping[BookmakerId, Gone]


class RecentFixtures(Struct, frozen=True):
    """What leads to `version`: fixtures in order, and those that left; `is_merged` from several commits."""

    version: int
    is_merged: bool
    fixtures: list[Fixture]
    removed: list[tuple[FixtureId, Gone]]


_OF_ALL = {kind: FixtureView(kind) for kind in Kind}
_NOBODY: Mapping[BookmakerId, Gone] = {}


class FixtureHistory:
    """The changes of fixtures after `first`, of its epoch."""

    def __init__(self, first: Snapshot, limits: HistoryLimits) -> None:
        self.epoch = first.epoch
        self._state = fixtures_of(first)
        self.terms = self._state.terms
        self._limits = limits
        self._previous: dict[FixtureView, int] = {}
        self._oldest = dict.fromkeys(Kind, first.version)
        self._records: dict[Kind, dict[FixtureId, FixtureRecord]] = {kind: {} for kind in Kind}
        self._pending: deque[Iterator[FixtureRecord | None]] = deque()
        self._changed: set[FixtureView] = set()
        self._listeners: list[Callable[[Collection[FixtureView]], None]] = []

    def subscribe(self, listener: Callable[[Collection[FixtureView]], None]) -> None:
        """Have `listener` called after commits, with the views that they changed; it must not wait."""
        self._listeners.append(listener)

    def add(self, snapshot: Snapshot) -> None:
        """Add the newest snapshot, at once; `digest` works through its changes."""
        changes, version = snapshot.fixture_changes, snapshot.version
        old, self._state = self._state, fixtures_of(snapshot)
        if isinstance(changes, FixtureChanges) and changes.changes:
            for view in _changed_views(self._state, version):
                self._previous[view] = old.version(view)
                self._changed.add(view)
            self._pending.append(self._recorded(changes.changes, version))

    def digest(self) -> Sliced[None]:
        """Work through what was added, then call the listeners; concurrent calls share the work."""
        while self._pending:
            if len(list(islice(self._pending[0], SLICE // 2))) < SLICE // 2:
                self._pending.popleft()
            yield from self._drop_oldest()
            if not self._pending and self._changed:
                changed, self._changed = self._changed, set()
                for listener in self._listeners:
                    listener(changed)
            yield

    def latest(self, view: FixtureView) -> int:
        """Return the view's own version: that of the last commit that changed what it shows."""
        return self._state.version(view)

    def oldest(self, view: FixtureView) -> int:
        """Return the oldest version since which all digested changes of the view are known."""
        return self._oldest[view.kind]

    def since(self, view: FixtureView, version: int) -> Sliced[RecentFixtures | None]:
        """Return the changes of the view after `version`, one per fixture, as they are at one moment.

        None if not all of them are known any more, or if there are more than `MAX_ANSWER`.
        """
        yield from self.digest()
        if version < self.oldest(view):
            return None
        latest = self.latest(view)
        newest, is_merged = max(latest, version), version < self._previous.get(view, latest)
        found: list[FixtureRecord] = []
        if latest > version:
            records = reversed(self._records[view.kind].values())
            newer = takewhile(lambda one: one.version > version, records)
            found = [*islice(newer, self._limits.max_changes + 1)]
            if len(found) > self._limits.max_changes:  # the oldest are being dropped, by another call
                return None
        recent = RecentFixtures(newest, is_merged, [], [])
        for count, record in enumerate(found, 1):
            fixture = record.fixture
            if fixture is not None and view.shows(fixture):
                recent.fixtures.append(fixture)
            else:
                gone = record.gone if view.bookmaker is None else record.left.get(view.bookmaker)
                if gone is not None and gone.version > version:
                    recent.removed.append((record.id, gone))
            if count % SLICE == 0:
                yield
        if len(recent.fixtures) + len(recent.removed) > MAX_ANSWER:
            return None
        recent.fixtures.sort(key=lambda one: one.place)
        recent.removed.sort(key=lambda one: one[0])
        return recent

    def merged_into(self, fixture_id: FixtureId) -> FixtureId | None:
        """Return the fixture that another turned out to be, perhaps by way of others, if it is here."""
        seen = {fixture_id}
        while (record := self._records[Kind.FIXTURES].get(fixture_id)) and record.gone is not None:
            if record.gone.into is None or record.gone.into in seen:
                return None
            seen.add(fixture_id := record.gone.into)
        return fixture_id if len(seen) > 1 and self._state.get(fixture_id) is not None else None

    def _recorded(self, changes: Collection[FixtureChange], version: int) -> Iterator[FixtureRecord | None]:
        """Record changes one by one, as this is gone through."""
        for one in changes:
            yield self._record(Kind.FIXTURES, one, version)
            if (one.before and one.before.surebet) or (one.after and one.after.surebet):
                yield self._record(Kind.SUREBETS, one, version)

    def _record(self, kind: Kind, change: FixtureChange, version: int) -> FixtureRecord:
        view = _OF_ALL[kind]
        before, after = (
            one if one is not None and view.shows(one) else None for one in (change.before, change.after)
        )
        records = self._records[kind]
        old = records.pop(change.id, None)
        left = _NOBODY if old is None else old.left
        gone = None
        if before is None or after is None or before.bookmakers != after.bookmakers:
            is_of_surebet = kind is Kind.SUREBETS and change.after is not None and after is None
            gone = Gone(version, change.surebet_reason if is_of_surebet else change.reason, change.into)
            stays = () if after is None else after.bookmakers
            went = () if before is None else before.bookmakers
            split = dict.fromkeys(change.apart.intersection(went), Gone(version, RemovalReason.SPLIT))
            every = {**left, **dict.fromkeys(went, gone), **split}
            left = {name: one for name, one in every.items() if name not in stays}
        record = FixtureRecord(change.id, version, after, gone if after is None else None, left)
        records[change.id] = record
        return record

    def _drop_oldest(self) -> Sliced[None]:
        """While there are too many changes, drop those of the oldest commit."""
        for kind, records in self._records.items():
            while len(records) > self._limits.max_changes:
                version = next(iter(records.values())).version
                of_it = takewhile(lambda one: one.version <= version, records.values())  # noqa: B023 - at once
                for dropped in [*islice(of_it, SLICE)]:
                    del records[dropped.id]
                self._oldest[kind] = version
                yield


def _changed_views(state: FixtureState, version: int) -> Iterator[FixtureView]:
    for kind, versions in state.versions.items():
        for name, one in versions.items():
            if one == version:
                yield FixtureView(kind, name)
