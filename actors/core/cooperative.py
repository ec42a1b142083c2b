"""Long computations in slices: pure generators that let the event loop breathe.

A computation that may be long is written as a generator that yields between slices of its work and
returns its result. It stays pure and synchronous: `run_now` runs it at once, `run_sliced` runs it on
the event loop and yields to other tasks in between.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeAlias, TypeVar

import anyio
import anyio.lowlevel
from anyio.lowlevel import RunVar

from actors.core.clock import elapsed_s

T = TypeVar("T")
Sliced: TypeAlias = Generator[None, None, T]
"""A computation that yields None between slices, each well below a millisecond, and returns T."""

BUDGET_S = 0.001
"""Seconds of work before it yields to the loop: a tenth of the longest step that is allowed."""

FIRST_S = BUDGET_S / 2
"""Seconds of work that a computation may take before it waits for its turn: short ones never wait."""

SLICE = 256
"""Matches worked on between two yields: a fraction of a millisecond."""

_turns: RunVar[anyio.Lock] = RunVar("turns")


def run_now(steps: Sliced[T]) -> T:
    """Run `steps` to the end at once and return the result."""
    while True:
        try:
            next(steps)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]  # StopIteration.value is untyped


async def run_sliced(steps: Sliced[T]) -> T:
    """Run `steps` and return the result; waits only if that takes longer than `FIRST_S`.

    At most one long computation advances per loop iteration. Yields once more at the end, so that
    consecutive calls do not add up.
    """
    began = elapsed_s()
    done = _advance(steps, FIRST_S)
    if done is not None and elapsed_s() - began <= FIRST_S:
        return done[0]
    await anyio.lowlevel.checkpoint()
    while done is None:
        async with _turn():
            done = _advance(steps, BUDGET_S)
            await anyio.lowlevel.checkpoint()  # inside: no other computation advances in this iteration
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


def _turn() -> anyio.Lock:
    """Return the lock that a computation of the running loop holds while it advances."""
    turn = _turns.get(None)
    if turn is None:
        turn = anyio.Lock(fast_acquire=True)
        _turns.set(turn)
    return turn
