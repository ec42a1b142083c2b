"""Streams that clients do not read, and a stream for another parser (tests/faults cuts streams)."""

from __future__ import annotations

import json

import anyio
import anyio.to_thread
import httpx2
import pytest
from anyio.lowlevel import checkpoint
from sseclient import Event as TheirEvent
from sseclient import SSEClient

from tests.support.builders.messages import match
from tests.support.peers.plain_http import NO_TLS
from tests.support.peers.stream_client import Copy, streaming
from tests.support.systems.site import EPOCH, NAMES, Site

pytestmark = pytest.mark.anyio

ORDER = list(NAMES)


async def test_a_slow_client_gets_merged_changes(empty_site: Site) -> None:
    """Changes that a client did not read in time come in few events, conflated and without gaps (H4)."""
    site, copy = empty_site, Copy(ORDER)
    names = [f"m{number:04}" for number in range(1000)]
    async with streaming(site.base) as connection:
        for number in range(50):
            prices = (1.5 + number / 100, 3.5, 4.0)  # no surebets, which would take time to make
            site.publish("alder", *(match(name, prices=prices) for name in names))
            for _ in range(20):
                await checkpoint()
        newest = Copy.of(ORDER, site.published.current())
        events = []
        while copy.version < newest.version:
            events.append(await connection.event())
            copy.take(events[-1])

    assert newest.matches == copy.matches
    assert True is events[-1].data["conflated"]
    assert len(events) < 40


async def test_a_client_that_does_not_read_delays_nobody(empty_site: Site) -> None:
    """The other clients get every commit as its own event."""
    site = empty_site
    names = [f"m{number:04}" for number in range(2000)]
    async with streaming(site.base), streaming(site.base, "?bookmaker=birch") as reader:
        await reader.event()
        for number in range(30):
            prices = (1.5 + number / 100, 3.5, 4.0)  # no surebets, which would take time to make
            site.publish("alder", *(match(name, prices=prices) for name in names))
            version = site.publish("birch", match("b", prices=prices))
            event = await reader.named("changes")

            assert (f"{version}-{EPOCH}", False) == (event.id, "conflated" in event.data)


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
    decoded = [(event.event, event.id, event.data) for event in seen]
    for name, _, data in decoded:
        _apply(copy, name, data)
    newest = Copy.of(ORDER, site.published.current(), None)
    assert (newest.version, newest.matches) == (copy.version, copy.matches)
    assert ["reset", "snapshot"] == [name for name, *_ in decoded[:2]]
    assert ("bye", True) == (decoded[-1][0], 1000 <= int(seen[-1].retry or 0) <= 5000)
    assert f"{newest.version}-{EPOCH}" == [number for _, number, _ in decoded if number][-1]


def _apply(copy: Copy, name: str, data: str) -> None:
    if name == "snapshot":
        copy.replace(json.loads(data))
    elif name == "changes":
        copy.change(json.loads(data))
