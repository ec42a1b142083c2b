"""The published snapshot: outlives every actor, and no read returns an entry past its deadline."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import anyio
import msgspec

from actors.board.board import Board, BoardRules, is_due, is_overdue
from actors.board.history import History, HistoryLimits
from actors.board.snapshot import Entry, Snapshot
from actors.core.clock import Clock, Instant
from actors.core.cooperative import Lane, Sliced, run_sliced
from actors.core.messages import BookmakerId, ListId, Scope


class Published:
    """Holds the newest snapshot; `history` has what changed since older ones."""

    def __init__(
        self,
        snapshot: Snapshot,
        rules: BoardRules,
        clock: Clock,
        limits: HistoryLimits = HistoryLimits(),  # noqa: B008 - a frozen value
        on_rejected: Callable[[BookmakerId, Scope, str], None] = lambda *_: None,
    ) -> None:
        self.rules = rules
        self.history = History(snapshot, limits)
        self._snapshot = snapshot
        self._clock = clock
        self._read_at = Instant(inf, inf)
        self._on_rejected = on_rejected
        self._withdrawing = anyio.Lock(fast_acquire=True)

    async def read(self) -> Snapshot:
        """Return the newest snapshot, with all that is overdue by now withdrawn; waits only for that."""
        while not self.is_valid(self._snapshot):
            async with self._withdrawing:
                await run_sliced(self.current(), Lane.BOARD)
        return self._snapshot

    async def reject(self, bookmaker: BookmakerId, entry: Entry, why: str) -> None:
        """Withdraw the list of an entry that cannot be shown, in a commit of its own."""
        async with self._withdrawing:
            await run_sliced(self._reject(bookmaker, entry, why), Lane.BOARD)

    def _reject(self, bookmaker: BookmakerId, entry: Entry, why: str) -> Sliced[None]:
        while True:
            board = Board(base := self._snapshot, self.rules)
            if (scope := (yield from board.reject(bookmaker, entry))) is None:
                return
            if self.replace(base, board.commit()):
                self._on_rejected(bookmaker, scope, why)
                return

    def current(self) -> Sliced[Snapshot]:
        """Return the same in slices, for callers that cannot wait."""
        while not self.is_valid(base := self._snapshot):
            board = Board(base, self.rules)
            yield from board.expire(self._clock.now())
            self.replace(base, board.commit())
        return self._snapshot

    def holds(self, bookmaker: BookmakerId, scope: Scope, list_id: ListId) -> bool:
        """Return whether that very list is on the board, whole, believed, neither withdrawn nor stale."""
        books, now = self._snapshot.books, self._clock.now()
        is_there = self._snapshot.holds(bookmaker, scope, list_id, now.wall, self.rules.max_matches)
        return is_there and now.mono < books[bookmaker].lists[scope].deadline

    def is_valid(self, snapshot: Snapshot) -> bool:
        """Return whether nothing in `snapshot` is overdue by now."""
        self._read_at = self._clock.now()
        return not is_overdue(snapshot, self.rules, self._read_at)

    def is_due(self, deadline: float, first_start: float, within_s: float) -> bool:
        """Return whether these times come within so many seconds of the last read, which had the time."""
        return is_due(deadline, first_start, self.rules, self._read_at, within_s)

    def replace(self, base: Snapshot, new: Snapshot) -> bool:
        """Publish `new`; False if `base` is replaced by now. The caller has `history` digest it."""
        if self._snapshot is not base:
            return False
        if new is not base:
            self.history.add(new)
            # The history has the differences; here they would be kept for as long as this is shown.
            self._snapshot = msgspec.structs.replace(new, differences={}) if new.differences else new
        return True
