"""The client's only reader of time. Time goes on while the machine sleeps, because prices grow old."""

from __future__ import annotations

import time

pause = time.sleep


def now() -> float:
    """Return seconds since an arbitrary moment; on Linux they include the time asleep."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()
