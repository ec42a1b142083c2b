"""The board of a replica: a state, and what a record of the log makes of it. Pure, in slices.

The next state depends on nothing but the last and the record, so that all machines have the same at the
same position, down to where chunks are cut. Until when it may be shown is not part of it (`liveness.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf

from msgspec import Struct
from msgspec.structs import replace

from actors.board.chunks import entries_of, find
from actors.board.diff import seen_of
from actors.board.snapshot import Book, Chunk, Differences, Entry, ListState, RemovalReason, Snapshot
from actors.cluster.records import (
    BookRecord,
    Record,
    WireBook,
    WireList,
    all_chunk_bytes,
    chunks_of,
    entry_of,
    state_bytes,
    state_of,
)
from actors.cluster.store import CollectorId, Position, Restored
from actors.cluster.wire_fixtures import fixtures_from, links_of, wire_fixtures
from actors.core.clock import Instant
from actors.core.cooperative import SLICE, Sliced
from actors.core.messages import BookmakerId, ListId, Scope, SourceMatchId
from actors.matches.model import FixtureSettings, first_snapshot, fixtures_of
from actors.matches.update import FixtureUpdater

_NO_ID = ListId("")  # a list's id is of use to its source alone
_NO_TIME = Instant(0.0, 0.0)  # nothing that is made here depends on the time

Entries = dict[SourceMatchId, Entry | None]


class State(Struct, frozen=True, eq=False):
    """The board after the record at a position, and whose lists each bookmaker's are, None: nobody's."""

    at: Position
    snapshot: Snapshot
    collectors: Mapping[BookmakerId, CollectorId | None]


def empty(first: int, terms: FixtureSettings, epoch: str) -> State:
    """Return the state that an epoch begins with."""
    return State(Position(first), first_snapshot(first, terms, epoch), dict.fromkeys(terms.roster))


def restored(found: Restored, terms: FixtureSettings, epoch: str) -> Sliced[State]:
    """Return the state of a checkpoint; the empty one where there is none. Raises: MsgspecError."""
    begin = empty(found.first, terms, epoch)
    if found.at is None:
        return begin
    state = state_of(found.state)
    books, collectors = {}, {}
    for name in begin.snapshot.books:
        wire = state.books[name]
        chunks = yield from chunks_of(name, wire.chunks)
        lists = {scope: _state_of(of) for scope, of in wire.lists.items()}
        books[name] = _book(Book(wire.v1_version, wire.v2_version), chunks, lists)
        collectors[name] = wire.collector
    fixtures = yield from fixtures_from(state.fixtures, books, found.first, terms)
    snapshot = replace(
        begin.snapshot, version=found.at.version, books=books, fixtures=fixtures, made_at=state.at
    )
    return State(found.at, snapshot, collectors)


def kept(state: State) -> Sliced[bytes]:
    """Return a state as a checkpoint keeps it."""
    books = {}
    for name, book in state.snapshot.books.items():
        chunks = yield from all_chunk_bytes(book.chunks)
        lists = {scope: wire_list(of) for scope, of in book.lists.items()}
        books[name] = WireBook(book.v1_version, book.v2_version, state.collectors[name], lists, chunks)
    fixtures = yield from wire_fixtures(fixtures_of(state.snapshot))
    return state_bytes(state.at, books, fixtures, state.snapshot.made_at)


def wire_list(state: ListState) -> WireList:
    """Return what travels of the state of a list."""
    return WireList(state.withdrawn, state.doubted)


def applied(state: State, at: Position, record: Record, updater: FixtureUpdater) -> Sliced[State]:
    """Return the state after a record; its snapshot has the differences and changes of this record alone.

    The `updater` makes the fixtures, without surebets.
    """
    base = state.snapshot
    books, collectors = dict(base.books), dict(state.collectors)
    step = _Step(at)
    for name, change in record.books.items():
        if name in books:  # else another shape, which cannot join
            is_other = collectors[name] not in {None, record.collector}
            books[name] = yield from step.changed(books[name], name, change, is_other=is_other)
            collectors[name] = record.collector
    if record.leaves:
        for name in [name for name, owner in collectors.items() if owner == record.collector]:
            books[name] = yield from step.left(books[name], name)
            collectors[name] = None
    links = None if record.links is None else links_of(record.links)
    linked = yield from updater(base, books, step.noted, links, _NO_TIME)
    snapshot = Snapshot(
        at.version,
        books,
        differences={name: of for name, of in step.noted.items() if seen_of(of.before, of.after)[1]},
        epoch=base.epoch,
        fixtures=base.fixtures if linked is None else linked.fixtures,
        fixture_changes=None if linked is None else linked.changes,
        made_at=base.made_at if at.sub else record.at,
    )
    return State(at, snapshot, collectors)


def shown(state: State, until: Callable[[CollectorId], float]) -> Snapshot:
    """Return the snapshot of a state, in which the entries of a collector are good `until` that time.

    Monotonic seconds; nothing else ends by itself on a replica.
    """
    books = {}
    for name, book in state.snapshot.books.items():
        owner = state.collectors[name]
        deadline = inf if not book.count else -inf if owner is None else until(owner)
        if deadline < inf:
            book = replace(book, deadline=deadline, vouched_until=deadline)  # noqa: PLW2901
        books[name] = book
    first = min((book.deadline for book in books.values()), default=inf)
    return replace(state.snapshot, books=books, valid_until=first)


class _Step:
    """What a record makes of single books at its position; `noted` has the entries that differ."""

    def __init__(self, at: Position) -> None:
        self.noted: dict[BookmakerId, Differences] = {}
        self._version = at.version

    def changed(self, book: Book, name: BookmakerId, change: BookRecord, *, is_other: bool) -> Sliced[Book]:
        """Return a book after a change; of another collector (`is_other`) nothing else stays."""
        after: Entries = {}
        reasons: dict[SourceMatchId, RemovalReason] = {}
        lists = {} if is_other else dict(book.lists)
        if is_other:
            after = dict.fromkeys(entry.source_match_id for entry in entries_of(book.chunks))
            reasons = dict.fromkeys(after, RemovalReason.STALE)
        for match_id, reason in change.gone:
            if find(book.chunks, match_id) is not None:
                after[match_id], reasons[match_id] = None, reason
        for count, wire in enumerate(change.entries, 1):
            after[wire.source_match_id] = entry_of(name, wire)
            reasons.pop(wire.source_match_id, None)
            if count % SLICE == 0:
                yield
        lists |= {scope: _state_of(of) for scope, of in change.lists.items()}
        return (yield from self._with(book, name, Differences({}, after, reasons), lists))

    def left(self, book: Book, name: BookmakerId) -> Sliced[Book]:
        """Return a book whose lists are all withdrawn, because nobody vouches for them."""
        gone: Entries = dict.fromkeys(entry.source_match_id for entry in entries_of(book.chunks))
        lists = {scope: replace(of, withdrawn=True, doubted=0) for scope, of in book.lists.items()}
        change = Differences({}, gone, dict.fromkeys(gone, RemovalReason.STALE))
        return (yield from self._with(book, name, change, lists))

    def _with(
        self, book: Book, name: BookmakerId, change: Differences, lists: Mapping[Scope, ListState]
    ) -> Sliced[Book]:
        """Return a book with these entries and lists."""
        before = {match_id: find(book.chunks, match_id) for match_id in change.after}
        by_v1, by_v2 = seen_of(before, change.after)
        if before:
            self.noted[name] = Differences(before, change.after, change.reasons)
        chunks = yield from Chunk.changed(book.chunks, change.after)
        v1_version = self._version if by_v1 else book.v1_version
        v2_version = self._version if by_v2 else book.v2_version
        return _book(Book(v1_version, v2_version), chunks, lists)


def _book(versions: Book, chunks: tuple[Chunk, ...], lists: Mapping[Scope, ListState]) -> Book:
    return replace(
        versions,
        chunks=chunks,
        lists=lists,
        count=sum([len(chunk.entries) for chunk in chunks]),
        named=sum([chunk.named for chunk in chunks]),
        is_serving=any(not of.withdrawn for of in lists.values()),
    )


def _state_of(wire: WireList) -> ListState:
    """Return the state of a list that its collector alone can end; when it was confirmed is not known."""
    return ListState(_NO_ID, 0.0, inf, doubted=wire.doubted, withdrawn=wire.withdrawn)
