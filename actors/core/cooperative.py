"""Long computations in slices: pure generators, between whose slices the event loop runs other tasks."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Generator
from enum import Enum
from typing import TypeAlias, TypeVar

import anyio
import anyio.lowlevel
from anyio.lowlevel import RunVar

from actors.core.clock import elapsed_s

T = TypeVar("T")
Sliced: TypeAlias = Generator[None, None, T]
"""A computation that yields None between slices, of some milliseconds at 20,000 matches, and returns T."""

BUDGET_S = 0.001  # seconds of work before it yields to the loop: a tenth of the longest step allowed
FIRST_S = BUDGET_S / 2  # seconds that a computation may take at once: a short one does not wait
OTHERS = 9  # times as long as who gives way has worked, others run: a tenth of a busy loop is left
IDLE_TURNS = 8  # loop iterations in which nobody does as much as `IDLE_S`: then nobody has anything to do
IDLE_S = BUDGET_S / 10
MADE = 5_000  # containers that a computation makes and keeps between two looks of the collector: 2 ms of it
SLICE = 128  # matches worked on between two yields: a fraction of a millisecond


class Lane(Enum):
    """Computations that take turns with each other: of each lane one advances in a loop iteration, at most.

    The further a lane is from the sources, the less waits in it. So with more changes than there is time
    for, what has come is committed and read, and what is new merges: nothing grows older in a queue.
    """

    SOURCES = "sources"
    BOARD = "board"
    READERS = "readers"
    LINKS = "links"  # nothing waits for it, and all others go first


_BUDGETS_S = dict.fromkeys(Lane, BUDGET_S) | {Lane.BOARD: 3 * BUDGET_S}
"""Everybody waits for what is committed and withdrawn."""


class _Turns:
    """Whose turn it is in each lane, and how long the beginnings took in this loop iteration."""

    def __init__(self) -> None:
        self.locks = {lane: anyio.Lock(fast_acquire=True) for lane in Lane}
        self._begun_s = 0.0

    def begin(self, steps: Sliced[T]) -> tuple[T] | None:
        """Run the beginning of `steps`, unless many have begun; return the result if it is done."""
        if self._begun_s > BUDGET_S:
            return None
        if not self._begun_s:
            asyncio.get_running_loop().call_soon(self._next_iteration)
        began = elapsed_s()
        done = _advance(steps, FIRST_S)
        self._begun_s += elapsed_s() - began
        return done

    def _next_iteration(self) -> None:
        self._begun_s = 0.0


_turns: RunVar[_Turns] = RunVar("turns")


def run_now(steps: Sliced[T]) -> T:
    """Run `steps` to the end at once and return the result."""
    try:
        while True:
            next(steps)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]  # StopIteration.value is untyped


async def run_sliced(steps: Sliced[T], lane: Lane = Lane.SOURCES) -> T:
    """Run `steps` and return the result; waits unless that takes at most `FIRST_S` and few others begin."""
    if (turns := _turns.get(None)) is None:
        _turns.set(turns := _Turns())
    began = elapsed_s()
    done = turns.begin(steps)
    if done is not None and elapsed_s() - began <= FIRST_S:
        return done[0]
    await anyio.lowlevel.checkpoint()  # also if it is done: consecutive calls must not add up
    lock = turns.locks[lane]
    while done is None:
        async with lock:
            began = elapsed_s()
            done = _advance(steps, _BUDGETS_S[lane])
            if lane is Lane.LINKS:
                await give_way(elapsed_s() - began)
            else:
                await anyio.lowlevel.checkpoint()  # inside: one of a lane advances per loop iteration
    return done[0]


def collecting(steps: Sliced[T]) -> Sliced[T]:
    """Run `steps`, and have the garbage collector look at what they make and keep while that is little.

    Else it does once there are many, and that is one long step. Cycles that are older stay for later.
    """
    made = 0
    while True:
        before = gc.get_count()[0]
        try:
            next(steps)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]  # StopIteration.value is untyped
        made += max(gc.get_count()[0] - before, 0)
        yield
        if made > MADE:
            made = 0
            gc.collect(0)
            yield


async def give_way(worked_s: float) -> None:
    """Have others run for `OTHERS` times that many seconds, or until they have hardly anything to do."""
    idle, began = 0, elapsed_s()
    while idle < IDLE_TURNS and elapsed_s() - began < OTHERS * worked_s:
        turn_began = elapsed_s()
        await anyio.lowlevel.checkpoint()
        idle += elapsed_s() - turn_began < IDLE_S


def _advance(steps: Sliced[T], budget_s: float) -> tuple[T] | None:
    """Run `steps` for that time; return the result in a tuple, None if there is more to do."""
    began = elapsed_s()
    while elapsed_s() - began <= budget_s:
        try:
            next(steps)
        except StopIteration as done:
            return (done.value,)
    return None
