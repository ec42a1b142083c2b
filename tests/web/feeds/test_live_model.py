"""Clients that connect, stall, disconnect and poll, under random changes of the board, without sockets.

Everything between the board and the sockets is real. Clients are ASGI callables; each keeps a copy of
its view, and after each change the copy is compared with the list of that version.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections import Counter
from random import Random
from typing import Any

import anyio
import msgspec
import pytest
from anyio.abc import TaskGroup
from anyio.lowlevel import checkpoint

from actors.board.snapshot import Snapshot
from actors.core.cooperative import run_now
from actors.core.messages import Batch, BookmakerId, Match, Removal, Scope, SourceMatchId
from tests.support.builders.messages import batch, match
from tests.support.peers.stream_client import Copy, events_of
from tests.support.systems.front_end import FilledBoard, asgi_scope, asked, get
from tests.support.systems.site import FIRST_VERSION, NAMES
from tests.support.time.virtual import WALL_0

pytestmark = pytest.mark.anyio

VIEWS: tuple[BookmakerId | None, ...] = (None, *NAMES)
ORDER = tuple(NAMES)
IDS = tuple(f"m{number}" for number in range(9))
SCOPES = ("s", "t")
REASONS = ("withdrawn", "suspended", "price", "finished")
STALE_AFTER_S = 30.0
STREAM, CHANGES = "/api/v2/stream", "/api/v2/changes"


class World(FilledBoard):
    """A board with random changes. `seen` counts the events, so that a test can require them."""

    def __init__(self, random: Random, max_changes: int) -> None:
        super().__init__(max_changes)
        self.random = random
        self.seen: Counter[str] = Counter()
        self._lists = {view: {FIRST_VERSION: b""} for view in VIEWS}
        self._versions = {view: [FIRST_VERSION] for view in VIEWS}
        self._serial = 0

    def latest(self, view: BookmakerId | None) -> int:
        """Return the version of the last change of the view."""
        return self.published.history.latest(view)

    def check(self, copy: Copy, view: BookmakerId | None) -> None:
        """Compare a copy with its version's list, of the last commit that had changed the view by then."""
        versions = self._versions[view]
        version = versions[bisect_right(versions, copy.version) - 1]
        assert self._lists[view][version] == copy.matches, f"{view} at {copy.version}"

    def happen(self) -> None:
        """Make one random change to the board."""
        roll = self.random.random()
        if roll < 0.15:
            self.clock.pass_(self.random.choice((0.5, 5.0, 12.0, STALE_AFTER_S)))
        else:
            self.published.current()
            board = self.published.board()
            for _ in range(self.random.choice((1, 1, 1, 2, 4))):
                if roll < 0.2:
                    run_now(board.withdraw(self.random.choice(ORDER), Scope(self.random.choice(SCOPES))))
                else:
                    run_now(board.apply(self._batch(), self.clock.now()))
            self.published.commit(board)
        self._note(self.published.current())

    def _note(self, snapshot: Snapshot) -> None:
        for view in VIEWS:
            if (latest := self.latest(view)) not in self._lists[view]:
                self._lists[view][latest] = Copy.of(ORDER, snapshot, view).matches
                self._versions[view].append(latest)
                self.seen["commits"] += 1

    def _batch(self) -> Batch:
        self._serial += 1
        some = [self._match(name) for name in IDS if self.random.random() < 0.4]
        complete = self.random.random() < 0.4
        names = {listed.source_match_id for listed in some}
        gone = [name for name in IDS if name not in names and self.random.random() < 0.2]
        return batch(
            some,
            removals=[Removal(SourceMatchId(name), self.random.choice(REASONS)) for name in gone],
            bookmaker=self.random.choice(ORDER),
            scope=self.random.choice(SCOPES),
            complete=complete,
            received_mono=self.clock.mono,
            received_at=self.clock.wall + self._serial / 1000,
            stale_after_s=STALE_AFTER_S,
        )

    def _match(self, name: str) -> Match:
        start = self.random.choice((None, int(self.clock.wall) - 3590, int(WALL_0) + 10**9))
        home = self.random.choice(("Home", "Home", "Home", ""))
        return match(
            name, home=home, prices=(self.random.choice((2.0, 2.1, 2.2)), 3.5, 4.0), start_time=start
        )


