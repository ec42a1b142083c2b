"""The timing of a stream, in virtual time: heartbeats and conflation."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from actors.board.published import MAX_WAIT_S
from actors.core.errors import CommitLateError
from tests.support.builders.alerts import alert
from tests.support.builders.messages import match
from tests.support.peers.stream_client import Event, events_of
from tests.support.systems.front_end import FilledBoard, asgi_scope
from tests.support.time.virtual import VirtualLoop, settle

pytestmark = pytest.mark.anyio

STREAM = "/api/v2/stream"


@pytest.fixture
def anyio_backend() -> object:
    """Run on a loop whose time jumps from timer to timer."""
    return "asyncio", {"loop_factory": VirtualLoop}


class Received(list[tuple[float, str, Any]]):
    """The events that a client received: the time, the name and the versions of each."""

    def note(self, event: Event) -> None:
        """Add an event, with the version before it."""
        versions = event.data.get("since"), event.data.get("version", event.id)
        self.append((anyio.current_time(), event.name, versions))


@asynccontextmanager
async def _following(front: FilledBoard, query: str = "") -> AsyncIterator[Received]:
    received = Received()

    async def receive() -> Any:
        await anyio.sleep_forever()

    async def send(message: dict[str, Any]) -> None:
        for event in events_of(message.get("body", b"")):
            received.note(event)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(front.app, asgi_scope(STREAM, query, []), receive, send)  # type: ignore[arg-type]
        await settle()
        yield received
        tasks.cancel_scope.cancel()


def _publish(front: FilledBoard, price: float) -> None:
    front.published.put("alder", match(prices=(price, 3.5, 4.0)), stale_after_s=1e9)


async def test_heartbeats_come_every_ten_seconds() -> None:
    """All clients get a heartbeat with their version, whether or not anything changes."""
    front = FilledBoard(100)
    async with _following(front) as first:
        await anyio.sleep(4)
        _publish(front, 2.0)
        async with _following(front, "bookmaker=birch") as second:
            await anyio.sleep(27)

    assert [(0.0, "snapshot"), (4.0, "changes"), (10.0, "heartbeat"), (20.0, "heartbeat")] == [
        pair[:2] for pair in first[:4]
    ]
    assert [(4.0, "snapshot"), (10.0, "heartbeat"), (20.0, "heartbeat"), (30.0, "heartbeat")] == [
        pair[:2] for pair in second
    ]
    assert ((None, 5001), (None, 5000)) == (first[2][2], second[1][2])


async def test_a_stream_is_silent_while_what_is_overdue_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stream sends neither heartbeats nor changes until the overdue prices are withdrawn."""

    async def read(*_: object) -> None:
        await anyio.sleep(MAX_WAIT_S)
        raise CommitLateError("what is overdue was not withdrawn in time")

    front = FilledBoard(100)
    async with _following(front) as received:
        await anyio.sleep(1)
        with monkeypatch.context() as late:
            late.setattr(front.published, "read", read)
            await anyio.sleep(30)
            _publish(front, 2.0)
            await anyio.sleep(10)
        await anyio.sleep(MAX_WAIT_S)

    assert [(0.0, "snapshot"), (True, "changes")] == [
        (at >= 41.0 if number else at, name) for number, (at, name, _) in enumerate(received[:2])
    ]


async def test_without_clients_there_are_no_heartbeats() -> None:
    """Heartbeats stop after the last client has left, and begin again with the next client."""
    front = FilledBoard(100)
    async with _following(front):
        pass
    await anyio.sleep(100)
    beats = front.audience.beats
    async with _following(front) as received:
        await anyio.sleep(10.5)

    assert beats <= 1
    assert "heartbeat" == received[-1][1]


async def test_conflation_sends_once_per_interval() -> None:
    """At most one `changes` comes in the requested time, with all changes since the last one."""
    front = FilledBoard(100)
    async with _following(front, "conflate_ms=2000") as received:
        for number in range(16):
            _publish(front, 2.0 + number / 100)
            await anyio.sleep(0.3)

    changes = [pair for pair in received if pair[1] == "changes"]
    assert [0.0, 2.0, 4.0] == [round(change[0], 3) for change in changes]
    assert [(5000, 5001), (5001, 5007), (5007, 5014)] == [change[2] for change in changes]


async def test_a_conflated_client_gets_heartbeats_and_the_last_change() -> None:
    """A long conflation delays no heartbeat and loses no change."""
    front = FilledBoard(100)
    async with _following(front, "conflate_ms=120000") as received:
        _publish(front, 2.0)
        await settle()
        _publish(front, 2.1)
        await anyio.sleep(121)

    assert [(0.0, (5000, 5001)), (120.0, (5001, 5002))] == [
        (pair[0], pair[2]) for pair in received if pair[1] == "changes"
    ]
    assert 12 == len([pair for pair in received if pair[1] == "heartbeat"])
    assert {(None, 5001)} == {pair[2] for pair in received if pair[1] == "heartbeat" and pair[0] < 120}


async def test_the_end_of_a_conflation_sends_nothing_without_changes() -> None:
    """Without a change of its view, a client gets no event when the conflation time ends."""
    front = FilledBoard(100)
    async with _following(front, "conflate_ms=500") as received:
        _publish(front, 2.0)
        await anyio.sleep(5)

    assert ["snapshot", "changes"] == [pair[1] for pair in received]


async def test_alerts_have_the_same_times() -> None:
    """Alerts come at once, or once per interval; heartbeats in between have the newest sent number."""
    front = FilledBoard(100)
    async with (
        _following(front, "view=alerts") as every,
        _following(front, "view=alerts&conflate_ms=15000") as few,
    ):
        for number in range(1, 4):
            await anyio.sleep(3)
            front.recent.add(alert(number))
        await anyio.sleep(10)

    ids = [f"{number}-{front.recent.epoch}" for number in range(4)]
    assert [
        *((0.0, "snapshot", ids[0]), (3.0, "changes", ids[1]), (6.0, "changes", ids[2])),
        *((9.0, "changes", ids[3]), (10.0, "heartbeat", 3)),
    ] == [(at, name, version) for at, name, (_, version) in every]
    assert [
        *((0.0, "snapshot", ids[0]), (3.0, "changes", ids[1])),
        *((10.0, "heartbeat", 1), (18.0, "changes", ids[3])),
    ] == [(at, name, version) for at, name, (_, version) in few]
