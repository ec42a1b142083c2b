"""The published snapshot: outlives every actor, and no read returns an entry past its deadline.

Only the aggregator replaces it. A read that finds an overdue entry in its view requests the withdrawal and
waits.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from operator import attrgetter
from typing import TypeAlias

import anyio
import msgspec
from msgspec import Struct

from actors.board.history import HistoryLimits, ListHistory
from actors.board.snapshot import Entry, Snapshot
from actors.board.validity import BoardRules, Deadlines, is_due
from actors.core.clock import Clock, Instant
from actors.core.cooperative import Sliced
from actors.core.errors import CommitLateError
from actors.core.messages import BookmakerId, ListId, Scope

MAX_WAIT_S = 1.0  # the longest wait of a read for a withdrawal


class Overdue(Struct, frozen=True):
    """A request by a read to withdraw overdue entries now."""


class Rejection(Struct, frozen=True):
    """A request to withdraw the list of an entry that cannot be shown. `why` is for the log."""

    bookmaker: BookmakerId
    entry: Entry
    why: str


Request: TypeAlias = Overdue | Rejection
"""A request by a read to the aggregator."""


class Published:
    """Holds the newest snapshot; `history` has the changes since older ones.

    `versions` counts the versions published since the first. `request` passes requests of reads to the
    aggregator without waiting.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        rules: BoardRules,
        clock: Clock,
        limits: HistoryLimits = HistoryLimits(),  # noqa: B008 - a frozen value
        request: Callable[[Request], None] = lambda _: None,
    ) -> None:
        self.rules = rules
        self.history = ListHistory(snapshot, limits)
        self._request = request
        self._followers: list[Callable[[Snapshot], None]] = []
        self._digests = [self.history.digest]
        self._snapshot = snapshot
        self.versions = 0
        self.admit: Callable[[Snapshot], Snapshot] = lambda new: new
        """Returns the form in which a new snapshot may be published, perhaps in another epoch."""
        self._clock = clock
        self._read_at = Instant(inf, inf)
        self._turn = anyio.Event()

    def follow(
        self, follower: Callable[[Snapshot], None], digest: Callable[[], Sliced[None]] | None = None
    ) -> None:
        """Have `follower` called with each published snapshot; it leaves longer work to `digest`."""
        self._followers.append(follower)
        if digest is not None:
            self._digests.append(digest)

    def digest(self) -> Sliced[None]:
        """Have all followers process the published snapshots."""
        for digest in self._digests:
            yield from digest()

    @property
    def newest(self) -> Snapshot:
        """The newest snapshot, including overdue entries."""
        return self._snapshot

    async def read(self, deadlines: Callable[[Snapshot], Deadlines] = attrgetter("deadlines")) -> Snapshot:
        """Return the newest snapshot when no entry of the view with these deadlines is overdue.

        Waits only for overdue entries. Raises: CommitLateError after `MAX_WAIT_S`.
        """
        if not self.is_valid(self._snapshot.deadlines) and not self.is_valid(deadlines(self._snapshot)):
            with anyio.move_on_after(MAX_WAIT_S):
                while not self.is_valid(deadlines(self._snapshot)):
                    await self._next_turn(Overdue())
                return self._snapshot
            raise CommitLateError("what is overdue was not withdrawn in time")
        return self._snapshot

    async def reject(self, bookmaker: BookmakerId, entry: Entry, why: str) -> None:
        """Have the list of an entry that cannot be shown withdrawn; no effect if the entry has gone.

        Raises: CommitLateError after `MAX_WAIT_S`.
        """
        with anyio.move_on_after(MAX_WAIT_S):
            await self._next_turn(Rejection(bookmaker, entry, why))
            return
        raise CommitLateError("a list that cannot be shown was not withdrawn in time")

    async def _next_turn(self, request: Request) -> None:
        """Send a request to the aggregator, and wait for the end of its turn."""
        turn = self._turn
        self._request(request)
        await turn.wait()

    def holds(self, bookmaker: BookmakerId, scope: Scope, list_id: ListId) -> bool:
        """Return whether that list is on the board: whole, believed, neither withdrawn nor stale."""
        books, now = self._snapshot.books, self._clock.now()
        is_there = self._snapshot.holds(bookmaker, scope, list_id, now.wall, self.rules.max_matches)
        return is_there and now.mono < books[bookmaker].lists[scope].deadline

    def is_valid(self, deadlines: Deadlines) -> bool:
        """Return whether data with these deadlines is still valid now."""
        self._read_at = self._clock.now()
        return not is_due(deadlines, self.rules, self._read_at)

    def is_due(self, deadlines: Deadlines, within_s: float) -> bool:
        """Return whether any of these deadlines comes within `within_s` seconds of the last read."""
        return is_due(deadlines, self.rules, self._read_at, within_s)

    def publish(self, new: Snapshot) -> None:
        """Replace the newest snapshot; called only by the aggregator, which then calls `digest`."""
        if new is self._snapshot:
            return
        new = self.admit(new)
        self.history.add(new)
        for follower in self._followers:
            follower(new)
        # The histories have the differences; keeping them here would hold their memory.
        if new.differences or new.fixture_changes is not None:
            new = msgspec.structs.replace(new, differences={}, fixture_changes=None)
        self.versions += new.version != self._snapshot.version
        self._snapshot = new

    def restart(self, first: Snapshot) -> None:
        """Replace the newest snapshot by one that does not follow it; the history begins anew."""
        self._snapshot = first
        self.history.restart(first, (None, *first.books))

    def end_turn(self) -> None:
        """Wake the reads that wait for the end of the aggregator's turn."""
        turn, self._turn = self._turn, anyio.Event()
        turn.set()
