"""The recorded stream over a real socket and the whole system, compared with betfairlightweight.

The server speaks the protocol: bytes arrive in random pieces, with heartbeats, with images in between,
and with lost connections that resume by their clocks.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.support.builders.betfair import Json, heartbeat, recorded
from tests.support.oracles.betfair_oracle import Oracle, is_one_offer
from tests.support.systems.betfair_playback import Exchange, exchange, peers

pytestmark = [pytest.mark.anyio, pytest.mark.real_time, pytest.mark.recordings]

STREAM = "stream_2025-05-07_soccer.bz2"
IMAGES = [
    *("stream_image_2026-01-28_105_soccer_markets.json", "mcm_live_image.json", "mcm_sub_image.json"),
    *("mcm_resub_delta.json",),
]
"""Messages that replace everything; the last is a patch of markets whose image was not recorded."""
HEARTBEAT, IMAGE, CUT = 0.2, 0.003, 0.01
"""The probability of each event after a message."""
GREETINGS = 3
"""Lines of a new connection before its first message: a greeting and two statuses."""


class Playback:
    """The messages sent, the library's reading of them, and how the next one is sent."""

    def __init__(self, live: Exchange, seed: int) -> None:
        self.live = live
        self.oracle = Oracle()
        self.offers: dict[str, tuple[float, float, float]] = {}
        self.random = Random(seed)
        self.resumed = 0

    async def say(self, message: Json) -> None:
        """Send a message in random pieces, and wait until the board equals the library's reading."""
        before = dict(self.offers)
        self.hear(message)
        wanted = self.live.board.source.payloads + 1
        raw = self.live.stream.line(message)
        for piece in _pieces(raw, self.random):
            self.live.stream.write(piece)
        await self.live.board.until(lambda: self.live.board.source.payloads >= wanted)
        if self.offers != before:  # otherwise the next change or the end shows it
            await self.live.shows(self.offers)

    def hear(self, message: Json) -> None:
        """Pass a message to the library, and record its reading of the markets in it."""
        self.oracle.take(json.dumps(message).encode())
        for name in {one["id"] for one in message["mc"]}:
            self.offers.pop(name, None)
            prices = self.oracle.offer(name)
            if prices is not None and is_one_offer(prices):
                self.offers[name] = prices

    async def image(self) -> None:
        """Send all known markets as a new image."""
        await self.say(
            {"op": "mcm", "ct": "SUB_IMAGE", "pt": 2, "clk": "i", "initialClk": "i", "mc": self.known()}
        )

    async def cut(self, missed: Json) -> None:
        """Close the connection and send what was missed as a patch on the next one."""
        stream, source = self.live.stream, self.live.board.source
        wanted = source.payloads + GREETINGS + 1
        patch = {**missed, "ct": "RESUB_DELTA"}
        stream.answer = lambda request: [patch] if "clk" in request else []
        stream.cut()
        self.hear(missed)
        await self.live.board.until(lambda: source.payloads >= wanted)
        await self.live.shows(self.offers)
        self.resumed += "clk" in stream.subscriptions()[-1]

    def known(self) -> list[Json]:
        """Return every market as the library reads it."""
        caches = self.oracle._listener.stream._caches
        return [
            {
                "id": name,
                "img": True,
                "marketDefinition": book.market_definition,
                "rc": [_ladder(runner) for runner in book.runners],
            }
            for name, book in caches.items()
        ]


def _ladder(runner: Any) -> Json:
    offers = [[one["price"], one["size"]] for one in runner.available_to_back.serialised]
    return {"id": runner.selection_id, "hc": runner.handicap or 0, "atb": offers}


def _pieces(raw: bytes, random: Random) -> Iterable[bytes]:
    cuts = sorted({0, len(raw), *(random.randrange(len(raw)) for _ in range(random.randrange(4)))})
    return [raw[first:last] for first, last in pairwise(cuts)]


@pytest.mark.parametrize("name", IMAGES)
async def test_recorded_image_over_a_real_server(tmp_path: Path, name: str) -> None:
    """The board equals the library's reading."""
    (message,) = (json.loads(line) for line in recorded(name))
    with peers() as (stream, rest):
        async with exchange(tmp_path, stream, rest) as live:
            played = Playback(live, 1)
            await live.board.until(lambda: live.board.source.payloads == GREETINGS)
            await played.say({**message, "ct": "SUB_IMAGE"})
            await live.board.until(lambda: live.board.source.last_success_at is not None)
            await live.shows(played.offers)


@pytest.mark.long
async def test_recorded_stream_over_a_real_server(tmp_path: Path) -> None:
    """After every message the board equals the library's reading, with any of the events in between."""
    first, *messages = (json.loads(line) for line in recorded(STREAM))
    with peers() as (stream, rest):
        async with exchange(tmp_path, stream, rest, conflate_ms=0) as live:
            played = Playback(live, 20250507)
            await live.board.until(lambda: live.board.source.payloads == GREETINGS)
            await played.say(first)
            for message in messages:
                chance = played.random.random()
                if chance < CUT:
                    await played.cut(message)
                    continue
                await played.say(message)
                if chance > 1 - HEARTBEAT:
                    await live.says(heartbeat())
                if CUT < chance < CUT + IMAGE:
                    await played.image()

            await live.shows(played.offers)
            assert (True, True) == (played.resumed > 5, len(live.entries()) > 50)
            assert {"closed", "connection"} >= live.board.source.failed_by.keys()
