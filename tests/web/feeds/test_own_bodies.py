"""Bodies made for few clients: shared by equal requests, and bounded in bytes, in work and in number."""

from __future__ import annotations

import anyio
import pytest
from anyio.lowlevel import checkpoint

from actors.core.clock import worked_s
from actors.core.cooperative import BUDGET_S, Sliced
from web.feeds.own_bodies import (
    MAX_KEPT,
    MAX_KEPT_BYTES,
    MAX_WAITING,
    SMALL_BYTES,
    Content,
    Making,
    OwnBodies,
    Room,
)
from web.protocol.problems import Problem
from web.protocol.rate_limit import WorkLimit

pytestmark = pytest.mark.anyio

LONG = 2 * SMALL_BYTES
VIEW = "a view"
CLIENT = "198.51.100.1"


def _making(size: int, steps: int = 1, version: int = 7, calls: list[int] | None = None) -> Making:
    """Return a function that makes a body of `size` bytes in steps, each as long as a step may be."""

    def make(room: Room) -> Sliced[Content]:
        if calls is not None:
            calls.append(size)
        for step in range(1, steps):
            ends = worked_s() + BUDGET_S
            while worked_s() < ends:
                pass
            yield
            room(size * step // steps)
        room(size)
        return Content(version, [bytes(size)])

    return make


async def test_equal_requests_share_what_the_first_makes() -> None:
    """All requests share the first body, however many there are, also while the body is being made."""
    own, calls = OwnBodies(), list[int]()
    found: list[object] = []

    async def ask() -> None:
        found.append(await own.get((VIEW, "key"), 7, None, _making(LONG, 5, calls=calls)))

    async with anyio.create_task_group() as tasks:
        for _ in range(190):
            tasks.start_soon(ask)

    assert (1, 190, LONG) == (len({*map(id, found)}), len(found), own.held_bytes)
    assert [LONG] == calls


async def test_a_newer_version_is_made_anew() -> None:
    """A kept body answers a request only if it is at least as new as the request's version."""
    own = OwnBodies()
    first = await own.get((VIEW, "key"), 7, None, _making(LONG))
    second = await own.get((VIEW, "key"), 8, None, _making(LONG, version=8))
    again = await own.get((VIEW, "key"), 7, None, _making(LONG))

    assert first is not second
    assert second is again


async def test_one_client_leaves_room_for_others() -> None:
    """A client may hold only a part of the room, however slowly it reads, or one body of any length.

    Other clients are refused when all room is taken.
    """
    own = OwnBodies(max_held_bytes=8 * LONG)
    held = [await own.get((VIEW, "one"), 7, CLIENT, _making(2 * LONG))]
    with pytest.raises(Problem) as refused:
        await own.get((VIEW, "two"), 7, CLIENT, _making(LONG))
    others = [await own.get((VIEW, f"key {client}"), 7, client, _making(3 * LONG)) for client in ("a", "b")]
    with pytest.raises(Problem) as full:
        await own.get((VIEW, "key c"), 7, "c", _making(LONG))
    del held[:], others[:]
    after = await own.get((VIEW, "two"), 7, CLIENT, _making(LONG))

    assert [(503, "overloaded")] * 2 == [(of.value.status, of.value.code) for of in (refused, full)]
    assert after is not None


async def test_a_request_goes_on_when_the_first_is_given_up() -> None:
    """The client of the first request leaves while its body is being made."""
    own, found = OwnBodies(), list[object]()

    async def ask() -> None:
        found.append(await own.get((VIEW, "key"), 7, None, _making(LONG, 3)))

    async with anyio.create_task_group() as tasks:
        with anyio.CancelScope() as leaving:
            tasks.start_soon(ask)
            leaving.cancel()
            await own.get((VIEW, "key"), 7, None, _making(LONG, 1_000))

    assert 1 == len(found)


async def test_there_is_room_for_so_many_bytes_until_they_are_sent() -> None:
    """A long body above the limit is refused, a short body is not; sent bodies make room again."""
    own = OwnBodies(max_held_bytes=3 * LONG)
    held = [await own.get((VIEW, number), 7, None, _making(LONG)) for number in range(3)]
    with pytest.raises(Problem) as refused:
        await own.get((VIEW, 3), 7, None, _making(LONG, 2))
    short = await own.get((VIEW, 4), 7, None, _making(SMALL_BYTES))
    full = own.held_bytes
    del held[0], short

    assert (503, "overloaded") == (refused.value.status, refused.value.code)
    assert "Retry-After" in refused.value.headers
    assert 3 * LONG + SMALL_BYTES == full
    assert await own.get((VIEW, 3), 7, None, _making(LONG)) is not None
    assert 3 * LONG == own.held_bytes


async def test_what_nobody_waits_for_makes_room() -> None:
    """Bodies that are only kept for later clients do not count against the limit."""
    own = OwnBodies(max_held_bytes=3 * LONG)
    for number in range(3):
        await own.get((VIEW, number), 7, None, _making(LONG))

    assert await own.get((VIEW, 3), 7, None, _making(3 * LONG)) is not None


async def test_what_is_kept_is_bounded() -> None:
    """The kept bytes are limited, however many versions clients come from."""
    own = OwnBodies()
    for number in range(20):
        await own.get((VIEW, number), 7, None, _making(MAX_KEPT_BYTES // 8))

    assert MAX_KEPT_BYTES == own.held_bytes


async def test_the_number_of_kept_bodies_is_bounded() -> None:
    """Short bodies are limited in number: each request may name another body."""
    own = OwnBodies()
    for number in range(MAX_KEPT + 50):
        await own.get((VIEW, number), 7, None, _making(100))

    assert 100 * MAX_KEPT == own.held_bytes


async def test_a_new_version_ends_the_kept_bodies_of_its_view() -> None:
    """Kept bodies of an old version answer nobody; other views keep theirs; a late old body is not kept."""
    own = OwnBodies()
    for number in range(20):
        await own.get((VIEW, number), 7, None, _making(100))
        await own.get(("another", number), 7, None, _making(1))
    await own.get((VIEW, 5), 8, None, _making(1_000, version=8))
    await own.get((VIEW, 6), 7, None, _making(1_000))

    assert 1_020 == own.held_bytes


async def test_a_client_that_had_too_much_made_waits() -> None:
    """Other clients are not refused; this client may still get bodies that are already made."""
    own = OwnBodies(WorkLimit(share=0.001, burst_s=BUDGET_S))
    await own.get((VIEW, "first"), 7, CLIENT, _making(LONG, 10))
    with pytest.raises(Problem) as refused:
        await own.get((VIEW, "second"), 7, CLIENT, _making(LONG))

    assert (429, "too_many_requests") == (refused.value.status, refused.value.code)
    assert int(refused.value.headers["Retry-After"]) >= 1
    assert await own.get((VIEW, "first"), 7, CLIENT, _making(LONG)) is not None
    assert await own.get((VIEW, "second"), 7, "198.51.100.2", _making(LONG)) is not None


async def test_a_short_computation_waits_for_no_long_one() -> None:
    """One long computation runs at a time; a few long ones may wait, and more are refused."""
    own, done, refused = OwnBodies(), list[str](), list[str]()

    async def ask(name: str, steps: int) -> None:
        try:
            await own.get((VIEW, name), 7, None, _making(10, steps))
        except Problem as problem:
            refused.append(problem.code)
        else:
            done.append(name)

    async with anyio.create_task_group() as tasks:
        for number in range(MAX_WAITING + 5):
            tasks.start_soon(ask, f"long {number}", 4)
        await checkpoint()
        await checkpoint()
        await ask("short", 1)

    assert "short" == done[0]
    assert (MAX_WAITING + 2, ["overloaded"] * 4) == (len(done), refused)
