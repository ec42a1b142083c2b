"""The queue of messages on disk under a crash, a full disk or another process."""

from __future__ import annotations

import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from random import Random
from typing import Final

import anyio
import pytest

from actors.alerts.delivery import Delivery
from actors.alerts.journal import Journal
from actors.alerts.message import Message, messages_of
from actors.alerts.receivers.options import Form, ReceiverSettings
from actors.core.errors import ConfigError, QueueLockedError
from actors.monitoring.receivers import AlertsStatus
from tests.support.builders.alerts import alert
from tests.support.time.virtual import WALL_0, VirtualClock

RECEIVERS: Final = {name: ReceiverSettings(Form.SLACK, f"https://h.example/{name}") for name in "ab"}


def some(count: int, first: int = 0) -> list[Message]:
    """Return messages with numbers from `first`."""
    told = [alert(number, "a", id=str(number)) for number in range(first, first + count)]
    return [*messages_of(told, first, WALL_0)]


def kept(path: Path) -> list[Message]:
    """Return the messages that the next life finds."""
    journal = Journal(path)
    found = journal.open(0)
    journal.stop(60)
    return found


@dataclass
class _Cut:
    """The state after a SIGKILL at a boundary: files, offered messages, messages that receivers took."""

    point: str
    folder: Path
    offered: list[str]
    taken: list[tuple[str, str, str]]

    def on_disk(self) -> set[tuple[str, str]]:
        """Return receiver and id of the messages in the file, read from a copy."""
        copy = self.folder / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.folder, copy)
        with closing(sqlite3.connect(copy / "queue")) as connection:
            tables = connection.execute("SELECT name FROM sqlite_master").fetchall()
            return {*connection.execute("SELECT receiver, id FROM messages")} if tables else set()

    async def faults(self) -> list[str]:
        """Run the life after the kill; return the faults."""
        on_disk, offered, before = self.on_disk(), self.offered, {subject for *_, subject in self.taken}
        after = self.taken
        await _live(self.folder, after, lambda _: None, [])
        if "send" not in self.point and offered[-1] not in before:
            offered = offered[:-1]  # the last may not be on disk; the disk is checked below
        arrived = {(receiver, subject) for receiver, _, subject in after}
        found = [f"lost: {key}" for key in product(RECEIVERS, offered) if key not in arrived]
        found += [f"lost from the disk: {key}" for key in on_disk - {told[:2] for told in after}]
        counts = Counter(told[::2] for told in after)
        if len({*after}) != len(counts):
            found.append("a repetition has another id")
        found += [f"repeated: {key}" for key, number in counts.items() if number > 2]
        if len(after) - len(counts) > len(RECEIVERS):
            found.append(f"repeated, though the next was offered: {counts}")
        return found + [f"left on disk: {left}" for left in self.on_disk()]


async def _live(
    folder: Path,
    taken: list[tuple[str, str, str]],
    reached: Callable[[str], None],
    offered: list[str],
    count: int = 0,
) -> None:
    """Offer `count` alerts, each noted in `offered` before, and go on until no message waits."""

    async def send(_: ReceiverSettings, message: Message) -> None:
        reached("before send")
        taken.extend((message.receiver, message.id, told.subject) for told in message.alerts)
        reached("after send")

    async def write() -> None:
        while True:
            journal.step()
            await anyio.sleep(0.01)

    journal, status = Journal(folder / "queue", reached=reached), AlertsStatus()
    delivery = Delivery(RECEIVERS, status, VirtualClock(), Random(1), send, journal=journal)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(delivery.run)
        tasks.start_soon(write)
        for number in range(count):
            offered.append(alert(number).subject)
            delivery.offer(alert(number, "a", "b"))
            await anyio.sleep(1.0)
        await anyio.sleep(1.0)
        assert not any(status.waiting(name) for name in RECEIVERS)
        tasks.cancel_scope.cancel()
    delivery.close(60)


@pytest.mark.anyio
async def test_a_kill_at_any_boundary_loses_nothing_and_repeats_with_the_same_id(tmp_path: Path) -> None:
    """Each message on disk arrives; a message that was being sent may arrive twice, with the same id."""
    cuts: list[_Cut] = []
    taken, offered = list[tuple[str, str, str]](), list[str]()
    first = tmp_path / "first"
    first.mkdir()

    def cut(point: str) -> None:
        folder = tmp_path / str(len(cuts))
        shutil.copytree(first, folder)
        cuts.append(_Cut(point, folder, [*offered], [*taken]))

    await _live(first, taken, cut, offered, count=3)

    assert {"before write", "before commit", "after commit", "before send", "after send"} == {
        each.point for each in cuts
    }
    assert [] == [(number, fault) for number, each in enumerate(cuts) for fault in await each.faults()]


@pytest.mark.parametrize("seed", range(20))
def test_after_failed_writes_the_file_has_what_is_kept(tmp_path: Path, seed: int) -> None:
    """Whatever writes fail and messages are dropped, the next write that succeeds corrects the file."""
    random, waiting = Random(seed), dict[int, Message]()

    def fail(_: str) -> None:
        if random.random() < 0.3:
            raise sqlite3.OperationalError("database or disk is full")

    journal = Journal(
        tmp_path / "queue", reached=lambda point: None if point == "after commit" else fail(point)
    )
    journal.open(0)
    for number in range(100):
        (waiting[number],) = some(1, number)
        journal.add([waiting[number]])
        for gone in random.sample([*waiting], random.randrange(min(3, len(waiting)))):
            del waiting[gone]
            journal.drop(gone)
        if random.random() < 0.5:
            journal.step()
        if random.random() < 0.05:
            (tmp_path / "queue").unlink(missing_ok=True)
    random.random = lambda: 1.0  # type: ignore[method-assign]  # nothing fails any more
    journal.stop(60)

    assert sorted(told.id for told in waiting.values()) == sorted(
        told.id for told in kept(tmp_path / "queue")
    )


def test_two_processes_never_use_one_queue(tmp_path: Path) -> None:
    """A second process on the same queue would send every message again."""
    first = Journal(tmp_path / "queue")
    first.open(0)

    with pytest.raises(QueueLockedError, match="another process uses it"):
        Journal(tmp_path / "queue").open(0)
    first.stop(60)

    assert [] == kept(tmp_path / "queue")


@pytest.mark.parametrize("damage", [b"no database" * 1000, None])
def test_a_damaged_queue_is_set_aside(tmp_path: Path, damage: bytes | None) -> None:
    """A service that cannot read its queue begins a new queue, and keeps the damaged file."""
    path = tmp_path / "queue"
    if damage is not None:
        path.write_bytes(damage)
    else:
        journal = Journal(path)
        journal.open(0)
        journal.add(some(1))
        journal.stop(60)
        connection = sqlite3.connect(path)
        connection.execute("UPDATE messages SET alerts = CAST('[{}]' AS BLOB)")
        connection.commit()
        connection.close()

    assert ([], True) == (kept(path), (tmp_path / "queue.damaged").exists())


def test_a_queue_in_no_folder_is_an_error(tmp_path: Path) -> None:
    """The error names key, value and reason; a file of a later release is not touched."""
    with pytest.raises(
        ConfigError, match=r"alerts.path was '.*/none/queue', cannot be used: .*No such file"
    ):
        kept(tmp_path / "none" / "queue")

    connection = sqlite3.connect(tmp_path / "queue")
    connection.execute("PRAGMA user_version = 7")
    connection.close()
    with pytest.raises(ConfigError, match="its format is 7, must be 1"):
        kept(tmp_path / "queue")
