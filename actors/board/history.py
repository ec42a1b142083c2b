"""The changes since a version: the last change of each match, back to an oldest version.

Only the last change of a match is kept, so that busy matches do not displace quiet ones. If there are too
many changes, the changes of the oldest commits are dropped. `actors/matches/history.py` has the history of
fixtures.
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

MAX_ANSWER = 20_000  # changes in one answer; above that the whole list is smaller

V = TypeVar("V", bound=Hashable)
V_contra = TypeVar("V_contra", contravariant=True)


class HistoryLimits(Struct, frozen=True, forbid_unknown_fields=True):
    """The most changes to keep, for the lists and for the fixtures each."""

    max_changes: Annotated[int, Meta(ge=1, le=100_000_000)] = 100_000


class Record(Protocol[V_contra]):
    """The last change of an item that views show."""

    @property
    def id(self) -> str:
        """The key of the item."""
        ...

    @property
    def version(self) -> int:
        """The version of the commit that made it."""
        ...

    @property
    def place(self) -> Any:
        """The sort key of the item in its list."""
        ...

    def is_in(self, view: V_contra) -> bool:
        """Return whether the view shows the item."""
        ...

    def left_at(self, view: V_contra) -> int:
        """Return the version at which the item left the view; 0 if it was never there."""
        ...


R = TypeVar("R", bound=Record[Any])


class Recent(Struct, Generic[R], frozen=True):
    """The changes up to `version`: shown items in the order of the list, and gone items by id.

    With `is_merged` they come from several commits. `pending` counts unlinked events (fixtures only).
    """

    version: int
    is_merged: bool
    shown: list[R]
    gone: list[R]
    pending: int = 0


class History(ABC, Generic[V, R]):
    """The changes of views after `first`, in its epoch; stored in parts, of which a view combines some."""

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
        # The newest is last. An OrderedDict would be five times slower to iterate.
        self._kept: dict[Hashable, dict[str, R]] = {part: {} for part in self._every_part}
        self._oldest = dict.fromkeys(self._kept, first.version)
        self._count = 0
        self._pending: deque[Iterator[tuple[Hashable, R]]] = deque()
        self._changed: set[V] = set()
        self.committed_s = 0.0
        """The arrival (`elapsed_s`) of the first commit behind the listeners' current or next call."""

    def restart(self, first: Snapshot, views: Collection[V]) -> None:
        """Begin anew with a snapshot that does not follow the last, and notify the clients of `views`."""
        self._begin(first)
        for listener in self._listeners:
            listener(views)

    @abstractmethod
    def _parts(self, view: V) -> Iterable[Hashable]:
        """Return the parts of a view, in the order of the list."""

    @abstractmethod
    def _views(self, snapshot: Snapshot) -> Iterable[V]:
        """Return the views that the commit of `snapshot` changed."""

    @abstractmethod
    def _records(self, snapshot: Snapshot) -> Iterator[tuple[Hashable, R]]:
        """Return the changes in the commit of `snapshot`, each with its part."""

    def _pending_in(self, view: V) -> int:
        """Return the number of unlinked events in the newest version of a view."""
        del view
        return 0

    def subscribe(self, listener: Callable[[Collection[V]], None]) -> None:
        """Have `listener` called after commits, with the views that they changed; it must not wait."""
        self._listeners.append(listener)

    def add(self, snapshot: Snapshot) -> None:
        """Add the newest snapshot, quickly; `digest` processes its changes."""
        self.epoch = snapshot.epoch
        if views := [*self._views(snapshot)]:
            for view in views:
                self._previous[view], self._latest[view] = self.latest(view), snapshot.version
            if not self._changed:
                self.committed_s = elapsed_s()
            self._changed.update(views)
            self._pending.append(self._records(snapshot))

    def digest(self) -> Sliced[None]:
        """Process the added snapshots, then call the listeners; concurrent calls share the work."""
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
        """Return the last change of an item in a part; None if there is none, or it was dropped."""
        yield from self.digest()
        return self._kept[part].get(record_id)

    def latest(self, view: V) -> int:
        """Return the view's own version: the version of the last commit that changed its content."""
        return self._latest.get(self._versioned(view), self._first)

    def _versioned(self, view: V) -> V:
        """Return the view that determines the version of `view`."""
        return view

    def oldest(self, view: V) -> int:
        """Return the oldest version since which all digested changes of the view are known.

        It is never above the view's own version, even if everything was dropped.
        """
        return min(max(self._oldest[part] for part in self._parts(view)), self.latest(view))

    def since(self, view: V, version: int) -> Sliced[Recent[R] | None]:
        """Return the last change of each item in the view after `version`, as of one moment.

        None if some changes are no longer known, or if there are more than `MAX_ANSWER`.
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
        """Return the changes after `version`, oldest first, which is almost the order of the list."""
        return [*takewhile(lambda change: change.version > version, reversed(self._kept[part].values()))][
            ::-1
        ]

    def _drop_oldest(self) -> Sliced[None]:
        """Drop the changes of the oldest commit in a part, until there are not too many."""
        while self._count > self._max_changes:
            part = min(filter(self._kept.get, self._kept), key=self._oldest_of)
            version = self._oldest_of(part)
            dropped = self._up_to(version, part)
            for record in dropped:
                del self._kept[part][record.id]
            self._count -= len(dropped)
            self._oldest[part] = version  # already with the first slice: the rest is incomplete
            yield

    def _up_to(self, version: int, part: Hashable) -> list[R]:
        """Return the changes up to `version`, at most one slice."""
        return [
            *islice(takewhile(lambda change: change.version <= version, self._kept[part].values()), SLICE)
        ]

    def _oldest_of(self, part: Hashable) -> int:
        return next(iter(self._kept[part].values())).version


class Change(Struct, eq=False, gc=False):
    """The last change of a match: its entry, or why it left; only `json`, the encoded form, is set later.

    The commit was made at `at` (Unix seconds); `before` is the replaced or removed entry, if any.
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
        """The sort key within a bookmaker."""
        return self.id

    def is_in(self, _: BookmakerId | None) -> bool:
        """Return whether the entry is shown."""
        return self.entry is not None

    def left_at(self, _: BookmakerId | None) -> int:
        """Return the version of the change, at which the entry left."""
        return self.version


class ListHistory(History[BookmakerId | None, Change]):
    """The changes of the v2 list. A view is named by its bookmaker, None for all."""

    def __init__(self, first: Snapshot, limits: HistoryLimits) -> None:
        super().__init__(first, first.books, limits)

    def beginning_with(self, bookmaker: BookmakerId, begin: str) -> Sliced[list[Change]]:
        """Return the last changes of a bookmaker's entries with ids that begin with a text, in no order."""
        yield from self.digest()
        found = list[Change]()
        for count, (entry_id, change) in enumerate([*self._kept[bookmaker].items()]):
            if count % SLICE == 0:
                yield
            if entry_id.startswith(begin):
                found.append(change)
        return found

    def left(self, is_wanted: Callable[[Entry], bool], most: int) -> Sliced[list[Change]]:
        """Return the newest changes that removed wanted entries, newest first, `most` at most."""
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
