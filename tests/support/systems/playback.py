"""The whole system below the web, polling a scripted peer in real time; the test sets the wall clock."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from random import Random

import anyio

from actors.board.snapshot import Entry, Snapshot
from actors.core.clock import Instant
from actors.core.messages import BookmakerId, Scope
from actors.monitoring.status import SourceStatus
from actors.service.recorder import Recorder
from actors.service.settings import load
from actors.service.system import System

SOURCE = "football_data"
FILE = Scope("fixtures.csv")
BOOKMAKERS = {
    BookmakerId("bet365"): "B365",
    BookmakerId("bwin"): "BW",
    BookmakerId("betfair-exchange"): "BFE",
}
PATIENCE_S = 10.0


class WallClock:
    """The loop's own monotonic clock, and a wall clock that goes on from its last setting."""

    def __init__(self, wall: float) -> None:
        self._shift_s = 0.0
        self.put(wall)

    def put(self, wall: float) -> None:
        """Set the wall clock to `wall` (Unix seconds)."""
        self._shift_s = wall - anyio.current_time()

    def now(self) -> Instant:
        """Return the present moment."""
        mono = anyio.current_time()
        return Instant(mono, mono + self._shift_s)


class Eager(Random):
    """Randomness that always gives nearly the shortest delay, so that backoff takes no time in tests."""

    def uniform(self, a: float, b: float) -> float:
        """Return a value near the lower bound."""
        return min(a + 0.02, b)


def config(url: str, **options: float) -> str:
    """Return a configuration of three bookmakers, polled twenty times a second."""
    options = {"poll_interval_s": 0.05, "timeout_s": 5.0, **options}
    board = ["[board]", "expire_after_kickoff_s = 1_000_000_000"]
    source = [f"[sources.{SOURCE}]", 'kind = "football_data"', f'url = "{url}"']
    source += [f"{name} = {value!r}" for name, value in options.items()]
    for name, key in BOOKMAKERS.items():
        source += [f"[bookmakers.{name}]", f'name = "{name}"', f'source = "{SOURCE}"', f'key = "{key}"']
    return "\n".join(board + source)


class Running:
    """A running system, and functions to look at it."""

    def __init__(self, system: System, clock: WallClock) -> None:
        self.system = system
        self.clock = clock

    @property
    def snapshot(self) -> Snapshot:
        """The snapshot that a reader gets now."""
        return self.system.published.newest

    @property
    def source(self) -> SourceStatus:
        """The record of the one source."""
        (status,) = self.system.status.sources.values()
        return status

    def entries(self, bookmaker: BookmakerId) -> list[Entry]:
        """Return the entries of one bookmaker on the board, in the board's order."""
        return [entry for chunk in self.snapshot.books[bookmaker].chunks for entry in chunk.entries]

    def serving(self) -> set[BookmakerId]:
        """Return the bookmakers that have a list on the board."""
        return {name for name, book in self.snapshot.books.items() if book.is_serving}

    async def until(self, what: Callable[[], bool]) -> None:
        """Wait until `what` holds. Raises: TimeoutError when that takes too long."""
        with anyio.fail_after(PATIENCE_S):
            while not what():  # noqa: ASYNC110 - real sockets: there is nothing to wait for but time
                await anyio.sleep(0.002)

    async def polls(self, count: int) -> None:
        """Wait until that many more polls have begun; then at least one less has ended."""
        wanted = self.source.attempts + count
        await self.until(lambda: self.source.attempts >= wanted)

    async def confirmations(self, count: int) -> None:
        """Wait until the source has confirmed the lists on the board that many more times."""
        wanted = self.source.confirmations + count
        await self.until(lambda: self.source.confirmations >= wanted)


@contextlib.asynccontextmanager
async def running(folder: Path, text: str, wall: float, out: Path | None = None) -> AsyncIterator[Running]:
    """Run the system of a configuration within the block; record to `out` if given."""
    path = folder / "oddsboard.toml"
    path.write_text(text, encoding="utf-8")
    clock = WallClock(wall)
    settings = load(path, {})
    async with contextlib.AsyncExitStack() as stack:
        recorder = None if out is None else stack.enter_context(Recorder.open(out, settings, clock))
        system = System(settings, clock, Eager(), None if recorder is None else recorder.of)
        tasks = await stack.enter_async_context(anyio.create_task_group())
        await tasks.start(system.supervisor.run)
        yield Running(system, clock)
        await system.supervisor.stop()
