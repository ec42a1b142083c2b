"""The only reader of time: a monotonic clock for deadlines, a wall clock for what is published.

The monotonic clock is the event loop's own, so that timers, deadlines and staleness can never run
on different clocks, and a test's virtual loop moves all of them at once.
"""

from __future__ import annotations

import asyncio
import time
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
    """The running event loop's monotonic clock and the machine's wall clock."""

    def now(self) -> Instant:
        """Give the present moment. Raises: RuntimeError outside a running event loop."""
        return Instant(asyncio.get_running_loop().time(), time.time())


def elapsed_s() -> float:
    """Give seconds on the processor's own counter, for budgets of work and latencies shown.

    Real even under a virtual loop: whoever holds the loop too long holds it in real time.
    """
    return time.perf_counter()
