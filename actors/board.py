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

from actors.chunks import changed, without
from actors.clock import Instant
from actors.listing import Verdict, complete_changes, delta_changes, has_kicked_off, is_doubtful
from actors.messages import Batch, BookmakerId, Scope
from actors.slices import Steps
from actors.snapshot import Book, Chunk, Entry, ListState, Snapshot

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
        self._v1_changed: set[BookmakerId] = set()
        self._v2_changed: set[BookmakerId] = set()

    def apply(self, batch: Batch, now: Instant) -> Steps[Applied]:
        """Take in one batch, all of it or none, and say what became of it."""
        book = self._books[batch.bookmaker]
        state = book.lists.get(batch.scope)
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
                self._withdraw(bookmaker, stale)
        last_start = now.wall - self._rules.expire_after_kickoff_s
        for bookmaker, book in self._books.items():
            if book.first_start <= last_start:
                self._drop(bookmaker, lambda entry: has_kicked_off(entry.match, last_start))

    def withdraw(self, bookmaker: BookmakerId, scope: Scope) -> None:
        """Take one list off the board until a complete one comes; none there is no error."""
        self._withdraw(bookmaker, {scope} & set(self._books[bookmaker].lists))

    def commit(self) -> Snapshot:
        """Give the next snapshot: version + 1 if it shows anything else, the base if nothing changed."""
        if all(book is self._base.books[bookmaker] for bookmaker, book in self._books.items()):
            return self._base
        version = self._base.version + (1 if self._v1_changed or self._v2_changed else 0)
        books = {bookmaker: self._stamped(bookmaker, version) for bookmaker in self._books}
        return Snapshot(
            version,
            books,
            min((book.deadline for book in books.values()), default=inf),
            min((book.first_start for book in books.values()), default=inf),
        )

    def _accept(self, batch: Batch, book: Book, now: Instant) -> Steps[Applied]:
        last_start = now.wall - self._rules.expire_after_kickoff_s
        find_changes = complete_changes if batch.complete else delta_changes
        found = yield from find_changes(book, batch, last_start)
        if found.changes:
            book = _with_chunks(book, (yield from changed(book.chunks, found.changes)))
        if found.is_public:
            self._v1_changed.add(batch.bookmaker)
        if found.is_public_named:
            self._v2_changed.add(batch.bookmaker)
        self._put(batch.bookmaker, book, _confirmed(batch), batch.scope)
        removed = sum(entry is None for entry in found.changes.values())
        return Applied(Verdict.ACCEPTED, len(found.changes) - removed, removed, found.finished)

    def _put(self, bookmaker: BookmakerId, book: Book, state: ListState, scope: Scope) -> None:
        self._books[bookmaker] = _with_lists(book, {**book.lists, scope: state})

    def _withdraw(self, bookmaker: BookmakerId, scopes: set[Scope]) -> None:
        self._drop(bookmaker, lambda entry: entry.scope in scopes)
        book = self._books[bookmaker]
        withdrawn = {
            scope: msgspec.structs.replace(book.lists[scope], withdrawn=True, doubted=0) for scope in scopes
        }
        self._books[bookmaker] = _with_lists(book, {**book.lists, **withdrawn})

    def _drop(self, bookmaker: BookmakerId, goes: Callable[[Entry], bool]) -> None:
        old = self._books[bookmaker]
        new = _with_chunks(old, without(old.chunks, goes))
        if new.count != old.count:
            self._books[bookmaker] = new
            self._v1_changed.add(bookmaker)
        if new.named != old.named:
            self._v2_changed.add(bookmaker)

    def _stamped(self, bookmaker: BookmakerId, version: int) -> Book:
        book = self._books[bookmaker]
        v1_version = version if bookmaker in self._v1_changed else book.v1_version
        v2_version = version if bookmaker in self._v2_changed else book.v2_version
        if (v1_version, v2_version) == (book.v1_version, book.v2_version):
            return book
        return msgspec.structs.replace(book, v1_version=v1_version, v2_version=v2_version)


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
