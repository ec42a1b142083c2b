"""When Python looks for cycles of objects: so that no step of the event loop is long.

Python looks at the young objects once so many more were made than freed. A board that is kept up to date
frees about as many as it makes: hundreds of thousands are young when Python looks, and the look takes
100 ms and more. Here the looks follow the clock. Most young objects are tuples without cycles: Python
ignores these from their first look on.
"""

from __future__ import annotations

import gc
from itertools import count

import anyio

YOUNG = 100_000
"""So many more containers made than freed make Python look at once: some 20 ms."""
FILLING_S, FREEZE_S = 300, 1.0
"""Seconds from the start in which boards fill, and between two exclusions then."""
EVERY_S, MIDDLE = 0.25, 200
"""Seconds between two looks; after so many the survivors of a look are examined, after its square all."""


def pause_collector() -> None:
    """Look for no cycles until `set_up_collector`: hardly anything that is built until then is freed."""
    gc.disable()


def set_up_collector() -> None:
    """Exclude all present objects for good, once everything is imported, and look by number from now on."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE)
    gc.enable()


async def collect_for_ever() -> None:
    """Exclude for good what boards are filled with; then look for cycles by the clock.

    A cycle that was made while boards fill is never found: reads, waits and streams make none.
    """
    for _ in range(FILLING_S):
        await anyio.sleep(FREEZE_S)
        gc.freeze()
    for look in count(1):
        await anyio.sleep(EVERY_S)
        gc.collect(_generation(look))


def _generation(look: int) -> int:
    """Return the oldest generation that this look examines."""
    return sum(look % every == 0 for every in (MIDDLE, MIDDLE**2))
