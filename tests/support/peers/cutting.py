"""Clients of the stream that are cut anywhere and resume, and clients that leave at any moment."""

from __future__ import annotations

import asyncio
import os
import socket
from random import Random

import anyio
from anyio.lowlevel import checkpoint

from tests.support.builders.messages import match
from tests.support.peers.stream_client import Copy, streaming
from tests.support.systems.site import NAMES, Site

ORDER = list(NAMES)
VIEWS = (None, *NAMES)
CLIENTS = 6
HEAD = b"GET /api/v2/stream HTTP/1.1\r\nHost: board\r\n\r\n"


class Lists:
    """The list of each view at each of its versions, while changes are published."""

    def __init__(self, site: Site, random: Random) -> None:
        self.is_over = False
        self._site = site
        self._random = random
        self._lists: dict[tuple[str | None, int], bytes] = {}
        self._note()

    async def publish(self) -> None:
        """Publish a change in every turn of the loop, until stopped."""
        while not self.is_over:
            name = self._random.choice(ORDER)
            some = [number for number in range(8) if self._random.random() < 0.6]
            prices = (self._random.choice((2.0, 2.1)), 3.5, 4.0)
            self._site.publish(name, *(match(f"m{count}", prices=prices) for count in some))
            self._note()
            for _ in range(self._random.randrange(20)):
                await checkpoint()

    def check(self, copy: Copy, view: str | None) -> None:
        """Compare a copy with the list of its version."""
        assert self._lists[view, copy.version] == copy.matches

    def _note(self) -> None:
        snapshot = self._site.published.current()
        for view in VIEWS:
            copy = Copy.of(ORDER, snapshot, view)
            self._lists.setdefault((view, copy.version), copy.matches)


async def _cut_often(site: Site, lists: Lists, random: Random, times: int) -> int:
    """Disconnect `times` times, anywhere in an event, and resume from the last whole event."""
    view = random.choice(VIEWS)
    copy, query = Copy(ORDER), "" if view is None else f"?bookmaker={view}"
    for _ in range(times):
        lines = [] if copy.id is None else [f"Last-Event-ID: {copy.id}"]
        async with streaming(site.base, query, *lines) as connection:
            for _ in range(random.choice((0, 1, 1, 2, 4))):
                event = await connection.event()
                expected = {"changes", "heartbeat"} if copy.applied else {"snapshot"}
                assert event.name in expected
                copy.take(event)
                if event.name != "heartbeat":
                    lists.check(copy, view)
            if random.random() < 0.5:
                await connection.socket.receive(random.randint(1, 400))
    assert sorted(set(copy.applied)) == copy.applied
    return len(copy.applied)


async def cut_all(site: Site, seed: int, cuts: int) -> list[int]:
    """Cut streams often while the board changes; return how many events each client applied.

    Each event must follow the one before it, and make the list of its version.
    """
    random = Random(seed)
    lists, counts = Lists(site, random), []

    async def client(number: int) -> None:
        counts.append(await _cut_often(site, lists, Random(seed * 100 + number), cuts // CLIENTS))
        lists.is_over = len(counts) == CLIENTS

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lists.publish)
        for number in range(CLIENTS):
            tasks.start_soon(client, number)
    return counts


async def _disconnect(site: Site, times: int, random: Random) -> None:
    """Connect and disconnect at any moment: within the request, before the answer, or within the answer."""
    address = ("127.0.0.1", int(site.base.rpartition(":")[2]))
    for _ in range(times):
        with socket.socket() as connection:
            connection.setblocking(False)  # noqa: FBT003 - the library's signature
            loop = asyncio.get_running_loop()
            await loop.sock_connect(connection, address)
            await loop.sock_sendall(
                connection, HEAD[: random.choice((0, 10, len(HEAD), len(HEAD), len(HEAD)))]
            )
            for _ in range(random.randrange(12)):
                await checkpoint()
            if random.random() < 0.3:
                connection.setsockopt(
                    socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0"
                )  # close with a reset


async def leftovers(site: Site, connects: int) -> tuple[int, int]:
    """Connect and leave often; return how many more tasks and descriptors there are than before."""
    await _disconnect(site, 20, Random(1))
    await site.until(lambda: len(site.audience) == 0)
    tasks, descriptors = _held()
    await _disconnect(site, connects, Random(2))
    with anyio.move_on_after(15):
        while _held() > (tasks, descriptors) or len(site.audience):  # noqa: ASYNC110 - no event reports it
            await anyio.sleep(0.05)
    left = _held()
    return max(left[0] - tasks, 0), max(left[1] - descriptors, 0)


def _held() -> tuple[int, int]:
    return len(asyncio.all_tasks()), len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - only the count
