"""The board: applies batches, withdraws what is overdue, commits a new snapshot.

Pure, in slices, and the only place that decides what is shown. The snapshot that a board was made from
stays as it was: after a crash half-way, and for a reader at any moment, there is a whole state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import inf
from typing import TypeAlias

import msgspec
from msgspec import Struct

from actors.board.chunks import entries_where, find
from actors.board.diff import Diff, Verdict, complete_changes, delta_changes, is_other, seen_of
from actors.board.lists import RESTORED, confirmed_by, is_stale_news, refusal_of
from actors.board.snapshot import (
    Book,
    Chunk,
    Differences,
    Entry,
    Linked,
    ListState,
    RemovalReason,
    Snapshot,
    earliest,
)
from actors.board.validity import BoardRules, begun_by, bounded, look
from actors.core.clock import Instant
from actors.core.cooperative import Sliced
from actors.core.messages import Batch, BookmakerId, Scope, SourceMatchId

MIN_LOST = 20  # a list that loses at most so many matches is never doubted
MAX_DOUBTED = 3  # accept a suspicious list when it is the third in a row (faults.md, C5)

Books: TypeAlias = Mapping[BookmakerId, Book]
Noted: TypeAlias = Mapping[BookmakerId, Differences]

Advance: TypeAlias = Callable[[Snapshot, Books, Noted, object, Instant], Sliced[Linked | None]]
"""Returns what becomes of the fixtures of a snapshot; None: nothing.

