"""The changes since a version: the last change of each match, back to an oldest version.

One change of each is kept, so that a lively match does not displace quiet ones; when there are too many,
those of the oldest commits are dropped. `actors/matches/history.py` has the history of fixtures.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from heapq import nlargest
from itertools import islice, takewhile
from operator import attrgetter
from typing import Annotated, Any, Generic, Protocol, TypeVar

from msgspec import Meta, Struct

from actors.board.diff import is_other, named
from actors.board.snapshot import Entry, RemovalReason, Snapshot
from actors.core.clock import elapsed_s
from actors.core.cooperative import SLICE, Sliced
from actors.core.messages import BookmakerId

MAX_ANSWER = 20_000  # changes in one answer: a client that missed more gets the list, which is smaller

V = TypeVar("V", bound=Hashable)
V_contra = TypeVar("V_contra", contravariant=True)


class HistoryLimits(Struct, frozen=True, forbid_unknown_fields=True):
    """How many changes are kept at most: of the lists, and as many of the fixtures."""

    max_changes: Annotated[int, Meta(ge=1, le=100_000_000)] = 100_000


class Record(Protocol[V_contra]):
    """The last change of something that views show."""

    @property
    def id(self) -> str:
        """The key of what changed."""
        ...

    @property
    def version(self) -> int:
        """The commit that made it."""
        ...

    @property
    def place(self) -> Any:
        """The place in the list of what is shown."""
        ...

    def is_in(self, view: V_contra) -> bool:
        """Return whether the view shows it."""
        ...

    def left_at(self, view: V_contra) -> int:
        """Return the version at which it left the view; 0 if it was never there."""
        ...


R = TypeVar("R", bound=Record[Any])


class Recent(Struct, Generic[R], frozen=True):
    """The changes that lead to `version`: those shown, in the order of the list, and those gone, by id.

    With `is_merged` several commits made it. `pending` events were still to be linked (fixtures only).
    """

    version: int
    is_merged: bool
    shown: list[R]
    gone: list[R]
    pending: int = 0


class History(ABC, Generic[V, R]):
    """The changes of views after `first`, of its epoch. Kept in parts: a view is of some of them."""

    def __init__(self, first: Snapshot, parts: Iterable[Hashable], limits: HistoryLimits) -> None:
        self._max_changes = limits.max_changes
        self._every_part = [*parts]
        self._listeners: list[Callable[[Collection[V]], None]] = []
        self._begin(first)

    def _begin(self, first: Snapshot) -> None:
        self.epoch = first.epoch
        self._first = first.version
        self._latest: dict[V, int] = {}
        self._previous: dict[V, int] = {}
        # Newest last. No OrderedDict: going through one takes five times as long.
        self._kept: dict[Hashable, dict[str, R]] = {part: {} for part in self._every_part}
        self._oldest = dict.fromkeys(self._kept, first.version)
        self._count = 0
        self._pending: deque[Iterator[tuple[Hashable, R]]] = deque()
        self._changed: set[V] = set()
        self.committed_s = 0.0
        """When the first commit of those came that the listeners are called after, by `elapsed_s`."""

    def restart(self, first: Snapshot, views: Collection[V]) -> None:
        """Begin anew with a snapshot that does not follow the last, and tell the clients of `views`."""
        self._begin(first)
        for listener in self._listeners:
            listener(views)

    @abstractmethod
    def _parts(self, view: V) -> Iterable[Hashable]:
        """Return the parts that a view is of, in the order of the list."""

    @abstractmethod
    def _views(self, snapshot: Snapshot) -> Iterable[V]:
        """Return the views that the commit of `snapshot` changed."""

    @abstractmethod
    def _records(self, snapshot: Snapshot) -> Iterator[tuple[Hashable, R]]:
        """Return what the commit of `snapshot` changed, with its part."""

    def _pending_in(self, view: V) -> int:
        """Return how many events were still to be linked in the newest version of a view."""
        del view
        return 0

    def subscribe(self, listener: Callable[[Collection[V]], None]) -> None:
        """Have `listener` called after commits, with the views that they changed; it must not wait."""
        self._listeners.append(listener)

    def add(self, snapshot: Snapshot) -> None:
        """Add the newest snapshot, at once; `digest` works through its changes."""
        self.epoch = snapshot.epoch
        if views := [*self._views(snapshot)]:
            for view in views:
                self._previous[view], self._latest[view] = self.latest(view), snapshot.version
            if not self._changed:
                self.committed_s = elapsed_s()
            self._changed.update(views)
            self._pending.append(self._records(snapshot))

    def digest(self) -> Sliced[None]:
        """Work through what was added, then call the listeners; concurrent calls share the work."""
        while self._pending:
            some = [*islice(self._pending[0], SLICE)]
            if len(some) < SLICE:
                self._pending.popleft()
            for part, record in some:
                kept = self._kept[part]
                self._count += kept.pop(record.id, None) is None
                kept[record.id] = record
            yield from self._drop_oldest()
            if not self._pending and self._changed:
                changed, self._changed = self._changed, set()
                for listener in self._listeners:
                    listener(changed)
            yield

    def last(self, part: Hashable, record_id: str) -> Sliced[R | None]:
        """Return the last change of something in a part; None if there is none, or it was dropped."""
        yield from self.digest()
        return self._kept[part].get(record_id)

    def latest(self, view: V) -> int:
        """Return the view's own version: that of the last commit that changed what it shows."""
        return self._latest.get(self._versioned(view), self._first)

    def _versioned(self, view: V) -> V:
        """Return the view whose versions a view has."""
        return view

    def oldest(self, view: V) -> int:
        """Return the oldest version since which all digested changes of the view are known.

        It is at most its newest: since then nothing of it has changed, whatever else was dropped.
        """
        return min(max(self._oldest[part] for part in self._parts(view)), self.latest(view))

    def since(self, view: V, version: int) -> Sliced[Recent[R] | None]:
        """Return the changes of the view after `version`, the last of each, as they are at one moment.

        None if not all of them are known any more, or if there are more than `MAX_ANSWER`.
        """
        yield from self.digest()
        if version < self.oldest(view):
            return None
        is_merged = version < self._previous.get(self._versioned(view), self._first)
        newest = max(self.latest(view), version)
        recent: Recent[R] = Recent(newest, is_merged, [], [], self._pending_in(view))
        found = [self._after(version, part) for part in self._parts(view)]
        for records in found:
            shown, gone = list[R](), list[R]()
            for count, record in enumerate(records, 1):
                if record.is_in(view):
                    shown.append(record)
                elif record.left_at(view) > version:
                    gone.append(record)
                if count % SLICE == 0:
                    yield
            recent.shown.extend(sorted(shown, key=attrgetter("place")))
            recent.gone.extend(sorted(gone, key=attrgetter("id")))
            if len(recent.shown) + len(recent.gone) > MAX_ANSWER:
                return None
            yield
        return recent

    def _after(self, version: int, part: Hashable) -> list[R]:
        """Return the changes after `version`, oldest first: so they are nearly in the order of the list."""
        return [*takewhile(lambda change: change.version > version, reversed(self._kept[part].values()))][
            ::-1
        ]

    def _drop_oldest(self) -> Sliced[None]:
        """While there are too many changes, drop those that the oldest commit made of a part."""
        while self._count > self._max_changes:
            part = min(filter(self._kept.get, self._kept), key=self._oldest_of)
            version = self._oldest_of(part)
            dropped = self._up_to(version, part)
            for record in dropped:
                del self._kept[part][record.id]
            self._count -= len(dropped)
            self._oldest[part] = version  # with the first slice: the rest is of no use
            yield

    def _up_to(self, version: int, part: Hashable) -> list[R]:
        """Return the changes up to `version`, at most a slice of them."""
        return [
            *islice(takewhile(lambda change: change.version <= version, self._kept[part].values()), SLICE)
        ]

    def _oldest_of(self, part: Hashable) -> int:
        return next(iter(self._kept[part].values())).version


