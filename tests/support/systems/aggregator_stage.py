"""The aggregator and all state that outlives it, for scripted batches."""

from __future__ import annotations

from collections.abc import Callable

from actors.board.board import BoardRules
from actors.board.published import Published
from actors.board.snapshot import Snapshot
from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.messages import BookmakerId
from actors.pipeline.aggregator import AggregatorActor
from actors.runtime.conflation import Intake, merged_batches
from actors.runtime.mailbox import Mailbox
from actors.runtime.supervisor import ChildSpec
from tests.support.systems.supervision import service_record
from tests.support.time.virtual import VirtualClock

FIRST_VERSION = 1000


class BreakableClock(VirtualClock):
    """A clock that raises as many times as the test has set."""

    def __init__(self) -> None:
        super().__init__()
        self.breaks = 0

    def now(self) -> Instant:
        """Return the present moment, or raise."""
        if self.breaks:
            self.breaks -= 1
            raise RuntimeError("the clock is broken")
        return super().now()


class AggregatorStage:
    """An aggregator for these bookmakers; no other part uses its `clock`."""

    def __init__(self, *bookmakers: str) -> None:
        self.clock = BreakableClock()
        self.intake: Intake = Mailbox(lambda batch: (batch.bookmaker, batch.scope), merged_batches)
        empty = Snapshot.empty(FIRST_VERSION, tuple(map(BookmakerId, bookmakers)))
        self.published = Published(empty, BoardRules(), VirtualClock())
        self.status = service_record(*bookmakers)
        self.blamed: list[BookmakerId] = []
        self.resumed: Callable[[], None] = lambda: None
        self.child = ChildSpec(
            self.status.board.actor,
            self._start,
            is_explained=lambda: self.intake.in_flight is not None,
            is_core=True,
        )

    @property
    def version(self) -> int:
        """The published version, relative to the first one."""
        return run_now(self.published.current()).version - FIRST_VERSION

    def shown(self) -> list[str]:
        """Return the ids of all entries that a reader sees."""
        books = run_now(self.published.current()).books.values()
        return [entry.id for book in books for chunk in book.chunks for entry in chunk.entries]

    def _start(self) -> AggregatorActor:
        return AggregatorActor(
            self.intake, self.published, self.status, self.blamed.append, self.clock, resumed=self.resumed
        )
