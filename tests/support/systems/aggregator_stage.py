"""The aggregator and all state that outlives it, for scripted batches."""

from __future__ import annotations

from collections.abc import Callable

from actors.board.board import Advance
from actors.board.history import HistoryLimits
from actors.board.published import Published
from actors.board.snapshot import Snapshot
from actors.board.validity import BoardRules
from actors.core.clock import Instant
from actors.core.messages import Batch, BookmakerId, Scope
from actors.market_fixtures.boards import MarketBoards, market_boards
from actors.markets.market import Kind
from actors.matches.model import fixtures_of
from actors.pipeline.aggregator import AggregatorActor, Item, new_intake
from actors.runtime.supervisor import ChildSpec
from tests.support.systems.supervision import service_record
from tests.support.time.virtual import VirtualClock

FIRST_VERSION = 1000


class BreakableClock(VirtualClock):
    """A clock that raises as often as the test says."""

    def __init__(self) -> None:
        super().__init__()
        self.breaks = 0

    def now(self) -> Instant:
        """Return the present moment, or raise."""
        if self.breaks:
            self.breaks -= 1
            raise RuntimeError("the clock is broken")
        return super().now()


def markets_beside(first: Snapshot, ask: Callable[[Item], None]) -> MarketBoards:
    """Return boards of some other markets beside the first of 1X2."""
    return market_boards(
        first,
        fixtures_of(first).terms,
        (Kind.OVER_UNDER, Kind.ASIAN_HANDICAP, Kind.BTTS),
        rules=BoardRules(),
        clock=VirtualClock(),
        limits=HistoryLimits(),
        request=ask,
    )


class AggregatorStage:
    """An aggregator for these bookmakers, or on the board `first`; no other part uses its `clock`.

    `markets` makes the boards of other markets beside the first (`markets_beside`).
    """

    def __init__(
        self,
        *bookmakers: str,
        first: Snapshot | None = None,
        advance: Advance | None = None,
        markets: Callable[[Snapshot, Callable[[Item], None]], MarketBoards] = lambda *_: MarketBoards(),
    ) -> None:
        self.clock = BreakableClock()
        self.intake = new_intake()
        names = tuple(map(BookmakerId, bookmakers))
        first = Snapshot.empty(FIRST_VERSION, names) if first is None else first
        ask = self.intake.put_nowait
        self.published = Published(first, BoardRules(), VirtualClock(), request=ask)
        self.status = service_record(*first.books)
        self.blamed: list[BookmakerId] = []
        self.rejected: list[tuple[BookmakerId, Scope, str]] = []
        self.resumed: Callable[[], None] = lambda: None
        self.markets = markets(first, ask)
        self._advance = advance
        self.child = ChildSpec(
            self.status.board.actor,
            self._start,
            is_explained=lambda: self.intake.in_flight is not None,
            is_core=True,
        )

    @property
    def version(self) -> int:
        """The published version, relative to the first one."""
        return self.published.newest.version - FIRST_VERSION

    def shown(self) -> list[str]:
        """Return the ids of all entries on the newest board."""
        books = self.published.newest.books.values()
        return [entry.id for book in books for chunk in book.chunks for entry in chunk.entries]

    def withdrawn(self) -> list[tuple[str, str]]:
        """Return bookmaker and scope of each withdrawn list, as the log has them."""
        return sorted(key for outage in self.status.board.outages.values() for key in outage.withdrawn)

    def _start(self) -> AggregatorActor:
        return AggregatorActor(
            *(self.intake, self.published, self.status, self._blame, self.clock),
            resumed=self.resumed,
            on_rejected=lambda *rejection: self.rejected.append(rejection),
            advance=self._advance,
            markets=self.markets,
        )

    def _blame(self, item: Item) -> None:
        assert isinstance(item, Batch)
        self.blamed.append(item.bookmaker)
