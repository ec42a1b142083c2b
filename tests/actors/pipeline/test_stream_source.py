"""The actor of a stream in virtual time: when it connects, and which messages it accepts."""

from __future__ import annotations

from itertools import accumulate

import anyio
import pytest
from structlog.testing import capture_logs

from actors.core.messages import Failure
from tests.support.builders.betfair import (
    APP_KEY,
    HOME,
    Json,
    change,
    definition,
    delta,
    heartbeat,
    image,
    market,
    token,
)
from tests.support.peers.exchange import granted
from tests.support.systems.stream_stage import EXCHANGE, StreamStage, running
from tests.support.time.virtual import jump, settle

pytestmark = pytest.mark.anyio

BETTER = delta(change("1.1", {"id": HOME, "batb": [[0, 2.04, 7]]}), id=None)
ACCOUNT: Json = {"username": "the-user", "password": "the-password", "session_token": None}


async def test_refused_connections_are_retried_with_increasing_delays() -> None:
    """The longest delay doubles from 0.5 s to 30 s; after a minute of success it begins anew."""
    stage = StreamStage()
    stage.is_refused = True
    delays = [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]

    async with running(stage):
        await anyio.sleep(sum(delays) - 1)
        stage.is_refused = False
        await anyio.sleep(100)
        lost = anyio.current_time()
        stage.wire.close()
        await anyio.sleep(1)

    assert [*accumulate(delays, initial=0.0), lost + 0.5] == stage.opened


async def test_flapping_server_keeps_its_delay() -> None:
    """An image one second before the end of the connection does not reset the delay (A15)."""
    stage = StreamStage()
    async with running(stage), anyio.create_task_group() as tasks:
        tasks.start_soon(_flap, stage)
        await anyio.sleep(300)
        tasks.cancel_scope.cancel()

    assert len(stage.opened) <= 30
    assert stage.opened[-1] - stage.opened[-2] >= 30


async def _flap(stage: StreamStage) -> None:
    while True:
        await anyio.sleep(1)
        stage.wire.close()


async def test_heartbeats_keep_the_connection() -> None:
    """A heartbeat confirms the list at the moment of its receipt."""
    stage = StreamStage()
    async with running(stage):
        await anyio.sleep(1001)

    assert [0.0] == stage.opened
    assert [5.0 * number for number in range(201)] == [batch.received_mono for batch in stage.inbox.batches]


@pytest.mark.parametrize("drip", [b"", b" ", b"\r\n"], ids=["nothing", "bytes", "blank lines"])
async def test_bytes_without_a_message_are_silence(drip: bytes) -> None:
    """After two heartbeats the connection ends; bytes and empty lines are no messages (A6)."""
    stage = StreamStage()
    async with running(stage, beats=False):
        for _ in range(11):
            await anyio.sleep(1)
            stage.wire.say(drip)
        await settle()

    assert [0.0, 10.5] == stage.opened[:2]
    assert 1 == stage.context.status.failed_by["silence"]


async def test_server_that_accepts_no_bytes_is_given_up() -> None:
    """Every wait for the peer has a deadline, also the wait while a line is sent."""
    stage = StreamStage()
    stage.taking = anyio.Event()
    async with running(stage, beats=False):
        await anyio.sleep(60)

    assert len(stage.opened) > 1


async def test_lines_that_waited_during_a_stop_are_dropped() -> None:
    """Lines as old as the suspension of the process confirm nothing and change nothing (C13)."""
    stage = StreamStage()
    async with running(stage, beats=False):
        before = len(stage.inbox.batches)
        stage.wire.say(BETTER, heartbeat(id=None))
        jump(30)
        await settle()
        after = len(stage.inbox.batches)
        await anyio.sleep(1)

    assert (before, before) == (1, after)
    assert {"silence": 1} == stage.context.status.failed_by
    assert [30.0 + 0.5] == [batch.received_mono for batch in stage.inbox.batches[1:]]


async def test_lost_image_is_requested_again() -> None:
    """If the list is not on the board within five seconds, the next line causes a request for an image."""
    stage = StreamStage()
    stage.inbox.is_shown = False
    async with running(stage, beats=False):
        for at in (4.0, 4.9, 5.0):
            await anyio.sleep(at - anyio.current_time())
            stage.wire.say(heartbeat(id=None))
            await settle()
            asked = len(stage.subscriptions())

            assert (2 if at == 5.0 else 1) == asked

    assert "clk" not in stage.subscriptions()[-1]


