"""Virtual time: an event loop that jumps to its next timer, and clocks that follow it."""

from __future__ import annotations

import asyncio
import selectors
from typing import TYPE_CHECKING, Any

from actors.core.clock import Instant

if TYPE_CHECKING:  # scripts/fuzz, in an environment without pytest, imports this
    import pytest

WALL_0 = 1_780_000_000.0
"""Unix seconds at which virtual time begins: 2026-05-28T20:26:40Z."""


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop whose time stands still while it works and jumps when all tasks are blocked."""

    def __init__(self) -> None:
        self._virtual_now = 0.0
        super().__init__(_JumpingSelector(self))

    def time(self) -> float:
        """Return virtual seconds since the loop was made."""
        return self._virtual_now

    def jump(self, seconds: float) -> None:
        """Let the given time pass in one step."""
        self._virtual_now += seconds

    def is_idle(self) -> bool:
        """Return whether no other task can run before time passes."""
        return not self._ready  # type: ignore[attr-defined]  # the base class keeps it private


class _JumpingSelector(selectors.SelectSelector):
    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> Any:
        if timeout == 0:  # other tasks can run; input from outside is read when no task can run
            return []
        events = super().select(0)
        if not events and timeout is None:
            raise RuntimeError("all tasks are blocked for ever and no timer is set")
        if not events and timeout:
            self._loop.jump(timeout)
        return events


def backend_of(request: pytest.FixtureRequest) -> object:
    """Return anyio's backend for a test: virtual time, or the usual loop if it is marked `real_time`."""
    if request.node.get_closest_marker("real_time") is not None:
        return "asyncio"
    return "asyncio", {"loop_factory": VirtualLoop}


class VirtualClock:
    """The clock of a VirtualLoop; `wall_shift_s` moves only the wall clock.

    `asleep_s` is how long the machine has slept; during that time the loop and its timers stood still.
    """

    def __init__(self, wall_0: float = WALL_0) -> None:
        self.wall_0 = wall_0
        self.wall_shift_s = 0.0
        self.asleep_s = 0.0

    def now(self) -> Instant:
        """Return the present moment of the running loop."""
        mono = asyncio.get_running_loop().time() + self.asleep_s
        return Instant(mono, self.wall_0 + mono + self.wall_shift_s)


class ManualClock:
    """A clock without a loop, for pure code; it changes only when set."""

    def __init__(self, mono: float = 0.0, wall: float = WALL_0) -> None:
        self.mono = mono
        self.wall = wall

    def now(self) -> Instant:
        """Return the moment that was set."""
        return Instant(self.mono, self.wall)

    def pass_(self, seconds: float) -> None:
        """Advance both clocks."""
        self.mono += seconds
        self.wall += seconds


async def settle() -> None:
    """Let every task run until all are blocked; no time passes."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    await asyncio.sleep(0)
    while not loop.is_idle():  # noqa: ASYNC110 - the loop itself is watched
        await asyncio.sleep(0)


def jump(seconds: float) -> None:
    """Let the given time pass in one step, as while the process is stopped."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    loop.jump(seconds)
