"""Measures alerts: from a commit to the webhook, the cost of rules, and the memory of a queue that waits.

PYTHONPATH=. .venv/bin/python scripts/benchmarks/alert_figures.py [SECONDS]

The whole service runs here, without a file for its queue. Its time is the processor's: it passes while
the process works, and jumps to the next timer when nothing can run. So other programs do not count.

Ten simulated sources change 1,000 prices a second. A price crosses the threshold of one rule ten times a
second; the other rules watch all matches or none, and their thresholds are never reached. So the webhook,
a server in this process, gets the same alerts with any number of rules.
"""

from __future__ import annotations

import asyncio
import json
import selectors
import sys
import tempfile
import time
import tracemalloc
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Any

import anyio
import httpx2
import structlog
from msgspec import Struct

from actors.alerts.alert import Alert, State
from actors.alerts.delivery import Delivery
from actors.alerts.journal import Journal
from actors.alerts.message import Message
from actors.alerts.queue import MAX_ALERTS
from actors.alerts.receivers.options import Form, ReceiverSettings
from actors.alerts.sending import Sender
from actors.core.clock import SystemClock
from actors.core.validation import MAX_NAME_CHARS
from actors.matching.leagues import load as load_tables
from actors.monitoring.receivers import AlertsStatus
from actors.service.settings import Settings, load
from scripts.benchmarks.figures import markdown, median, milliseconds, quantile, short
from tests.support.builders.football_data import sheet
from tests.support.peers.web import Web, serving
from tests.support.systems.virtual_service import KEY, VirtualService, running
from tests.support.time.virtual import VirtualClock

SOURCES, MATCHES, CHANGES_A_S, RULES = 10, 200, 1_000, 100
WARM_S = 10.0
SECRET = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3"  # noqa: S105 - used by this measurement alone
KINDS = (
    'when = "price"\nabove = {limit}',
    'when = "move"\nmin_move = 99',
    'when = "surebet"\nmin_profit = 1',
    'when = "value"\nmin_ev = 1',
)


class WorkedLoop(asyncio.SelectorEventLoop):
    """A loop whose time is the processor's time, and jumps to the next timer when nothing can run."""

    def __init__(self) -> None:
        self.skipped_s = 0.0
        super().__init__(_Skipping(self))

    def time(self) -> float:
        """Return the seconds worked and skipped."""
        return self.skipped_s + time.process_time()