class StreamClient:
    """A client of the stream: it reads unless it is stalled, and after a cut it resumes where it was."""

    def __init__(self, world: World, view: BookmakerId | None, conflate_ms: int) -> None:
        self.view = view
        self.copy = Copy(ORDER)
        self._world = world
        self._query = "&".join(
            [f"conflate_ms={conflate_ms}", *([] if view is None else [f"bookmaker={view}"])]
        )
        self._reads = asyncio.Event()
        self._was_reset = False
        self._scope = anyio.CancelScope()
        self.is_open = False

    def connect(self, tasks: TaskGroup) -> None:
        """Follow from the last event to a cut or the service's end, at first without a stall."""
        self.is_open = True
        self._was_reset = False
        self._reads.set()
        self._scope = anyio.CancelScope()
        tasks.start_soon(self._run)

    def stall(self) -> None:
        """Stop reading, or begin to read again."""
        if self._reads.is_set():
            self._reads.clear()
        else:
            self._reads.set()

    def cut(self) -> None:
        """Disconnect; data that is on its way is lost."""
        self._scope.cancel()

    async def _run(self) -> None:
        headers = [] if self.copy.id is None else [(b"last-event-id", self.copy.id.encode())]
        with self._scope:
            await self._world.app(asgi_scope(STREAM, self._query, headers), asked(), self._send)  # type: ignore[arg-type]
        self.is_open = False

    async def _send(self, message: dict[str, Any]) -> None:
        await self._reads.wait()
        await checkpoint()
        if message["type"] != "http.response.body":
            return
        for event in events_of(message["body"]):
            self._world.seen[event.name] += 1
            if event.name == "reset":
                assert "too_old" == event.data["reason"]
                assert self.copy.version < self._world.published.history.oldest(self.view)
            elif event.name == "snapshot":
                assert (self.copy.version < 0) or self._was_reset
            elif event.name == "changes":
                self._world.seen["conflated"] += event.data.get("conflated", False)
            self._was_reset = event.name == "reset"
            self.copy.take(event)
            self._world.check(self.copy, self.view)


class Poller:
    """A client that requests the changes since its version, or the whole list when they are gone."""

    def __init__(self, world: World, view: BookmakerId | None) -> None:
        self.view = view
        self.copy = Copy.of(ORDER, world.published.current(), view)
        self._world = world

    async def poll(self) -> None:
        """Request the changes once."""
        query = f"since={self.copy.version}" + ("" if self.view is None else f"&bookmaker={self.view}")
        status, _, body = await get(self._world.app, CHANGES, query)
        self._world.seen[f"poll {status}"] += 1
        if status == 200:
            self.copy.change(msgspec.json.decode(body))
        else:
            assert self.copy.version < self._world.published.history.oldest(self.view)
            self.copy = Copy.of(ORDER, self._world.published.current(), self.view)
        self._world.check(self.copy, self.view)


async def live_on(world: World, steps: int, clients: int, tasks: TaskGroup) -> list[StreamClient | Poller]:
    """Make `steps` random changes to the board and its clients; finally all clients reconnect."""
    streams = [
        StreamClient(world, world.random.choice(VIEWS), world.random.choice((0, 0, 0, 1)))
        for _ in range(clients)
    ]
    pollers = [Poller(world, view) for view in VIEWS]
    for _ in range(steps):
        roll = world.random.random()
        if roll < 0.5:
            world.happen()
        elif roll < 0.6:
            await world.random.choice(pollers).poll()
        else:
            _happen_to(world.random.choice(streams), roll, tasks)
        for _ in range(world.random.choice((0, 1, 3, 8))):
            await checkpoint()
    for stream in streams:
        stream.cut()
    while any(stream.is_open for stream in streams):
        await checkpoint()
    for stream in streams:
        stream.connect(tasks)
    for poller in pollers:
        await poller.poll()
    return [*streams, *pollers]


def _happen_to(client: StreamClient, roll: float, tasks: TaskGroup) -> None:
    if not client.is_open:
        client.connect(tasks)
    elif roll < 0.8:
        client.stall()
    else:
        client.cut()


async def _lived(seed: int, steps: int, max_changes: int) -> World:
    world = World(Random(seed), max_changes)
    async with anyio.create_task_group() as tasks:
        clients = await live_on(world, steps, 12, tasks)
        with anyio.fail_after(10):
            while any(client.copy.version < world.latest(client.view) for client in clients):
                await checkpoint()
        for client in clients:
            world.check(client.copy, client.view)
        await world.audience.leave()
    return world


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("seed", "max_changes"), [(1, 1000), (2, 30), (3, 12), (4, 5), (5, 1)])
async def test_copies_equal_the_lists(seed: int, max_changes: int, *, is_whole: bool) -> None:
    """By stream and by polls, for every view, there is no gap and no repeat, however short the history."""
    world = await _lived(seed, 10_000 if is_whole else 5_000, max_changes)

    happened = {"snapshot", "changes", "conflated", "bye", "poll 200", "commits"}
    assert happened | ({"reset", "poll 410"} if max_changes < 30 else set()) <= set(world.seen)
    assert world.seen["changes"] > 100
