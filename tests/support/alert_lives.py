"""Lives of a delivery that end by SIGKILL at each boundary of its queue in turn, and the life after each.

Run as a program, because it forks: `python -m tests.support.alert_lives FOLDER` prints what went wrong.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from itertools import product
from pathlib import Path
from random import Random
from typing import Final

import anyio

from actors.alerts.delivery import Delivery
from actors.alerts.journal import Journal
from actors.alerts.message import Message
from actors.alerts.receivers.options import Form, ReceiverSettings
from actors.core.clock import SystemClock
from actors.monitoring.receivers import AlertsStatus
from tests.support.builders.alerts import alert

RECEIVERS: Final = {name: ReceiverSettings(Form.SLACK, f"https://h.example/{name}") for name in "ab"}
ALERTS: Final = 3
MAX_BOUNDARIES: Final = 200

Reached = Callable[[str], None]


def noted(file: Path, *words: str) -> None:
    """Append a line, which survives a SIGKILL."""
    with file.open("a", encoding="utf-8") as opened:
        opened.write(" ".join(words) + "\n")


async def live(folder: Path, reached: Reached, *, fires: bool) -> None:
    """Offer alerts if it `fires`; return once nothing waits any more."""
    status, clock = AlertsStatus(), SystemClock()

    async def send(_: ReceiverSettings, message: Message) -> None:
        reached("before send")
        for told in message.alerts:
            noted(folder / "taken", message.receiver, message.id, told.subject)
        reached("after send")

    journal = Journal(folder / "queue", reached=reached)
    delivery = Delivery(RECEIVERS, status, clock, Random(1), send, journal=journal)
    delivery.start()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(delivery.run)
        for number in range(ALERTS * fires):
            noted(folder / "offered", alert(number).subject)
            delivery.offer(alert(number, "a", "b"))
            while not status.sent["sure"] > 2 * number + 1:  # noqa: ASYNC110 - nothing tells
                await asyncio.sleep(0.001)
        while any(status.waiting(name) for name in RECEIVERS):  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.001)
        tasks.cancel_scope.cancel()
    delivery.close(60)


def forked(life: Callable[[], None]) -> int:
    """Run a life in a child process; return its exit code, negative for a signal."""
    if not (pid := os.fork()):
        life()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def killed(folder: Path, number: int) -> bool:
    """Run a life that ends at the boundary of this number; return whether it came to that."""
    passed = 0

    def reach(point: str) -> None:
        nonlocal passed
        passed += 1
        if passed == number:
            noted(folder / "killed", point)
            os.kill(os.getpid(), signal.SIGKILL)

    code = forked(partial(anyio.run, partial(live, folder, reach, fires=True)))
    assert code in {0, -signal.SIGKILL}, code
    return code != 0


def waiting(folder: Path) -> set[tuple[str, str]]:
    """Return receiver and id of the messages on disk, read from a copy."""
    copy = folder / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir()
    for file in folder.glob("queue*"):
        shutil.copy(file, copy)
    with closing(sqlite3.connect(copy / "queue")) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master").fetchall()
        return {*connection.execute("SELECT receiver, id FROM messages")} if tables else set()


def taken(folder: Path) -> list[tuple[str, str, str]]:
    """Return receiver, id and subject of the messages that were taken, in order."""
    file = folder / "taken"
    lines = file.read_text("utf-8").splitlines() if file.exists() else []
    return [(receiver, message_id, subject) for receiver, message_id, subject in map(str.split, lines)]


def faults(folder: Path) -> Iterator[str]:
    """Run the life after a killed one; yield what is wrong."""
    (point,) = (folder / "killed").read_text("utf-8").splitlines()
    before, on_disk = taken(folder), waiting(folder)
    offered = (folder / "offered").read_text("utf-8").splitlines()
    assert 0 == forked(partial(anyio.run, partial(live, folder, lambda _: None, fires=False)))
    after = taken(folder)
    if "send" not in point and offered[-1] not in {subject for *_, subject in before}:
        offered.pop()  # it may not be on disk yet; what is on disk is looked at below
    arrived = {(receiver, subject) for receiver, _, subject in after}
    yield from (f"lost: {key}" for key in product(RECEIVERS, offered) if key not in arrived)
    yield from (f"lost from the disk: {key}" for key in on_disk - {told[:2] for told in after})
    counts = Counter(told[::2] for told in after)
    if len({*after}) != len(counts):
        yield "a repetition has another id"
    yield from (f"repeated: {key}" for key, number in counts.items() if number > 2)
    if len(after) - len(counts) > len(RECEIVERS):
        yield f"repeated, though the next was offered: {counts}"
    if left := waiting(folder):
        yield f"left on disk: {left}"


def main(folder: Path) -> None:
    """Kill a life at each boundary in turn; print the points, then the faults."""
    points = Counter[str]()
    for number in range(1, MAX_BOUNDARIES):
        own = folder / str(number)
        own.mkdir()
        if not killed(own, number):
            break
        points[(own / "killed").read_text("utf-8").strip()] += 1
        for fault in faults(own):
            sys.stdout.write(f"{number}: {fault}\n")
    sys.stdout.write(" ".join(sorted(points)) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
