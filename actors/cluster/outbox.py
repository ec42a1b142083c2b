"""What of a collector's own board is not committed yet. Pure, in slices.

Compares its newest board with what the log has acknowledged, so that commits which wait become one, and
nothing can pile up. Chunks that are the same objects need no look.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from actors.board.chunks import entries_of
from actors.board.snapshot import Book, Entry, RemovalReason, Snapshot
from actors.cluster.records import BookRecord, WireList, wire_entry
from actors.cluster.replay import wire_list
from actors.core.cooperative import Sliced
from actors.core.messages import BookmakerId, Scope, SourceMatchId

Entries = dict[SourceMatchId, Entry | None]
_NOTHING = Book(0, 0)


class Due(Struct, frozen=True, eq=False):
    """What is to be committed, whether clients see any of it, and the books that the log has after it."""

    books: Mapping[BookmakerId, BookRecord]
    is_seen: bool
    after: Mapping[BookmakerId, Book]


class Outbox:
    """Follows the published snapshots of a collector."""

    def __init__(self, first: Snapshot) -> None:
        self._newest = first
        self._acked: dict[BookmakerId, Book] = {}
        self._reasons: dict[BookmakerId, dict[SourceMatchId, RemovalReason]] = {}

    def follow(self, snapshot: Snapshot) -> None:
        """Take the newest snapshot, with why entries left."""
        self._newest = snapshot
        for name, differences in snapshot.differences.items():
            self._reasons.setdefault(name, {}).update(differences.reasons)

    def reset(self) -> None:
        """Note that the log has nothing of this collector any more."""
        self._acked.clear()
        self._reasons.clear()

    def due(self, bookmakers: Iterable[BookmakerId]) -> Sliced[Due]:
        """Return what is to be committed of these bookmakers, perhaps nothing."""
        newest, books, after, is_seen = self._newest, {}, {}, False
        for name in bookmakers:
            book, acked = newest.books[name], self._acked.get(name, _NOTHING)
            if book is acked:
                continue
            after[name] = book
            changed = yield from changes(acked, book)
            lists = {
                scope: wire_list(state)
                for scope, state in book.lists.items()
                if (old := acked.lists.get(scope)) is None or wire_list(old) != wire_list(state)
            }
            if changed or lists:
                books[name] = self._record(name, changed, lists)
                is_seen = is_seen or bool(changed)  # fixtures show more of an entry than lists do
            yield
        return Due(books, is_seen, after)

    def acked(self, due: Due) -> None:
        """Note that the log has what was due."""
        self._acked.update(due.after)
        for name, book in due.after.items():
            if self._newest.books[name] is book:
                self._reasons.pop(name, None)

    def _record(self, name: BookmakerId, changed: Entries, lists: dict[Scope, WireList]) -> BookRecord:
        reasons = self._reasons.get(name, {})
        entries = tuple([wire_entry(entry) for entry in changed.values() if entry is not None])
        gone = tuple(
            (match_id, reasons.get(match_id, RemovalReason.WITHDRAWN))
            for match_id, entry in changed.items()
            if entry is None
        )
        return BookRecord(entries, gone, lists)


def changes(old: Book, new: Book) -> Sliced[Entries]:
    """Return the entries that differ, as they are now; None for those that left."""
    same = {id(chunk) for chunk in old.chunks} & {id(chunk) for chunk in new.chunks}
    gone = {entry.source_match_id: entry for entry in _others(old, same)}
    yield
    after: Entries = {}
    for count, entry in enumerate(_others(new, same), 1):
        if gone.pop(entry.source_match_id, None) is not entry:
            after[entry.source_match_id] = entry
        if count % 1024 == 0:
            yield
    return {**after, **dict.fromkeys(gone)}


def _others(book: Book, same: set[int]) -> Iterable[Entry]:
    return entries_of([chunk for chunk in book.chunks if id(chunk) not in same])
