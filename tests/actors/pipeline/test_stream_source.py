"""The actor of a stream in virtual time: when it connects, when it believes what it hears."""

from __future__ import annotations

import asyncio
from itertools import accumulate, pairwise
from random import Random

import anyio
import pytest
from structlog.testing import capture_logs

from actors.board.chunks import entries_of
from actors.core.cooperative import run_now
from tests.support.builders.betfair import APP_KEY, HOME, Json, change, delta, heartbeat
from tests.support.systems.betfair_playback import token
from tests.support.systems.stream_stage import EXCHANGE, StreamStage, granted, running
from tests.support.time.virtual import VirtualLoop, settle

pytestmark = pytest.mark.anyio

BETTER = delta(change("1.1", {"id": HOME, "batb": [[0, 2.04, 7]]}), id=None)
ACCOUNT: Json = {"username": "the-user", "password": "the-password", "session_token": None}


async def test_refused_connections_are_retried_ever_more_slowly() -> None:
    """The longest delay doubles from 0.5 s to 30 s."""
    stage = StreamStage()
    stage.is_refused = True
    delays = [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]

    async with running(stage):
        await anyio.sleep(sum(delays) + 1)

    assert list(accumulate(delays, initial=0.0)) == stage.opened


async def test_retries_are_jittered() -> None:
    """With true randomness no two delays are alike."""
    stage = StreamStage(random=Random(7))
    stage.is_refused = True

    async with running(stage):
        await anyio.sleep(1000)

    delays = [later - earlier for earlier, later in pairwise(stage.opened[:21])]
    assert all(delay <= min(30.0, 0.5 * 2**number) for number, delay in enumerate(delays))
    assert 20 == len({round(delay, 6) for delay in delays})


async def test_a_flapping_server_keeps_its_delay() -> None:
    """An image a second before the end is no success to build on (A15)."""
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


async def test_a_minute_of_success_forgets_the_failures() -> None:
    """The next loss is retried as the first one was."""
    stage = StreamStage()
    stage.is_refused = True
    async with running(stage):
        await anyio.sleep(100)
        stage.is_refused = False
        await anyio.sleep(100)
        lost = anyio.current_time()
        stage.wire.close()
        await anyio.sleep(1)

    assert lost + 0.5 == stage.opened[-1]


async def test_silence_of_two_heartbeats_ends_the_connection() -> None:
    """Exactly then, and not while heartbeats come."""
    stage = StreamStage()
    async with running(stage, beats=False):
        await anyio.sleep(9.9)
        opened = len(stage.opened)
        await anyio.sleep(0.7)

    assert (1, [0.0, 10.5]) == (opened, stage.opened)
    assert {"silence": 1} == stage.context.status.failed_by


async def test_heartbeats_keep_the_connection() -> None:
    """And vouch for the list, at the moment that they came."""
    stage = StreamStage()
    async with running(stage):
        await anyio.sleep(1001)

    assert [0.0] == stage.opened
    assert [5.0 * number for number in range(201)] == [one.received_mono for one in stage.inbox.batches]


@pytest.mark.parametrize("drip", [b" ", b"\r\n"], ids=["bytes", "blank lines"])
async def test_a_drip_without_a_message_is_silence(drip: bytes) -> None:
    """Bytes are no message, nor are lines with nothing in them (A6)."""
    stage = StreamStage()
    async with running(stage, beats=False):
        for _ in range(11):
            await anyio.sleep(1)
            stage.wire.say(drip)
        await settle()

    assert [0.0, 10.5] == stage.opened[:2]
    assert 1 == stage.context.status.failed_by["silence"]


async def test_a_server_that_takes_no_line_is_given_up() -> None:
    """Every wait for the outside has an end, also that for a line of ours to be taken."""
    stage = StreamStage()
    stage.taking = anyio.Event()
    async with running(stage, beats=False):
        await anyio.sleep(60)

    assert len(stage.opened) > 1


