"""What changed since which version: the last change of each match, back to a floor.

Owned by whoever publishes snapshots, who adds each of them at the moment when it becomes the newest.
Only what v2 shows counts. One change a match is kept, newest last, so that a lively match does not
push a quiet one out; the oldest go when there are too many. Long commits are worked in by slices.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Iterator
from itertools import islice

from msgspec import Struct

from actors.listing import is_other, named
from actors.messages import BookmakerId, SourceMatchId
from actors.slices import SLICE, Steps, finish
from actors.snapshot import Departure, Differences, Entry, Snapshot

CHANGE_BYTES = 1_300
"""What a change holds in memory besides its names: measured, with its JSON and its place in the order."""


class HistoryLimits(Struct, frozen=True):
    """How many changes are kept at most, and how many bytes they may take."""

    max_changes: int = 100_000
    max_bytes: int = 64 * 1024 * 1024


class Change(Struct, eq=False, gc=False):
    """The last change of a match: its entry at `version` or, without one, why it left.

    All but `json` never changes: there, whoever tells of it keeps how it is told, as long as it lives.
    """

    id: str
    bookmaker: BookmakerId
    source_match_id: SourceMatchId
    version: int
    entry: Entry | None
    departure: Departure | None = None
    json: bytes | None = None

    @property
    def size_bytes(self) -> int:
        """About what it holds in memory."""
        if self.entry is None:
            return CHANGE_BYTES // 2
        match = self.entry.match
        return CHANGE_BYTES + 2 * (len(match.home) + len(match.away) + len(match.league or ""))


class History:
    """The changes after `first`. Views are named by their bookmaker, None being that of all."""

    def __init__(self, first: Snapshot, limits: HistoryLimits) -> None:
        self._limits = limits
        self._place = {bookmaker: place for place, bookmaker in enumerate(first.books)}
        self._floor = dict.fromkeys(first.books, first.version)
        self._latest: dict[BookmakerId | None, int] = dict.fromkeys([None, *first.books], first.version)
        self._previous = dict(self._latest)
        self._kept: OrderedDict[str, Change] = OrderedDict()
        self._bytes = 0
        self._pending: deque[Iterator[Change]] = deque()
        self._touched: set[BookmakerId] = set()
        self._listeners: list[Callable[[Collection[BookmakerId]], None]] = []

    def subscribe(self, listener: Callable[[Collection[BookmakerId]], None]) -> None:
        """Have `listener` called after commits, with the bookmakers that they changed; it must not wait."""
        self._listeners.append(listener)

    def add(self, snapshot: Snapshot) -> None:
        """Take in the newest snapshot, at once; `digest` does what is long about it."""
        if not snapshot.differences:
            return
        for view in (None, *snapshot.differences):
            self._previous[view], self._latest[view] = self._latest[view], snapshot.version
        self._touched.update(snapshot.differences)
        self._pending.append(_changes(snapshot))

    def digest(self) -> Steps[None]:
        """Work in what was added, in slices, and tell the listeners; may be begun anew at any time."""
        while self._pending:
            size = 0
            for change in islice(self._pending[0], SLICE):
                self._keep(change)
                size += 1
            if size < SLICE:
                self._pending.popleft()
            if not self._pending:
                self._tell()
            yield

    def latest(self, view: BookmakerId | None) -> int:
        """Give the view's own version: that of the last commit that changed what it shows."""
        return self._latest[view]

    def oldest(self, view: BookmakerId | None) -> int:
        """Give the oldest version since which all changes of the view are known."""
        finish(self.digest())
        return max(self._floor.values()) if view is None else self._floor[view]

    def is_merged(self, view: BookmakerId | None, since: int) -> bool:
        """Tell whether more than one commit changed the view after that version."""
        return since < self._previous[view]

    def since(self, view: BookmakerId | None, version: int) -> list[Change]:
        """Give the last change after `version` of each match of the view, in the order of the list.

        Complete if `version` is not below the view's oldest.
        """
        finish(self.digest())
        found = []
        for change in reversed(self._kept.values()):
            if change.version <= version:
                break
            if view is None or change.bookmaker == view:
                found.append(change)
        return sorted(found, key=lambda one: (self._place[one.bookmaker], one.source_match_id))

    def _keep(self, change: Change) -> None:
        if (old := self._kept.pop(change.id, None)) is not None:
            self._bytes -= old.size_bytes
        self._kept[change.id] = change
        self._bytes += change.size_bytes
        while len(self._kept) > self._limits.max_changes or self._bytes > self._limits.max_bytes:
            _, oldest = self._kept.popitem(last=False)
            self._bytes -= oldest.size_bytes
            self._floor[oldest.bookmaker] = oldest.version

    def _tell(self) -> None:
        touched, self._touched = self._touched, set()
        for listener in self._listeners:
            listener(touched)


def _changes(snapshot: Snapshot) -> Iterator[Change]:
    for bookmaker, differences in snapshot.differences.items():
        yield from _changes_of(bookmaker, differences, snapshot.version)


def _changes_of(bookmaker: BookmakerId, differences: Differences, version: int) -> Iterator[Change]:
    for match_id, old in differences.before.items():
        new = differences.after[match_id]
        if not is_other(named(old), named(new)):
            continue
        entry, departure = named(new), None
        if entry is None:
            departure = differences.departures[match_id] if new is None else Departure.UNNAMED
        yield Change(f"{bookmaker}_{match_id}", bookmaker, match_id, version, entry, departure)
