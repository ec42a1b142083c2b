"""Long computations in slices: pure generators, between whose slices the event loop runs other tasks."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeAlias, TypeVar

import anyio
import anyio.lowlevel
from anyio.lowlevel import RunVar

from actors.core.clock import elapsed_s

T = TypeVar("T")
Sliced: TypeAlias = Generator[None, None, T]
"""A computation that yields None between slices, of some milliseconds at 20,000 matches, and returns T."""

BUDGET_S = 0.001  # seconds of work before it yields to the loop: a tenth of the longest step allowed
FIRST_S = BUDGET_S / 2  # seconds that a computation may take at once: short ones never wait
SLICE = 256  # matches worked on between two yields: a fraction of a millisecond

_turns: RunVar[anyio.Lock] = RunVar("turns")


def run_now(steps: Sliced[T]) -> T:
    """Run `steps` to the end at once and return the result."""
    try:
        while True:
            next(steps)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]  # StopIteration.value is untyped


async def run_sliced(steps: Sliced[T]) -> T:
    """Run `steps` and return the result; waits only if that takes longer than `FIRST_S`."""
    began = elapsed_s()
    done = _advance(steps, FIRST_S)
    if done is not None and elapsed_s() - began <= FIRST_S:
        return done[0]
    await anyio.lowlevel.checkpoint()  # also if it is done: consecutive calls must not add up
    turn = _turns.get(None) or anyio.Lock(fast_acquire=True)
    _turns.set(turn)
    while done is None:
        async with turn:
            done = _advance(steps, BUDGET_S)
            await anyio.lowlevel.checkpoint()  # inside: one long computation advances per loop iteration
    return done[0]


def _advance(steps: Sliced[T], budget_s: float) -> tuple[T] | None:
    """Run `steps` for that time; return the result in a tuple, None if there is more to do."""
    began = elapsed_s()
    while elapsed_s() - began <= budget_s:
        try:
            next(steps)
        except StopIteration as done:
            return (done.value,)
    return None
