"""Rows H of docs/faults.md: streams that are cut, hardly read, or left."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tests.support.peers.cutting import cut_all, leftovers
from tests.support.systems.attacked import attacked, rss_mib
from tests.support.systems.process import Service
from tests.support.systems.site import Site, open_site
from tests.support.time.waiting import eventually

pytestmark = [pytest.mark.anyio, pytest.mark.real_time, pytest.mark.usefixtures("logs_like_a_service")]

Figure = Callable[[str], None]
STREAM = b"GET /api/v2/stream HTTP/1.1\r\nHost: x\r\n\r\n"
SLOW = 20
SMALL_BUFFER = 4_096


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """Return a site without any odds yet."""
    async with open_site() as opened:
        yield opened


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("cuts", "least"), [(100, 5), pytest.param(1_000, 60, marks=pytest.mark.long)])
async def test_h1_a_stream_may_be_cut_anywhere(
    site: Site, cuts: int, least: int, figure: Figure, *, is_whole: bool
) -> None:
    """A client that resumes gets exactly what it missed: no gap, no repeat, never a reset.

    With `--whole` for ten times as many cuts.
    """
    cuts *= 10 if is_whole else 1

    counts = await cut_all(site, cuts, cuts)

    figure(f"{cuts:,} cuts, {sum(counts):,} events applied: no gap, no repeat, each list as the server's")
    assert min(counts) > least


@pytest.mark.long
def test_h4_a_slow_reader_is_cut(tmp_path: Path, figure: Figure) -> None:
    """Clients that read nothing, or 100 bytes a second, of a stream that never rests."""
    with attacked(tmp_path, matches=5_000, updates_per_s=2_000) as running:
        took_s, most = _cut_slow(running)

    figure(
        f"{SLOW} that read nothing, {SLOW} at 100 B/s: all cut after {took_s:.0f} s, {most:.2f} MiB each"
    )
    assert most <= 2


def _cut_slow(running: Service) -> tuple[float, float]:
    """Return the seconds until the slow readers are cut, and the MiB that each took at most."""
    with contextlib.ExitStack() as stack:
        reader = _following(running, stack)
        reader.recv(1 << 20)
        eventually(lambda: _streams(running) == 1, "one stream")
        base, most = rss_mib(running), 0.0
        slow = [_following(running, stack, buffer=SMALL_BUFFER) for _ in range(2 * SLOW)]
        eventually(lambda: _streams(running) == 2 * SLOW + 1, "all streams")
        began = last = time.monotonic()
        while _streams(running) != 1:
            assert time.monotonic() - began < 40, "slow readers are still there"
            reader.recv(1 << 20)
            most = max(most, rss_mib(running) - base)
            if time.monotonic() - last >= 1:
                last = time.monotonic()
                for connection in slow[:SLOW]:
                    with contextlib.suppress(OSError):
                        connection.recv(100)
        return time.monotonic() - began, most / (2 * SLOW)


def _following(running: Service, stack: contextlib.ExitStack, *, buffer: int = 0) -> socket.socket:
    connection = stack.enter_context(socket.socket())
    if buffer:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    connection.settimeout(10)
    connection.connect(running.address)
    connection.sendall(STREAM)
    return connection


def _streams(running: Service) -> int:
    stats = running.get("/api/stats").json()
    return int(stats["http"]["streams"]) if "http" in stats else -1  # turned away for a moment


@pytest.mark.long
@pytest.mark.timeout(300)
async def test_h9_who_leaves_leaves_nothing_behind(site: Site, figure: Figure, *, is_whole: bool) -> None:
    """At whatever moment 3,000 clients leave, with `--whole` 10,000, all tasks and descriptors are gone."""
    connects = 10_000 if is_whole else 3_000

    left = await leftovers(site, connects)

    figure(f"{connects:,} connects and closes: {left[0]} tasks and {left[1]} descriptors more than before")
    assert (0, 0) == left
