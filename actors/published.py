"""The published snapshot: one reference that outlives every actor, and what changed on the way to it.

The aggregator swaps it, everybody reads it. A read never gives an entry past its deadline: when the
aggregator is late, restarting, or the whole process was suspended, the read withdraws first.
"""

from __future__ import annotations

import msgspec

from actors.board import Board, BoardRules, is_overdue
from actors.clock import Clock
from actors.history import History, HistoryLimits
from actors.snapshot import Snapshot


class Published:
    """Holds the newest snapshot; `history` tells what changed since older ones."""

    def __init__(
        self,
        snapshot: Snapshot,
        rules: BoardRules,
        clock: Clock,
        limits: HistoryLimits = HistoryLimits(),  # noqa: B008 - a frozen value
    ) -> None:
        self.rules = rules
        self.history = History(snapshot, limits)
        self._snapshot = snapshot
        self._clock = clock

    def read(self) -> Snapshot:
        """Give the newest snapshot, with all that is overdue by now withdrawn; does not wait.

        What is long about that is left to the aggregator, whose next turn lets `history` digest it.
        """
        if not self.is_valid(self._snapshot):
            board = Board(self._snapshot, self.rules)
            board.expire(self._clock.now())
            self._publish(board.commit())
        return self._snapshot

    def is_valid(self, snapshot: Snapshot) -> bool:
        """Tell whether nothing in `snapshot` is overdue by now."""
        return not is_overdue(snapshot, self.rules, self._clock.now())

    def replace(self, base: Snapshot, new: Snapshot) -> bool:
        """Publish `new` if it was made from what is published; False if a read has withdrawn since.

        The caller lets `history` digest it when the swap is done.
        """
        if self._snapshot is not base:
            return False
        if new is not base:
            self._publish(new)
        return True

    def _publish(self, new: Snapshot) -> None:
        self.history.add(new)
        # What it replaced is the history's business, and must not be kept for as long as it is shown.
        self._snapshot = msgspec.structs.replace(new, differences={}) if new.differences else new
