"""The board of a replica: a state, and the effect of a log record on it. Pure, in slices.

The next state depends only on the last one and the record, so that all machines have the same state at the
same position, including the cuts of chunks. Its time is the time of the matcher's newest tick, and its
times use the matcher's clock. Its validity is not part of it (`liveness.py`).

There is a board for each kind of market. All have the version of the newest record, so that a version is
one state of all boards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf

from msgspec import Struct
from msgspec.structs import replace

from actors.board.chunks import entries_of, entries_where, find
from actors.board.diff import seen_of
from actors.board.snapshot import Book, Chunk, Differences, Entry, Linked, RemovalReason, Snapshot
from actors.board.validity import ListState
from actors.cluster.linked_markets import beside, empty_markets, following, linked_markets
from actors.cluster.liveness import MatcherClock
from actors.cluster.store import CollectorId, Position, Restored
from actors.cluster.wire.fixtures import fixtures_from, links_of, wire_fixtures
from actors.cluster.wire.markets import market_fixtures_from, sides_from, wire_market_fixtures, wire_sides
from actors.cluster.wire.records import (
    BookRecord,
    MarketsRecord,
    Record,
    Tick,
    WireBook,
    WireList,
    WireMarket,
    WireMarketsState,
    WireState,
    WireTimes,
    all_chunk_bytes,
    chunks_of,
    entry_of,
    state_bytes,
    state_of,
)
from actors.core.clock import Instant
from actors.core.cooperative import SLICE, Sliced
from actors.core.messages import BookmakerId, ListId, Scope, SourceMatchId
from actors.market_fixtures.model import MarketState, markets_of
from actors.market_fixtures.update import MarketUpdater
from actors.markets.market import Kind
from actors.matches.model import FixtureSettings, first_snapshot, fixtures_of
from actors.matches.update import FixtureUpdater

_NO_ID = ListId("")  # only the source itself uses a list's id

Entries = dict[SourceMatchId, Entry | None]


class State(Struct, frozen=True, eq=False):
    """The board after the record at a position, and the collector of each bookmaker's lists (None: nobody).

    `markets` are the boards of the other kinds of market. Times use the clock of the collector `clock`.
    Without a `tick` the time is unknown.
    """

    at: Position
    snapshot: Snapshot
    collectors: Mapping[BookmakerId, CollectorId | None]
    clock: CollectorId | None = None
    tick: Tick | None = None
    markets: Mapping[Kind, Snapshot] = {}

    @property
    def boards(self) -> dict[Kind, Snapshot]:
        """The boards of all kinds, 1X2 first."""
        return {Kind.ONE_X_TWO: self.snapshot, **self.markets}


def empty(first: int, terms: FixtureSettings, epoch: str) -> State:
    """Return the state at the beginning of an epoch."""
    main = first_snapshot(first, terms, epoch)
    return State(Position(first), main, dict.fromkeys(terms.roster), markets=empty_markets(main))


def restored(found: Restored, terms: FixtureSettings, epoch: str) -> Sliced[State]:
    """Return the state of a checkpoint, or an empty one without a checkpoint. Raises: MsgspecError."""
    begin = empty(found.first, terms, epoch)
    if found.at is None:
        return begin
    state = state_of(found.state)
    books = yield from _books_from(state.books, begin.snapshot.books)
    fixtures = yield from fixtures_from(state.fixtures, books, found.first, terms)
    about = {"version": found.at.version, "made_at": state.at}
    main = replace(begin.snapshot, books=books, fixtures=fixtures, **about)
    sides, markets = sides_from(state.sides), dict[Kind, Snapshot]()
    for kind, board in begin.markets.items():
        markets[kind] = following(replace(board, **about), main)
        if (wire := state.markets.get(kind)) is not None:
            of_kind = yield from _books_from(wire.books, board.books)
            made = yield from market_fixtures_from(wire.fixtures, of_kind, fixtures, sides)
            markets[kind] = replace(markets[kind], books=of_kind, fixtures=made)
    collectors = {name: state.books[name].collector for name in books}
    return State(found.at, main, collectors, state.clock, state.tick, markets)


def _books_from(
    wires: Mapping[BookmakerId, WireBook], empty: Mapping[BookmakerId, Book]
) -> Sliced[dict[BookmakerId, Book]]:
    """Return the books of a checkpoint: the lists and entries of each bookmaker."""
    books = {}
    for name in empty:
        wire = wires[name]
        chunks = yield from chunks_of(name, wire.chunks)
        lists = {scope: _state_of(state) for scope, state in wire.lists.items()}
        books[name] = _book(Book(wire.v1_version, wire.v2_version), chunks, lists)
    return books


def kept(state: State) -> Sliced[bytes]:
    """Return a state in its stored form, for a checkpoint."""
    main, markets = fixtures_of(state.snapshot), dict[Kind, WireMarket]()
    books = yield from _kept_books(state.snapshot.books, state.collectors)
    fixtures = yield from wire_fixtures(main)
    about = state.at.version, state.at.sub, books, fixtures, state.snapshot.made_at, state.clock, state.tick
    for kind, board in state.markets.items():
        if any(book.lists for book in board.books.values()):
            of_kind = yield from _kept_books(board.books, state.collectors)
            markets[kind] = WireMarket(of_kind, (yield from wire_market_fixtures(markets_of(board), main)))
    if not markets:
        return state_bytes(WireState(*about))
    sides = wire_sides(next(markets_of(board).sides for board in state.markets.values()))
    return state_bytes(WireMarketsState(*about, markets, sides))


def _kept_books(
    books: Mapping[BookmakerId, Book], collectors: Mapping[BookmakerId, CollectorId | None]
) -> Sliced[dict[BookmakerId, WireBook]]:
    made = {}
    for name, book in books.items():
        chunks = yield from all_chunk_bytes(book.chunks)
        lists = {scope: wire_list(state, _times_of(state)) for scope, state in book.lists.items()}
        made[name] = WireBook(book.v1_version, book.v2_version, collectors[name], lists, chunks)
    return made


def wire_list(state: ListState, times: WireTimes | None = None) -> WireList:
    """Return a list's state in its wire form, with its times by the matcher's clock."""
    is_failing = state.failed_mono >= state.confirmed_mono
    return WireList(state.withdrawn, state.doubted, is_failing, times)


def _times_of(state: ListState) -> WireTimes | None:
    if state.confirmed_mono == inf:
        return None
    return WireTimes(state.confirmed_mono, state.stale_after_s, dict(state.vouched))


def applied(
    state: State,
    at: Position,
    record: MarketsRecord,
    updater: FixtureUpdater,
    of_kinds: Mapping[Kind, MarketUpdater] = {},
) -> Sliced[State]:
    """Return the state after a record; its snapshots have the differences and changes of this record alone.

    `updater` makes the 1X2 fixtures, `of_kinds` has the updaters for the other markets that are read here.
    A record without visible changes changes no visible surebet, even if one is due: the next version does.
    """
    base = state.snapshot
    clock, tick = _ticked(state, record)
    is_timed, is_same_clock = record.clock == clock, clock == state.clock
    steps = {
        kind: _Step(at, board, is_timed=is_timed, keeps_times=is_same_clock)
        for kind, board in state.boards.items()
        if kind is Kind.ONE_X_TWO or kind in of_kinds
    }
    collectors = yield from _taken(steps, state.collectors, record)
    main = steps.pop(Kind.ONE_X_TWO)
    links = None if record.links is None else links_of(record.links)
    now, is_present = None if tick is None else Instant(tick.mono, tick.wall), record.tick is not None
    linked = yield from updater(
        base, main.books, main.noted, links, now, version=base.version + 1, is_present=is_present
    )
    if at.sub and linked is not None and linked.is_seen:
        linked = None
    snapshot = main.made(linked, record)
    found: Mapping[Kind, Linked | None] = {}
    if steps and not at.sub:
        changes = {kind: (step.books, step.noted) for kind, step in steps.items()}
        found = yield from linked_markets(
            state.markets, changes, (base, snapshot), of_kinds, record, now=now
        )
    changed = {kind: step.made(found.get(kind), record) for kind, step in steps.items()}
    return State(at, snapshot, collectors, clock, tick, beside(state.markets, changed, snapshot))


def _taken(
    steps: Mapping[Kind, _Step],
    owners: Mapping[BookmakerId, CollectorId | None],
    record: MarketsRecord,
) -> Sliced[Mapping[BookmakerId, CollectorId | None]]:
    """Apply the changes of a record, and return the new collector of each bookmaker's lists."""
    collectors, every = dict(owners), {Kind.ONE_X_TWO: record.books, **record.markets}
    names = dict.fromkeys(name for books in every.values() for name in books)
    for name in names:
        if name not in collectors:
            continue  # a process with another configuration, which cannot join
        is_other = collectors[name] not in {None, record.collector}
        for kind, step in steps.items():
            change = every.get(kind, {}).get(name)
            if change is not None or is_other:
                yield from step.change(name, change or BookRecord(), is_other=is_other)
        collectors[name] = record.collector
    if record.leaves:
        for name in [name for name, owner in collectors.items() if owner == record.collector]:
            for step in steps.values():
                yield from step.leave(name)
            collectors[name] = None
    return collectors


