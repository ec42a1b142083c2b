"""The uncommitted changes of a collector's own board. Pure, in slices.

It compares the newest board with the state that the log has acknowledged, so that waiting commits become
one and nothing piles up. Boards of markets other than 1X2 are compared at the same moment. Chunks that are
the same objects are skipped. Confirmation times are sent with changed lists, and otherwise only if `due` is
asked for times.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from actors.board.chunks import entries_of
from actors.board.snapshot import Book, Entry, RemovalReason, Snapshot
from actors.board.validity import ListState
from actors.cluster.liveness import MatcherClock
from actors.cluster.replay import wire_list
from actors.cluster.store import CollectorId
from actors.cluster.wire.records import BookRecord, WireTimes, wire_entry
from actors.core.cooperative import Sliced
from actors.core.messages import BookmakerId, Scope, SourceMatchId
from actors.markets.market import Kind

Entries = dict[SourceMatchId, Entry | None]
Lists = Mapping[Scope, ListState]
_NOTHING = Book(0, 0)


class Due(Struct, frozen=True, eq=False):
    """The books to commit, whether clients see a change, and the acknowledged state `after` the commit.

    The commit contains the times of the lists `timed`, by the `clock` of that collector (None: no times).
    `markets` has the same for other markets; `is_seen` covers all boards.
    """

    books: Mapping[BookmakerId, BookRecord]
    is_seen: bool
    after: Mapping[BookmakerId, Book]
    clock: CollectorId | None
    timed: Mapping[BookmakerId, Lists]
    markets: Mapping[Kind, Due] = {}

    @property
    def changed(self) -> dict[Kind, Mapping[BookmakerId, BookRecord]]:
        """The books to commit, for each kind of market that has any."""
        every = {Kind.ONE_X_TWO: self, **self.markets}
        return {kind: due.books for kind, due in every.items() if due.books}

    def book(self, name: BookmakerId, kind: Kind) -> Book:
        """Return the book of a bookmaker and a kind after the commit."""
        return (self if kind is Kind.ONE_X_TWO else self.markets[kind]).after[name]


class Outbox:
    """Follows the published snapshots of a collector; `clock` is the matcher's.

    The outbox of the 1X2 board has the outboxes of other kinds of market `beside` it.
    """

    def __init__(self, first: Snapshot, clock: MatcherClock, beside: Mapping[Kind, Outbox] = {}) -> None:
        self.newest, self._beside = first, beside
        self._clock = clock
        self._acked: dict[BookmakerId, Book] = {}
        self._reasons: dict[BookmakerId, dict[SourceMatchId, RemovalReason]] = {}
        self._timed_by: CollectorId | None = None
        self._timed: dict[BookmakerId, Lists] = {}
        """The lists with their times in the log, by that collector's clock."""

    def follow(self, snapshot: Snapshot) -> None:
        """Store the newest snapshot, and collect the reasons why entries left."""
        self.newest = snapshot
        for name, differences in snapshot.differences.items():
            self._reasons.setdefault(name, {}).update(differences.reasons)

    def reset(self) -> None:
        """Record that the log has no data of this collector any more."""
        self._acked.clear()
        self._reasons.clear()
        self._timed.clear()
        for box in self._beside.values():
            box.reset()

    def due(self, bookmakers: Sequence[BookmakerId], *, with_times: bool) -> Sliced[Due]:
        """Return the uncommitted changes of these bookmakers on all boards, perhaps none."""
        clock = self._clock.by
        boards = [(kind, box, box.newest) for kind, box in self._beside.items()]
        main = yield from self.compared(self.newest, bookmakers, clock, with_times=with_times)
        markets = {}
        for kind, box, newest in boards:
            markets[kind] = yield from box.compared(newest, bookmakers, clock, with_times=with_times)
        is_seen = any(due.is_seen for due in (main, *markets.values()))
        return replace(main, is_seen=is_seen, markets=markets)

    def compared(
        self,
        newest: Snapshot,
        bookmakers: Iterable[BookmakerId],
        clock: CollectorId | None,
        *,
        with_times: bool,
    ) -> Sliced[Due]:
        """Return the uncommitted changes of a board, with times by a clock of the matcher."""
        if clock != self._timed_by:
            self._timed_by, self._timed = clock, {}
        books, after, timed, is_seen = {}, {}, {}, False
        is_clocked = clock is not None
        for name in bookmakers:
            book, acked = newest.books[name], self._acked.get(name, _NOTHING)
            of_times = self._timed.get(name, {})
            is_timed = not is_clocked or not with_times or of_times == book.lists
            if book is acked and is_timed:
                continue
            after[name] = book
            changed = yield from changes(acked, book)
            listed = {entry.scope for entry in changed.values() if entry is not None}
            lists = {
                scope: state
                for scope, state in book.lists.items()
                if scope in listed
                or _differs(acked.lists.get(scope), state)
                or not (is_timed or of_times.get(scope) is state)
            }
            if changed or lists:
                books[name] = self._record(name, changed, lists)
                is_seen = (
                    is_seen or bool(changed) or _show(acked.lists, lists, of_times if is_clocked else None)
                )
            timed[name] = {**of_times, **lists}
            yield
        return Due(books, is_seen, after, clock, timed)

    def acked(self, due: Due) -> None:
        """Record that the log has these changes."""
        self._acked.update(due.after)
        if due.clock is not None and due.clock == self._timed_by:
            self._timed.update(due.timed)
        for name, book in due.after.items():
            if self.newest.books[name] is book:
                self._reasons.pop(name, None)
        for kind, of_kind in due.markets.items():
            self._beside[kind].acked(of_kind)

    def _record(self, name: BookmakerId, changed: Entries, lists: Lists) -> BookRecord:
        reasons = self._reasons.get(name, {})
        entries = tuple([wire_entry(entry) for entry in changed.values() if entry is not None])
        gone = tuple(
            (match_id, reasons.get(match_id, RemovalReason.WITHDRAWN))
            for match_id, entry in changed.items()
            if entry is None
        )
        return BookRecord(
            entries, gone, {scope: wire_list(state, self._times(state)) for scope, state in lists.items()}
        )

    def _times(self, state: ListState) -> WireTimes | None:
        """Return when a list was confirmed, by the matcher's clock."""
        if self._clock.by is None:
            return None
        earliest, delay_s = self._clock.earliest, state.delay_s
        vouched = {match_id: earliest(mono - delay_s) for match_id, mono in state.vouched.items()}
        return WireTimes(earliest(state.confirmed_mono - delay_s), state.stale_after_s, vouched)


def _show(old: Lists, new: Lists, timed: Lists | None) -> bool:
    """Return whether lists without entries may change what clients see; new times of untimed lists may."""
    return any(
        _may_show(old.get(scope), state) or (timed is not None and scope not in timed)
        for scope, state in new.items()
    )


def _differs(old: ListState | None, new: ListState) -> bool:
    """Return whether a list differs in more than its times."""
    return old is None or wire_list(old) != wire_list(new)


def _may_show(old: ListState | None, new: ListState) -> bool:
    """Return whether a list alone may change what clients see: its trust decides about surebets."""
    return old is not None and old.is_trusted != new.is_trusted


def changes(old: Book, new: Book) -> Sliced[Entries]:
    """Return the entries that differ, in their new state; None for those that left."""
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
