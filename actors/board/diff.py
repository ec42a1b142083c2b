"""Finds a batch's changes in a bookmaker's book, and the reasons for removals.

Pure, in slices. An entry with equal content is kept, with its `updated`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from math import inf

import msgspec
from msgspec import Struct

from actors.board.chunks import find
from actors.board.snapshot import Book, Chunk, Entry, RemovalReason
from actors.board.validity import has_kicked_off
from actors.core.cooperative import SLICE, Sliced
from actors.core.match_codec import is_same, is_same_unlisted
from actors.core.messages import Batch, Match, Removal, Scope, SourceMatchId


class Verdict(StrEnum):
    """The fate of a batch."""

    ACCEPTED = "accepted"
    CONFIRMED = "confirmed"
    WITHDRAWN = "withdrawn"  # by its source, which no longer confirms it
    SUSPECT = "suspect"  # lost too many matches in one step to be believed at first
    LATE = "late"  # stale before it was applied
    OUTDATED = "outdated"  # older than the list on the board
    UNFOUNDED = "unfounded"  # changes or confirms a list that is not on the board


Entries = Mapping[SourceMatchId, Entry | None]


class Diff(Struct):
    """The differences that a batch makes: by id the entry before and after, None for a missing one.

    `reasons` has the removed entries; `taken_from` are the other scopes that had some of these matches.
    `finished` counts matches that arrived past their time, `too_many` matches beyond the room.
    """

    before: dict[SourceMatchId, Entry | None] = {}
    after: dict[SourceMatchId, Entry | None] = {}
    reasons: dict[SourceMatchId, RemovalReason] = {}
    finished: int = 0
    too_many: int = 0
    taken_from: set[Scope] = msgspec.field(default_factory=set)

    def remove(self, match_id: SourceMatchId, old: Entry, reason: RemovalReason) -> None:
        """Add a removed match."""
        self.before[match_id], self.after[match_id] = old, None
        self.reasons[match_id] = reason


def is_other(old: Entry | None, new: Entry | None) -> bool:
    """Return whether readers see a difference; a move to another scope is invisible."""
    if old is None or new is None:
        return old is not new
    return old.updated != new.updated or not is_same(old.match, new.match)


def named(entry: Entry | None) -> Entry | None:
    """Return the entry if v2 shows it: both teams must have a name."""
    return entry if entry is not None and entry.is_named else None


def complete_changes(
    book: Book, batch: Batch, seen: Entries, last_start: float, room: float = inf
) -> Sliced[Diff]:
    """Compare a complete list with its scope on the board, in one walk through the book.

    Matches that kicked off by `last_start` (Unix seconds) are over. `seen` has the entries that readers
    still see although an earlier batch of the same commit removed them: an entry that comes back stays the
    same. Only `room` entries more are accepted, in the order of the list.
    """
    comparison = _Comparison(batch, seen, last_start, room)
    listed = {match.source_match_id: match for match in batch.matches}
    for chunk in book.chunks:
        yield
        comparison.walk(chunk, listed)
    for count, match in enumerate(listed.values()):
        if count % SLICE == 0:
            yield
        comparison.entry(None, match)
    return comparison.diff


def delta_changes(
    book: Book, batch: Batch, seen: Entries, last_start: float, room: float = inf
) -> Sliced[Diff]:
    """Compare a delta's matches one by one; the arguments are those of `complete_changes`."""
    comparison = _Comparison(batch, seen, last_start, room)
    diff = comparison.diff
    for count, removal in enumerate(batch.removals):
        if count % SLICE == 0:
            yield
        old = find(book.chunks, removal.source_match_id)
        if old is not None and old.scope == batch.scope:
            diff.remove(removal.source_match_id, old, reason_of(removal))
    for count, match in enumerate(batch.matches):
        if count % SLICE == 0:
            yield
        comparison.entry(find(book.chunks, match.source_match_id), match)
    return diff


