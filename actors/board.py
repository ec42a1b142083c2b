"""The board: applies batches, withdraws what is overdue, commits a new snapshot.

Pure, and the only place that decides what is shown. A Board is made from a snapshot, takes any
number of changes and gives the next snapshot at `commit`; the one it was made from stays as it was,
so a crash half-way or a reader at any moment sees a whole state. Long work comes in slices.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf

import msgspec
from msgspec import Struct

from actors.chunks import changed, entries_of, without
from actors.clock import Instant
from actors.departures import departures
from actors.listing import (
    Left,
    Verdict,
    complete_changes,
    delta_changes,
    has_kicked_off,
    is_doubtful,
    is_other,
    named,
)
from actors.messages import Batch, BookmakerId, Scope, SourceMatchId
from actors.slices import Steps
from actors.snapshot import Book, Chunk, Departure, Differences, Entry, ListState, Snapshot

MAX_DOUBTED = 3
"""The payload in a row at which a suspicious list is believed after all (faults.md, C5)."""


class BoardRules(Struct, frozen=True):
    """What holds for every bookmaker: seconds after its kick-off at which a match leaves the board."""

    expire_after_kickoff_s: float = 10800.0


class Applied(Struct, frozen=True):
    """What became of a batch: the verdict, and how many matches it changed, removed, found finished."""

    verdict: Verdict
    upserted: int = 0
    removed: int = 0
    finished: int = 0


class Board:
    """The next snapshot in the making. Owned by one caller; never waits."""

    def __init__(self, base: Snapshot, rules: BoardRules) -> None:
        self._base = base
        self._rules = rules
        self._books = dict(base.books)
        self._before: dict[BookmakerId, dict[SourceMatchId, Entry | None]] = {
            name: {} for name in base.books
        }
        self._after: dict[BookmakerId, dict[SourceMatchId, Entry | None]] = {
            name: {} for name in base.books
        }
        self._departures: dict[BookmakerId, dict[SourceMatchId, Departure]] = {
            name: {} for name in base.books
        }

    def apply(self, batch: Batch, now: Instant) -> Steps[Applied]:
        """Take in one batch, all of it or none, and say what became of it."""
        book = self._books[batch.bookmaker]
        state = book.lists.get(batch.scope)
        if batch.withdrawn:
            self.withdraw(batch.bookmaker, batch.scope)
            return Applied(Verdict.WITHDRAWN)
        if (refusal := _refusal(batch, state, now)) is not None:
            return Applied(refusal)
        if batch.is_confirmation:
            self._put(batch.bookmaker, book, _confirmed(batch), batch.scope)
            return Applied(Verdict.CONFIRMED)
        if batch.complete and state is not None and (yield from is_doubtful(book, batch, now)):
            doubted = state.doubted + 1
            if doubted < MAX_DOUBTED:
                doubted_state = msgspec.structs.replace(state, doubted=doubted)
                self._put(batch.bookmaker, book, doubted_state, batch.scope)
                return Applied(Verdict.SUSPECT)
        return (yield from self._accept(batch, book, now))

    def expire(self, now: Instant) -> None:
        """Withdraw every list that is stale at `now` and every match that is past its time."""
        for bookmaker, book in self._books.items():
            if book.deadline <= now.mono:
                stale = {scope for scope, state in book.lists.items() if state.deadline <= now.mono}
                self._withdraw(bookmaker, stale, Departure.STALE)
        last_start = now.wall - self._rules.expire_after_kickoff_s
        for bookmaker, book in self._books.items():
            if book.first_start <= last_start:
                self._drop(
                    bookmaker, lambda entry: has_kicked_off(entry.match, last_start), Departure.FINISHED
                )

    def withdraw(self, bookmaker: BookmakerId, scope: Scope) -> None:
        """Take one list off the board until a complete one comes; none there is no error."""
        self._withdraw(bookmaker, {scope} & set(self._books[bookmaker].lists), Departure.WITHDRAWN)

    def commit(self) -> Snapshot:
        """Give the next snapshot: version + 1 if it shows anything else, the base if nothing changed."""
        if all(book is self._base.books[bookmaker] for bookmaker, book in self._books.items()):
            return self._base
        books = {bookmaker: self._stamped(bookmaker) for bookmaker in self._books}
        newest = max((book.v1_version for book in books.values()), default=0)
        version = max(newest, self._base.version)
        return Snapshot(
            version,
            books,
            min((book.deadline for book in books.values()), default=inf),
            min((book.first_start for book in books.values()), default=inf),
            {name: self._differences(name) for name, book in books.items() if self._is_changed(name, book)},
        )

    def _accept(self, batch: Batch, book: Book, now: Instant) -> Steps[Applied]:
        last_start = now.wall - self._rules.expire_after_kickoff_s
        find_changes = complete_changes if batch.complete else delta_changes
        found = yield from find_changes(book, batch, self._before[batch.bookmaker], last_start)
        if found.after:
            book = _with_chunks(book, (yield from changed(book.chunks, found.after)))
        self._note(batch.bookmaker, found.before, found.after, departures(batch, found))
        self._put(batch.bookmaker, book, _confirmed(batch), batch.scope)
        removed = sum(entry is None for entry in found.after.values())
        return Applied(Verdict.ACCEPTED, len(found.after) - removed, removed, found.finished)

    def _put(self, bookmaker: BookmakerId, book: Book, state: ListState, scope: Scope) -> None:
        self._books[bookmaker] = _with_lists(book, {**book.lists, scope: state})

    def _withdraw(self, bookmaker: BookmakerId, scopes: set[Scope], departure: Departure) -> None:
        if not scopes:
            return
        self._drop(bookmaker, lambda entry: entry.scope in scopes, departure)
        book = self._books[bookmaker]
        withdrawn = {
            scope: msgspec.structs.replace(book.lists[scope], withdrawn=True, doubted=0) for scope in scopes
        }
        self._books[bookmaker] = _with_lists(book, {**book.lists, **withdrawn})

    def _drop(self, bookmaker: BookmakerId, goes: Callable[[Entry], bool], departure: Departure) -> None:
        old = self._books[bookmaker]
        gone = {entry.match.source_match_id: entry for entry in entries_of(old.chunks) if goes(entry)}
        if gone:
            self._books[bookmaker] = _with_chunks(old, without(old.chunks, goes))
            self._note(bookmaker, gone, dict.fromkeys(gone), dict.fromkeys(gone, departure))

    def _note(
        self, bookmaker: BookmakerId, before: Left, after: Left, why: Mapping[SourceMatchId, Departure]
    ) -> None:
        """Keep what readers saw before this board and what they will see; at most one pair a match."""
        self._before[bookmaker] = {**before, **self._before[bookmaker]}
        self._after[bookmaker].update(after)
        self._departures[bookmaker].update(why)

    def _is_changed(self, bookmaker: BookmakerId, book: Book) -> bool:
        """Tell whether v2 shows anything else of the bookmaker than in the base."""
        return book.v2_version != self._base.books[bookmaker].v2_version

    def _differences(self, bookmaker: BookmakerId) -> Differences:
        return Differences(self._before[bookmaker], self._after[bookmaker], self._departures[bookmaker])

    def _stamped(self, bookmaker: BookmakerId) -> Book:
        """Give the book with the versions of the views that show something else than in the base."""
        book, version = self._books[bookmaker], self._base.version + 1
        before, after = self._before[bookmaker], self._after[bookmaker]
        if not any(is_other(old, after[match_id]) for match_id, old in before.items()):
            return book
        if not any(is_other(named(old), named(after[match_id])) for match_id, old in before.items()):
            return msgspec.structs.replace(book, v1_version=version)
        return msgspec.structs.replace(book, v1_version=version, v2_version=version)


def _refusal(batch: Batch, state: ListState | None, now: Instant) -> Verdict | None:
    if batch.received_mono + batch.stale_after_s <= now.mono:
        return Verdict.LATE
    if state is not None and batch.received_mono < state.confirmed_mono:
        return Verdict.OUTDATED
    if batch.complete:
        return None
    if state is None or state.withdrawn or state.list_id != batch.list_id:
        return Verdict.UNFOUNDED
    return None


def _confirmed(batch: Batch) -> ListState:
    return ListState(batch.list_id, batch.received_mono, batch.stale_after_s)


def _with_chunks(book: Book, chunks: tuple[Chunk, ...]) -> Book:
    return msgspec.structs.replace(
        book,
        chunks=chunks,
        count=sum(len(chunk.entries) for chunk in chunks),
        named=sum(chunk.named for chunk in chunks),
        first_start=min((chunk.first_start for chunk in chunks), default=inf),
    )


def _with_lists(book: Book, lists: Mapping[Scope, ListState]) -> Book:
    return msgspec.structs.replace(
        book,
        lists=lists,
        deadline=min((state.deadline for state in lists.values()), default=inf),
        is_serving=any(not state.withdrawn for state in lists.values()),
    )
