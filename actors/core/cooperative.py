"""Long computations in slices: pure generators that let the event loop breathe.

A computation that may be long is written as a generator that yields between slices of its work and
returns its result. It stays pure and synchronous: `run_now` runs it at once, `run_sliced` runs it on
the event loop and gives way whenever it has held the loop for long enough.
"""

from __future__ import annotations

import gc
from collections.abc import Generator, Iterable
from itertools import islice
from typing import Any, TypeAlias, TypeVar

import anyio
import anyio.lowlevel
from anyio.lowlevel import RunVar

from actors.core.clock import elapsed_s

T = TypeVar("T")
Text = TypeVar("Text", bound=str)
Sliced: TypeAlias = Generator[None, None, T]
"""A computation that yields None between slices, each well below a millisecond, and returns T."""

BUDGET_S = 0.001
"""Time after which to give way: well below 5 ms, for a machine that others use takes some of its own."""

FIRST_S = BUDGET_S / 2
"""Time after which a computation that has just begun waits for its turn: what is short never waits."""

SLICE = 256
"""Matches worked on between two yields: a fraction of a millisecond."""

CHUNKS = 4
"""Chunks of matches let go of between two yields: a quarter of a millisecond."""

RUN = 1024
"""Texts that are sorted between two yields."""


_turns: RunVar[anyio.Lock] = RunVar("turns")


def run_now(steps: Sliced[T]) -> T:
    """Run `steps` to the end at once and give its result."""
    while True:
        try:
            next(steps)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]  # StopIteration.value is untyped


async def run_sliced(steps: Sliced[T]) -> T:
    """Run `steps`, giving way to the loop after `FIRST_S` and every `BUDGET_S` of work; waits only then.

    Of all that go on after their first slice one does so in a turn of the loop: however many there
    are, timers and sockets wait for no more than one. It gives way at the end as well if it was long,
    so that one after another is no longer hold. At its end the garbage collector goes through what a
    long one has made: half a millisecond for a tuple of 20,000 matches, which it then forgets. Later it
    would meet those of several lists at once.
    """
    began, budget_s, turn, has_turn = elapsed_s(), FIRST_S, _turn(), False
    try:
        while True:
            try:
                next(steps)
            except StopIteration as done:
                if elapsed_s() - began > FIRST_S:
                    await anyio.lowlevel.checkpoint()
                if has_turn:
                    gc.collect(0)
                    await anyio.lowlevel.checkpoint()
                return done.value  # type: ignore[no-any-return]  # StopIteration.value is untyped
            if elapsed_s() - began > budget_s:
                if has_turn:  # kept until here, so that nobody else goes on in the same turn of the loop
                    await anyio.lowlevel.checkpoint()
                    turn.release()
                    has_turn = False
                    await turn.acquire()
                    has_turn = True
                else:
                    await turn.acquire()
                    has_turn = True
                    await anyio.lowlevel.checkpoint()
                began, budget_s = elapsed_s(), BUDGET_S
    finally:
        if has_turn:
            turn.release()


def _turn() -> anyio.Lock:
    """Return what one computation of the running loop holds while it goes on."""
    turn = _turns.get(None)
    if turn is None:
        turn = anyio.Lock(fast_acquire=True)
        _turns.set(turn)
    return turn


def in_order(texts: Iterable[Text]) -> Sliced[list[Text]]:
    """Sort in slices: runs, which are merged two by two; what is in order already costs nearly nothing."""
    rest = iter(texts)
    runs: list[list[Text]] = []
    while run := sorted(islice(rest, RUN)):
        runs.append(run)
        yield
    while len(runs) > 1:
        for at in range(len(runs) // 2):
            left, right = runs[at], runs.pop(at + 1)
            runs[at] = left + right if left[-1] <= right[0] else sorted(left + right)
            yield
    return runs[0] if runs else []


def let_go(held: list[Any], at_a_time: int) -> Sliced[None]:
    """Empty a list, so many at a time: freeing what nobody else holds takes its time as well."""
    while held:
        del held[-at_a_time:]
        yield
