"""A published snapshot that does the aggregator's work as soon as a read asks, for tests without one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from msgspec.structs import replace

from actors.board.board import Advance
from actors.board.history import HistoryLimits
from actors.board.published import Published, Rejection, Request
from actors.board.snapshot import Snapshot
from actors.board.validity import BoardRules
from actors.core.clock import Clock
from actors.core.cooperative import run_now
from actors.core.messages import Batch, BookmakerId, Match, Scope
from actors.market_fixtures.boards import Drafts, MarketBoards, market_boards
from actors.markets.market import Kind
from actors.matches.linking import Linking
from actors.matches.model import FixtureSettings, fixtures_of
from tests.support.builders.messages import batch


class Committing(Published):
    """Withdraws entries that are overdue, or cannot be shown, as soon as a read asks for this."""

    def __init__(
        self,
        snapshot: Snapshot,
        rules: BoardRules,
        clock: Clock,
        limits: HistoryLimits = HistoryLimits(),  # noqa: B008 - a frozen value
        *,
        on_rejected: Callable[[BookmakerId, Scope, str], None] = lambda *_: None,
        advance: Advance | None = None,
        terms: FixtureSettings | None = None,
        kinds: Collection[Kind] = (),
        begun: Mapping[Kind, Snapshot] = {},
    ) -> None:
        """Keep boards of other `kinds` of market as well, if the `terms` of their fixtures are given.

        Boards that are `begun` begin with these snapshots.
        """
        super().__init__(snapshot, rules, clock, limits, self._do)
        self._kinds, self.markets = tuple(kinds), MarketBoards()
        if terms is not None:
            self.markets = market_boards(
                snapshot,
                terms,
                kinds,
                rules=rules,
                clock=clock,
                limits=limits,
                request=self._do,
                begun=begun,
            )
        self._advance = advance
        self.lists = 0
        self._on_rejected = on_rejected

    @property
    def boards(self) -> dict[Kind, Published]:
        """The boards that may change, first the board of 1X2."""
        others = {kind: self.markets.published[kind] for kind in self.markets.updaters}
        return {Kind.ONE_X_TWO: self, **others}

    @property
    def newest_of_any(self) -> Snapshot:
        """The board of the newest version."""
        return max((board.newest for board in self.boards.values()), key=lambda newest: newest.version)

    def board(self) -> Drafts:
        """Return the boards on the newest snapshots."""
        return Drafts(self, self._advance, self.markets)

    def commit(self, board: Drafts) -> None:
        """Publish the changed boards."""
        run_now(board.finish(self._clock.now()))
        board.publish()
        for published in (self, *self.markets.published.values()):
            published.end_turn()
            run_now(published.digest())

    def apply(self, *batches: Batch) -> int:
        """Apply batches in one commit and return its version."""
        self.current()
        board = self.board()
        for changes in batches:
            run_now(board.apply(replace(changes, kinds=self._spoken(changes)), self._clock.now()))
        self.commit(board)
        return self.current().version

    def put(self, bookmaker: str, *matches: Match, stale_after_s: float = 30.0) -> int:
        """Apply a complete list of a bookmaker, received now, and return the version."""
        self.lists += 1
        return self.apply(
            batch(
                matches,
                bookmaker=bookmaker,
                list_id=f"list-{self.lists}",
                received_mono=self._clock.now().mono,
                stale_after_s=stale_after_s,
            )
        )

    def link(self, linking: Linking) -> None:
        """Apply all links that fixtures lack, each in a commit."""
        for links in run_now(linking.update(fixtures_of(self.newest), None)):
            board = self.board()
            board.link(links)
            self.commit(board)

    def current(self) -> Snapshot:
        """Return the newest snapshot, after all that is overdue by now was withdrawn."""
        every = (self, *self.markets.published.values())
        while not all(published.is_valid(published.newest.deadlines) for published in every):
            board = self.board()
            run_now(board.expire(self._clock.now()))
            self.commit(board)
        return self.newest

    def _spoken(self, changes: Batch) -> tuple[Kind, ...]:
        return (Kind.ONE_X_TWO, *self._kinds) if self._kinds else changes.kinds

    def _do(self, request: Request) -> None:
        self.current()
        if isinstance(request, Rejection):
            board = self.board()
            if (scope := run_now(board.reject(request.bookmaker, request.entry))) is not None:
                self.commit(board)
                self._on_rejected(request.bookmaker, scope, request.why)
        self.end_turn()