def _ticked(state: State, record: Record) -> tuple[CollectorId | None, Tick | None]:
    """Return the collector whose clock is used after a record, and its newest tick."""
    if record.tick is not None:
        return record.collector, record.tick
    return state.clock, None if record.leaves and record.collector == state.clock else state.tick


def shown(
    state: State,
    until: Callable[[CollectorId], float],
    matcher: MatcherClock,
    kind: Kind = Kind.ONE_X_TWO,
) -> Snapshot:
    """Return the snapshot of a kind; a collector's entries are valid `until` that time (monotonic seconds).

    Surebets, and marks of begun matches that depend on the time, are valid as long as the matcher's clock
    allows; nothing else ends by itself on a replica.
    """
    board = state.boards[kind]
    if kind is not Kind.ONE_X_TWO and not any(book.lists for book in board.books.values()):
        return board
    is_known = matcher.by == state.clock
    ahead_s, books = matcher.ahead_most_s if is_known else inf, {}
    for name, book in board.books.items():
        owner = state.collectors[name]
        deadline = inf if not book.count else -inf if owner is None else until(owner)
        books[name] = replace(book, deadline=deadline, vouched_until=deadline, ahead_s=ahead_s)
    fixtures, first = (
        fixtures_of(board),
        min((book.deadline for book in books.values()), default=inf),
    )
    is_by_time = fixtures.candidates.until < inf
    if isinstance(fixtures, MarketState):
        is_by_time = is_by_time or -inf < fixtures.next_start < inf
        fixtures = replace(fixtures, is_foreign=True)
    if is_by_time:
        ends = matcher.until if is_known else -inf
        candidates = replace(fixtures.candidates, until=ends, kick_off=inf)
        fixtures, first = replace(fixtures, candidates=candidates), min(first, ends)
    return replace(board, books=books, valid_until=first, fixtures=fixtures)