It is given the books and differences of the commit, and the groups to link (None: none).
"""


class Applied(Struct, frozen=True):
    """What became of a batch; `finished`, `too_many` count matches past their time, or without room."""

    verdict: Verdict
    upserted: int = 0
    removed: int = 0
    finished: int = 0
    too_many: int = 0


class Board:
    """The next snapshot in the making. Owned by one caller; never waits."""

    def __init__(self, base: Snapshot, rules: BoardRules, advance: Advance | None = None) -> None:
        self._base = base
        self._rules = rules
        self._advance = advance
        self._links: object = None
        self._books = dict(base.books)
        self._noted: dict[BookmakerId, Differences] = {}
        self._seen: dict[BookmakerId, tuple[bool, bool]] = {}

    def apply(self, batch: Batch, now: Instant) -> Sliced[Applied]:
        """Apply a batch, all of it or nothing, and return what became of it."""
        book = self._books[batch.bookmaker]
        state = book.lists.get(batch.scope)
        if batch.withdrawn:
            yield from self.withdraw(batch.bookmaker, batch.scope)
            return Applied(Verdict.WITHDRAWN)
        if (refusal := refusal_of(batch, state, now)) is not None:
            if is_stale_news(batch, state, now):
                yield from self.withdraw(batch.bookmaker, batch.scope, RemovalReason.STALE)
            return Applied(refusal)
        if batch.is_confirmation:
            yield from self._confirm(batch, state, confirmed_by(batch, state), now)
            return Applied(Verdict.CONFIRMED)
        last_start = now.wall - self._rules.expire_after_kickoff_s
        room = self._rules.max_matches - book.count
        find_changes = complete_changes if batch.complete else delta_changes
        seen = self._noted[batch.bookmaker].before if batch.bookmaker in self._noted else {}
        diff = yield from find_changes(book, batch, seen, last_start, room)
        may_doubt = state is not None and state.list_id != RESTORED and state.doubted + 1 < MAX_DOUBTED
        if state and may_doubt and is_doubtful(book, batch, diff, now):
            doubted = msgspec.structs.replace(state, doubted=state.doubted + 1)
            self._books[batch.bookmaker] = _with_lists(book, {batch.scope: doubted})
            return Applied(Verdict.SUSPECT)
        if diff.after:
            yield from self._change(batch.bookmaker, Differences(diff.before, diff.after, diff.reasons))
            self._books[batch.bookmaker] = _incomplete(self._books[batch.bookmaker], diff.taken_from, inf)
        whole_from = now.wall if diff.finished else -inf
        confirmed = confirmed_by(batch, state, whole_from, is_cut=diff.too_many > 0)
        yield from self._confirm(batch, state, confirmed, now)
        removed = len(diff.reasons)
        return Applied(Verdict.ACCEPTED, len(diff.after) - removed, removed, diff.finished, diff.too_many)

    def _confirm(self, batch: Batch, old: ListState | None, new: ListState, now: Instant) -> Sliced[None]:
        """Put a list into its new state, and remove from it what is in play and too old."""
        book = _with_lists(self._books[batch.bookmaker], {batch.scope: new})
        if old is not None and new.delay_s > old.delay_s:  # all of its prices are older than was thought
            book = msgspec.structs.replace(book, in_play_until=-inf)
        max_age_s = self._rules.in_play_max_age_s
        self._books[batch.bookmaker] = bounded(book, batch.matches, new, max_age_s, now)
        yield from self._end_old(batch.bookmaker, now)

    def restore(
        self, bookmaker: BookmakerId, lists: Mapping[Scope, ListState], entries: Iterable[Entry]
    ) -> Sliced[None]:
        """Put back lists that outlived a process, and their entries, of which none has kicked off."""
        after: dict[SourceMatchId, Entry | None] = {entry.source_match_id: entry for entry in entries}
        yield from self._change(bookmaker, Differences(dict.fromkeys(after), after, {}))
        book = _with_lists(self._books[bookmaker], lists)
        self._books[bookmaker] = msgspec.structs.replace(book, next_start=book.first_start)

    def expire(self, now: Instant) -> Sliced[None]:
        """Withdraw every list that is stale at `now`, and every match past its time, or in play and old.

        A stale list without a match is forgotten, unless it was the last one of its bookmaker.
        """
        for bookmaker, book in self._books.items():
            if book.deadline <= now.mono:
                stale = {scope for scope, state in book.lists.items() if state.deadline <= now.mono}
                yield from self._withdraw(bookmaker, stale, RemovalReason.STALE)
        last_start = now.wall - self._rules.expire_after_kickoff_s
        for bookmaker, book in self._books.items():
            if book.first_start <= last_start:
                over = yield from begun_by(book.chunks, last_start)
                yield from self._remove(bookmaker, over, RemovalReason.FINISHED)
                scopes = {entry.scope for entry in over.values()}
                self._books[bookmaker] = _incomplete(self._books[bookmaker], scopes, now.wall)
            yield from self._end_old(bookmaker, now)

    def withdraw(
        self, bookmaker: BookmakerId, scope: Scope, reason: RemovalReason = RemovalReason.WITHDRAWN
    ) -> Sliced[None]:
        """Remove one list until a complete one comes; nothing if there is none."""
        yield from self._withdraw(bookmaker, {scope} & self._books[bookmaker].lists.keys(), reason)

    def fail(self, bookmaker: BookmakerId, scope: Scope, at_mono: float) -> None:
        """Note that an attempt to get a list failed; a newer list or confirmation is trusted again."""
        book = self._books[bookmaker]
        if (state := book.lists.get(scope)) is not None and at_mono > state.failed_mono:
            failed = msgspec.structs.replace(state, failed_mono=at_mono)
            self._books[bookmaker] = _with_lists(book, {scope: failed})

    def reject(self, bookmaker: BookmakerId, entry: Entry) -> Sliced[Scope | None]:
        """Withdraw the list of an entry that cannot be shown; return its scope, None if it has changed."""
        found = find(self._books[bookmaker].chunks, entry.source_match_id)
        if found is None or is_other(found, entry):
            return None
        yield from self.withdraw(bookmaker, found.scope, RemovalReason.REJECTED)
        return found.scope

    def link(self, links: object) -> None:
        """Make these groups of events fixtures with this commit."""
        self._links = links

    def finish(self, now: Instant) -> Sliced[Snapshot]:
        """Return the next snapshot, with its fixtures: the base itself if nothing changed.

        Its version is one more if it shows anything else. Afterwards more may be applied, and the next
        snapshot made again.
        """
        base, books, linked = self._base, self._changed_books(), None
        if self._advance is not None:
            linked = yield from self._advance(base, books, self._noted, self._links, now)
        if books is base.books and linked is None:
            return base
        if books is not base.books:
            books = {**self._books, **{bookmaker: self._stamped(bookmaker) for bookmaker in self._seen}}
        is_seen = any(by_v1 for by_v1, _ in self._seen.values()) or (linked is not None and linked.is_seen)
        fixtures = base.fixtures if linked is None else linked.fixtures
        of_books = earliest(books.values())
        return Snapshot(
            base.version + is_seen,
            books,
            of_books.stale if fixtures is None else min(of_books.stale, fixtures.valid_until),
            of_books.first_start,
            {name: self._noted[name] for name, (_, by_v2) in self._seen.items() if by_v2},
            base.epoch,
            fixtures,
            None if linked is None else linked.changes,
            of_books.kick_off,
            now.wall,
        )

    def _end_old(self, bookmaker: BookmakerId, now: Instant) -> Sliced[None]:
        """Remove the matches in play whose prices are too old; only a list that is asked for has them."""
        book = self._books[bookmaker]
        if book.in_play_until > now.mono and book.next_start > now.wall:
            return
        found = yield from look(book, self._rules.in_play_max_age_s, now)
        yield from self._remove(bookmaker, found.too_old, RemovalReason.STALE)
        book = _incomplete(_incomplete(self._books[bookmaker], found.without, now.wall), found.lacking, inf)
        self._books[bookmaker] = msgspec.structs.replace(
            book, in_play_until=found.until, next_start=found.next_start
        )

    def _changed_books(self) -> Books:
        """Return the books, those of the base if none differs."""
        base = self._base.books
        is_same = all(book is base[bookmaker] for bookmaker, book in self._books.items())
        return base if is_same else self._books

    def _withdraw(self, bookmaker: BookmakerId, scopes: set[Scope], reason: RemovalReason) -> Sliced[None]:
        if not scopes:
            return
        book = self._books[bookmaker]
        gone = yield from entries_where(book.chunks, lambda entry: entry.scope in scopes)
        yield from self._remove(bookmaker, gone, reason)
        book = self._books[bookmaker]
        if reason is RemovalReason.STALE and any(
            scope not in scopes and not state.withdrawn for scope, state in book.lists.items()
        ):
            # The list of a day that is over: nothing is missed, and nobody asks for it again.
            over = scopes - {entry.scope for entry in gone.values()}
            lists = {scope: state for scope, state in book.lists.items() if scope not in over}
            book, scopes = msgspec.structs.replace(book, lists=lists), scopes - over
        withdrawn = {
            scope: msgspec.structs.replace(book.lists[scope], withdrawn=True, doubted=0) for scope in scopes
        }
        self._books[bookmaker] = _with_lists(book, withdrawn)

    def _remove(
        self, bookmaker: BookmakerId, gone: Mapping[SourceMatchId, Entry], reason: RemovalReason
    ) -> Sliced[None]:
        if gone:
            new = Differences(gone, dict.fromkeys(gone), dict.fromkeys(gone, reason))
            yield from self._change(bookmaker, new)

    def _change(self, bookmaker: BookmakerId, new: Differences) -> Sliced[None]:
        """Change entries, and keep a pair per match: what readers saw before this board, and will see."""
        book = self._books[bookmaker]
        self._books[bookmaker] = _with_chunks(book, (yield from Chunk.changed(book.chunks, new.after)))
        new = _joined(self._noted.get(bookmaker), new)
        self._seen[bookmaker] = seen_of(new.before, new.after)
        self._noted[bookmaker] = new

    def _stamped(self, bookmaker: BookmakerId) -> Book:
        """Return the book with the versions of the views that show something else than in the base."""
        book, version = self._books[bookmaker], self._base.version + 1
        by_v1, by_v2 = self._seen[bookmaker]
        if not by_v1:
            return book
        v2_version = version if by_v2 else book.v2_version
        return msgspec.structs.replace(book, v1_version=version, v2_version=v2_version)


def _joined(old: Differences | None, new: Differences) -> Differences:
    """Return one pair per match of two differences, of which the second came later."""
    if old is None:
        return new
    before, after = {**new.before, **old.before}, {**old.after, **new.after}
    return Differences(before, after, {**old.reasons, **new.reasons})


def _incomplete(book: Book, scopes: set[Scope], whole_from: float) -> Book:
    """Return the book where the lists of these scopes are not whole before that time (Unix seconds)."""
    lists = {scope: book.lists[scope] for scope in scopes}
    for scope, state in lists.items():
        lists[scope] = msgspec.structs.replace(state, whole_from=max(whole_from, state.whole_from))
    return _with_lists(book, lists) if lists else book


def _with_chunks(book: Book, chunks: tuple[Chunk, ...]) -> Book:
    return msgspec.structs.replace(
        book,
        chunks=chunks,
        count=sum([len(chunk.entries) for chunk in chunks]),
        named=sum([chunk.named for chunk in chunks]),
        first_start=min([chunk.first_start for chunk in chunks], default=inf),
        in_play_until=book.in_play_until if chunks else inf,
        next_start=book.next_start if chunks else inf,
    )


def _with_lists(book: Book, new: Mapping[Scope, ListState]) -> Book:
    """Return the book with these lists in place of its own of the same scopes."""
    lists = {**book.lists, **new}
    return msgspec.structs.replace(
        book,
        lists=lists,
        deadline=min((state.deadline for state in lists.values()), default=inf),
        is_serving=any(not state.withdrawn for state in lists.values()),
    )


def is_doubtful(book: Book, batch: Batch, diff: Diff, now: Instant) -> bool:
    """Return whether a polled list lost more than half and more than 20 of the matches still to come.

    A rejected match is not lost. An image is never doubted, because the changes after it build on it.
    """
    if not batch.complete or batch.is_image or len(diff.reasons) <= MIN_LOST:
        return False
    named = {match.source_match_id for match in batch.matches}
    named.update(removal.source_match_id for removal in batch.removals)
    ahead = lost = 0
    for chunk in book.chunks:
        for entry in chunk.entries:
            start = entry.match.begun_by
            if entry.scope == batch.scope and (start is None or start > now.wall):
                ahead += 1
                lost += entry.match.source_match_id not in named
    return lost > MIN_LOST and lost * 2 > ahead
