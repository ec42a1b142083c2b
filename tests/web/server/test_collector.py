"""The collector of cycles: what it does in one step, while nothing else runs."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from web.server.lifecycle import set_up_collector

CYCLES = 50_000
A_STEP = 20_000


@pytest.fixture
def collected() -> Iterator[list[int]]:
    """Set it up as the service does, and count the objects that each collection frees."""
    counts: list[int] = []
    before = gc.get_threshold()

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "stop":
            counts.append(info["collected"])

    set_up_collector()
    gc.callbacks.append(note)
    yield counts
    gc.callbacks.remove(note)
    gc.set_threshold(*before)
    gc.unfreeze()


def test_cycles_of_many_connections_are_freed_in_small_steps(collected: list[int]) -> None:
    """Thousands of clients that come and go leave some ten thousand objects a second."""
    for _ in range(CYCLES):
        cycle: list[object] = []
        cycle.append([cycle])

    assert sum(collected) > CYCLES
    assert max(collected) <= A_STEP
