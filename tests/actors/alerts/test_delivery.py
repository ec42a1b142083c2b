"""Delivery in virtual time: each alert arrives once, and no receiver waits for another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

import anyio
import pytest
from structlog.testing import capture_logs

from actors.alerts.delivery import GRACE_S, HELD_S, LONGEST_WAIT_S, Delivery
from actors.alerts.journal import Journal
from actors.alerts.message import Message
from actors.alerts.queue import MAX_AGE_S
from actors.alerts.receivers.options import Form, ReceiverSettings
from actors.core.errors import TransportError
from actors.monitoring.receivers import AlertsStatus
from tests.support.builders.alerts import alert
from tests.support.time.virtual import VirtualClock, settle

pytestmark = pytest.mark.anyio

Behaviour = Callable[[Message], Any]


class Receivers:
    """Scripted receivers: `behave` says how a receiver treats a message; `taken` has the alerts' ids."""

    def __init__(self) -> None:
        self.taken: dict[str, list[str]] = defaultdict(list)
        self.attempts: dict[str, int] = defaultdict(int)
        self.behave: dict[str, Behaviour] = {}

    async def send(self, _: ReceiverSettings, message: Message) -> None:
        """Behave as scripted, then take the message."""
        self.attempts[message.receiver] += 1
        if (does := self.behave.get(message.receiver)) is not None and (
            waiting := does(message)
        ) is not None:
            await waiting
        self.taken[message.receiver] += [told.id for told in message.alerts]


def fails(status: int | None = 500, retry_after_s: float | None = None) -> Behaviour:
    """Return the behaviour of a receiver that answers with an error."""

    def behave(_: Message) -> None:
        reason = "connection" if status is None else f"status_{status}"
        raise TransportError("it failed", retry_after_s, reason=reason, status=status)

    return behave


def settings(*names: str, url: str = "https://h.example/x") -> dict[str, ReceiverSettings]:
    """Return the settings of receivers with these ids."""
    return {name: ReceiverSettings(Form.SLACK, url) for name in names}