def seen_of(before: Entries, after: Entries) -> tuple[bool, bool]:
    """Return whether readers of v1, and readers of v2, see any of these differences."""
    is_seen = False
    for match_id, old in before.items():
        new = after[match_id]
        if is_other(old, new):
            is_seen = True
            if is_other(named(old), named(new)):
                return True, True
    return is_seen, False


_REASONS = {
    "closed": RemovalReason.FINISHED,
    "finished": RemovalReason.FINISHED,
    "inactive": RemovalReason.SUSPENDED,
    "suspended": RemovalReason.SUSPENDED,
    "withdrawn": RemovalReason.WITHDRAWN,
}


def reason_of(removal: Removal) -> RemovalReason:
    """Return the reason for clients: rejected, unless the table names another."""
    return _REASONS.get(removal.reason, RemovalReason.REJECTED)


class _Comparison:
    """Compares the matches of one batch with entries, and collects the differences."""

    def __init__(self, batch: Batch, seen: Entries, last_start: float, room: float) -> None:
        self.diff = Diff()
        self._reasons = {removal.source_match_id: reason_of(removal) for removal in batch.removals}
        self._bookmaker, self._scope = batch.bookmaker, batch.scope
        self._received_at = batch.received_at
        self._seen = seen
        self._last_start = last_start
        self._room, self._added = room, 0
        self._updated: dict[float | None, float] = {None: round(batch.received_at, 3)}

    def walk(self, chunk: Chunk, listed: dict[SourceMatchId, Match]) -> None:
        """Remove the matches of a chunk from `listed`, and compare them."""
        scope, last_start = self._scope, self._last_start
        may_be_over = chunk.first_start <= last_start  # otherwise no unchanged match is over
        for entry in chunk.entries:
            known = entry.match
            match = listed.pop(known.source_match_id, None)
            if match is None:
                if entry.scope == scope:
                    reason = self._reasons.get(known.source_match_id, RemovalReason.WITHDRAWN)
                    self.diff.remove(known.source_match_id, entry, reason)
            elif not is_same(known, match):
                self.entry(entry, match, is_changed=True)
            elif (
                entry.scope != scope
                or not is_same_unlisted(known, match)
                or (may_be_over and has_kicked_off(match, last_start))
            ):
                self.entry(entry, match)

    def entry(self, old: Entry | None, match: Match, *, is_changed: bool = False) -> None:
        """Compare an entry (or None) with its new match; `is_changed` says that they differ."""
        match_id = match.source_match_id
        is_ours = old is not None and old.scope == self._scope
        if old is not None and not is_ours:
            self.diff.taken_from.add(old.scope)
        if has_kicked_off(match, self._last_start):
            self.diff.finished += 1
            if old is not None:
                self.diff.remove(match_id, old, RemovalReason.FINISHED)
            return
        shown = old
        if old is None:
            if self._added - len(self.diff.reasons) >= self._room:
                self.diff.too_many += 1
                return
            self._added += 1
            shown = self._seen.get(match_id)
        if is_changed or shown is None or not is_same(shown.match, match):
            entry_id = f"{self._bookmaker}_{match_id}" if shown is None else shown.id
            new = Entry(entry_id, self._scope, match, self._updated_of(match), self._received_at)
        elif not is_same_unlisted(shown.match, match):
            new = Entry(shown.id, self._scope, match, shown.updated, shown.received_at)
        elif not is_ours:
            new = Entry(shown.id, self._scope, shown.match, shown.updated, shown.received_at)
        else:
            return
        self.diff.before[match_id], self.diff.after[match_id] = old, new

    def _updated_of(self, match: Match) -> float:
        """Return the source's own time, if any, but never a time after the receipt (docs/api.md, 10)."""
        updated = self._updated.get(match.source_time)
        if updated is None:
            updated = round(min(match.source_time or 0.0, self._received_at), 3)
            self._updated[match.source_time] = updated
        return updated
