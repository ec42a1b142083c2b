"""A whole system on simulated odds in virtual time; the test can kill its bookmakers."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

import anyio

from actors.board.snapshot import Entry
from actors.core.messages import Batch, BookmakerId
from actors.monitoring.status import BookmakerState
from actors.service.settings import load
from actors.service.system import System
from tests.support.time.virtual import VirtualClock

EXPIRE_S = 7000.0
ALDER, BIRCH, CEDAR = NAMES = (BookmakerId("alder"), BookmakerId("birch"), BookmakerId("cedar"))
CONFIG = """
[board]
expire_after_kickoff_s = 7000.0

[sources.simulated]
kind = "simulated"
seed = 7
matches = 30
updates_per_s = 1.0

[bookmakers.alder]
name = "Alder"
source = "simulated"
key = "sharp"

[bookmakers.birch]
name = "Birch"
source = "simulated"
key = "standard"

[bookmakers.cedar]
name = "Cedar"
source = "simulated"
key = "wide"
"""


class SimulatedService:
    """A running system with a subscriber that kills the publishing actor a given number of times."""

    def __init__(self, config: Path) -> None:
        self.clock = VirtualClock()
        self.system = System(load(config, {}), self.clock, Random(1))
        self.kills: Counter[BookmakerId] = Counter()
        self.versions: list[int] = []
        self.system.bus.subscribe(self._kill)

    def entries(self, *names: BookmakerId) -> list[Entry]:
        """Return the entries of these bookmakers that a reader sees."""
        books = self.system.published.newest.books
        return [entry for name in names for chunk in books[name].chunks for entry in chunk.entries]

    def states(self) -> list[BookmakerState]:
        """Return the state of every bookmaker."""
        return list(self.system.status.observe(self.system.published.newest, self.clock.now()).values())

    def batches(self, *names: BookmakerId) -> list[int]:
        """Return the number of batches that each of these bookmakers has published."""
        return [self.system.status.bookmakers[name].batches for name in names]

    def _kill(self, batch: Batch) -> None:
        self.versions.append(self.system.published.newest.version)
        if self.kills[batch.bookmaker]:
            self.kills[batch.bookmaker] -= 1
            raise RuntimeError("killed")


@asynccontextmanager
async def simulated_service(folder: Path) -> AsyncIterator[SimulatedService]:
    """Run a system and check that its version never decreases."""
    config = folder / "simulated.toml"
    config.write_text(CONFIG)
    service = SimulatedService(config)
    async with anyio.create_task_group() as tasks:
        await tasks.start(service.system.supervisor.run)
        yield service
        tasks.cancel_scope.cancel()
    assert sorted(service.versions) == service.versions
