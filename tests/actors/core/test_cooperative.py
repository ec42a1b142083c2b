"""Long computations in slices: the same result in one piece or in slices; other tasks run in between."""

from __future__ import annotations

from math import inf

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.core.cooperative import Sliced, run_now, run_sliced

pytestmark = pytest.mark.anyio

NONE_S, ALL_S = 0.0, inf
"""Budgets that are used up by each slice, and by none."""


def _sum(numbers: list[int], seen: list[str]) -> Sliced[int]:
    total = 0
    for number in numbers:
        seen.append(f"added {number}")
        total += number
        yield
    return total


def _sum_twice(numbers: list[int], seen: list[str]) -> Sliced[int]:
    first = yield from _sum(numbers, seen)
    second = yield from _sum(numbers, seen)
    return first + second


def _failing() -> Sliced[int]:
    yield
    raise ValueError("the second slice")


async def _seen(numbers: list[int], budget_s: float) -> list[str]:
    """Return what happens when a computation begins while another task is ready to run once."""
    seen: list[str] = []

    async def other() -> None:
        seen.append("other task")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(other)
        await run_sliced(_sum(numbers, seen), budget_s)
        seen.append("done")
    return seen


@given(numbers=st.lists(st.integers(), max_size=20))
@settings(derandomize=True, deadline=None, max_examples=50)
def test_run_now_returns_the_result(numbers: list[int]) -> None:
    """All slices run in order, whatever their number and nesting."""
    seen: list[str] = []

    assert 2 * sum(numbers) == run_now(_sum_twice(numbers, seen))
    assert 2 * [f"added {number}" for number in numbers] == seen


@pytest.mark.parametrize("budget_s", [NONE_S, ALL_S])
@pytest.mark.parametrize("count", [0, 1, 1000])
async def test_run_sliced_returns_the_same_result(count: int, budget_s: float) -> None:
    """A computation has the same result in one piece and in slices, however many the budget makes."""
    numbers = list(range(count))

    assert run_now(_sum_twice(numbers, [])) == await run_sliced(_sum_twice(numbers, []), budget_s)


@pytest.mark.parametrize("budget_s", [NONE_S, ALL_S])
async def test_exception_is_raised_to_the_caller(budget_s: float) -> None:
    """An exception in a slice is raised to the caller, in one piece or in slices."""
    with pytest.raises(ValueError, match="the second slice"):
        run_now(_failing())
    with pytest.raises(ValueError, match="the second slice"):
        await run_sliced(_failing(), budget_s)


async def test_other_tasks_run_when_the_budget_is_used_up() -> None:
    """A computation that takes longer than the budget lets other tasks run before it goes on."""
    assert ["added 1", "other task", "added 2", "done"] == await _seen([1, 2], NONE_S)


async def test_computation_within_its_budget_does_not_wait() -> None:
    """A pause costs more than a short slice, so a short computation ends without a pause."""
    assert ["added 1", "added 2", "done", "other task"] == await _seen([1, 2], ALL_S)


async def test_consecutive_long_computations_do_not_add_up() -> None:
    """A computation that used up its budget waits at its end, even if it was a single slice."""
    assert ["other task", "done"] == await _seen([], NONE_S)


async def test_cancelled_computation_stops_between_slices() -> None:
    """A caller that is cancelled at a pause runs no more slices, and other computations go on."""
    seen: list[str] = []

    def endless() -> Sliced[None]:
        while True:
            yield
            seen.append("slice")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run_sliced, endless(), NONE_S)
        while not seen:
            await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()
    before = len(seen)

    assert 3 == await run_sliced(_sum([1, 2], []), NONE_S)
    assert before == len(seen)
