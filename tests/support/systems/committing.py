"""A published snapshot that does at once what reads ask of the aggregator, where a test has none."""

from __future__ import annotations

from collections.abc import Callable

from actors.board.board import Advance, Board
from actors.board.history import HistoryLimits
from actors.board.published import Published, Rejection, Request
from actors.board.snapshot import Snapshot
from actors.board.validity import BoardRules
from actors.core.clock import Clock
from actors.core.cooperative import run_now
from actors.core.messages import Batch, BookmakerId, Match, Scope
from tests.support.builders.messages import batch


class Committing(Published):
    """Withdraws what is overdue, or cannot be shown, as soon as a read asks for it."""

    def __init__(
        self,
        snapshot: Snapshot,
        rules: BoardRules,
        clock: Clock,
        limits: HistoryLimits = HistoryLimits(),  # noqa: B008 - a frozen value
        *,
        on_rejected: Callable[[BookmakerId, Scope, str], None] = lambda *_: None,
        advance: Advance | None = None,
    ) -> None:
        super().__init__(snapshot, rules, clock, limits, self._do)
        self._advance = advance
        self._lists = 0
        self._on_rejected = on_rejected

    def board(self) -> Board:
        """Return a board on the newest snapshot."""
        return Board(self.newest, self.rules, self._advance)

    def commit(self, board: Board) -> None:
        """Publish what a board has become."""
        self.publish(run_now(board.finish(self._clock.now())))
        self.end_turn()
        run_now(self.digest())

    def apply(self, *batches: Batch) -> int:
        """Apply batches in one commit and return its version."""
        self.current()
        board = self.board()
        for changes in batches:
            run_now(board.apply(changes, self._clock.now()))
        self.commit(board)
        return self.current().version

    def put(self, bookmaker: str, *matches: Match, stale_after_s: float = 30.0) -> int:
        """Apply a complete list of a bookmaker, received now, and return the version."""
        self._lists += 1
        return self.apply(
            batch(
                matches,
                bookmaker=bookmaker,
                list_id=f"list-{self._lists}",
                received_mono=self._clock.now().mono,
                stale_after_s=stale_after_s,
            )
        )

    def current(self) -> Snapshot:
        """Return the newest snapshot, with all that is overdue by now withdrawn."""
        while not self.is_valid(self.newest.deadlines):
            board = self.board()
            run_now(board.expire(self._clock.now()))
            self.commit(board)
        return self.newest

    def _do(self, request: Request) -> None:
        self.current()
        if isinstance(request, Rejection):
            board = self.board()
            if (scope := run_now(board.reject(request.bookmaker, request.entry))) is not None:
                self.commit(board)
                self._on_rejected(request.bookmaker, scope, request.why)
        self.end_turn()
