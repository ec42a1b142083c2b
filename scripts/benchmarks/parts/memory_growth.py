"""Many commits by the real aggregator, in its own process: `python memory_growth.py COMMITS [--traced]`.

Prints a line of JSON at each checkpoint, the first one after a warm-up.
"""

from __future__ import annotations

import gc
import itertools
import json
import sys
import time
import tracemalloc

import anyio
import anyio.lowlevel
import msgspec
import psutil

from actors.board.board import BoardRules
from actors.board.history import HistoryLimits
from actors.board.published import Published
from actors.board.snapshot import Snapshot
from actors.core.clock import SystemClock
from actors.core.cooperative import run_now
from actors.core.messages import Batch, BookmakerId, ListId, Match, Removal, SourceMatchId, SourceName
from actors.monitoring import logs
from actors.pipeline.aggregator import AggregatorActor
from actors.runtime.conflation import Intake, merged_batches
from actors.runtime.mailbox import Mailbox
from actors.service.settings import (
    BookmakerSettings,
    ServerSettings,
    Settings,
    SourceSettings,
)
from actors.service.system import service_status
from actors.sources.simulated.kind import KIND, SimulatedOptions
from scripts.benchmarks.data.boards import SCOPE, matches
from scripts.benchmarks.list_bodies import ListBodies

BOOKMAKERS = tuple(BookmakerId(name) for name in ("alder", "birch", "cedar"))
MATCHES = 400
CHECKPOINTS = 9
NEW_EVERY, BODIES_EVERY = 10, 1000
NEVER_S = 1e9
PRICES = (2.0, 2.1)
HISTORY = HistoryLimits(max_changes=2_000)  # full after a few thousand commits, before the first checkpoint


class Board:
    """An aggregator with its state, and matches that are added and removed."""

    def __init__(self) -> None:
        settings = Settings(
            ServerSettings(),
            BoardRules(NEVER_S),
            {SourceName("bench"): SourceSettings(KIND, SimulatedOptions(kind="simulated"))},
            {name: BookmakerSettings(SourceName("bench"), "sharp", name) for name in BOOKMAKERS},
        )
        self._clock = SystemClock()
        first = Snapshot.empty(1, BOOKMAKERS)
        self._intake: Intake = Mailbox(lambda batch: (batch.bookmaker, batch.scope), merged_batches)
        self.published = Published(first, BoardRules(NEVER_S), self._clock, HISTORY)
        status = service_status(settings, self._clock.now().wall)
        self.aggregator = AggregatorActor(
            self._intake, self.published, status, lambda _: None, self._clock, resumed=lambda: None
        )
        self._listed = {name: list(matches(MATCHES, seed)) for seed, name in enumerate(BOOKMAKERS, 1)}
        self._bodies = ListBodies(first, {name: name for name in BOOKMAKERS})

    async def begin(self) -> None:
        """Commit every bookmaker's first list."""
        for name in BOOKMAKERS:
            await self._commit(self._batch(name, self._listed[name], complete=True))

    async def change(self, number: int) -> None:
        """Commit change `number`: a new price, or one match in place of another."""
        bookmaker = BOOKMAKERS[number % len(BOOKMAKERS)]
        listed = self._listed[bookmaker]
        place = number * 7919 % len(listed)
        match = listed[place]
        price = next(one for one in PRICES if one != match.home_price)
        changed = msgspec.structs.replace(match, home_price=price)
        removals: tuple[Removal, ...] = ()
        if number % NEW_EVERY == 0:
            removals = (Removal(match.source_match_id, "finished"),)
            changed = msgspec.structs.replace(changed, source_match_id=SourceMatchId(f"n{number:09d}"))
        listed[place] = changed
        await self._commit(self._batch(bookmaker, [changed], removals))
        if number % BODIES_EVERY == 0:
            self._bodies.snapshot = run_now(self.published.current())
            await self._bodies.prepare()
            await self._bodies.prepare("gzip")

    async def _commit(self, batch: Batch) -> None:
        before = run_now(self.published.current()).version
        self._intake.put_nowait(batch)
        while run_now(self.published.current()).version == before:
            await anyio.lowlevel.checkpoint()

    def _batch(
        self,
        bookmaker: BookmakerId,
        matches: list[Match],
        removals: tuple[Removal, ...] = (),
        *,
        complete: bool = False,
    ) -> Batch:
        now = self._clock.now()
        return Batch(
            bookmaker=bookmaker,
            scope=SCOPE,
            list_id=ListId("list"),
            complete=complete,
            matches=tuple(matches),
            removals=removals,
            received_at=now.wall,
            received_mono=now.mono,
            stale_after_s=NEVER_S,
        )


async def main(commits: int) -> None:
    """Commit changes, and print the memory at each checkpoint."""
    every = commits // (CHECKPOINTS + 1)
    board = Board()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(board.aggregator.run)
        await board.begin()
        numbers = itertools.count(1)
        for checkpoint in range(1, CHECKPOINTS + 2):
            began = time.perf_counter()
            for number in itertools.islice(numbers, every):
                await board.change(number)
            print_checkpoint(checkpoint * every, (time.perf_counter() - began) / every)
        tasks.cancel_scope.cancel()


def print_checkpoint(commits: int, each_s: float) -> None:
    """Print the memory as a line of JSON."""
    gc.collect()
    held = {
        "commits": commits,
        "rss_bytes": psutil.Process().memory_info().rss,
        "blocks": sys.getallocatedblocks(),
        "traced_bytes": tracemalloc.get_traced_memory()[0] if tracemalloc.is_tracing() else None,
        "per_commit_us": each_s * 1e6,
    }
    print(json.dumps(held), flush=True)


if __name__ == "__main__":
    if "--traced" in sys.argv:
        tracemalloc.start()
    logs.configure("warning", sys.stderr)
    anyio.run(main, int(sys.argv[1]))
