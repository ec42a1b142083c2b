"""What changed since which version: the last change of each match, back to an oldest version.

Only changes that v2 shows count. One per match is kept, so that a lively match does not displace quiet
ones; when there are too many, those of the oldest commits are dropped.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator
from itertools import islice, takewhile
from operator import attrgetter
from typing import Annotated

from msgspec import Meta, Struct

from actors.board.diff import is_other, named
from actors.board.snapshot import Entry, RemovalReason, Snapshot
from actors.core.cooperative import SLICE, Sliced
from actors.core.messages import BookmakerId, SourceMatchId

CHANGE_BYTES = 1_300  # of a change in memory, besides its names: measured, with its JSON and its place
MAX_ANSWER = 20_000  # changes in one answer: a client that missed more gets the list, which is smaller


class HistoryLimits(Struct, frozen=True, forbid_unknown_fields=True):
    """How many changes are kept at most, and how many bytes they may take."""

    max_changes: Annotated[int, Meta(ge=1, le=100_000_000)] = 100_000
    max_bytes: Annotated[int, Meta(ge=1, le=2**40)] = 64 * 1024 * 1024


class Change(Struct, eq=False, gc=False):
    """The last change of a match: its entry or why it left; only `json`, the encoded form, is set later."""

    id: str
    bookmaker: BookmakerId
    source_match_id: SourceMatchId
    version: int
    entry: Entry | None
    reason: RemovalReason | None = None
    json: bytes | None = None

    @property
    def size_bytes(self) -> int:
        """The bytes that it holds in memory, about."""
        if self.entry is None:
            return CHANGE_BYTES // 2
        match = self.entry.match
        return CHANGE_BYTES + 2 * (len(match.home) + len(match.away) + len(match.league or ""))


class Recent(Struct, frozen=True):
    """What leads to `version`, in the order of the list; with `is_merged` made by several commits."""

    version: int
    is_merged: bool
    changes: list[Change]


_ByMatch = dict[SourceMatchId, Change]
"""The changes of one bookmaker, newest last. No OrderedDict: going through one takes five times as long."""


class History:
    """The changes after `first`, of its epoch. A view is named by its bookmaker, None for all."""

    def __init__(self, first: Snapshot, limits: HistoryLimits) -> None:
        self.epoch = first.epoch
        self._limits = limits
        self._oldest = dict.fromkeys(first.books, first.version)
        self._latest: dict[BookmakerId | None, int] = dict.fromkeys([None, *first.books], first.version)
        self._previous = dict(self._latest)
        self._changes: dict[BookmakerId, _ByMatch] = {name: {} for name in first.books}
        self._count = self._bytes = 0
        self._pending: deque[Iterator[Change]] = deque()
        self._replaced: list[Entry] = []  # freed in slices: of a large list that takes as long as comparing
        self._changed: set[BookmakerId] = set()
        self._listeners: list[Callable[[Collection[BookmakerId]], None]] = []

    def subscribe(self, listener: Callable[[Collection[BookmakerId]], None]) -> None:
        """Have `listener` called after commits, with the bookmakers that they changed; it must not wait."""
        self._listeners.append(listener)

    def add(self, snapshot: Snapshot) -> None:
        """Add the newest snapshot, at once; `digest` works through its changes."""
        if snapshot.differences:
            for view in (None, *snapshot.differences):
                self._previous[view], self._latest[view] = self._latest[view], snapshot.version
            self._changed.update(snapshot.differences)
            self._pending.append(_changes_of(snapshot, self._replaced))

    def digest(self) -> Sliced[None]:
        """Work through what was added, then call the listeners; concurrent calls share the work."""
        while self._pending:
            some = list(islice(self._pending[0], SLICE))
            if len(some) < SLICE:
                self._pending.popleft()
            for change in some:
                self._keep(change)
            yield from self._drop_oldest()
            if not self._pending and self._changed:
                changed, self._changed = self._changed, set()
                for listener in self._listeners:
                    listener(changed)
            yield
        while self._replaced:  # the last references to most of them
            del self._replaced[-SLICE:]
            yield

    def latest(self, view: BookmakerId | None) -> int:
        """Return the view's own version: that of the last commit that changed what it shows."""
        return self._latest[view]

    def oldest(self, view: BookmakerId | None) -> int:
        """Return the oldest version since which all digested changes of the view are known."""
        return max(self._oldest.values()) if view is None else self._oldest[view]

    def since(self, view: BookmakerId | None, version: int) -> Sliced[Recent | None]:
        """Return the changes of the view after `version`, one per match, as they are at one moment.

        None if not all of them are known any more, or if there are more than `MAX_ANSWER`.
        """
        yield from self.digest()
        if version < self.oldest(view):
            return None
        newest, is_merged = max(self._latest[view], version), version < self._previous[view]
        found: list[list[Change]] = []
        room = MAX_ANSWER
        for bookmaker in self._changes if view is None else (view,):
            if self._latest[bookmaker] > version:
                found.append(_after(version, self._changes[bookmaker], room))
                room -= len(found[-1])
                if room < 0:
                    return None
        changes: list[Change] = []
        for of_one in found:
            yield
            changes += sorted(of_one, key=attrgetter("source_match_id"))
        return Recent(newest, is_merged, changes)

    def _keep(self, change: Change) -> None:
        changes = self._changes[change.bookmaker]
        old = changes.pop(change.source_match_id, None)
        changes[change.source_match_id] = change
        self._count += old is None
        self._bytes += change.size_bytes - (0 if old is None else old.size_bytes)

    def _drop_oldest(self) -> Sliced[None]:
        """While there are too many changes, drop those that the oldest commit made of a bookmaker."""
        while self._count > self._limits.max_changes or self._bytes > self._limits.max_bytes:
            changes = min(filter(None, self._changes.values()), key=_oldest_version)
            version = _oldest_version(changes)
            for dropped in _up_to(version, changes):
                del changes[dropped.source_match_id]
                self._count -= 1
                self._bytes -= dropped.size_bytes
                self._oldest[dropped.bookmaker] = version  # with the first slice: the rest is of no use
            yield


def _oldest_version(changes: _ByMatch) -> int:
    return next(iter(changes.values())).version


def _up_to(version: int, changes: _ByMatch) -> list[Change]:
    """Return the changes up to `version`, at most a slice of them."""
    return list(islice(takewhile(lambda change: change.version <= version, changes.values()), SLICE))


def _after(version: int, changes: _ByMatch, limit: int) -> list[Change]:
    """Return the changes after `version`, oldest first; where there are more, one more than `limit`."""
    newer = takewhile(lambda change: change.version > version, reversed(changes.values()))
    return list(islice(newer, limit + 1))[::-1]  # so they are nearly in the order of the list


def _changes_of(snapshot: Snapshot, replaced: list[Entry]) -> Iterator[Change]:
    """Return what the commit of `snapshot` changed; `replaced` gets the entries that it replaced."""
    version = snapshot.version
    for bookmaker, differences in snapshot.differences.items():
        for match_id, old in differences.before.items():
            new = differences.after[match_id]
            if old is not None:
                replaced.append(old)
            before, after = named(old), named(new)
            if after is not None:
                if is_other(before, after):
                    yield Change(after.id, bookmaker, match_id, version, after)
            elif before is not None:
                reason = differences.reasons[match_id] if new is None else RemovalReason.UNNAMED
                yield Change(before.id, bookmaker, match_id, version, None, reason)
