"""Injects a fault for each alert of a single process under a real Prometheus, and prints when alerts fire.

All times are short (`alert_prometheus.py`), and no more than 500 changes may wait for the archive, in place
of 200,000.
"""

from __future__ import annotations

import contextlib
import shutil
import signal
import sqlite3
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import httpx2

from scripts.alert_prometheus import Watched, free_address, prometheus, without_data
from scripts.alert_world import CONFIG, KIND, World, ask_for_ever
from tests.support.peers.http import http_peer
from tests.support.systems.plugin import installed
from tests.support.systems.process import ROOT, started
from tests.support.time.waiting import eventually, let_pass

START_S, QUIET_S, WHOLE_S, FIRES_S, ENDS_S = 120.0, 45.0, 600.0, 120.0, 300.0
LOST = 2_500
"""Changes of entries, more than the archive lets wait."""
RECEIVER = ("/alerts", "/api")
"""A receiver of alerts, and a source that an alert is about."""
PATHS = ("/feed", "/other", "/api", "/faulty")


@dataclass
class Running:
    """The service, which can be killed and started again, on a port of its own."""

    folder: Path
    environment: dict[str, str]
    bind: str
    _open: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def start(self) -> None:
        """Start the service."""
        options = ("--config", str(self.folder / "oddsboard.toml"), "--bind", self.bind)
        command = [sys.executable, "-m", "web", "serve", *options]
        self._open.enter_context(started(command, ROOT, self.environment, START_S))

    def kill(self) -> None:
        """Kill the service."""
        self._open.close()

    def changed(self) -> int:
        """Return how many entries have been changed by batches."""
        return int(self._stats()["data"]["matches_upserted"])

    def is_scraped(self) -> bool:
        """Return whether Prometheus has scraped the service since its start."""
        return "/metrics" in self._stats()["http"]["answers"]

    def _stats(self) -> Any:
        return httpx2.get(f"http://{self.bind}/api/stats", trust_env=False, timeout=20).json()


@dataclass(frozen=True)
class Fault:
    """An alert, with the actions that make it fire and end."""

    alert: str
    begin: Callable[[], object]
    end: Callable[[], object]


class Faults:
    """All faults in order; faults that take long to end come first."""

    def __init__(self, world: World, running: Running) -> None:
        self._world, self._running = world, running
        self._locks: list[sqlite3.Connection] = []

    def all(self) -> Iterator[Fault]:
        """Yield the faults."""
        world, mode = self._world, self._world.set_mode
        yield Fault("OddsboardRestartStorm", lambda: mode("crash"), lambda: mode(""))
        yield Fault("OddsboardSourceDown", lambda: world.silent.add("/other"), world.silent.clear)
        yield Fault("OddsboardReceiverDown", lambda: world.silent.update(RECEIVER), world.silent.clear)
        yield Fault("OddsboardAlertsWait", self._hide, self._show)
        yield Fault("OddsboardBookmakerStale", lambda: self._lack("BW"), lambda: self._lack(""))
        yield Fault("OddsboardCreditsRunOut", lambda: self._spend(1), lambda: self._spend(0))
        yield Fault("OddsboardAllStale", lambda: world.silent.update(PATHS), world.silent.clear)
        yield Fault("OddsboardArchiveStalled", self._hold, lambda: None)  # lasts until commits are lost
        yield Fault("OddsboardArchiveGap", self._lose, lambda: None)
        yield Fault("OddsboardLoopLag", lambda: mode("block"), lambda: mode(""))
        yield Fault("OddsboardInternalErrors", lambda: mode("break"), lambda: mode(""))
        yield Fault("OddsboardProcessRestarts", self._restart_often, lambda: None)
        yield Fault("OddsboardDown", self._running.kill, self._running.start)

    def _lack(self, key: str) -> None:
        self._world.lacking = key

    def _spend(self, credits_a_call: int) -> None:
        self._world.spends = credits_a_call

    def _hide(self) -> None:
        """Take away the folder of the alerts' queue, and fail a source, so that the queue is written."""
        self._world.silent.add("/faulty")
        (self._running.folder / "alerts").rename(self._running.folder / "hidden")

    def _show(self) -> None:
        self._world.silent.clear()
        (self._running.folder / "hidden").rename(self._running.folder / "alerts")

    def _hold(self) -> None:
        """Lock the current day's file, so that it cannot be written."""
        (file,) = (self._running.folder / "archive").glob("*.db")
        self._locks.append(sqlite3.connect(file, isolation_level=None))
        eventually(self._locked, "the lock of the archive")

    def _locked(self) -> bool:
        with contextlib.suppress(sqlite3.OperationalError):  # the service is writing this file
            self._locks[-1].execute("BEGIN IMMEDIATE")
            return True
        return False

    def _lose(self) -> None:
        """Change more entries than may wait, then unlock the archive."""
        until = self._running.changed() + LOST
        self._world.is_big = True
        eventually(lambda: self._running.changed() > until, "changes enough", FIRES_S)
        self._world.is_big = False
        self._locks.pop().close()

    def _restart_often(self) -> None:
        for _ in range(3):
            self._running.kill()
            self._running.start()
            eventually(self._running.is_scraped, "Prometheus sees it", FIRES_S)


