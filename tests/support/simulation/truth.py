"""The permitted content of a cluster: entries of any collector's own board, and legs of surebets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf

import anyio

from actors.board.chunks import entries_of
from actors.board.snapshot import Entry, Snapshot

Leg = tuple[str, float]
"""An entry and a price of this entry."""


class Boards:
    """The entries on any collector's own board, and when other entries left all boards."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._boards: dict[object, set[tuple[object, ...]]] = {}
        self._left: dict[tuple[object, ...], float] = {}

    def follow(self, board: object, snapshot: Snapshot | None) -> None:
        """Take the present entries of a board; it has none once its process has ended."""
        books = () if snapshot is None else snapshot.books.values()
        new = {_shown(entry) for book in books for entry in entries_of(book.chunks)}
        old = self._boards.get(board, set())
        self._boards[board] = new
        for entry in old - new:
            self._left[entry] = self._now()
        for entry in new:
            self._left.pop(entry, None)

    def age_s(self, entry: tuple[object, ...]) -> float:
        """Return how long ago an entry left the last board; infinity if no board ever had it."""
        if any(entry in board for board in self._boards.values()):
            return 0.0
        return self._now() - self._left.get(entry, -inf)


def _shown(entry: Entry) -> tuple[object, ...]:
    return entry.id, entry.match.prices, entry.updated


class Legs:
    """The time until which each leg counts, by the processes that read it.

    A leg counts while the newest attempt of some process to read its source has brought its price, and for
    `max_age_s` at most.
    """

    def __init__(self, max_age_s: float) -> None:
        self._max_age_s = max_age_s
        self._until: dict[int, dict[Leg, float]] = {}

    def read(self, reader: int, legs: Mapping[str, tuple[float, ...]] | None) -> None:
        """Note the legs that a process has now read from a source; None after a failure."""
        now = anyio.current_time()
        known = self._until.setdefault(reader, {})
        for leg, until in known.items():
            known[leg] = min(until, now)
        for entry_id, prices in (legs or {}).items():
            known.update(dict.fromkeys([(entry_id, price) for price in prices], now + self._max_age_s))

    def over_for_s(self, leg: Leg) -> float:
        """Return for how long a leg has not counted; infinity if it never counted."""
        until = max([known[leg] for known in self._until.values() if leg in known], default=-inf)
        return max(anyio.current_time() - until, 0.0)
