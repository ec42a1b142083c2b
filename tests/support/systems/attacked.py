"""A real service under attack by clients in processes of their own; its memory and its descriptors."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.support.systems.process import ROOT, Service, simulated, started
from tests.support.time.waiting import eventually

COUNTING = """
import asyncio, json, signal, sys
from web.__main__ import main
def count(*_):
    print(json.dumps({"event": "tasks.counted", "tasks": len(asyncio.all_tasks())}), flush=True)
signal.signal(signal.SIGUSR1, count)
main(sys.argv[1:])
"""
"""A program that runs the service, and reports the number of its tasks at a signal."""


@contextlib.contextmanager
def attacked(
    folder: Path, matches: int = 200, updates_per_s: float = 20.0, server: str = "", drain_s: float = 0.0
) -> Iterator[Service]:
    """Run a service on simulated odds within the block; `server` are more lines of the configuration."""
    config = simulated(folder, drain_s=drain_s, matches=matches, updates_per_s=updates_per_s, server=server)
    serve = ("serve", "--config", str(config), "--bind", "127.0.0.1:0")
    with started([sys.executable, "-c", COUNTING, *serve], ROOT) as running:
        running.wait_ready()
        running.get("/api/v2/odds")
        yield running


class Crowd:
    """A process with clients."""

    def __init__(self, running: Service, kind: str, **options: float | str) -> None:
        given = (kind, str(running.address[1]), json.dumps(options))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.peers.crowd", *given],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        assert "ready\n" == self.process.stdout.readline()

    def result(self, within_s: float = 60.0) -> dict[str, Any]:
        """Wait for the end, and return the results. A probe ends at this call."""
        out, _ = self.process.communicate("stop\n", within_s)
        assert 0 == self.process.returncode
        found: dict[str, Any] = json.loads(out)
        return found


@contextlib.contextmanager
def crowd(running: Service, kind: str, **options: float | str) -> Iterator[Crowd]:
    """Start clients of a kind (`tests/support/peers/crowd.py`), and end their process with the block."""
    clients = Crowd(running, kind, **options)
    try:
        yield clients
    finally:
        with contextlib.suppress(ProcessLookupError):
            clients.process.kill()
        clients.process.communicate(timeout=10)


def attack(running: Service, kind: str, **options: float | str) -> dict[str, Any]:
    """Have clients of a kind attack, and return the results."""
    with crowd(running, kind, **options) as clients:
        return clients.result(120)


def probed(found: dict[str, Any]) -> str:
    """Return in words the results of a probe."""
    return f"{found['answered']} of {found['asked']} probes answered, p99 {found['p99']:g} ms"


def rss_mib(running: Service) -> float:
    """Return the memory that the process takes, in MiB."""
    pages = Path(f"/proc/{running.process.pid}/statm").read_text("ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE") / 2**20


def descriptors(running: Service) -> int:
    """Return the number of open descriptors of a process."""
    return sum(1 for _ in Path(f"/proc/{running.process.pid}/fd").iterdir())


def tasks(running: Service) -> int:
    """Return the number of tasks of a process."""
    before = len(running.events("tasks.counted"))
    running.process.send_signal(signal.SIGUSR1)
    return int(eventually(lambda: running.events("tasks.counted")[before:], "it has counted")[0]["tasks"])
