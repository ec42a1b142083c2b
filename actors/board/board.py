"""The board: applies batches, withdraws overdue entries, commits a new snapshot.

Pure, in slices, and the only place that decides which entries are shown. The base snapshot is never
changed: after a crash half-way, and for a reader at any moment, there is a whole state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf
from typing import Protocol, TypeAlias

import msgspec
from msgspec import Struct

from actors.board.chunks import find
from actors.board.diff import Diff, Verdict, complete_changes, delta_changes, is_other
from actors.board.lists import RESTORED, confirmed_by, is_stale_news, refusal_of
from actors.board.next_book import NextBook
from actors.board.snapshot import Book, Differences, Entry, Linked, RemovalReason, Snapshot, earliest
from actors.board.validity import BoardRules, ListState
from actors.core.clock import Instant
from actors.core.cooperative import Sliced
from actors.core.messages import Batch, BookmakerId, Scope, SourceMatchId, event_id_of

MIN_LOST = 20  # a list that loses at most this number of matches is never doubted
MAX_DOUBTED = 3  # accept a suspicious list when it is the third in a row (faults.md, C5)

Books: TypeAlias = Mapping[BookmakerId, Book]
Noted: TypeAlias = Mapping[BookmakerId, Differences]


class Advance(Protocol):
    """Takes the fixtures of a snapshot to the next version."""

    def __call__(
        self, base: Snapshot, books: Books, noted: Noted, links: object, now: Instant, *, version: int
    ) -> Sliced[Linked | None]:
        """Return the fixtures after the commit; None if they do not change.

        The arguments are the books and differences of the commit, and the groups to link (None: none).
        """


class Applied(Struct, frozen=True):
    """The fate of a batch; `finished`, `too_many` count its matches past their time, or beyond the room."""

    verdict: Verdict
    upserted: int = 0
    removed: int = 0
    finished: int = 0
    too_many: int = 0


class Board:
    """The next snapshot in the making. Owned by one caller; never waits.

    The snapshot gets `version`; by default one more than the base's. Boards that share a counter pass it.
    """

    def __init__(
        self,
        base: Snapshot,
        rules: BoardRules,
        advance: Advance | None = None,
        version: int | None = None,
    ) -> None:
        self._base = base
        self._version = base.version + 1 if version is None else version
        self._rules = rules
        self._advance = advance
        self._links: object = None
        self._books = dict(base.books)
        self._noted: dict[BookmakerId, Differences] = {}

    def apply(self, batch: Batch, now: Instant) -> Sliced[Applied]:
        """Apply a batch, all of it or nothing, and return its fate."""
        state = self._books[batch.bookmaker].lists.get(batch.scope)
        if batch.withdrawn:
            yield from self.withdraw(batch.bookmaker, batch.scope)
            return Applied(Verdict.WITHDRAWN)
        if (refusal := refusal_of(batch, state, now)) is not None:
            if is_stale_news(batch, state, now):
                yield from self.withdraw(batch.bookmaker, batch.scope, RemovalReason.STALE)
            return Applied(refusal)
        diff = yield from self._compared(batch, now)
        book = self._next(batch.bookmaker)
        may_doubt = state is not None and state.list_id != RESTORED and state.doubted + 1 < MAX_DOUBTED
        if state and may_doubt and is_doubtful(self._books[batch.bookmaker], batch, diff, now):
            book.put({batch.scope: msgspec.structs.replace(state, doubted=state.doubted + 1)})
            self._put(batch.bookmaker, book)
            return Applied(Verdict.SUSPECT)
        yield from book.change(diff)
        whole_from = now.wall if diff.finished else -inf
        confirmed = confirmed_by(batch, state, whole_from, is_cut=diff.too_many > 0)
        book.confirm(batch, confirmed, self._rules.in_play_max_age_s, now)
        yield from book.end_old(self._rules.in_play_max_age_s, now)
        self._put(batch.bookmaker, book)
        verdict = Verdict.CONFIRMED if batch.is_confirmation else Verdict.ACCEPTED
        removed = len(diff.reasons)
        return Applied(verdict, len(diff.after) - removed, removed, diff.finished, diff.too_many)

    def _compared(self, batch: Batch, now: Instant) -> Sliced[Diff]:
        """Return the changes that a batch would make."""
        book, noted = self._books[batch.bookmaker], self._noted.get(batch.bookmaker)
        last_start = now.wall - self._rules.expire_after_kickoff_s
        find_changes = complete_changes if batch.complete else delta_changes
        seen = {} if noted is None else noted.before
        return find_changes(book, batch, seen, last_start, self._rules.max_matches - book.count)

    def restore(
        self, bookmaker: BookmakerId, lists: Mapping[Scope, ListState], entries: Iterable[Entry]
    ) -> Sliced[None]:
        """Put back lists that outlived a process, with their entries; none of these has kicked off."""
        book = self._next(bookmaker)
        yield from book.restore(lists, entries)
        self._put(bookmaker, book)

    def expire(self, now: Instant) -> Sliced[None]:
        """Withdraw every stale list, every match past its time, and every price in play that is too old.

        A stale list without a match is forgotten, unless it was the last one of its bookmaker.
        """
        last_start = now.wall - self._rules.expire_after_kickoff_s
        for bookmaker, book in self._books.items():
            if min(book.deadline, book.in_play_until) > now.mono and (
                book.first_start > last_start and book.next_start > now.wall
            ):
                continue
            new = self._next(bookmaker)
            yield from new.expire(last_start, self._rules.in_play_max_age_s, now)
            self._put(bookmaker, new)

    def withdraw(
        self, bookmaker: BookmakerId, scope: Scope, reason: RemovalReason = RemovalReason.WITHDRAWN
    ) -> Sliced[None]:
        """Remove one list until a complete one comes; nothing if there is none."""
        book = self._next(bookmaker)
        yield from book.withdraw({scope} & self._books[bookmaker].lists.keys(), reason)
        self._put(bookmaker, book)

    def fail(self, bookmaker: BookmakerId, scope: Scope, at_mono: float) -> None:
        """Note a failed attempt to get a list; it is trusted again after a newer list or confirmation."""
        state = self._books[bookmaker].lists.get(scope)
        if state is not None and at_mono > state.failed_mono:
            book = self._next(bookmaker)
            book.put({scope: msgspec.structs.replace(state, failed_mono=at_mono)})
            self._put(bookmaker, book)

    def reject(self, bookmaker: BookmakerId, entry: Entry) -> Sliced[Scope | None]:
        """Withdraw the list of an entry that cannot be shown; return its scope, None if it has changed."""
        found = find(self._books[bookmaker].chunks, entry.source_match_id)
        if found is None or is_other(found, entry):
            return None
        yield from self.withdraw(bookmaker, found.scope, RemovalReason.REJECTED)
        return found.scope

    def link(self, links: object) -> None:
        """Make fixtures of these groups of events in this commit."""
        self._links = links

    @property
    def books(self) -> Books:
        """The current books."""
        return self._books

    @property
    def noted(self) -> Noted:
        """The changes since the base, also of entries that are equal again."""
        return self._noted

    def finish(self, now: Instant) -> Sliced[Snapshot]:
        """Return the next snapshot, with its fixtures: the base itself if nothing changed.

        Its version is higher if readers see a change. Afterwards the board may be changed and finished
        again.
        """
        base, books, linked = self._base, self._changed_books(), None
        if self._advance is not None:
            linked = yield from self._advance(
                base, books, self._noted, self._links, now, version=self._version
            )
        if books is base.books and linked is None:
            return base
        is_seen = any(books[name].v1_version > base.version for name in self._noted)
        is_seen = is_seen or (linked is not None and linked.is_seen)
        fixtures = base.fixtures if linked is None else linked.fixtures
        of_books = earliest(books.values())
        return Snapshot(
            self._version if is_seen else base.version,
            books,
            of_books.stale if fixtures is None else min(of_books.stale, fixtures.valid_until),
            of_books.first_start,
            {name: new for name, new in self._noted.items() if books[name].v2_version > base.version},
            base.epoch,
            fixtures,
            None if linked is None else linked.changes,
            of_books.kick_off,
            now.wall,
        )

    def _changed_books(self) -> Books:
        """Return the current books; the base's mapping if none differs."""
        base = self._base.books
        is_same = all(book is base[bookmaker] for bookmaker, book in self._books.items())
        return base if is_same else dict(self._books)

    def _next(self, bookmaker: BookmakerId) -> NextBook:
        return NextBook(self._books[bookmaker], self._noted.get(bookmaker))

    def _put(self, bookmaker: BookmakerId, new: NextBook) -> None:
        """Replace a book; its views with visible changes since the base get the next version."""
        if new.noted is not None:
            self._noted[bookmaker] = new.noted
        self._books[bookmaker] = new.made(self._base.books[bookmaker], self._version)


def is_doubtful(book: Book, batch: Batch, diff: Diff, now: Instant) -> bool:
    """Return whether a polled list lost more than half and more than 20 of the matches still to come.

    A rejected match does not count as lost. An image is never doubted, because later changes build on it.
    """
    if not batch.complete or batch.is_image or len(diff.reasons) <= MIN_LOST:
        return False
    named = {match.event_id for match in batch.matches}  # events, because a market may move to another line
    named.update(event_id_of(removal.source_match_id) for removal in batch.removals)
    every = set[SourceMatchId]()
    for chunk in book.chunks:
        for entry in chunk.entries:
            start = entry.match.begun_by
            if entry.scope == batch.scope and (start is None or start > now.wall):
                every.add(entry.match.event_id)
    ahead, lost = len(every), len(every - named)
    return lost > MIN_LOST and lost * 2 > ahead
