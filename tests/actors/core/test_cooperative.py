"""Long computations in slices: the same result at once or in slices, and other tasks run in between."""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.board.board import is_doubtful
from actors.board.chunks import changed
from actors.board.diff import Diff, complete_changes, delta_changes, seen_of
from actors.board.snapshot import Book, Entry, RemovalReason
from actors.core.clock import Instant
from actors.core.cooperative import (
    BUDGET_S,
    IDLE_TURNS,
    MADE,
    OTHERS,
    SLICE,
    Lane,
    Sliced,
    collecting,
    give_way,
    run_now,
    run_sliced,
)
from actors.core.messages import Removal
from actors.core.validation import Bounds, admit
from tests.support.builders.messages import SCOPE, batch, match
from tests.support.time.virtual import WALL_0

pytestmark = pytest.mark.anyio

KINDS = [*("admit", "changed", "complete", "equal", "gone", "upserts", "removals", "doubt", "seen")]
WORK = 200_000
"""Numbers to add up, which takes some milliseconds on any machine."""


def _sums(numbers: list[int], seen: list[int] | None = None) -> Sliced[int]:
    total = 0
    for number in numbers:
        yield
        total += number
        if seen is not None:
            seen.append(number)
    return total


def _busy(slices: int) -> Sliced[int]:
    total = 0
    for _ in range(slices):
        total += sum(range(WORK))
        yield
    return total


def _noting(who: int, turns: list[int], seen: list[tuple[int, int]]) -> Sliced[int]:
    """Work for some milliseconds in each slice, and record the loop iteration of each."""
    for _ in range(6):
        seen.append((turns[0], who))
        run_now(_busy(2))
        yield
    return who


def _failing() -> Sliced[int]:
    yield
    raise ValueError("the second slice")


def _nested(numbers: list[int]) -> Sliced[int]:
    first = yield from _sums(numbers)
    second = yield from _sums(numbers)
    return first + second


@given(numbers=st.lists(st.integers(), max_size=20))
@settings(derandomize=True, deadline=None, max_examples=50)
def test_run_now_returns_the_result(numbers: list[int]) -> None:
    """All slices run in order, whatever their number and nesting."""
    seen: list[int] = []

    assert (sum(numbers), numbers) == (run_now(_sums(numbers, seen)), seen)
    assert 2 * sum(numbers) == run_now(_nested(numbers))


@pytest.mark.parametrize("count", [0, 1, 1000])
async def test_run_sliced_returns_the_same_result(count: int) -> None:
    """A computation has the same result in slices as at once."""
    numbers = list(range(count))

    assert run_now(_nested(numbers)) == await run_sliced(_nested(numbers))


@pytest.mark.parametrize("kind", KINDS)
async def test_long_computations_are_cut_into_slices(kind: str) -> None:
    """A computation over all matches of a large list yields every few hundred matches."""
    matches = [match(f"m{number}") for number in range(40 * SLICE)]
    removals = [Removal(one.source_match_id, "withdrawn") for one in matches]
    changes = {one.source_match_id: Entry(one.source_match_id, SCOPE, one, 0.0) for one in matches}
    book = Book(1, 1, chunks=run_now(changed((), changes)))
    now = Instant(0.0, WALL_0)
    work: dict[str, Sliced[object]] = {
        "admit": admit(batch(matches), Bounds()),
        "changed": changed(book.chunks, changes),
        "complete": complete_changes(Book(1, 1), batch(matches), {}, 0.0),
        "equal": complete_changes(book, batch(matches), {}, 0.0),
        "gone": complete_changes(book, batch([]), {}, 0.0),
        "upserts": delta_changes(book, batch(matches, complete=False), {}, 0.0),
        "removals": delta_changes(book, batch(removals=removals, complete=False), {}, 0.0),
        "doubt": is_doubtful(
            book, batch(matches), Diff(reasons=dict.fromkeys(changes, RemovalReason.WITHDRAWN)), now
        ),
        "seen": seen_of(changes, changes),
    }

    assert sum(1 for _ in work[kind]) >= 10


async def test_exception_is_raised_to_the_caller() -> None:
    """An exception in a slice is raised to the caller, at once or in slices."""
    with pytest.raises(ValueError, match="the second slice"):
        run_now(_failing())
    with pytest.raises(ValueError, match="the second slice"):
        await run_sliced(_failing())


async def test_other_tasks_run_between_slices() -> None:
    """A computation that takes longer than the budget lets other tasks run between its slices."""
    turns, is_done, result = 0, anyio.Event(), 0

    async def other() -> None:
        nonlocal turns
        while not is_done.is_set():
            turns += 1
            await anyio.lowlevel.checkpoint()

    async def work() -> None:
        nonlocal result
        result = await run_sliced(_busy(40))
        is_done.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(work)
        tasks.start_soon(other)

    assert result == 40 * sum(range(WORK))
    assert turns > 5


