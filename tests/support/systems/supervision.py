"""Actors under a real supervisor in virtual time, and the status records that they write."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from actors.core.messages import BookmakerId, SourceName
from actors.monitoring.metrics import Metrics
from actors.monitoring.status import BoardStatus, BookmakerStatus, ServiceStatus, SourceStatus
from actors.runtime.actor import ActorStatus
from actors.runtime.supervisor import ChildSpec, Supervisor
from tests.support.time.virtual import WALL_0, VirtualClock


@asynccontextmanager
async def supervised(*specs: ChildSpec) -> AsyncIterator[Supervisor]:
    """Run these children within the block."""
    supervisor = Supervisor(specs, VirtualClock())
    async with anyio.create_task_group() as tasks:
        await tasks.start(supervisor.run)
        yield supervisor
        tasks.cancel_scope.cancel()


def source_record(name: str = "source", metrics: Metrics | None = None) -> SourceStatus:
    """Return a new record of a source."""
    actor = ActorStatus(f"source:{name}")
    return SourceStatus(
        SourceName(name), "kind", is_simulated=False, actor=actor, metrics=metrics or Metrics()
    )


def bookmaker_record(name: str, metrics: Metrics | None = None) -> BookmakerStatus:
    """Return a new record of a bookmaker with a source of its own."""
    actor = ActorStatus(f"bookmaker:{name}")
    return BookmakerStatus(BookmakerId(name), name.title(), source_record(f"of-{name}", metrics), actor)


def service_record(*names: str) -> ServiceStatus:
    """Return new records of a service with these bookmakers."""
    board = BoardStatus(ActorStatus("aggregator"))
    bookmakers = {BookmakerId(name): bookmaker_record(name, board.metrics) for name in names}
    sources = {bookmaker.source.name: bookmaker.source for bookmaker in bookmakers.values()}
    return ServiceStatus(WALL_0, board, sources, bookmakers, {})
