"""Schedules Python's garbage collection by the clock, so that no step of the event loop is long.

Python collects young objects as soon as the number made exceeds the number freed by a limit. A board that
is kept up to date frees about as many objects as it makes. So hundreds of thousands are young when Python
collects, and one collection takes 100 ms and more. Most young objects are tuples without cycles: Python
stops tracking them at their first collection.
"""

from __future__ import annotations

import gc
from itertools import count

import anyio

YOUNG = 100_000
"""Python collects immediately if this many more containers were made than freed; that takes some 20 ms."""
FILLING_S, FREEZE_S = 300, 1.0
"""Seconds from the start in which boards fill, and seconds between two freezes meanwhile."""
EVERY_S, MIDDLE = 0.25, 200
"""Seconds between two collections; each 200th includes the middle generation, each 40,000th the oldest."""


def pause_collector() -> None:
    """Collect nothing until `set_up_collector`: hardly any object that is built until then is freed."""
    gc.disable()


def set_up_collector() -> None:
    """Freeze all present objects, then collect by Python's own count; call it after all imports."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE)
    gc.enable()


async def collect_for_ever() -> None:
    """Freeze objects while boards fill; then collect by the clock.

    A cycle that was made while boards fill is never freed; reads, waits and streams make no cycles.
    """
    for _ in range(FILLING_S):
        await anyio.sleep(FREEZE_S)
        gc.freeze()
    for look in count(1):
        await anyio.sleep(EVERY_S)
        gc.collect(_generation(look))


def _generation(look: int) -> int:
    """Return the oldest generation that this collection includes."""
    return sum(look % every == 0 for every in (MIDDLE, MIDDLE**2))
