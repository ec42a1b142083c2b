"""What changed since which version: the last change of each match, back to a floor.

Owned by whoever publishes snapshots, who adds each of them at the moment when it becomes the newest.
Only what v2 shows counts. One change a match is kept, newest last, so that a lively match does not
push a quiet one out; the oldest go when there are too many. Long commits are worked in by slices.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator
from itertools import islice

from msgspec import Struct

from actors.board.diff import is_other, named
from actors.board.snapshot import Departure, Differences, Entry, Snapshot
from actors.core.cooperative import SLICE, Sliced, in_order
from actors.core.messages import BookmakerId, SourceMatchId

CHANGE_BYTES = 1_300
"""What a change holds in memory besides its names: measured, with its JSON and its place in the order."""

BLOCK = 256
"""Changes kept together: taking hold of all of them costs a microsecond."""
PAIRS = 4
"""Neighbouring blocks that are looked at, whether they can be joined, whenever a block is begun."""
SOME = 64
"""Changes worked in between two yields: with the old ones that they free, a third of a millisecond."""


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


class Recent(Struct, frozen=True):
    """What leads to `version`: the last changes of matches, in the order of the list.

    `is_merged` tells whether more than one commit made them.
    """

    version: int
    is_merged: bool
    changes: list[Change]


class History:
    """The changes after `first`, of its epoch. Views are named by bookmaker, None being that of all."""

    def __init__(self, first: Snapshot, limits: HistoryLimits) -> None:
        self.epoch = first.epoch
        self._limits = limits
        self._floor = dict.fromkeys(first.books, first.version)
        self._latest: dict[BookmakerId | None, int] = dict.fromkeys([None, *first.books], first.version)
        self._previous = dict(self._latest)
        self._blocks: dict[int, dict[str, Change]] = {}  # by number; the newest change is the last one
        self._block_of: dict[str, int] = {}
        self._newest_block = 0
        self._neighbours: deque[int] = deque()
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

    def digest(self) -> Sliced[None]:
        """Work in what was added, in slices, and tell the listeners; may be begun anew at any time."""
        while self._pending:
            size = 0
            for change in islice(self._pending[0], SOME):
                self._keep(change)
                size += 1
            if size < SOME:
                self._pending.popleft()
            if not self._pending:
                self._tell()
            yield

    def latest(self, view: BookmakerId | None) -> int:
        """Return the view's own version: that of the last commit that changed what it shows."""
        return self._latest[view]

    def oldest(self, view: BookmakerId | None) -> int:
        """Return the oldest version since which all changes of the view are known that are digested."""
        return max(self._floor.values()) if view is None else self._floor[view]

    def since(self, view: BookmakerId | None, version: int) -> Sliced[Recent | None]:
        """Return the changes of the view after `version`, one a match; None if not all of them are known.

        They are those at one moment, whatever is added while they are put in order.
        """
        yield from self.digest()
        if version < self.oldest(view):
            return None
        newest, is_merged = max(self._latest[view], version), version < self._previous[view]
        found: dict[BookmakerId, dict[SourceMatchId, Change]] = {bookmaker: {} for bookmaker in self._floor}
        for block in reversed(self._after(version)):  # oldest first: so they are nearly in order already
            for change in block:
                if change.version > version and (view is None or change.bookmaker == view):
                    found[change.bookmaker][change.source_match_id] = change
            yield
        changes: list[Change] = []
        for mine in found.values():
            for count, match_id in enumerate((yield from in_order(mine))):
                if count % SLICE == 0:
                    yield
                changes.append(mine[match_id])
        return Recent(newest, is_merged, changes)

    def _after(self, version: int) -> list[list[Change]]:
        """Take hold of the blocks that have changes after `version`, at once."""
        taken: list[list[Change]] = []
        for block in reversed(self._blocks.values()):
            taken.append(list(block.values()))
            if taken[-1][0].version <= version:
                break
        return taken

    def _keep(self, change: Change) -> None:
        if (number := self._block_of.get(change.id)) is not None:
            self._take_out(number, change.id)
        block = self._blocks.get(self._newest_block)
        if block is None or len(block) >= BLOCK:
            self._newest_block += 1
            block = self._blocks[self._newest_block] = {}
            self._join_some()
        block[change.id] = change
        self._block_of[change.id] = self._newest_block  # in place: a large dict takes long to make anew
        self._bytes += change.size_bytes
        while len(self._block_of) > self._limits.max_changes or self._bytes > self._limits.max_bytes:
            number, block = next(iter(self._blocks.items()))
            oldest = self._take_out(number, next(iter(block)))
            del self._block_of[oldest.id]
            self._floor[oldest.bookmaker] = oldest.version

    def _join_some(self) -> None:
        """Join neighbours that have become small: else each quiet match would keep a block of its own."""
        for _ in range(PAIRS):
            if len(self._neighbours) < 2:  # noqa: PLR2004 - a pair
                self._neighbours = deque(list(self._blocks)[:-1])  # all but the one that is being filled
                return
            first, second = self._neighbours[0], self._neighbours[1]
            left, right = self._blocks.get(first, {}), self._blocks.get(second, {})
            if left and len(left) + len(right) <= BLOCK // 2:
                self._blocks[first] = {**left, **right}
                self._blocks.pop(second, None)
                self._block_of.update(dict.fromkeys(right, first))
                del self._neighbours[1]
            else:
                self._neighbours.popleft()

    def _take_out(self, number: int, change_id: str) -> Change:
        block = self._blocks[number]
        change = block.pop(change_id)
        if not block:
            del self._blocks[number]
        self._bytes -= change.size_bytes
        return change

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
