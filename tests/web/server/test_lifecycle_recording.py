"""Start and end of a process that records, with a supervision tree that fails on request."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from math import inf

import anyio
import pytest
from anyio.abc import TaskStatus
from structlog.testing import capture_logs

from actors.core.errors import CoreFailure
from web.server.lifecycle import Exit, record_until_stopped

pytestmark = pytest.mark.anyio


class Tree:
    """A tree that calls one function when it runs, and runs until stopped."""

    def __init__(self, first: Callable[[], None] = lambda: None) -> None:
        self.first = first
        self.stopped = anyio.Event()

    async def run(self, *, task_status: TaskStatus[None]) -> None:
        """Call the function, and wait."""
        task_status.started()
        self.first()
        await self.stopped.wait()

    async def stop(self) -> None:
        """Note that the tree was asked to stop."""
        self.stopped.set()


def _fail() -> None:
    raise CoreFailure("the aggregator crashed too often")


def _signal() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


async def _full() -> None:
    raise CoreFailure("the disk is full")


async def _recorded(
    tree: Tree, for_s: float, watch: object = anyio.sleep_forever
) -> tuple[Exit, list[str]]:
    codes: list[Exit] = []
    with capture_logs() as logs:
        code = await record_until_stopped(tree, for_s, watch, codes.append)  # type: ignore[arg-type]  # a Watch
    assert [code] == codes
    return code, [f"{line['event']} {line.get('signal', line.get('errors', ''))}" for line in logs]


async def test_a_recording_ends_when_its_time_is_over() -> None:
    """It stops in order, with 0."""
    tree = Tree()

    assert (Exit.STOPPED, ["service.stopping None", "service.stopped "]) == await _recorded(tree, 0.01)
    assert tree.stopped.is_set()


async def test_a_recording_ends_on_a_signal() -> None:
    """It stops in order, with 0, even before its time is over."""
    tree = Tree(_signal)

    assert (Exit.STOPPED, ["service.stopping SIGTERM", "service.stopped "]) == await _recorded(tree, inf)
    assert tree.stopped.is_set()


async def test_a_recording_that_cannot_go_on_ends_with_70() -> None:
    """One line gives the reason."""
    assert (Exit.CORE, ["service.failed ['the disk is full']"]) == await _recorded(Tree(), inf, _full)


async def test_a_core_failure_ends_with_70() -> None:
    """It ends as a service does."""
    expected = (Exit.CORE, ["service.failed ['the aggregator crashed too often']"])

    assert expected == await _recorded(Tree(_fail), inf)
