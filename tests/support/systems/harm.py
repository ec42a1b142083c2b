"""Faults of a cluster of real processes, which are proven to have fired, and a trial of these faults."""

from __future__ import annotations

import contextlib
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import httpx2

from tests.support.builders.clusters import MARKETS
from tests.support.systems.machines import BACK_S, History, Machines, asked, compare, is_live, wait_back
from tests.support.systems.process import Service
from tests.support.systems.shared_server import BOARD, ENGINES, shared_server
from tests.support.time.waiting import eventually, let_pass

COLLECTOR, BOTH, REPLICA = '["collector"]', '["collector", "replica"]', '["replica"]'
ROLES = {"a": COLLECTOR, "b": BOTH, "r": REPLICA, "s": REPLICA, "t": REPLICA}
ARCHIVING = "t"
LOG, PAUSE = "{oddsboard}:log", "{oddsboard}:pause"
SLOW = "data set back meanwhile"
"""The fault after which all processes are started anew."""
DAMAGED = ("log", "leases", "tokens", "beats", "acks")
STALLED_S = 0.02, 0.3
"""How long the server waits for its disk each time that the disk is slow."""


class Harm:
    """The faults by name; each lasts `longest_s` at most, and returns whether it fired."""

    def __init__(
        self, machines: Machines, history: History, random: Random, longest_s: float = 8.0
    ) -> None:
        self._machines, self._history, self._random = machines, history, random
        self._longest_s = longest_s
        self.faults: dict[str, Callable[[], bool]] = {
            "cut there": lambda: self._cut(is_there=True),
            "cut back": lambda: self._cut(is_back=True),
            "cut off": lambda: self._cut(is_there=True, is_back=True),
            "network slow": self._slow,
            "stopped": self._stop,
            "collector killed": lambda: self._kill("collector"),
            "replica killed": lambda: self._kill("replica"),
            "server restarted": self._restart,
            "older copy": machines.server.restart_from_copy,
            "data lost": self._lose,
            "memory full": self._fill,
            "disk slow": self._stall,
            "data set back": self._set_back,
            SLOW: lambda: self._set_back(is_ended=True),
            "key lost": lambda: self._damage("DEL"),
            "key of another type": lambda: self._damage("SET"),
            "record lost": self._lose_record,
            "log lost": lambda: self._damaged(lambda: ("XTRIM", LOG, "MAXLEN", "0")),
        }
        machines.server.keep_copy()
        self._save()

    def fire(self, name: str) -> None:
        """Let something fail for a while, and count the fault if it has fired."""
        self._history.fired[name] += self.faults[name]()

    def _time_s(self) -> float:
        return self._random.uniform(self._longest_s / 8, self._longest_s)

    def _any(self, role: str = "") -> str:
        return self._random.choice([name for name, of in self._machines.roles.items() if role in of])

    def _cut(self, *, is_there: bool = False, is_back: bool = False) -> bool:
        proxy = self._machines.proxies[self._any()]
        held = proxy.held
        proxy.is_cut_there, proxy.is_cut_back = is_there, is_back
        eventually(lambda: proxy.held > held, "something was cut off")
        let_pass(self._time_s())
        proxy.is_cut_there = proxy.is_cut_back = False
        return proxy.held > held

    def _slow(self) -> bool:
        proxy = self._machines.proxies[self._any()]
        held, proxy.delay_s = proxy.held, self._random.uniform(0.05, 0.6)
        eventually(lambda: proxy.held > held, "something was slow")
        let_pass(self._time_s())
        proxy.delay_s = 0.0
        return proxy.held > held

    def _stop(self) -> bool:
        process = self._machines.running[self._any()].process
        process.send_signal(signal.SIGSTOP)
        eventually(lambda: _state(process.pid) == "T", "it is stopped")
        let_pass(self._time_s())
        is_stopped = _state(process.pid) == "T"
        process.send_signal(signal.SIGCONT)
        return is_stopped

    def _kill(self, role: str) -> bool:
        """Kill a process, and start it again once its sources, if any, are live at another process."""
        name = self._any(role)
        running, killed_mono = self._machines.running[name], time.monotonic()
        cluster = running.get("/health").json()["cluster"]
        own = cluster["collector"]
        had_any = own is not None and own in cluster["leases"].values()
        others = [machine for machine in self._machines.shown if machine != name]
        self._machines.kill(name)
        if had_any and others and self._longest_s > 1.0:
            watched = self._machines.running[others[0]]
            eventually(lambda: _has_left(watched, own) and is_live(watched), "another took over")
            self._history.taken_over_s.append(time.monotonic() - killed_mono)
        self._machines.start(name)
        return running.process.returncode == -signal.SIGKILL

    def _restart(self) -> bool:
        server = self._machines.server
        server.keep_copy()
        server.kill()
        is_gone = server.ask("PING") == b""
        let_pass(self._time_s() / 3)
        server.start()
        return is_gone

    def _lose(self) -> bool:
        server = self._machines.server
        eventually(lambda: server.ask("DBSIZE") not in {b"", b":0"}, "there are data")
        return server.ask("FLUSHALL") == b"+OK"

    def _set_back(self, *, is_ended: bool = False) -> bool:
        """Go back to older data without a restart of the server, while processes run or are ended."""
        machines = self._machines
        names = list(machines.running) if is_ended else []
        eventually(self._is_more_shown, "a replica shows more than was saved", BACK_S)
        for name in names:
            machines.kill(name)
        former = {b"", self._saved_epoch, self._epoch()}
        was_more = machines.server.set_back()
        for name in names:
            machines.start(name)
        eventually(lambda: self._epoch() not in former, "it begins anew", BACK_S)
        wait_back(machines)
        self._save()
        return was_more

    def _save(self) -> None:
        """Have the server keep data for `_set_back`, as if the last damage was a minute ago."""
        self._machines.server.ask("DEL", PAUSE)
        self._saved_epoch = self._epoch()
        self._machines.server.save()
        self._saved_version = int(eventually(lambda: self._board("version"), "there is a version"))

    def _is_more_shown(self) -> bool:
        """Return whether a replica shows a later version than was saved; otherwise the board may go on."""
        for name in self._machines.shown:
            with contextlib.suppress(httpx2.TransportError):
                if self._machines.running[name].get("/monitor").json()["version"] > self._saved_version:
                    return True
        return False

    def _epoch(self) -> bytes:
        return self._board("epoch")

    def _board(self, field: str) -> bytes:
        return self._machines.server.value("HGET", BOARD, field)

    def _damage(self, command: str) -> bool:
        """Delete an existing key, or replace it by a key of another type."""
        key, server = f"{{oddsboard}}:{self._random.choice(DAMAGED)}", self._machines.server
        eventually(lambda: server.ask("EXISTS", key) == b":1", f"{key} is there", BACK_S)
        return self._damaged(lambda: (command, key) if command == "DEL" else (command, key, "text"))

    def _lose_record(self) -> bool:
        """Lose the newest record that clients see."""
        return self._damaged(lambda: ("XDEL", LOG, f"{self._board('version').decode()}-0"))

    def _damaged(self, command: Callable[[], tuple[str, ...]]) -> bool:
        """Damage something, once it exists; for the server the last damage was a minute ago."""
        server = self._machines.server
        server.ask("DEL", PAUSE)
        former = {b"", self._epoch()}
        eventually(lambda: _has_done(server.ask(*command())), "it is damaged", BACK_S)
        eventually(lambda: self._epoch() not in former, "it begins anew", BACK_S)
        return True

    def _fill(self) -> bool:
        server = self._machines.server
        assert server.ask("CONFIG", "SET", "maxmemory", "1") == b"+OK"
        let_pass(self._time_s())
        is_full = server.ask("SET", "more", "than fits").startswith(b"-OOM")
        assert server.ask("CONFIG", "SET", "maxmemory", "0") == b"+OK"
        return is_full

    def _stall(self) -> bool:
        """Have the server stop again and again, as with a disk that is slow to sync."""
        server, until, stalls = self._machines.server, time.monotonic() + self._time_s(), 0
        while time.monotonic() < until or not stalls:
            server.send(signal.SIGSTOP)
            stalls += server.ask("PING", within_s=self._random.uniform(*STALLED_S)) == b""
            server.send(signal.SIGCONT)
            let_pass(self._random.uniform(*STALLED_S) / 4)
        return stalls > 0


def tried(folder: Path, seed: int, seconds: float) -> tuple[History, Counter[int]]:
    """Run a cluster under random faults for `seconds`, and until each fault has fired equally often.

    Return the history of the clients, and how often the archive answered with each status.
    """
    random, history = Random(seed), History()
    with shared_server(next(iter(ENGINES)), folder) as server:
        machines = Machines(server, folder, ROLES, ARCHIVING, MARKETS)
        try:
            machines.start_all()
            harm = Harm(machines, history, random)
            with asked(machines, history, random):
                until = time.monotonic() + seconds
                while time.monotonic() < until:
                    for name in random.sample([*harm.faults], len(harm.faults)):
                        harm.fire(name)
                        wait_back(machines)
            return history, compare(history, machines.running[ARCHIVING], random)
        finally:
            machines.close()


def _has_done(answer: bytes) -> bool:
    """Return whether a command has changed something, judged by its answer."""
    return answer == b"+OK" or (answer.startswith(b":") and answer != b":0")


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0]


def _has_left(running: Service, collector: str) -> bool:
    with contextlib.suppress(httpx2.TransportError):
        leases = running.get("/health").json()["cluster"]["leases"]
        return bool(leases) and collector not in leases.values()
    return False