async def test_list_without_room_for_all_is_requested_when_there_is_room() -> None:
    """While the bookmaker has as many matches as it may, another image would bring nothing."""
    stage = StreamStage(max_matches=1)
    stage.answer = lambda request: granted(request, market(), market("1.2"))
    async with running(stage):
        await anyio.sleep(60)
        full = len(stage.subscriptions()), stage.ids()
        stage.answer = lambda request: granted(request, market("1.2"))
        stage.wire.say(delta({"id": "1.1", "marketDefinition": definition(status="CLOSED")}, id=None))
        await anyio.sleep(6)
        roomy = len(stage.subscriptions()), stage.ids()
        await anyio.sleep(60)

    assert ((1, ["1.1"]), (2, ["1.2"]), 2) == (full, roomy, len(stage.subscriptions()))


async def test_secrets_of_the_server_are_not_shown() -> None:
    """A configured secret and a token of a login are hidden, although the server repeats them."""
    stage = StreamStage(**ACCOUNT)
    stage.web = lambda url: token("token-of-login") if url.endswith("login") else b'{"result":[]}'
    secrets = {APP_KEY, "token-of-login", "the-user", "the-password"}
    said: set[str] = set()
    with capture_logs() as logs:
        async with running(stage):
            for secret in sorted(secrets):
                stage.wire.say({"op": secret})
                await settle()
                said.add(stage.context.status.last_error or "")
                await anyio.sleep(40)
            stage.is_refused = True
            stage.wire.close()
            await anyio.sleep(10)

    assert [] == [name for name in secrets for text in (*said, str(logs)) if name in text]


async def test_list_with_a_lost_part_is_not_confirmed() -> None:
    """The list is withdrawn, because a suspension may be lost; heartbeats count again after its image."""
    stage = StreamStage()
    async with running(stage, beats=False):
        await anyio.sleep(1)
        stage.answer = lambda request: granted(request)[:1]
        before = len(stage.inbox.batches)
        stage.context.refresh.set()
        await settle()
        at_once = stage.ids()
        await anyio.sleep(1)
        stage.wire.say(heartbeat())
        await anyio.sleep(1)

        assert ([], [True]) == (at_once, [batch.withdrawn for batch in stage.inbox.batches[before:]])
        assert 2 == len(stage.subscriptions())
        stage.wire.say(image(market(), id=3))
        await settle()
        assert ["1.1"] == stage.ids()


async def test_clock_briefly_ahead_loses_no_match() -> None:
    """Matches that the clock ended are requested again once it is right, on the same connection."""
    stage = StreamStage()
    async with running(stage):
        await anyio.sleep(60)
        before = stage.shown()
        stage.clock.wall_shift_s = 2e9
        ahead = stage.shown()
        await anyio.sleep(3)
        stage.clock.wall_shift_s = 0.0
        await anyio.sleep(10)

        assert (1, 0, 1) == (before, ahead, stage.shown())
        assert (1, 2) == (len(stage.opened), len(stage.subscriptions()))
        await anyio.sleep(600)
        assert 2 == len(stage.subscriptions())


async def test_silence_during_a_sleep_ends_the_connection_on_waking() -> None:
    """The peer may have closed the connection unnoticed during the sleep, so the clock decides."""
    stage = StreamStage()
    async with running(stage, beats=False):
        await anyio.sleep(4.25)
        stage.clock.asleep_s += 3600.0
        await anyio.sleep(1)

    assert {"silence": 1} == stage.context.status.failed_by
    assert [0.0] == stage.opened


async def test_lost_connection_is_reported_as_a_failed_attempt() -> None:
    """The list of each bookmaker counts as not confirmed until the next message."""
    stage = StreamStage()
    failures: list[tuple[str, float]] = []
    stage.context.bus.subscribe(
        lambda batch: (
            failures.append((batch.bookmaker, batch.at_mono)) if isinstance(batch, Failure) else None
        )
    )
    async with running(stage):
        await anyio.sleep(5)
        before, lost_mono = [*failures], stage.context.clock.now().mono
        stage.wire.close()
        await settle()
        after = [*failures]

    assert ([], [(EXCHANGE, lost_mono)]) == (before, after)