class Life:
    """A delivery with its receivers."""

    def __init__(self, receivers: Receivers, *names: str, **options: Any) -> None:
        self.status = AlertsStatus()
        self.delivery = Delivery(
            settings(*(names or ("a", "b"))),
            self.status,
            VirtualClock(),
            Random(1),
            receivers.send,
            **options,
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run the actor within the block."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.delivery.run)
            await settle()
            yield
            tasks.cancel_scope.cancel()


@asynccontextmanager
async def lived(receivers: Receivers, *names: str, **options: Any) -> AsyncIterator[Life]:
    """Run a delivery within the block."""
    life = Life(receivers, *names, **options)
    async with life.running():
        yield life


async def test_alerts_of_one_moment_are_one_message_in_their_order() -> None:
    """Each receiver immediately gets its alerts of one version in one message."""
    peers = Receivers()
    async with lived(peers) as life:
        for told in (alert(7, "a", id="1"), alert(7, "a", "b", id="2"), alert(8, "a", id="3")):
            life.delivery.offer(told)
        await settle()

        assert ({"a": ["1", "2", "3"], "b": ["2"]}, {"a": 2, "b": 1}) == (peers.taken, peers.attempts)
        assert (3, 4, 0) == (life.status.fired["sure"], life.status.sent["sure"], life.status.waiting("a"))


@pytest.mark.parametrize(
    ("behave", "most"),
    [
        (fails(), 130),
        (fails(None), 130),
        (fails(302), 130),
        (lambda _: anyio.sleep(10), 361),
        (fails(429, 3600.0), 1),
    ],
    ids=["500", "refuses", "redirects", "slow", "asks for an hour"],
)
async def test_an_hour_of_trouble_delays_no_other_receiver(behave: Behaviour, most: int) -> None:
    """Other receivers get each alert immediately; the delayed messages wait in order, and all arrive."""
    peers = Receivers()
    peers.behave["a"] = behave
    ids = [str(number) for number in range(120)]
    async with lived(peers) as life:
        for number in range(120):
            life.delivery.offer(alert(number, "a", "b", id=str(number)))
            await settle()
            assert number + 1 == len(peers.taken["b"])
            await anyio.sleep(30)
        assert peers.attempts["a"] <= most
        del peers.behave["a"]
        await anyio.sleep(3600 + LONGEST_WAIT_S)

        assert (ids, ids) == (peers.taken["a"], peers.taken["b"])
        assert life.status.is_well


async def test_trouble_is_said_once_at_each_edge() -> None:
    """A receiver is down after two failures, and up with the next success; /health warns in between."""
    peers = Receivers()
    peers.behave["a"] = fails()
    with capture_logs() as logged:
        async with lived(peers) as life:
            life.delivery.offer(alert(1, "a"))
            await anyio.sleep(600)
            assert ["a"] == [*life.status.down]
            assert not life.status.is_well
            peers.behave.clear()
            await anyio.sleep(LONGEST_WAIT_S)

            assert (True, None) == (life.status.is_well, life.status.receivers["a"].last_error)
    assert ["receiver.down", "receiver.recovered"] == [line["event"] for line in logged]


async def test_the_oldest_make_room() -> None:
    """If too many alerts wait, the oldest are dropped, counted and logged once, for this receiver only."""
    peers = Receivers()
    peers.behave["a"] = fails(None)
    with capture_logs() as logged:
        async with lived(peers, max_alerts=100) as life:
            for number in range(150):
                life.delivery.offer(alert(number, "a", id=str(number)))
                await settle()
            life.delivery.offer(alert(150, "b"))
            await settle()
            assert (99, 51, ["sure 4711-150 150"]) == (
                life.status.waiting("a"),
                life.status.dropped,
                peers.taken["b"],
            )
            peers.behave.clear()
            await anyio.sleep(2 * LONGEST_WAIT_S)

            assert [str(number) for number in range(51, 150)] == peers.taken["a"]
            assert not life.status.is_well
    assert 1 == sum(line["event"] == "alerts.dropped" for line in logged)


async def test_a_drop_is_counted_at_the_receiver_that_misses_it() -> None:
    """Alerts that came too fast to be queued are counted at their receiver as well."""
    with capture_logs() as logged:
        async with lived(Receivers(), max_alerts=2) as life:
            for number, name in enumerate("aabb"):
                life.delivery.offer(alert(number, name))

    assert (["a"], 2) == (
        [line["receiver"] for line in logged if line["event"] == "alerts.dropped"],
        life.status.dropped,
    )


async def test_a_day_is_the_longest_wait() -> None:
    """A message that is a day old is dropped, because it says nothing about now; newer messages arrive."""
    peers = Receivers()
    peers.behave["a"] = fails(None)
    async with lived(peers) as life:
        life.delivery.offer(alert(1, "a"))
        await anyio.sleep(MAX_AGE_S - 10)
        life.delivery.offer(alert(2, "a", id="new"))
        await anyio.sleep(LONGEST_WAIT_S + 10)
        peers.behave.clear()
        await anyio.sleep(LONGEST_WAIT_S)

        assert (["new"], {"expired": 1}) == (peers.taken["a"], dict(life.status.lost))


async def test_a_refused_message_does_not_block_the_others() -> None:
    """A message whose content a receiver refuses by its status is dropped after three attempts."""
    peers = Receivers()
    peers.behave["a"] = lambda told: fails(400)(told) if told.alerts[0].id == "bad" else None
    async with lived(peers) as life:
        life.delivery.offer(alert(1, "a", id="bad"))
        life.delivery.offer(alert(2, "a", id="good"))
        await anyio.sleep(300)

        assert (["good"], 4, {"refused": 1}) == (
            peers.taken["a"],
            peers.attempts["a"],
            dict(life.status.lost),
        )


async def test_a_message_that_crashes_the_actor_twice_is_dropped() -> None:
    """A bug in one form does not stop other receivers or other messages."""
    peers = Receivers()
    peers.behave["a"] = lambda told: 1 / 0 if told.alerts[0].id == "bad" else None
    life = Life(peers)
    life.delivery.offer(alert(1, "a", "b", id="bad"))
    life.delivery.offer(alert(2, "a", "b", id="good"))

    for _ in range(2):
        with pytest.raises(BaseExceptionGroup):
            async with life.running():
                await anyio.sleep(10)
    async with life.running():
        await settle()

        assert {"a": ["good"], "b": ["bad", "good"]} == peers.taken
        assert {"crashed": 1} == dict(life.status.lost)


async def test_a_stop_waits_for_the_answer_to_a_message_just_sent() -> None:
    """The next life does not repeat a message that was answered in time; a slow answer is not awaited."""
    peers = Receivers()
    peers.behave = {"a": lambda _: anyio.sleep(GRACE_S - 0.1), "b": lambda _: anyio.sleep(600)}
    async with lived(peers) as life:
        life.delivery.offer(alert(1, "a", "b"))
        await settle()

    assert (1, 0, 1) == (len(peers.taken["a"]), life.status.waiting("a"), life.status.waiting("b"))


async def test_receivers_are_replaced_while_it_runs() -> None:
    """A new address is tried at once, a new receiver starts, messages to a removed receiver are dropped."""
    peers = Receivers()

    async def fail(told: Message) -> None:
        await anyio.sleep(5)
        fails(429, 3600.0)(told)

    peers.behave = {"a": fail, "b": fails()}
    async with lived(peers) as life:
        life.delivery.offer(alert(1, "a", "b"))
        await anyio.sleep(4)
        peers.behave.clear()
        life.delivery.replace(settings("c") | settings("a", url="https://h.example/new"))
        life.delivery.offer(alert(2, "b", "c"))
        await anyio.sleep(2)

        assert {"a": 1, "c": 1} == {name: len(ids) for name, ids in peers.taken.items()}
        assert ({"removed": 2}, {"a", "c"}) == (dict(life.status.lost), {*life.status.receivers})
        assert life.status.is_well


async def test_a_message_is_on_disk_before_it_is_sent(tmp_path: Path) -> None:
    """A message waits for the disk, but not for a hanging disk; a failing disk holds nothing back."""
    peers, journal = Receivers(), Journal(tmp_path / "queue")
    async with lived(peers, journal=journal) as life:
        life.delivery.offer(alert(1, "a", id="1"))
        await settle()
        before = dict(peers.taken)
        journal.step()
        await settle()
        assert ({}, ["1"]) == (before, peers.taken["a"])

        life.delivery.offer(alert(2, "a", id="2"))
        await anyio.sleep(HELD_S + 0.1)
        assert ["1", "2"] == peers.taken["a"]

        _put_a_folder_in_its_place(tmp_path / "queue")
        life.delivery.offer(alert(3, "a", id="3"))
        await settle()
        journal.step()
        await settle()

        assert ["1", "2", "3"] == peers.taken["a"]
        assert "directory" in str(life.status.error)


def _put_a_folder_in_its_place(file: Path) -> None:
    """Put a folder in the file's place, so that even root can neither open nor write the file."""
    file.unlink()
    file.mkdir()
