"""A board that links, read at the time that a test sets."""

from __future__ import annotations

from actors.board.snapshot import Entry, Snapshot
from actors.board.validity import Deadlines, is_due
from actors.core.messages import BookmakerId
from tests.support.builders.fixtures import RULES, LinkedBoard


class ReadableBoard(LinkedBoard):
    """The board for the answers; a test commits whatever is overdue before it asks."""

    @property
    def newest(self) -> Snapshot:
        """The newest snapshot."""
        return self.snapshot

    async def read(self, deadlines: object = None) -> Snapshot:
        """Return the newest snapshot."""
        del deadlines
        return self.snapshot

    async def reject(self, bookmaker: BookmakerId, entry: Entry, why: str) -> None:
        """Fail: every entry of these tests can be encoded."""
        raise AssertionError(f"{bookmaker} {entry} {why}")

    def is_valid(self, deadlines: Deadlines) -> bool:
        """Return whether none of `deadlines` has passed at the time of the test."""
        return not is_due(deadlines, RULES, self.now)

    def is_due(self, deadlines: Deadlines, within_s: float) -> bool:
        """Return whether any of `deadlines` comes within `within_s`."""
        return is_due(deadlines, RULES, self.now, within_s)
