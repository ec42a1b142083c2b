"""The only reader of time: a monotonic clock for deadlines, a wall clock for what is published.

The monotonic clock is the event loop's own, so that timers, deadlines and staleness can never run
on different clocks, and a test's virtual loop moves all of them at once.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Protocol

from msgspec import Struct


class Instant(Struct, frozen=True, gc=False):
    """One moment on both clocks: `mono` in seconds for durations, `wall` in Unix seconds (UTC)."""

    mono: float
    wall: float


class Clock(Protocol):
    """What time it is."""

    def now(self) -> Instant:
        """Give the present moment; does not wait."""
        ...


class SystemClock:
    """The monotonic clock of the event loop that it is first read in, and the machine's wall clock."""

    def __init__(self) -> None:
        self._mono: Callable[[], float] | None = None

    def now(self) -> Instant:
        """Give the present moment. Raises: RuntimeError when first read outside a running event loop."""
        if self._mono is None:
            self._mono = asyncio.get_running_loop().time  # once: on 3.11 asking for it is a system call
        return Instant(self._mono(), time.time())


def elapsed_s() -> float:
    """Give seconds on the processor's own counter, for budgets of work and latencies shown.

    Real even under a virtual loop: whoever holds the loop too long holds it in real time.
    """
    return time.perf_counter()
