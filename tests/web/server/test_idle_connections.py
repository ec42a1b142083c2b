"""The time for which a connection without a request stays open, in virtual time."""

from __future__ import annotations

import asyncio

import pytest

from tests.support.systems.site import open_site
from tests.support.time.virtual import VirtualLoop

KEPT_S = 5.0
"""The time for which Hypercorn keeps an idle connection by default, as documented."""
PAUSE_S = 3.0
HEAD = b"HEAD /health/live HTTP/1.1\r\nHost: x\r\n\r\n"

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.parametrize("anyio_backend", [("asyncio", {"loop_factory": VirtualLoop})]),
]


@pytest.mark.parametrize("sent", [b"", HEAD[:9]])
async def test_patience_begins_with_the_last_answer(sent: bytes) -> None:
    """Half a head does not make the wait longer; an answer does."""
    async with open_site() as site:
        loop = asyncio.get_running_loop()
        reader, writer = await asyncio.open_connection("127.0.0.1", int(site.base.rpartition(":")[2]))
        for _ in range(3):
            writer.write(HEAD)
            await reader.readuntil(b"\r\n\r\n")
            answered_at = loop.time()
            await asyncio.sleep(PAUSE_S)
        writer.write(sent)
        rest = await reader.read()
        ended_at = loop.time()
        writer.close()

    assert (b"", KEPT_S) == (rest, round(ended_at - answered_at, 6))
