"""The virtual event loop of the tests of time."""

from __future__ import annotations

import anyio
import anyio.lowlevel
import pytest

from tests.support.time.virtual import VirtualClock, settle

pytestmark = pytest.mark.anyio


async def test_hours_pass_at_once() -> None:
    """A sleep of hours ends at its exact time, on both clocks."""
    clock = VirtualClock()
    before = clock.now()

    await anyio.sleep(7200)

    after = clock.now()
    assert (after.mono - before.mono, after.wall - before.wall) == (7200.0, 7200.0)


async def test_settle_takes_no_time() -> None:
    """`settle` runs all tasks that can run and lets no time pass."""
    clock = VirtualClock()
    done: list[str] = []

    async def work() -> None:
        await anyio.lowlevel.checkpoint()
        done.append("ready")
        await anyio.sleep(1)
        done.append("late")

    async with anyio.create_task_group() as tasks:
        before = clock.now()
        tasks.start_soon(work)
        await settle()

        assert (["ready"], before) == (done, clock.now())
        tasks.cancel_scope.cancel()
