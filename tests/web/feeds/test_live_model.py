"""Clients' copies under random changes of the board: each equals the list of its version."""

from __future__ import annotations

from random import Random

import anyio
import pytest
from anyio.lowlevel import checkpoint

from tests.support.systems.live_world import World, live_on

pytestmark = pytest.mark.anyio


async def _lived(seed: int, steps: int, max_changes: int) -> World:
    world = World(Random(seed), max_changes)
    async with anyio.create_task_group() as tasks:
        clients = await live_on(world, steps, 12, tasks)
        with anyio.fail_after(10):
            while any(one.copy.version < world.latest(one.view) for one in clients):
                await checkpoint()
        for one in clients:
            world.check(one.copy, one.view)
        await world.audience.leave()
    return world


@pytest.mark.long
@pytest.mark.parametrize(("seed", "max_changes"), [(1, 1000), (2, 30), (3, 12), (4, 5), (5, 1)])
async def test_copies_equal_the_lists(seed: int, max_changes: int) -> None:
    """By stream and by polls, for every view, there is no gap and no repeat, however short the history."""
    world = await _lived(seed, 1000, max_changes)

    happened = {"snapshot", "changes", "conflated", "bye", "poll 200", "commits"}
    assert happened | ({"reset", "poll 410"} if max_changes < 30 else set()) <= set(world.seen)


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("seed", "max_changes"), [(11, 1000), (12, 30), (13, 12), (14, 5), (15, 24)])
async def test_copies_equal_the_lists_in_a_long_run(seed: int, max_changes: int) -> None:
    """The same holds for 100,000 steps."""
    world = await _lived(seed, 20_000, max_changes)

    assert world.seen["changes"] > 10_000