async def test_short_slices_run_without_a_pause() -> None:
    """Since a pause costs more than a short slice, other tasks run once per budget, not once per slice."""
    turns, is_done = 0, anyio.Event()

    async def other() -> None:
        nonlocal turns
        while not is_done.is_set():
            turns += 1
            await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(other)
        await run_sliced(_sums([1] * 100_000))
        is_done.set()

    assert turns < 10_000


async def test_run_now_does_not_yield() -> None:
    """No other task runs before `run_now` ends."""
    turns = 0

    async def other() -> None:
        nonlocal turns
        turns += 1

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(other)
        run_now(_busy(10))
        meanwhile = turns

    assert (0, 1) == (meanwhile, turns)


async def test_cancelled_computation_stops_between_slices() -> None:
    """A caller that is cancelled at a pause does not run the other slices."""
    slices = 0

    def endless() -> Sliced[None]:
        nonlocal slices
        while True:
            slices += 1
            sum(range(WORK))
            yield

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run_sliced, endless())
        await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()

    assert slices > 0


async def test_one_long_computation_advances_per_loop_iteration() -> None:
    """Other tasks wait for one slice per iteration, whatever the number of long computations."""
    turns, seen = [0], list[tuple[int, int]]()

    async def count_turns() -> None:
        while True:
            turns[0] += 1
            await asyncio.sleep(0)

    async def work(who: int) -> None:
        assert who == await run_sliced(_noting(who, turns, seen))

    async with anyio.create_task_group() as counting:
        counting.start_soon(count_turns)
        async with anyio.create_task_group() as working:
            for who in range(4):
                working.start_soon(work, who)
        counting.cancel_scope.cancel()

    later = Counter(turn for turn, _ in seen[4:])
    assert 4 * 6 == len(seen)
    assert max(later.values()) <= 2  # the counter may run first in one iteration and last in the next


async def test_the_board_does_not_wait_for_sources() -> None:
    """With sources that have more to do than there is time for, a commit needs its own time alone."""
    turns, seen = [0], list[tuple[int, int]]()

    async def source() -> None:
        while True:
            await run_sliced(_noting(0, turns, seen))

    async with anyio.create_task_group() as sources:
        for _ in range(20):
            sources.start_soon(source)
        while len(seen) < 40:
            await anyio.lowlevel.checkpoint()
        before = len(seen)
        await run_sliced(_noting(1, turns, seen), Lane.BOARD)
        of_sources = len(seen) - before - 6
        sources.cancel_scope.cancel()

    assert 0 < of_sources <= 2 * 6


@pytest.mark.parametrize(("others_s", "expected"), [(0.0, IDLE_TURNS), (BUDGET_S, OTHERS)])
async def test_who_gives_way_waits_for_others_as_long_as_they_have_much_to_do(
    others_s: float, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a loop that is busy they run for many times as long; in an idle one there is no need to wait."""
    now_s, turns = 0.0, 0
    monkeypatch.setattr("actors.core.cooperative.elapsed_s", lambda: now_s)

    async def other() -> None:
        nonlocal now_s, turns
        while True:
            now_s += others_s
            turns += 1
            await asyncio.sleep(0)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(other)
        await give_way(BUDGET_S)
        tasks.cancel_scope.cancel()

    assert expected <= turns <= expected + 1


@contextmanager
def _looks() -> Iterator[list[int]]:
    """Count what the collector looks at while it does nothing by itself, by generation."""
    generations, before = list[int](), gc.get_threshold()

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "stop":
            generations.append(info["generation"])

    gc.collect()
    gc.set_threshold(100 * MADE)
    gc.callbacks.append(note)
    try:
        yield generations
    finally:
        gc.callbacks.remove(note)
        gc.set_threshold(*before)


@pytest.mark.parametrize(("is_kept", "looks"), [(True, 8), (False, 0)])
async def test_collector_looks_often_while_much_is_made_and_kept(*, is_kept: bool, looks: int) -> None:
    """So each look is short; what is freed at once is no reason for any."""
    kept = list[list[list[int]]]()

    def steps() -> Sliced[int]:
        for _ in range(80):
            some: list[list[int]] = [[] for _ in range(MADE // 9)]
            if is_kept:
                kept.append(some)
            yield
        return 1

    with _looks() as generations:
        done = await run_sliced(collecting(steps()))

    assert (1, [0] * looks) == (done, generations)


async def test_failed_or_cancelled_computation_does_not_block_others() -> None:
    """When a computation ends early for any reason, the others go on."""

    def failing() -> Sliced[int]:
        yield from _busy(3)
        raise ValueError("in the middle")

    async with anyio.create_task_group() as tasks:
        async with anyio.create_task_group() as leaving:
            leaving.start_soon(run_sliced, _busy(10_000))
            leaving.start_soon(run_sliced, _busy(10_000))
            for _ in range(6):
                await anyio.lowlevel.checkpoint()
            leaving.cancel_scope.cancel()
        with pytest.raises(ValueError, match="in the middle"):
            await run_sliced(failing())
        for _ in range(2):
            tasks.start_soon(run_sliced, _busy(3))

    assert sum(range(WORK)) == await run_sliced(_busy(1))