def until(watched: Watched, holds: Callable[[], bool], within_s: float) -> bool:
    """Look at the alerts each half second until `holds` returns true; return whether it did."""
    deadline = watched.now + within_s
    while watched.now < deadline:
        with contextlib.suppress(httpx2.HTTPError):
            watched.look()
        if holds():
            return True
        let_pass(0.5)
    return False


def inject(watched: Watched, faults: Iterator[Fault]) -> list[str]:
    """Inject all faults, one after the other; return what went wrong."""
    wrong = []
    until(watched, lambda: False, QUIET_S)
    wrong += [f"{name} fired without a fault, after {at:.0f} s" for name, at in watched.fired.items()]
    times = {}
    for fault in faults:
        began = watched.now
        print(f"{began:.0f} s: {fault.alert}", flush=True)
        if watched.fires(fault.alert):
            wrong.append(f"{fault.alert} fired before its fault")
        fault.begin()
        if not until(watched, partial(watched.fires, fault.alert), FIRES_S):
            wrong.append(f"{fault.alert} did not fire")
        fault.end()
        times[fault.alert] = began, watched.fired.get(fault.alert), watched.now
    if not until(watched, lambda: not watched.firing, ENDS_S):
        wrong += [f"{name} did not end" for name in watched.firing]
    print(f"{'alert':<28}{'fault at':>11}{'fires at':>11}{'fault ends':>11}{'alert ends':>11}   (seconds)")
    for name, found in times.items():
        shown = *found, watched.ended.get(name)
        print(f"{name:<28}" + "".join(f"{'-' if at is None else f'{at:.0f}':>11}" for at in shown))
    until(watched, lambda: watched.now >= WHOLE_S, WHOLE_S)
    wrong += [f"{name} fires again at the end" for name in watched.firing]
    return wrong


def main() -> int:
    """Run everything; return 1 if an alert or a query is wrong."""
    if shutil.which("prometheus") is None:
        print("needs prometheus (Debian: apt-get install prometheus)", file=sys.stderr)
        return 1
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that started processes end, too
    stopped = threading.Event()
    with tempfile.TemporaryDirectory() as name, http_peer() as peer:
        folder = Path(name)
        world = World(peer, folder)
        (folder / "oddsboard.toml").write_text(CONFIG.format(folder=folder, url=peer.url("")), "utf-8")
        (folder / "alerts").mkdir()
        running = Running(folder, installed(folder, "faulty", KIND), free_address())
        running.start()
        clients = threading.Thread(
            target=ask_for_ever, args=(f"http://{running.bind}", stopped), daemon=True
        )
        clients.start()
        try:
            with prometheus(folder, running.bind) as watched:
                wrong = inject(watched, Faults(world, running).all())
                wrong += [f"no data: {query}" for query in without_data(watched)]
        finally:
            stopped.set()
            running.kill()
            clients.join(20)
    print(*(wrong or ["every alert fired and ended, every query has data"]), sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
