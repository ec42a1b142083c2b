"""The times at which Python looks for cycles, and the objects that it examines."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import anyio
import anyio.lowlevel
import pytest

from web.server import collector

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*before)


class Cycle:
    """An object that only Python's collector can free."""

    def __init__(self) -> None:
        self.me = self


def test_objects_from_before_the_start_are_not_examined_again() -> None:
    """These objects are modules, and all objects that were built before the service listens."""
    kept = [[number] for number in range(1000)]

    collector.set_up_collector()

    tracked = {id(alive) for alive in gc.get_objects()}
    assert not [group for group in kept if id(group) in tracked]


async def test_while_boards_fill_what_is_there_is_excluded_and_then_cycles_are_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A look takes no longer when the board is large, and cycles that begin later are freed."""
    monkeypatch.setattr(collector, "FILLING_S", 1)
    monkeypatch.setattr(collector, "FREEZE_S", 0.0)
    monkeypatch.setattr(collector, "EVERY_S", 0.0)
    filled = [[number] for number in range(1000)]
    gc.disable()
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(collector.collect_for_ever)
            with anyio.fail_after(10.0):
                while not gc.get_freeze_count():
                    await anyio.lowlevel.checkpoint()
            freed = anyio.Event()
            weakref.finalize(Cycle(), freed.set)
            with anyio.fail_after(10.0):
                await freed.wait()
            tasks.cancel_scope.cancel()
    finally:
        gc.enable()

    tracked = {id(alive) for alive in gc.get_objects()}
    assert not [group for group in filled if id(group) in tracked]


@pytest.mark.parametrize(("look", "generation"), [(1, 0), (199, 0), (200, 1), (400, 1), (40_000, 2)])
def test_older_objects_are_examined_seldom(look: int, generation: int) -> None:
    """An object that survived one look usually lives long."""
    assert collector._generation(look) == generation
