"""The only reader of time: a monotonic clock for deadlines, a wall clock for what is published.

The monotonic clock is the event loop's own, plus the time that the machine was asleep, in which prices
grow old as well. Timers stand still meanwhile: a wait of more than a second must read the clock again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Protocol

from msgspec import Struct


class Instant(Struct, frozen=True, gc=False):
    """A moment on both clocks: `mono` in seconds for durations, `wall` in Unix seconds (UTC)."""

    mono: float
    wall: float


class Clock(Protocol):
    """Anything that has the time."""

    def now(self) -> Instant:
        """Return the present moment; does not wait."""
        ...


def seconds_asleep() -> float:
    """Return the seconds that the machine has slept since its start; 0 where no clock counts them."""
    if not hasattr(time, "CLOCK_BOOTTIME"):
        return 0.0
    # Evaluated from left to right: a pause between the two must not count as sleep.
    return time.clock_gettime(time.CLOCK_BOOTTIME) - time.monotonic()


def seconds_since_boot() -> float:
    """Return the seconds since the machine was started, those asleep as well where they are counted."""
    has_them = hasattr(time, "CLOCK_BOOTTIME")
    return time.clock_gettime(time.CLOCK_BOOTTIME) if has_them else time.monotonic()


class SystemClock:
    """The clocks of the machine and of the event loop that it is first read in; `mono` never goes back."""

    def __init__(self, asleep_s: Callable[[], float] = seconds_asleep) -> None:
        self._mono: Callable[[], float] | None = None
        self._asleep_s = asleep_s
        self._asleep_before_s = 0.0
        self._slept_s = 0.0

    def now(self) -> Instant:
        """Return the present moment. Raises: RuntimeError when first read outside a running event loop."""
        if self._mono is None:
            self._mono = asyncio.get_running_loop().time  # once: on 3.11 asking for it is a system call
            self._asleep_before_s = self._asleep_s()
        self._slept_s = max(self._slept_s, self._asleep_s() - self._asleep_before_s)
        return Instant(self._mono() + self._slept_s, time.time())


def wall_s() -> float:
    """Return the Unix time in seconds where no clock is at hand, real even under a virtual loop."""
    return time.time()


def elapsed_s() -> float:
    """Return seconds for budgets of work and for latencies: real time, even under a virtual loop."""
    return time.perf_counter()


def thread_worked_s() -> float:
    """Return the processor time of this thread in seconds."""
    return time.thread_time()


def worked_s() -> float:
    """Return the processor time of this process in seconds: it stops while the process is stopped."""
    return time.process_time()
