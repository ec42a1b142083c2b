"""The immutable board at one version: entries in chunks, chunks in books, books in a snapshot.

Pure values. An unchanged chunk is the same object in the next snapshot, so that data derived from a chunk
can be cached as long as the chunk lives.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from math import inf
from operator import attrgetter
from typing import Protocol, Self

from msgspec import Struct

from actors.board.chunks import SortedChunk
from actors.board.validity import Deadlines, ListState
from actors.core.messages import BookmakerId, ListId, Match, Scope, SourceMatchId


class RemovalReason(StrEnum):
    """The reason for clients why an entry is no longer shown."""

    WITHDRAWN = "withdrawn"  # its source no longer lists it, or withdrew the list
    SUSPENDED = "suspended"
    STALE = "stale"  # its list was not confirmed in time
    REJECTED = "rejected"  # its newest price is not credible
    FINISHED = "finished"
    UNNAMED = "unnamed"  # v2 hides it, because a team's name became empty


class Entry(Struct, frozen=True, gc=False):
    """One match on the board. `updated` (Unix seconds, to the millisecond) is when its content changed.

    The content was received at `received_at` (Unix seconds), None if no longer known.
    """

    id: str
    scope: Scope
    match: Match
    updated: float
    received_at: float | None = None

    @property
    def source_match_id(self) -> SourceMatchId:
        """The sort key of the board within one bookmaker."""
        return self.match.source_match_id

    @property
    def is_named(self) -> bool:
        """Whether both teams have a name; v2 shows only such entries."""
        return self.match.is_named


class Chunk(SortedChunk[SourceMatchId, Entry], frozen=True, eq=False, weakref=True):
    """Some neighbouring entries of one bookmaker by id.

    `named` counts the entries that v2 shows, `first_start` is the earliest kick-off (Unix seconds), or the
    latest possible one where it is unknown; infinity if there is none.
    """

    named: int
    first_start: float

    @classmethod
    def of(cls, keys: Iterable[SourceMatchId], entries: Iterable[Entry]) -> Self:
        """Return a chunk of one or more sorted entries."""
        entries = tuple(entries)
        matches = [entry.match for entry in entries]  # lists are fast, and every changed chunk needs them
        starts = [match.start_time for match in matches if match.start_time is not None]
        if len(starts) < len(matches):  # some matches may have a latest possible start
            starts = [start for match in matches if (start := match.begun_by) is not None]
        named = [match for match in matches if match.home and match.away]
        return cls(tuple(keys), entries, len(named), min(starts, default=inf))

    @classmethod
    def cuts(cls, entries: Iterable[Entry]) -> bool:
        """Return whether v2 shows any of these entries; if not, the v2 list must keep its exact bytes."""
        return any(entry.is_named for entry in entries)

    def replaced(self, entries: Sequence[Entry], places: Sequence[int]) -> Self:
        """Return a chunk with the same ids and these entries, which differ in these places."""
        for place in places:
            a, b = self.entries[place].match, entries[place].match
            if not (
                a.home == b.home
                and a.away == b.away
                and a.start_time == b.start_time
                and a.begun_by == b.begun_by
            ):
                return self.of(self.keys, entries)
        return type(self)(self.keys, tuple(entries), self.named, self.first_start)


class Book(Struct, frozen=True, eq=False):
    """One bookmaker's part of a snapshot.

    `deadline` (monotonic) and `first_start` (Unix) are the earliest of its lists and entries. Before
    `in_play_until` (monotonic) and `next_start` (Unix) no price in play is too old (`next_book.py`).
    `v1_version` and `v2_version` are the last commits that changed its own v1 and v2 views. In a book of
    another process no entry is valid after `vouched_until` (monotonic), and the clock behind the times of
    its lists is at most `ahead_s` ahead of ours.
    """

    v1_version: int
    v2_version: int
    chunks: tuple[Chunk, ...] = ()
    lists: Mapping[Scope, ListState] = {}
    count: int = 0
    named: int = 0
    deadline: float = inf
    first_start: float = inf
    is_serving: bool = False
    in_play_until: float = inf
    next_start: float = inf
    vouched_until: float = inf
    ahead_s: float = 0.0

    @property
    def scopes(self) -> frozenset[Scope]:
        """The scopes of its lists that are not withdrawn."""
        return frozenset(scope for scope, state in self.lists.items() if not state.withdrawn)

    def vouched_mono(self, entry: Entry) -> float:
        """Return the earliest time of the source's last confirmation of an entry (monotonic seconds)."""
        return self.lists[entry.scope].vouched_at(entry.source_match_id) - self.ahead_s

    def serves(self, mono: float) -> bool:
        """Return whether any of its lists is valid at that time, even if withdrawals are pending."""
        return mono < self.vouched_until and any(
            not state.withdrawn and mono < state.deadline for state in self.lists.values()
        )


