"""Long computations in slices: pure generators that let the event loop breathe.

A computation that may be long is written as a generator that yields between slices of its work and
returns its result. It stays pure and synchronous: `finish` runs it at once, `in_slices` runs it on
the event loop and gives way whenever it has held the loop for long enough.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from itertools import islice
from typing import TypeAlias, TypeVar

import anyio.lowlevel

from actors.clock import elapsed_s

T = TypeVar("T")
Text = TypeVar("Text", bound=str)
Steps: TypeAlias = Generator[None, None, T]
"""A computation that yields None between slices, each well below a millisecond, and returns T."""

BUDGET_S = 0.002
"""Time after which to give way: 5 ms less a slice, and the freeing of what a long list replaces."""

SLICE = 256
"""Matches worked on between two yields: a fraction of a millisecond."""

RUN = 1024
"""Texts that are sorted between two yields."""


def finish(steps: Steps[T]) -> T:
    """Run `steps` to the end at once and give its result."""
    while True:
        try:
            next(steps)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]  # StopIteration.value is untyped


async def in_slices(steps: Steps[T]) -> T:
    """Run `steps`, giving way to the loop after every `BUDGET_S` of work; waits only between slices.

    It gives way at the end as well if it was long, so that one after another is no longer hold.
    """
    began = elapsed_s()
    while True:
        try:
            next(steps)
        except StopIteration as done:
            if elapsed_s() - began > BUDGET_S / 3:
                await anyio.lowlevel.checkpoint()
            return done.value  # type: ignore[no-any-return]  # StopIteration.value is untyped
        if elapsed_s() - began > BUDGET_S:
            await anyio.lowlevel.checkpoint()
            began = elapsed_s()


def in_order(texts: Iterable[Text]) -> Steps[list[Text]]:
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
