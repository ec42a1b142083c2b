"""Clients that wait for changes: all are woken, a few at a time."""

from __future__ import annotations

from collections import Counter

import anyio
import pytest
from anyio.lowlevel import checkpoint

from actors.board.history import HistoryLimits, ListHistory
from actors.board.snapshot import Snapshot
from actors.core.cooperative import run_now
from actors.core.messages import BookmakerId
from tests.support.builders.boards import ALDER, BIRCH, EMPTY, after
from tests.support.builders.messages import batch, match
from web.feeds.subscribers import GROUP, Audience, Rest

pytestmark = pytest.mark.anyio

ONE = after(EMPTY, batch([match("a")]))
TWO = after(ONE, batch([match("x")], bookmaker="birch"))


class Stage:
    """The subscribers, and clients that count how often they were woken."""

    def __init__(self, max_clients: int = 10_000, max_per_client: int = 10_000) -> None:
        self.history = ListHistory(EMPTY, HistoryLimits())
        self.audience = Audience(self.history, max_clients, max_per_client)
        self.woken: Counter[int] = Counter()

    async def client(self, number: int, view: BookmakerId | None = None, rest_s: float = 0.0) -> None:
        """Wait for changes again and again until the end."""
        with self.audience.admitted(None):
            while not self.audience.is_leaving:
                await self.audience.wait(view, Rest(rest_s) if rest_s else None)
                self.woken[number] += 1

    def commit(self, snapshot: Snapshot) -> None:
        """Notify all clients of a commit."""
        self.history.add(snapshot)
        run_now(self.history.digest())


async def _turns(count: int) -> None:
    for _ in range(count):
        await checkpoint()


@pytest.mark.parametrize("clients", [1, GROUP - 1, GROUP, GROUP + 1, 10 * GROUP + 5])
async def test_all_are_woken_by_each_commit(clients: int) -> None:
    """Every commit wakes each client once, however many there are."""
    stage = Stage()
    async with anyio.create_task_group() as tasks:
        for number in range(clients):
            tasks.start_soon(stage.client, number)
        await _turns(2)
        for times, snapshot in enumerate((ONE, TWO), 1):
            stage.commit(snapshot)
            await _turns(20)

            assert {times: clients} == Counter(stage.woken.values())
        await stage.audience.leave()


async def test_they_are_woken_a_few_at_a_time() -> None:
    """Clients are woken over several turns of the loop, so that other tasks run between."""
    stage = Stage()
    async with anyio.create_task_group() as tasks:
        for number in range(5 * GROUP):
            tasks.start_soon(stage.client, number)
        await _turns(2)
        stage.commit(ONE)
        seen = []
        for _ in range(12):
            seen.append(stage.woken.total())
            await checkpoint()
        await stage.audience.leave()

    assert {0, GROUP, 2 * GROUP, 3 * GROUP, 4 * GROUP, 5 * GROUP} == set(seen)


async def test_a_view_that_did_not_change_wakes_nobody() -> None:
    """A commit of one bookmaker wakes the clients of this bookmaker and of the whole list."""
    stage = Stage()
    async with anyio.create_task_group() as tasks:
        for number, view in enumerate((None, ALDER, BIRCH)):
            tasks.start_soon(stage.client, number, view)
        await _turns(2)
        stage.commit(ONE)
        await _turns(5)
        seen = dict(stage.woken)
        await stage.audience.leave()

    assert {0: 1, 1: 1} == seen


async def test_a_disconnected_client_leaves_nothing_behind() -> None:
    """The client's place and its future are both removed (faults.md, H9)."""
    stage = Stage()
    for number in range(500):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(stage.client, number)
            tasks.start_soon(stage.client, number, ALDER, 60.0)
            await _turns(2)
            tasks.cancel_scope.cancel()

    assert 0 == len(stage.audience)
    assert not any(stage.audience._waiting.values())
    assert not stage.audience._resting


async def test_leaving_cancels_clients_that_do_not_end() -> None:
    """A client that does not end within a bounded time is cut off."""
    stage = Stage()

    async def stuck() -> None:
        with stage.audience.admitted(None):
            await anyio.sleep_forever()

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(stuck)
            await _turns(2)
            await stage.audience.leave()

    assert 0 == len(stage.audience)


async def test_reconnection_times_are_spread() -> None:
    """A thousand clients come back at random between one and five seconds later, never many together."""
    audience = Stage().audience

    times = [audience.retry_ms() for _ in range(1000)]

    assert 1000 <= min(times) < max(times) <= 5000
    assert max(Counter(time // 500 for time in times).values()) <= 200  # the average is 125
