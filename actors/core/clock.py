"""The only reader of time: a monotonic clock for deadlines, a wall clock for published times.

The monotonic clock is the event loop's own plus the time that the machine was asleep, because prices grow
old during sleep too. Timers stand still during sleep: after a wait of more than a second read the clock
again.
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
    """A source of the current time."""

    def now(self) -> Instant:
        """Return the present moment; does not wait."""
        ...


def seconds_asleep() -> float:
    """Return the seconds that the machine has slept since its start; 0 where no clock counts them."""
    if not hasattr(time, "CLOCK_BOOTTIME"):
        return 0.0
    # The order matters: a pause between the two calls must not count as sleep.
    return time.clock_gettime(time.CLOCK_BOOTTIME) - time.monotonic()


def seconds_since_boot() -> float:
    """Return the seconds since the machine was started, including sleep where the system counts it."""
    has_them = hasattr(time, "CLOCK_BOOTTIME")
    return time.clock_gettime(time.CLOCK_BOOTTIME) if has_them else time.monotonic()


class SystemClock:
    """The clocks of the machine and of the event loop of the first reading; `mono` never goes back."""

    def __init__(self, asleep_s: Callable[[], float] = seconds_asleep) -> None:
        self._mono: Callable[[], float] | None = None
        self._asleep_s = asleep_s
        self._asleep_before_s = 0.0
        self._slept_s = 0.0

    def now(self) -> Instant:
        """Return the present moment. Raises: RuntimeError when first read outside a running event loop."""
        if self._mono is None:
            self._mono = asyncio.get_running_loop().time  # looked up once: on 3.11 it is a system call
            self._asleep_before_s = self._asleep_s()
        self._slept_s = max(self._slept_s, self._asleep_s() - self._asleep_before_s)
        return Instant(self._mono() + self._slept_s, time.time())


def wall_s() -> float:
    """Return the real Unix time in seconds, for code without a `Clock`, also under a virtual loop."""
    return time.time()


def elapsed_s() -> float:
    """Return real seconds for budgets of work and for latencies, also under a virtual loop."""
    return time.perf_counter()


def thread_worked_s() -> float:
    """Return the processor time of this thread in seconds."""
    return time.thread_time()


def worked_s() -> float:
    """Return the processor time of this process in seconds; a stopped process uses none."""
    return time.process_time()