class Differences(Struct, frozen=True, eq=False):
    """A bookmaker's entries before and after a commit, some equal; `reasons` has the removed ones."""

    before: Mapping[SourceMatchId, Entry | None]
    after: Mapping[SourceMatchId, Entry | None]
    reasons: Mapping[SourceMatchId, RemovalReason]


class Fixtures(Protocol):
    """Groups of entries from several sources, one for each match; committed with their books."""

    @property
    def valid_until(self) -> float:
        """The monotonic second at which it changes without new data."""
        ...

    @property
    def kick_off(self) -> float:
        """The Unix second at which it changes without new data; valid even if that clock is set."""
        ...


class Linked(Struct, frozen=True, eq=False):
    """The fixtures of a commit, and their changes; `is_seen` if readers see any of these."""

    fixtures: Fixtures
    changes: object = None
    is_seen: bool = False


def earliest(books: Collection[Book]) -> Deadlines:
    """Return the earliest deadlines of books."""
    return Deadlines(
        min((min(book.deadline, book.in_play_until) for book in books), default=inf),
        min((book.first_start for book in books), default=inf),
        min((book.next_start for book in books), default=inf),
    )


class Snapshot(Struct, frozen=True, eq=False, weakref=True):
    """The whole board at one version, bookmakers in the order of the configuration.

    After `valid_until` (monotonic seconds) a list is stale, or a price in play too old; `first_start` and
    `next_start` (Unix seconds) are the earliest of the books. `differences` are those of the commit, for
    bookmakers with a changed v2 view. `version` counts within `epoch` (lower-case letters and digits):
    another process may reuse it. `fixtures` (None if nothing is linked) and `fixture_changes` have the
    types of `actors/matches/model.py`. The snapshot was made at `made_at` (Unix seconds).
    """

    version: int
    books: Mapping[BookmakerId, Book]
    valid_until: float = inf
    first_start: float = inf
    differences: Mapping[BookmakerId, Differences] = {}
    epoch: str = "0"
    fixtures: Fixtures | None = None
    fixture_changes: object = None
    next_start: float = inf
    made_at: float = 0.0

    @classmethod
    def empty(cls, version: int, bookmakers: tuple[BookmakerId, ...], epoch: str = "0") -> Snapshot:
        """Return a board without any list."""
        return cls(version, {bookmaker: Book(version, version) for bookmaker in bookmakers}, epoch=epoch)

    @property
    def deadlines(self) -> Deadlines:
        """The earliest deadlines of any part of the board."""
        kick_off = inf if self.fixtures is None else self.fixtures.kick_off
        return Deadlines(self.valid_until, self.first_start, min(self.next_start, kick_off))

    def list_deadlines(self, bookmaker: BookmakerId | None = None) -> Deadlines:
        """Return the earliest deadlines of the lists of a bookmaker, or (None) of all."""
        return earliest(self.books.values() if bookmaker is None else (self.books[bookmaker],))

    def has_lists_of(self, other: Snapshot) -> bool:
        """Return whether it has each list that another board of the same bookmakers shows."""
        return all(
            state.withdrawn or scope in self.books[name].lists
            for name, book in other.books.items()
            for scope, state in book.lists.items()
        )

    def holds(
        self, bookmaker: BookmakerId, scope: Scope, list_id: ListId, wall: float, max_matches: int
    ) -> bool:
        """Return whether exactly that list is on the board, believed, not withdrawn, and whole at `wall`.

        A list that was cut is whole while the bookmaker has its `max_matches`.
        """
        book = self.books[bookmaker]
        state = book.lists.get(scope)
        if state is None or state.withdrawn or state.doubted:
            return False
        has_to_come = state.is_cut and book.count < max_matches
        return state.list_id == list_id and wall >= state.whole_from and not has_to_come


class Readable(Protocol):
    """A place to read the newest snapshot."""

    @property
    def newest(self) -> Snapshot:
        """The newest snapshot, including overdue entries."""
        ...

    async def read(self, deadlines: Callable[[Snapshot], Deadlines] = attrgetter("deadlines")) -> Snapshot:
        """Return the newest snapshot when no entry of the view with these deadlines is overdue.

        Waits only for overdue entries. Raises: CommitLateError if the next commit does not come in time.
        """
        ...

    async def reject(self, bookmaker: BookmakerId, entry: Entry, why: str) -> None:
        """Have the list of an entry that cannot be shown withdrawn; no effect if the entry has gone.

        Raises: CommitLateError like `read`.
        """
        ...

    def is_valid(self, deadlines: Deadlines) -> bool:
        """Return whether data with these deadlines is still valid now."""
        ...

    def is_due(self, deadlines: Deadlines, within_s: float) -> bool:
        """Return whether a deadline passes at most `within_s` seconds after the last read of the board."""
        ...
