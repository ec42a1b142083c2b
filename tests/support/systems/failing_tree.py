"""A supervision tree that fails on request, and no limit of time, for tests of the life of the process."""

from __future__ import annotations

import anyio
from anyio.abc import TaskStatus

from actors.core.errors import CoreFailure
from web.server.lifecycle import Exit


class Tree:
    """A tree that runs until stopped, or until `fails` is set."""

    def __init__(self) -> None:
        self.fails = anyio.Event()
        self.stopped = False

    async def run(self, *, task_status: TaskStatus[None]) -> None:
        """Run, and fail when asked to."""
        task_status.started()
        await self.fails.wait()
        raise CoreFailure("the aggregator crashed too often")

    async def stop(self) -> None:
        """Note that the tree was asked to stop."""
        self.stopped = True


def ignore(code: Exit) -> None:
    """Set no limit: the test has its own."""
    del code
