"""Streams that are cut anywhere, not read, disconnected, and read by another parser (faults.md, H)."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from random import Random

import anyio
import anyio.to_thread
import httpx2
import pytest
from anyio.lowlevel import checkpoint
from sseclient import Event as TheirEvent
from sseclient import SSEClient

from actors.core.cooperative import run_now
from tests.support.builders.messages import match
from tests.support.peers.plain_http import NO_TLS
from tests.support.peers.stream_client import Copy, streaming
from tests.support.systems.site import EPOCH, NAMES, Site

pytestmark = pytest.mark.anyio

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
            self._site.publish(name, *(match(f"m{one}", prices=prices) for one in some))
            self._note()
            for _ in range(self._random.randrange(20)):
                await checkpoint()

    def check(self, copy: Copy, view: str | None) -> None:
        """Compare a copy with the list of its version."""
        assert self._lists[view, copy.version] == copy.matches

    def _note(self) -> None:
        snapshot = run_now(self._site.published.current())
        for view in VIEWS:
            copy = Copy.of(ORDER, snapshot, view)
            self._lists.setdefault((view, copy.version), copy.matches)


async def _cut_often(site: Site, lists: Lists, random: Random, times: int) -> int:
    """Disconnect so often, anywhere in an event, and resume from the last whole one."""
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


async def _all_cut(site: Site, seed: int, cuts: int) -> list[int]:
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


async def test_a_stream_may_be_cut_anywhere(empty_site: Site) -> None:
    """A client that resumes gets exactly what it missed: no gap, no repeat, never a reset (H1)."""
    counts = await _all_cut(empty_site, 1, 500)

    assert min(counts) > 40


@pytest.mark.long
@pytest.mark.timeout(600)
async def test_streams_may_be_cut_10_000_times(empty_site: Site) -> None:
    """The same holds for 10,000 cuts."""
    counts = await _all_cut(empty_site, 2, 10_000)

    assert min(counts) > 800


async def test_a_slow_client_gets_merged_changes(empty_site: Site) -> None:
    """What a client did not read in time comes in few events, marked as conflated, without a gap (H4)."""
    site, copy = empty_site, Copy(ORDER)
    names = [f"m{number:04}" for number in range(2000)]
    async with streaming(site.base) as connection:
        for number in range(60):
            prices = (2.0 + number / 100, 3.5, 4.0)
            site.publish("alder", *(match(name, prices=prices) for name in names))
            for _ in range(20):
                await checkpoint()
        newest = Copy.of(ORDER, run_now(site.published.current()))
        events = []
        while copy.version < newest.version:
            events.append(await connection.event())
            copy.take(events[-1])

    assert newest.matches == copy.matches
    assert True is events[-1].data["conflated"]
    assert len(events) < 50


async def test_a_client_that_does_not_read_delays_nobody(empty_site: Site) -> None:
    """The other clients get every commit as its own event."""
    site = empty_site
    names = [f"m{number:04}" for number in range(2000)]
    async with streaming(site.base), streaming(site.base, "?bookmaker=birch") as reader:
        await reader.event()
        for number in range(30):
            prices = (2.0 + number / 100, 3.5, 4.0)
            site.publish("alder", *(match(name, prices=prices) for name in names))
            version = site.publish("birch", match("b", prices=prices))
            event = await reader.event()

            assert (f"{version}-{EPOCH}", False) == (event.id, "conflated" in event.data)


async def _disconnect(site: Site, times: int, random: Random) -> None:
    """Connect and disconnect at any moment: within the request, before the answer, or within it."""
    address = ("127.0.0.1", int(site.base.rpartition(":")[2]))
    for _ in range(times):
        with socket.socket() as one:
            one.setblocking(False)  # noqa: FBT003 - as the library has it
            loop = asyncio.get_running_loop()
            await loop.sock_connect(one, address)
            await loop.sock_sendall(one, HEAD[: random.choice((0, 10, len(HEAD), len(HEAD), len(HEAD)))])
            for _ in range(random.randrange(12)):
                await checkpoint()
            if random.random() < 0.3:
                one.setsockopt(
                    socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0"
                )  # close with a reset


async def _is_clean(site: Site, connects: int) -> None:
    await _disconnect(site, 20, Random(1))
    await site.until(lambda: len(site.audience) == 0)
    tasks, descriptors = len(asyncio.all_tasks()), len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    await _disconnect(site, connects, Random(2))
    with anyio.fail_after(15):
        while len(asyncio.all_tasks()) > tasks or len(os.listdir("/proc/self/fd")) > descriptors:  # noqa: ASYNC110, PTH208
            await anyio.sleep(0.05)

    assert 0 == len(site.audience)


@pytest.mark.long
async def test_disconnecting_leaves_nothing_behind(site: Site) -> None:
    """At whatever moment clients disconnect, tasks and descriptors return to their number (H9)."""
    await _is_clean(site, 500)


@pytest.mark.long
@pytest.mark.timeout(300)
async def test_10_000_disconnects_leave_nothing_behind(site: Site) -> None:
    """The same holds for 10,000 disconnects."""
    await _is_clean(site, 10_000)


async def test_an_independent_parser_reads_the_stream(site: Site) -> None:
    """sseclient-py, which follows the standard, reads the same events."""
    seen: list[TheirEvent] = []

    def read() -> None:
        with httpx2.Client(trust_env=False, verify=NO_TLS) as client:
            asked = client.stream("GET", f"{site.base}/api/v2/stream", headers={"Last-Event-ID": "1"})
            with asked as response:
                seen.extend(SSEClient(response.iter_bytes()).events())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(anyio.to_thread.run_sync, read)
        await site.until(lambda: len(site.audience) == 1)
        for _ in range(3):
            site.clock.pass_(1)
            site.publish("birch", match(f"b{site.clock.mono}"))
            await anyio.sleep(0.02)
        await site.audience.leave()

    copy = Copy(ORDER)
    decoded = [(one.event, one.id, one.data) for one in seen]
    for name, _, data in decoded:
        _apply(copy, name, data)
    newest = Copy.of(ORDER, run_now(site.published.current()), None)
    assert (newest.version, newest.matches) == (copy.version, copy.matches)
    assert ["reset", "snapshot"] == [name for name, *_ in decoded[:2]]
    assert ("bye", True) == (decoded[-1][0], 1000 <= int(seen[-1].retry or 0) <= 5000)
    assert f"{newest.version}-{EPOCH}" == [number for _, number, _ in decoded if number][-1]


def _apply(copy: Copy, name: str, data: str) -> None:
    if name == "snapshot":
        copy.replace(json.loads(data))
    elif name == "changes":
        copy.change(json.loads(data))