class _Step:
    """A record's effect on the books of a board; `noted` has the differing entries.

    Without `keeps_times` the matcher's clock has changed, and the old times of all lists are removed.
    """

    def __init__(self, at: Position, board: Snapshot, *, is_timed: bool, keeps_times: bool) -> None:
        self.books, self.noted = dict(board.books), dict[BookmakerId, Differences]()
        if not keeps_times:
            for name, book in board.books.items():
                self.books[name] = replace(book, lists=_without_times(book.lists))
        self._base, self._at, self._is_timed = board, at, is_timed
        self._shared = fixtures_of(board).terms.roster.shared

    def change(self, name: BookmakerId, change: BookRecord, *, is_other: bool) -> Sliced[None]:
        """Change a book; if the book had another collector (`is_other`), its old content leaves."""
        book = self.books[name]
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
        told = {scope: _state_of(state, is_timed=self._is_timed) for scope, state in change.lists.items()}
        if name in self._shared:
            again = {scope for scope, state in told.items() if _becomes_known(lists.get(scope), state)}
            if again:  # the last confirmed bookmaker of the company may now be another
                some = yield from entries_where(book.chunks, lambda entry: entry.scope in again)
                after = {**some, **after}
        lists |= told
        yield from self._put(name, Differences({}, after, reasons), lists)

    def leave(self, name: BookmakerId) -> Sliced[None]:
        """Withdraw all lists of a book, because no collector confirms them any more."""
        book = self.books[name]
        gone: Entries = dict.fromkeys(entry.source_match_id for entry in entries_of(book.chunks))
        lists = {scope: replace(state, withdrawn=True, doubted=0) for scope, state in book.lists.items()}
        yield from self._put(name, Differences({}, gone, dict.fromkeys(gone, RemovalReason.STALE)), lists)

    def made(self, linked: Linked | None, record: Record) -> Snapshot:
        """Return the board after the record, with these fixtures, or (None) the former ones."""
        base, noted = self._base, self.noted
        return Snapshot(
            self._at.version,
            self.books,
            differences={
                name: change for name, change in noted.items() if seen_of(change.before, change.after)[1]
            },
            epoch=base.epoch,
            fixtures=base.fixtures if linked is None else linked.fixtures,
            fixture_changes=None if linked is None else linked.changes,
            made_at=base.made_at if self._at.sub else record.at,
        )

    def _put(
        self, name: BookmakerId, change: Differences, lists: Mapping[Scope, ListState]
    ) -> Sliced[None]:
        """Replace a book by one with these entries and lists."""
        book = self.books[name]
        before = {match_id: find(book.chunks, match_id) for match_id in change.after}
        by_v1, by_v2 = seen_of(before, change.after)
        if before:
            self.noted[name] = Differences(before, change.after, change.reasons)
        chunks = yield from Chunk.changed(book.chunks, change.after)
        v1_version = self._at.version if by_v1 else book.v1_version
        v2_version = self._at.version if by_v2 else book.v2_version
        self.books[name] = _book(Book(v1_version, v2_version), chunks, lists)


def _book(versions: Book, chunks: tuple[Chunk, ...], lists: Mapping[Scope, ListState]) -> Book:
    return replace(
        versions,
        chunks=chunks,
        lists=lists,
        count=sum([len(chunk.entries) for chunk in chunks]),
        named=sum([chunk.named for chunk in chunks]),
        is_serving=any(not state.withdrawn for state in lists.values()),
    )


def _state_of(wire: WireList, *, is_timed: bool = True) -> ListState:
    """Return the state of a list that only its collector can end.

    With unknown times the list is not trusted, because it may have been confirmed later than any other.
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
