"""The published snapshot: one reference that outlives every actor.

The aggregator swaps it, everybody reads it. A read never gives an entry past its deadline: when the
aggregator is late, restarting, or the whole process was suspended, the read withdraws first.
"""

from __future__ import annotations

from actors.board import Board, BoardRules
from actors.clock import Clock
from actors.snapshot import Snapshot


class Published:
    """Holds the newest snapshot."""

    def __init__(self, snapshot: Snapshot, rules: BoardRules, clock: Clock) -> None:
        self.rules = rules
        self._snapshot = snapshot
        self._clock = clock

    def read(self) -> Snapshot:
        """Give the newest snapshot, with all that is overdue by now withdrawn; does not wait."""
        now = self._clock.now()
        overdue = now.wall - self.rules.expire_after_kickoff_s
        if self._snapshot.valid_until <= now.mono or self._snapshot.first_start <= overdue:
            board = Board(self._snapshot, self.rules)
            board.expire(now)
            self._snapshot = board.commit()
        return self._snapshot

    def replace(self, base: Snapshot, new: Snapshot) -> bool:
        """Publish `new` if it was made from what is published; False if a read has withdrawn since."""
        if self._snapshot is not base:
            return False
        self._snapshot = new
        return True
