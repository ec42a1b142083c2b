"""Long computations in slices: pure generators. Between slices the event loop runs other tasks."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeAlias, TypeVar

import anyio.lowlevel

from actors.core.clock import elapsed_s

T = TypeVar("T")
Sliced: TypeAlias = Generator[None, None, T]
"""A computation that yields None between slices (some milliseconds at 20,000 matches), and returns T."""

BUDGET_S = 0.001  # seconds of work between two yields: a tenth of the longest step allowed
SLICE = 128  # matches handled between two yields: a fraction of a millisecond


def run_now(steps: Sliced[T]) -> T:
    """Run `steps` to the end without a pause and return the result."""
    try:
        while True:
            next(steps)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]  # StopIteration.value is untyped


async def run_sliced(steps: Sliced[T], budget_s: float = BUDGET_S) -> T:
    """Run `steps` and return the result; other tasks run after each `budget_s` of work.

    A shorter computation does not wait. A longer computation also waits at its end, so that consecutive
    calls do not add up.
    """
    began = elapsed_s()
    while (done := advance(steps, budget_s)) is None:
        await anyio.lowlevel.checkpoint()
    if elapsed_s() - began >= budget_s:
        await anyio.lowlevel.checkpoint()
    return done[0]


def advance(steps: Sliced[T], budget_s: float) -> tuple[T] | None:
    """Run `steps` for `budget_s` seconds; return the result in a tuple, None if work is left."""
    ends = elapsed_s() + budget_s
    try:
        while True:
            next(steps)
            if elapsed_s() >= ends:
                return None
    except StopIteration as done:
        return (done.value,)
