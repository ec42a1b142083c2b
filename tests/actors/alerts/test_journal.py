"""The queue on disk: what a crash, a full disk or another process does to it."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from random import Random

import pytest

from actors.alerts.journal import Journal
from actors.alerts.message import Message, messages_of
from actors.core.errors import ConfigError, QueueLockedError
from tests.support.builders.alerts import alert
from tests.support.systems.process import ran
from tests.support.time.virtual import WALL_0


def some(count: int, first: int = 0) -> list[Message]:
    """Return messages with numbers from `first`."""
    told = [alert(number, "a", id=str(number)) for number in range(first, first + count)]
    return [*messages_of(told, first, WALL_0)]


def kept(path: Path) -> list[Message]:
    """Return what the next life finds."""
    journal = Journal(path)
    found = journal.open(0)
    journal.stop(60)
    return found


@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_kill_at_any_boundary_loses_nothing_and_repeats_with_the_same_id(tmp_path: Path) -> None:
    """Each message on disk arrives; the one being sent may arrive twice, recognisably."""
    assert (0, "after commit after send before commit before send before write\n", "") == ran(
        "-m", "tests.support.alert_lives", str(tmp_path)
    )


@pytest.mark.parametrize("seed", range(20))
def test_after_failed_writes_the_file_has_what_is_kept(tmp_path: Path, seed: int) -> None:
    """Whichever writes fail, and whatever is dropped meanwhile, the next success makes it right."""
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
    """The second one would send everything again."""
    first = Journal(tmp_path / "queue")
    first.open(0)

    with pytest.raises(QueueLockedError, match="another process uses it"):
        Journal(tmp_path / "queue").open(0)
    first.stop(60)

    assert [] == kept(tmp_path / "queue")


@pytest.mark.parametrize("damage", [b"no database" * 1000, None])
def test_a_damaged_queue_is_set_aside(tmp_path: Path, damage: bytes | None) -> None:
    """A service that cannot read its queue begins a new one, and keeps the file."""
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
