"""/api/v2/stream for clients that accept gzip: the same events, each readable when it arrives."""

from __future__ import annotations

import pytest

from tests.support.builders.messages import match
from tests.support.peers.stream_client import streaming
from tests.support.systems.site import Site

pytestmark = pytest.mark.anyio

GZIP = "Accept-Encoding: gzip, deflate, br"


@pytest.mark.parametrize("view", ["", "?view=fixtures", "?bookmaker=birch"])
async def test_a_compressed_stream_has_the_same_events(site: Site, view: str) -> None:
    """Each event is equal byte for byte, and can be read before the next event is made."""
    async with streaming(site.base, view) as plain, streaming(site.base, view, GZIP) as packed:
        read = [(await plain.event(), await packed.event())]
        for number in range(4):
            site.publish("birch", *(match(f"b{other}") for other in range(number + 1)))
            read.append((await plain.event(), await packed.event()))

    assert [event.raw for event, _ in read] == [event.raw for _, event in read]
    assert ["snapshot", *["changes"] * 4] == [event.name for _, event in read]
    named = packed.head.headers
    assert ("gzip", "Accept-Encoding") == (named["content-encoding"], named["vary"])


@pytest.mark.parametrize("line", ["Accept-Encoding: br", "Accept-Encoding: gzip;q=0", "Accept: */*"])
async def test_other_clients_get_no_coding(site: Site, line: str) -> None:
    """Streams without gzip have no header more than before compressed streams existed."""
    async with streaming(site.base, "", line) as connection:
        names = connection.head.headers.keys()
        first = await connection.event()

    assert {"content-encoding", "vary"}.isdisjoint(names)
    assert "snapshot" == first.name


async def test_clients_at_other_places_read_the_same_blocks(site: Site) -> None:
    """Before the same changes, a client that came later, or with a heartbeat, has read other text."""
    async with streaming(site.base, "", GZIP) as early:
        read = [await early.event()]
        site.publish("birch", match("b"))
        read.append(await early.event())
        async with (
            streaming(site.base, "", GZIP) as late,
            streaming(site.base, "?since=5004", GZIP) as again,
        ):
            begun = [(await late.event()).name, (await again.event()).name]
            for number in range(2):
                site.publish("birch", match(f"c{number}"))
                read.append(await early.event())
                assert read[-1].raw == (await late.event()).raw == (await again.event()).raw

    assert ["snapshot", "heartbeat"] == begun
    assert ["snapshot", *["changes"] * 3] == [event.name for event in read]


@pytest.mark.parametrize("since", ["", "?since=5003", "?since=x"])
async def test_a_compressed_stream_ends_with_its_checks(site: Site, since: str) -> None:
    """After `bye` come the checksum and the length of all events, as RFC 1952 demands."""
    async with streaming(site.base, since, GZIP) as connection:
        await connection.event()
        site.publish("birch", match("b"))
        await connection.named("changes")
        await site.audience.leave()
        last = await connection.rest()

    assert ["bye"] == [event.name for event in last]
    assert connection.inflater is not None
    assert (True, b"") == (connection.inflater.eof, connection.inflater.unused_data)