class Change(Struct, eq=False, gc=False):
    """The last change of a match: its entry or why it left; only `json`, the encoded form, is set later.

    The commit was made at `at` (Unix seconds); `before` is what it replaced or removed, None if nothing.
    """

    id: str
    bookmaker: BookmakerId
    version: int
    entry: Entry | None
    reason: RemovalReason = RemovalReason.WITHDRAWN
    json: bytes | None = None
    at: float = 0.0
    before: Entry | None = None

    @property
    def place(self) -> str:
        """The order within a bookmaker."""
        return self.id

    def is_in(self, _: BookmakerId | None) -> bool:
        """Return whether it is shown."""
        return self.entry is not None

    def left_at(self, _: BookmakerId | None) -> int:
        """Return the version at which it left, if it has left."""
        return self.version


class ListHistory(History[BookmakerId | None, Change]):
    """The changes of the v2 list. A view is named by its bookmaker, None for all."""

    def __init__(self, first: Snapshot, limits: HistoryLimits) -> None:
        super().__init__(first, first.books, limits)

    def beginning_with(self, bookmaker: BookmakerId, begin: str) -> Sliced[list[Change]]:
        """Return the last changes of a bookmaker's entries whose ids begin so, in no order."""
        yield from self.digest()
        found = list[Change]()
        for count, (entry_id, change) in enumerate([*self._kept[bookmaker].items()]):
            if count % SLICE == 0:
                yield
            if entry_id.startswith(begin):
                found.append(change)
        return found

    def left(self, is_wanted: Callable[[Entry], bool], most: int) -> Sliced[list[Change]]:
        """Return the newest changes with which wanted entries left, `most` at most, the newest first."""
        yield from self.digest()
        found = list[Change]()
        for part in self._every_part:
            for count, change in enumerate([*self._kept[part].values()]):
                if count % SLICE == 0:
                    yield
                if change.entry is None and change.before is not None and is_wanted(change.before):
                    found.append(change)
        return nlargest(most, found, key=attrgetter("version"))

    def _begin(self, first: Snapshot) -> None:
        super()._begin(first)
        self._latest.update({name: book.v2_version for name, book in first.books.items()})
        self._latest[None] = max(self._latest.values(), default=first.version)

    def _parts(self, view: BookmakerId | None) -> Iterable[Hashable]:
        return self._kept if view is None else (view,)

    def _views(self, snapshot: Snapshot) -> Iterable[BookmakerId | None]:
        return (None, *snapshot.differences) if snapshot.differences else ()

    def _records(self, snapshot: Snapshot) -> Iterator[tuple[BookmakerId, Change]]:
        version, at = snapshot.version, snapshot.made_at
        for bookmaker, differences in snapshot.differences.items():
            for match_id, old in differences.before.items():
                new = differences.after[match_id]
                before, after = named(old), named(new)
                if after is not None:
                    if is_other(before, after):
                        yield bookmaker, Change(after.id, bookmaker, version, after, at=at, before=before)
                elif before is not None:
                    reason = differences.reasons[match_id] if new is None else RemovalReason.UNNAMED
                    yield bookmaker, Change(before.id, bookmaker, version, None, reason, None, at, before)
