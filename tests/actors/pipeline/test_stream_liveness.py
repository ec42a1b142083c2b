"""Reasons to close or to keep a stream's connection: silence, slow lines, missing images."""

from __future__ import annotations

import anyio
import pytest
from structlog.testing import capture_logs

from tests.support.builders.betfair import SUCCESS, Json, heartbeat, image, line, market
from tests.support.peers.exchange import granted
from tests.support.systems.stream_stage import StreamStage, running
from tests.support.time.virtual import settle

pytestmark = pytest.mark.anyio

IMAGE_WITHIN_S = 60.0
PIECE_BYTES = 10_000


def _granted_alone(request: Json) -> list[Json]:
    """Grant everything, without an image."""
    return [{**SUCCESS, "id": request["id"]}]


def _late(request: Json) -> list[Json]:
    """Grant everything, on a stream that reports itself as late."""
    says = [heartbeat(id=request["id"], status=503)] if request["op"] == "marketSubscription" else []
    return [*_granted_alone(request), *says]


@pytest.mark.parametrize("cause", ["lost", "late", "torn"])
async def test_missing_image_ends_the_connection(cause: str) -> None:
    """A missing image ends the connection and is logged once; the next connection starts anew."""
    stage = StreamStage()
    with capture_logs() as logs:
        async with running(stage):
            stage.answer = _granted_alone
            await anyio.sleep(1)
            if cause == "lost":
                stage.context.refresh.set()
            elif cause == "late":
                stage.wire.say(heartbeat(id=None, status=503), heartbeat(id=None))
            else:
                stage.wire.say(image(market(), id=None, segmentType="SEG_START"))
            await anyio.sleep(IMAGE_WITHIN_S - 2)
            before = len(stage.opened)
            stage.answer = granted
            await anyio.sleep(10)
            after = stage.ids()

    events = [logged["event"] for logged in logs if logged["event"].startswith("source.")]
    assert (1, 2, ["1.1"]) == (before, len(stage.opened), after)
    assert 1 == stage.context.status.failed_by["no_image"]
    assert ["source.down", "source.recovered"] == events


async def test_stream_that_is_late_from_the_beginning_is_kept() -> None:
    """While the stream reports that it is late, this is the source's error, until an image arrives."""
    stage = StreamStage()
    stage.answer = _late
    with capture_logs() as logs:
        async with running(stage, beats=False):
            for _ in range(60):
                await anyio.sleep(5)
                stage.wire.say(heartbeat(id=None, status=503))
            await settle()
            error, is_down = stage.context.status.error, stage.context.status.is_down
            stage.answer = granted
            stage.wire.say(heartbeat(id=None))
            await settle()
            shown = stage.ids()

    assert ([0.0], ["1.1"]) == (stage.opened, shown)
    assert ("the server says that its stream is late", True) == (error, is_down)
    assert (None, {"unreliable": 1}) == (stage.context.status.error, dict(stage.context.status.failed_by))
    assert ["source.down", "source.recovered"] == [
        logged["event"] for logged in logs if logged["event"].startswith("source.")
    ]


async def test_long_line_on_a_slow_connection_is_no_silence() -> None:
    """Pieces of the line show that the server is alive, even if it takes longer than the silence limit."""
    stage = StreamStage(heartbeat_ms=1000)
    async with running(stage, beats=False):
        long = line(image(market(), market("1.2"), id=None, padding="x" * 400_000)) + b"\r\n"
        for at in range(0, len(long), PIECE_BYTES):
            await anyio.sleep(0.1)
            stage.wire.say(long[at : at + PIECE_BYTES])
        await settle()
        took_s, shown = anyio.current_time(), stage.ids()

    assert ([0.0], ["1.1", "1.2"]) == (stage.opened, shown)
    assert took_s > 4


async def test_line_without_an_end_is_given_up() -> None:
    """Bytes without a line end keep a connection for one minute, and the list for a shorter time."""
    stage = StreamStage()
    async with running(stage, beats=False):
        for _ in range(59):
            await anyio.sleep(1)
            stage.wire.say(b"x" * 2000)
        before = len(stage.opened), stage.ids()
        await anyio.sleep(1)
        stage.wire.say(b"x" * 2000)
        await settle()

    assert ((1, []), {"no_image": 1}) == (before, dict(stage.context.status.failed_by))


@pytest.mark.parametrize(
    ("told_ms", "silence_s"), [(15_000, 30.0), (500, 1.0), (499, 10.0), (30_001, 10.0), (None, 10.0)]
)
async def test_server_may_set_another_heartbeat(told_ms: int | None, silence_s: float) -> None:
    """The connection may be silent for two heartbeats of the server; an implausible value is ignored."""
    stage = StreamStage()
    stage.answer = lambda request: (
        [*granted(request)[:1], image(market(), id=request["id"], heartbeatMs=told_ms)]
        if request["op"] == "marketSubscription"
        else granted(request)
    )
    async with running(stage, beats=False):
        await anyio.sleep(silence_s - 0.1)
        before = len(stage.opened)
        stage.is_refused = True
        await anyio.sleep(1)

    assert (1, [0.0, silence_s + 0.5]) == (before, stage.opened)
