"""The published snapshot: outlives every actor, and no read returns an entry past its deadline."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import anyio
import msgspec

from actors.board.board import Advance, Board, BoardRules, is_due, is_overdue
from actors.board.history import History, HistoryLimits
from actors.board.snapshot import Entry, Snapshot
from actors.core.clock import Clock, Instant
from actors.core.cooperative import Lane, Sliced, run_sliced
from actors.core.messages import BookmakerId, ListId, Scope


class Published:
    """Holds the newest snapshot; `history` has what changed since older ones.

    Who works out a commit in slices holds `finishing` meanwhile; only a withdrawal makes it void.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        rules: BoardRules,
        clock: Clock,
        limits: HistoryLimits = HistoryLimits(),  # noqa: B008 - a frozen value
        on_rejected: Callable[[BookmakerId, Scope, str], None] = lambda *_: None,
        *,
        advance: Advance | None = None,
    ) -> None:
        self.rules = rules
        self.history = History(snapshot, limits)
        self.finishing = anyio.Lock(fast_acquire=True)
        self._advance = advance
        self._followers: list[Callable[[Snapshot], None]] = []
        self._digests = [self.history.digest]
        self._snapshot = snapshot
        self._clock = clock
        self._read_at = Instant(inf, inf)
        self._on_rejected = on_rejected
        self._withdrawing = anyio.Lock(fast_acquire=True)

    def follow(
        self, follower: Callable[[Snapshot], None], digest: Callable[[], Sliced[None]] | None = None
    ) -> None:
        """Have `follower` called with each snapshot that is published; the rest is for `digest`."""
        self._followers.append(follower)
        if digest is not None:
            self._digests.append(digest)

    def digest(self) -> Sliced[None]:
        """Have all who follow work through what was published."""
        for digest in self._digests:
            yield from digest()

    def board(self, base: Snapshot, advance: Advance | None = None) -> Board:
        """Return a board on `base` that links as this one does, or as `advance` does."""
        return Board(base, self.rules, advance or self._advance)

    @property
    def newest(self) -> Snapshot:
        """The newest snapshot as it is, whatever of it is overdue or still to be worked out."""
        return self._snapshot

    async def read(self) -> Snapshot:
        """Return the newest snapshot, with all that is overdue by now withdrawn, and its fixtures made.

        Waits only for that; concurrent calls share the work.
        """
        while not self._is_current():
            async with self._withdrawing:
                await run_sliced(self.current(), Lane.BOARD)
        return self._snapshot

    async def read_lists(self) -> Snapshot:
        """Return the same for whoever shows lists: its fixtures may lack what is `unapplied`.

        It waits only if anything is overdue.
        """
        return self._snapshot if self.is_valid(self._snapshot) else await self.read()

    async def reject(self, bookmaker: BookmakerId, entry: Entry, why: str) -> None:
        """Withdraw the list of an entry that cannot be shown, in a commit of its own."""
        async with self._withdrawing:
            await run_sliced(self._reject(bookmaker, entry, why), Lane.BOARD)

    def _reject(self, bookmaker: BookmakerId, entry: Entry, why: str) -> Sliced[None]:
        while True:
            board = self.board(base := self._snapshot)
            if (scope := (yield from board.reject(bookmaker, entry))) is None:
                return
            if self.replace(base, (yield from board.finish(self._clock.now()))):
                self._on_rejected(bookmaker, scope, why)
                return

    def current(self) -> Sliced[Snapshot]:
        """Return the same in slices, for callers that cannot wait."""
        while not self._is_current():
            board, now = self.board(base := self._snapshot), self._clock.now()
            yield from board.expire(now)
            self.replace(base, (yield from board.finish(now)))
        return self._snapshot

    def holds(self, bookmaker: BookmakerId, scope: Scope, list_id: ListId) -> bool:
        """Return whether that very list is on the board, whole, believed, neither withdrawn nor stale."""
        books, now = self._snapshot.books, self._clock.now()
        is_there = self._snapshot.holds(bookmaker, scope, list_id, now.wall, self.rules.max_matches)
        return is_there and now.mono < books[bookmaker].lists[scope].deadline

    def _is_current(self) -> bool:
        return self.is_valid(self._snapshot) and self._snapshot.unapplied is None

    def is_valid(self, snapshot: Snapshot) -> bool:
        """Return whether nothing in `snapshot` is overdue by now."""
        self._read_at = self._clock.now()
        return not is_overdue(snapshot, self.rules, self._read_at)

    def is_due(self, deadline: float, first_start: float, within_s: float) -> bool:
        """Return whether these times come within so many seconds of the last read, which had the time."""
        return is_due(deadline, first_start, self.rules, self._read_at, within_s)

    def replace(self, base: Snapshot, new: Snapshot) -> bool:
        """Publish `new`; False if `base` is replaced by now. The caller has it digested."""
        if self._snapshot is not base:
            return False
        if new is not base:
            self.history.add(new)
            for follower in self._followers:
                follower(new)
            # The histories have the differences; here they would be kept for as long as this is shown.
            if new.differences or new.fixture_changes is not None:
                new = msgspec.structs.replace(new, differences={}, fixture_changes=None)
            self._snapshot = new
        return True