class _Skipping(selectors.SelectSelector):
    def __init__(self, loop: WorkedLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> Any:
        events = super().select(None if timeout is None else 0)
        if not events and timeout:
            self._loop.skipped_s += timeout
        return events


class Cost(Struct, frozen=True):
    """Seconds from commit to webhook, changes of entries a second, and processor seconds a second."""

    waits: list[float]
    changes: float
    share: float


def main(seconds: float) -> None:
    """Print both tables."""
    load_tables()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    sets = {
        "none": [],
        "100, one watches one match": _rules(1),
        "100, of which ten watch all": _rules(RULES // 10),
        "100 that all watch all": _rules(RULES),
    }
    costs = {
        what: anyio.run(_measured, rules, seconds, backend_options={"loop_factory": WorkedLoop})
        for what, rules in sets.items()
    }
    base = costs["none"].share
    header = ["rules", "changes/s", "alerts", "to the webhook, ms", "p99", "processor, %", "ratio"]
    print(markdown(header, [_row(what, cost, base) for what, cost in costs.items()]), flush=True)
    header = ["names", "memory, MiB, of 10,000", "of 20,000 offered", "disk, MiB", "wait", "dropped"]
    print(markdown(header, [_queued(size) for size in (20, MAX_NAME_CHARS)]))


def _row(what: str, cost: Cost, base: float) -> list[str]:
    waits = milliseconds(cost.waits)
    delays = [short(median(waits)), short(quantile(waits, 0.99))] if waits else ["-", "-"]
    counts = [f"{cost.changes:,.0f}", str(len(waits))]
    return [what, *counts, *delays, f"{100 * cost.share:.0f}", f"{cost.share / base:.2f}"]


def _rules(watching: int) -> list[str]:
    """Return tables of rules: one rule about the marker, others about all matches, the rest about none."""
    rules = ['when = "price"\nteam = "Marker"\noutcome = "1"\nabove = 2.5']
    for number in range(1, RULES):
        nobody = "" if number < watching else f'\nteam = "Nobody {number}"'
        rules.append(KINDS[number % len(KINDS)].format(limit=9_000 + number) + nobody)
    return [f'[[alert]]\nname = "rule-{at}"\nto = ["hook"]\n{rule}\n' for at, rule in enumerate(rules)]


def _config(port: int) -> str:
    hook = f'url = "http://127.0.0.1:{port}/"\nsecret = "{SECRET}"\nallow_private = true'
    parts = [
        f'[receivers.hook]\nkind = "webhook"\n{hook}\n',
        '[sources.marker]\nkind = "football_data"\nurl = "http://marker.example/"\npoll_interval_s = 0.1\n',
        f'[bookmakers.marker]\nname = "Marker"\nsource = "marker"\nkey = "{KEY}"\n',
    ]
    for number in range(1, SOURCES + 1):
        about = f"matches = {MATCHES}\nupdates_per_s = {CHANGES_A_S / SOURCES}"
        of = f'name = "Book {number}"\nsource = "world-{number}"\nkey = "sharp-{number}"'
        parts.append(f'[sources.world-{number}]\nkind = "simulated"\n{about}\n')
        parts.append(f"[bookmakers.book-{number}]\n{of}\n")
    return "".join(parts)


def _settings(text: str) -> Settings:
    with tempfile.TemporaryDirectory() as name:
        config = Path(name, "bench.toml")
        config.write_text(text, "utf-8")
        return load(config, {})


async def _measured(rules: list[str], seconds: float) -> Cost:
    clock, waits, prices = VirtualClock(), list[float](), cycle([2.6, 2.3])

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split()[0])
        told = json.loads(await reader.readexactly(length))["alerts"]
        waits.extend(clock.now().wall - alert["at"] for alert in told)
        writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        writer.close()

    async def marker(request: httpx2.Request) -> httpx2.Response:
        body = sheet(KEY, (next(prices), 3.2, 3.0)).replace(b"Home 1", b"Marker")
        return await serving(body)(request)

    server = await asyncio.start_server(take, "127.0.0.1", 0)
    settings = _settings(_config(server.sockets[0].getsockname()[1]) + "".join(rules))
    service = VirtualService(
        settings, webs={"marker": Web(marker)}, clock=clock, send=Sender(clock, {}).send
    )
    async with server, running(service):
        await anyio.sleep(WARM_S)
        waits.clear()
        changes = service.system.status.board.changes
        before, began, worked = changes["upserted"], anyio.current_time(), time.process_time()
        await anyio.sleep(seconds)
        took, worked = anyio.current_time() - began, time.process_time() - worked
        return Cost([*waits], (changes["upserted"] - before) / took, worked / took)


def _queued(name_chars: int) -> list[str]:
    """Return the memory, file size and counts for twice as many alerts as may wait."""
    with tempfile.TemporaryDirectory() as name:
        journal, status, sizes = Journal(Path(name) / "queue"), AlertsStatus(), list[int]()
        receivers = {"hook": ReceiverSettings(Form.WEBHOOK, "http://127.0.0.1:1/", SECRET)}
        delivery = Delivery(receivers, status, SystemClock(), Random(1), _hang, journal=journal)
        delivery.start()
        tracemalloc.start()
        anyio.run(_offered, delivery, name_chars, sizes)
        tracemalloc.stop()
        delivery.close(10.0)
        found = [*sizes, sum(file.stat().st_size for file in Path(name).iterdir())]
        counts = f"{status.waiting('hook'):,}", f"{status.dropped:,}"
        return [f"of {name_chars} characters", *(short(size / 2**20) for size in found), *counts]


async def _hang(_settings: ReceiverSettings, _message: Message) -> None:
    await anyio.sleep_forever()


async def _offered(delivery: Delivery, name_chars: int, sizes: list[int]) -> None:
    """Offer the alerts; note the memory after half of them, and after all."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(delivery.run)
        for _ in range(2):
            for number in range(MAX_ALERTS):
                delivery.offer(_alert(number, name_chars))
                if number % 100 == 0:
                    await anyio.sleep(0.001)
            await anyio.sleep(2.0)  # time for the disk
            sizes.append(tracemalloc.get_traced_memory()[0])
        tasks.cancel_scope.cancel()


def _alert(number: int, name_chars: int) -> Alert:
    """Return an alert of a commit of its own, with names of `name_chars` characters."""
    home, away, league = (f"{kind} {number} ".ljust(name_chars, "x") for kind in ("Home", "Away", "League"))
    details: dict[str, str | float] = {"home": home, "away": away, "league": league, "kick_off": 1.9e9}
    details |= {"market": "1x2", "outcome": "1", "bookmaker": "Book", "odds": 2.6, "before": 2.4}
    about = f"rule fx{number:013} 1", "rule", "price", State.FIRING, number, 1.8e9, f"fx{number:013} 1"
    return Alert(*about, f"{home} - {away}: Book has 2.6 for 1, was 2.4", details, ("hook",))


if __name__ == "__main__":
    main(float(sys.argv[1]) if sys.argv[1:] else 60.0)
