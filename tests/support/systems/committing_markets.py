"""The archived boards of several kinds of market, committed as one, where a test has no aggregator."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial

from msgspec.structs import replace

from actors.archive.archive import Archive
from actors.board.history import HistoryLimits
from actors.board.published import Published
from actors.board.snapshot import Snapshot
from actors.board.validity import BoardRules
from actors.core.clock import Clock
from actors.core.cooperative import run_now
from actors.core.messages import Batch, Match
from actors.market_fixtures.boards import Drafts, market_boards
from actors.markets.market import Kind
from actors.matches.model import FixtureSettings
from actors.matches.update import FixtureUpdater
from tests.support.builders.messages import batch


class CommittingMarkets:
    """Boards that withdraw what is overdue at `current`; `committed` is called after each commit."""

    def __init__(
        self,
        archive: Archive,
        clock: Clock,
        terms: FixtureSettings,
        kinds: Collection[Kind],
        committed: Callable[[], None] | None = None,
    ) -> None:
        first, limits, rules = archive.beginning.snapshot, HistoryLimits(), BoardRules()
        self.main = Published(first, rules, clock, limits, lambda _: None)
        found = market_boards(
            first, terms, kinds, rules=rules, clock=clock, limits=limits, request=lambda _: None
        )
        self.markets = replace(found, committed=committed or archive.commit)
        self._clock, self._updater, self.lists = clock, FixtureUpdater(terms), 0
        self._kinds = (Kind.ONE_X_TWO, *kinds)
        self.main.admit = archive.admit
        for kind, published in self.boards.items():
            published.follow(partial(archive.note, kind))

    @property
    def boards(self) -> dict[Kind, Published]:
        """Return the boards that may change, first that of 1X2."""
        others = {kind: self.markets.published[kind] for kind in self.markets.updaters}
        return {Kind.ONE_X_TWO: self.main, **others}

    @property
    def newest(self) -> Snapshot:
        """Return the newest board of 1X2."""
        return self.main.newest

    @property
    def newest_of_any(self) -> Snapshot:
        """Return the board of the newest version."""
        return max((board.newest for board in self.boards.values()), key=lambda newest: newest.version)

    def apply(self, changes: Batch) -> int:
        """Apply a batch in one commit, and return the newest version of any board."""
        self.current()
        drafts = self._drafts()
        run_now(drafts.apply(replace(changes, kinds=self._kinds), self._clock.now()))
        self._commit(drafts)
        return self.newest_of_any.version

    def put(self, bookmaker: str, *matches: Match, stale_after_s: float = 30.0) -> int:
        """Apply a complete list of a bookmaker for all kinds, received now, as `apply`."""
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

    def current(self) -> None:
        """Withdraw all that is overdue by now."""
        while not all(board.is_valid(board.newest.deadlines) for board in self.boards.values()):
            drafts = self._drafts()
            run_now(drafts.expire(self._clock.now()))
            self._commit(drafts)

    def _drafts(self) -> Drafts:
        return Drafts(self.main, self._updater, self.markets)

    def _commit(self, drafts: Drafts) -> None:
        run_now(drafts.finish(self._clock.now()))
        drafts.publish()
        for board in self.boards.values():
            board.end_turn()
            run_now(board.digest())
