"""Long work in slices: the same result at once or in turns, and the others get theirs."""

from __future__ import annotations

import asyncio
from collections import Counter

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
from actors.core.cooperative import SLICE, Sliced, run_now, run_sliced
from actors.core.messages import Removal
from actors.core.validation import Bounds, admit
from tests.support.builders.messages import SCOPE, batch, match
from tests.support.time.virtual import WALL_0

pytestmark = pytest.mark.anyio

KINDS = [*("admit", "changed", "complete", "equal", "gone", "upserts", "removals", "doubt", "seen")]
WORK = 200_000
"""Numbers to add up: some milliseconds of real work on any machine that runs this."""


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
    """Work for some milliseconds a step, and note in which turn of the loop."""
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
def test_finish_gives_the_result(numbers: list[int]) -> None:
    """All slices are done, in order, however many there are and however they are nested."""
    seen: list[int] = []

    assert (sum(numbers), numbers) == (run_now(_sums(numbers, seen)), seen)
    assert 2 * sum(numbers) == run_now(_nested(numbers))


@pytest.mark.parametrize("count", [0, 1, 1000])
async def test_slices_give_the_same_result(count: int) -> None:
    """In turns or at once: the same computation."""
    numbers = list(range(count))

    assert run_now(_nested(numbers)) == await run_sliced(_nested(numbers))


@pytest.mark.parametrize("kind", KINDS)
async def test_long_work_of_ours_is_cut_into_slices(kind: str) -> None:
    """Whatever is done for every match of a big list gives way every few hundred matches."""
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


async def test_error_comes_out_of_either() -> None:
    """What a slice raises is raised to the caller."""
    with pytest.raises(ValueError, match="the second slice"):
        run_now(_failing())
    with pytest.raises(ValueError, match="the second slice"):
        await run_sliced(_failing())


async def test_others_get_their_turns_meanwhile() -> None:
    """Work that holds the loop for longer than the budget gives way between its slices."""
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


async def test_short_slices_are_done_many_at_a_time() -> None:
    """Giving way costs more than a short slice: others get a turn per budget, not per slice."""
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


async def test_work_at_once_gives_nobody_a_turn() -> None:
    """`run_now` is one piece: nothing else runs before it ends."""
    turns = 0

    async def other() -> None:
        nonlocal turns
        turns += 1

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(other)
        run_now(_busy(10))
        meanwhile = turns

    assert (0, 1) == (meanwhile, turns)


async def test_cancelled_work_stops_between_slices() -> None:
    """The caller may be cancelled where it gives way; the rest is not done."""
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


async def test_of_many_long_computations_one_goes_on_in_a_turn_of_the_loop() -> None:
    """However many there are, the others wait for one slice, not for one of each."""
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
    assert max(later.values()) <= 2  # the counter may come first in one turn and last in the next


async def test_who_fails_or_is_cancelled_leaves_the_turn_to_the_next() -> None:
    """Others go on, whatever ends a computation half-way."""

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