async def test_what_waited_while_the_process_was_stopped_is_not_believed() -> None:
    """Lines that are as old as a suspension vouch for nothing and change nothing (C13)."""
    stage = StreamStage()
    async with running(stage, beats=False):
        before = len(stage.inbox.batches)
        stage.wire.say(BETTER, heartbeat(id=None))
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        loop.jump(30)
        await settle()
        after = len(stage.inbox.batches)
        await anyio.sleep(1)

    assert (before, before) == (1, after)
    assert {"silence": 1} == stage.context.status.failed_by
    assert [30.0 + 0.5] == [one.received_mono for one in stage.inbox.batches[1:]]


async def test_an_image_that_got_lost_is_asked_for_again() -> None:
    """If the list is not on the board within five seconds, the next line asks for it."""
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


async def test_an_image_that_arrived_is_not_asked_for_again() -> None:
    """As long as the board holds it."""
    stage = StreamStage()
    async with running(stage):
        await anyio.sleep(20)
        held = len(stage.subscriptions())
        stage.withdraw()
        await anyio.sleep(6)

    assert (1, 2) == (held, len(stage.subscriptions()))


async def test_a_lost_stream_is_told_once_down_and_once_up() -> None:
    """At the first loss, since it had been good; repeats are counted."""
    stage = StreamStage()
    with capture_logs() as logs:
        async with running(stage):
            stage.is_refused = True
            stage.wire.close()
            await anyio.sleep(100)
            stage.is_refused = False
            await anyio.sleep(100)

    events = [one["event"] for one in logs if one["event"].startswith("source.")]
    assert ["source.down", "source.recovered"] == events
    assert (0, False) == (stage.context.status.failures, stage.context.status.is_down)


async def test_no_secret_is_said_though_the_server_repeats_it() -> None:
    """Neither what was configured nor what a login gave."""
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

    assert [] == [one for one in secrets for text in (*said, str(logs)) if one in text]


async def test_what_somebody_lost_a_part_of_is_withdrawn_at_once() -> None:
    """The part may have been a suspension: nothing of the list is shown until an image comes."""
    stage = StreamStage()
    async with running(stage, beats=False):
        before = _shown(stage)
        stage.context.refresh.set()
        await settle()
        lost = _shown(stage)
        stage.wire.say(heartbeat(id=None))
        await settle()
        after = _shown(stage)

    assert (["1.1"], [], ["1.1"]) == (before, lost, after)


def _shown(stage: StreamStage) -> list[str]:
    book = run_now(stage.context.published.current()).books[EXCHANGE]
    return [entry.source_match_id for entry in entries_of(book.chunks)]


async def test_what_somebody_lost_a_part_of_is_not_vouched_for() -> None:
    """From the moment that a fresh list is asked for, a heartbeat confirms nothing, until the image."""
    stage = StreamStage()
    async with running(stage, beats=False):
        await anyio.sleep(1)
        stage.answer = lambda request: granted(request)[:1]
        before = len(stage.inbox.batches)
        stage.context.refresh.set()
        await anyio.sleep(1)
        stage.wire.say(heartbeat())
        await anyio.sleep(1)

        assert [True] == [one.withdrawn for one in stage.inbox.batches[before:]]
        assert 2 == len([one for one in stage.requests if one["op"] == "marketSubscription"])


async def test_a_clock_that_was_ahead_for_a_moment_costs_no_match() -> None:
    """What ended by it is asked for again once the clock is right, on the same connection."""
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


async def test_silence_during_the_sleep_of_the_machine_ends_the_connection_when_it_wakes() -> None:
    """A peer that has gone meanwhile says nothing, so that it is the clock that must be looked at."""
    stage = StreamStage()
    async with running(stage, beats=False):
        await anyio.sleep(4.25)
        stage.clock.asleep_s += 3600.0
        await anyio.sleep(1)

    assert {"silence": 1} == stage.context.status.failed_by
    assert [0.0] == stage.opened
