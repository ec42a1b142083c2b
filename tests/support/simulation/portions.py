"""Portions so small that a simulated board of a few dozen entries needs several portions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from types import ModuleType
from typing import TypeAlias

from actors.board import chunks
from actors.matches import linking
from web.encoding import segments

Small: TypeAlias = tuple[tuple[ModuleType, str, int], ...]

PORTIONS: tuple[Small, ...] = (
    ((linking, "PORTION", 1),),  # events that are linked in one commit
    ((linking, "MAX_WAITING", 6),),  # events that may wait for links; above this all are linked again
    ((segments, "RUN", 2),),  # chunks that are encoded together
    ((chunks, "CHUNK_SIZE", 4), (chunks, "_MAX_SIZE", 6), (chunks, "_MIN_SIZE", 1)),  # entries in a chunk
)


@contextmanager
def small_portions(random: Random) -> Iterator[None]:
    """Have the service work in some of these small portions; each is used in every second run."""
    small = [pair for some in PORTIONS if random.random() < 1 / 2 for pair in some]
    before = [(module, name, getattr(module, name)) for module, name, _ in small]
    try:
        for module, name, size in small:
            setattr(module, name, size)
        yield
    finally:
        for module, name, size in before:
            setattr(module, name, size)
