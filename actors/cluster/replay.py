"""The board of a replica: a state, and what a record of the log makes of it. Pure, in slices.

The next state depends on nothing but the last and the record, so that all machines have the same at the
same position, down to where chunks are cut. Its time is that of the matcher's newest tick, its times are by
the matcher's clock. Until when it may be shown is not part of it (`liveness.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf

from msgspec import Struct
from msgspec.structs import replace

from actors.board.chunks import entries_of, entries_where, find
from actors.board.diff import seen_of
from actors.board.snapshot import Book, Chunk, Differences, Entry, RemovalReason, Snapshot
from actors.board.validity import ListState
from actors.cluster.liveness import MatcherClock
from actors.cluster.records import (
    BookRecord,
    Record,
    Tick,
    WireBook,
    WireList,
    WireState,
    WireTimes,
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
from actors.matches.model import FixtureSettings, Roster, first_snapshot, fixtures_of
from actors.matches.update import FixtureUpdater

_NO_ID = ListId("")  # a list's id is of use to its source alone

Entries = dict[SourceMatchId, Entry | None]


class State(Struct, frozen=True, eq=False):
    """The board after the record at a position, and whose lists each bookmaker's are, None: nobody's.

    Times are by the clock of the collector `clock`. Without a `tick` the time is not known.
    """

    at: Position
    snapshot: Snapshot
    collectors: Mapping[BookmakerId, CollectorId | None]
    clock: CollectorId | None = None
    tick: Tick | None = None


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
    return State(found.at, snapshot, collectors, state.clock, state.tick)


def kept(state: State) -> Sliced[bytes]:
    """Return a state as a checkpoint keeps it."""
    books = {}
    for name, book in state.snapshot.books.items():
        chunks = yield from all_chunk_bytes(book.chunks)
        lists = {scope: wire_list(of, _times_of(of)) for scope, of in book.lists.items()}
        books[name] = WireBook(book.v1_version, book.v2_version, state.collectors[name], lists, chunks)
    fixtures = yield from wire_fixtures(fixtures_of(state.snapshot))
    at, made_at = state.at, state.snapshot.made_at
    return state_bytes(WireState(at.version, at.sub, books, fixtures, made_at, state.clock, state.tick))


def wire_list(state: ListState, times: WireTimes | None = None) -> WireList:
    """Return what travels of the state of a list, with its times by the matcher's clock."""
    is_failing = state.failed_mono >= state.confirmed_mono
    return WireList(state.withdrawn, state.doubted, is_failing, times)


def _times_of(state: ListState) -> WireTimes | None:
    if state.confirmed_mono == inf:
        return None
    return WireTimes(state.confirmed_mono, state.stale_after_s, dict(state.vouched))


def applied(state: State, at: Position, record: Record, updater: FixtureUpdater) -> Sliced[State]:
    """Return the state after a record; its snapshot has the differences and changes of this record alone.

    The `updater` makes the fixtures. A record that shows clients nothing new changes no surebet that they
    see, even if it is time: the next version does.
    """
    base = state.snapshot
    clock, tick = _ticked(state, record)
    books, collectors = dict(base.books), dict(state.collectors)
    if clock != state.clock:
        books = {name: replace(book, lists=_without_times(book.lists)) for name, book in books.items()}
    step = _Step(at, fixtures_of(base).terms.roster, is_timed=record.clock == clock)
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
    now, is_present = None if tick is None else Instant(tick.mono, tick.wall), record.tick is not None
    linked = yield from updater(
        base, books, step.noted, links, now, version=base.version + 1, is_present=is_present
    )
    if at.sub and linked is not None and linked.is_seen:
        linked = None
    snapshot = Snapshot(
        at.version,
        books,
        differences={name: of for name, of in step.noted.items() if seen_of(of.before, of.after)[1]},
        epoch=base.epoch,
        fixtures=base.fixtures if linked is None else linked.fixtures,
        fixture_changes=None if linked is None else linked.changes,
        made_at=base.made_at if at.sub else record.at,
    )
    return State(at, snapshot, collectors, clock, tick)


def _ticked(state: State, record: Record) -> tuple[CollectorId | None, Tick | None]:
    """Return by whose clock times are after a record, and its newest tick."""
    if record.tick is not None:
        return record.collector, record.tick
    return state.clock, None if record.leaves and record.collector == state.clock else state.tick


def shown(state: State, until: Callable[[CollectorId], float], matcher: MatcherClock) -> Snapshot:
    """Return the snapshot of a state, in which the entries of a collector are good `until` that time.

    Surebets are as long as its clock tells; nothing else ends by itself on a replica. Monotonic seconds.
    """
    is_known = matcher.by == state.clock
    ahead_s, books = matcher.ahead_most_s if is_known else inf, {}
    for name, book in state.snapshot.books.items():
        owner = state.collectors[name]
        deadline = inf if not book.count else -inf if owner is None else until(owner)
        books[name] = replace(book, deadline=deadline, vouched_until=deadline, ahead_s=ahead_s)
    fixtures, first = (
        fixtures_of(state.snapshot),
        min((book.deadline for book in books.values()), default=inf),
    )
    if fixtures.candidates.until < inf:
        ends = matcher.until if is_known else -inf
        candidates = replace(fixtures.candidates, until=ends, kick_off=inf)
        fixtures, first = replace(fixtures, candidates=candidates), min(first, ends)
    return replace(state.snapshot, books=books, valid_until=first, fixtures=fixtures)


class _Step:
    """A record's effect on single books at its position; `noted` has the entries that differ."""

    def __init__(self, at: Position, roster: Roster, *, is_timed: bool) -> None:
        self.noted: dict[BookmakerId, Differences] = {}
        self._version, self._is_timed, self._shared = at.version, is_timed, roster.shared

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
        told = {scope: _state_of(of, is_timed=self._is_timed) for scope, of in change.lists.items()}
        if name in self._shared:
            again = {scope for scope, state in told.items() if _becomes_known(lists.get(scope), state)}
            if again:  # which of the company was confirmed last is known only now
                some = yield from entries_where(book.chunks, lambda entry: entry.scope in again)
                after = {**some, **after}
        lists |= told
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


def _state_of(wire: WireList, *, is_timed: bool = True) -> ListState:
    """Return the state of a list that its collector alone can end.

    If its times are not known, it may have been confirmed later than any other, and is not trusted.
    """
    is_known = is_timed and wire.times is not None
    times = wire.times if is_timed and wire.times is not None else WireTimes(inf, inf)
    return ListState(
        _NO_ID,
        times.confirmed_mono,
        times.holds_s,
        doubted=wire.doubted,
        withdrawn=wire.withdrawn,
        vouched=times.vouched,
        failed_mono=inf if wire.is_failing or not is_known else -inf,
        is_foreign=True,
    )


def _becomes_known(old: ListState | None, new: ListState) -> bool:
    return old is not None and new.confirmed_mono < inf == old.confirmed_mono


def _without_times(lists: Mapping[Scope, ListState]) -> dict[Scope, ListState]:
    return {scope: _state_of(wire_list(state)) for scope, state in lists.items()}
