"""The real program in a separate process, as an operator starts it, and as its clients see it."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import SystemRandom
from typing import Any, TypeAlias

import httpx2

from tests.support.peers.plain_http import NO_TLS
from tests.support.time.waiting import DEADLINE_S, eventually

ROOT = Path(__file__).parents[3]
Ended: TypeAlias = Callable[..., tuple[object, str, str]]
"""Runs a command line within this process; returns its exit code, output and errors."""
PIPE_BYTES = 4096
NOT_EPHEMERAL = (20_000, 32_000)
"""Ports that Linux never chooses for a program that asks for any port."""
LAGS = {"loop.lagged", "loop.recovered"}
"""Events of a process that the machine stops for a moment."""
SIMULATED = """
[server]
drain_s = {drain_s}
{server}
[sources.simulated]
kind = "simulated"
matches = {matches}
updates_per_s = {updates_per_s}
{source}
[bookmakers.alder]
name = "Alder"
source = "simulated"
key = "sharp"
[bookmakers.birch]
name = "Birch"
source = "simulated"
key = "standard"
"""


def simulated(
    folder: Path,
    *,
    drain_s: float = 0.0,
    matches: int = 50,
    updates_per_s: float = 20.0,
    server: str = "",
    source: str = "",
) -> Path:
    """Return a configuration of simulated odds; `server` and `source` are more lines of their sections."""
    config = folder / "simulated.toml"
    values = {"drain_s": drain_s, "matches": matches, "updates_per_s": updates_per_s}
    text = SIMULATED.format(**values, server=server, source=source)
    config.write_text(text, "utf-8")
    return config


@dataclass
class Service:
    """A running service: its base URL, if it serves, and the decoded lines of its log so far."""

    process: subprocess.Popen[str]
    log: list[dict[str, Any]] = field(default_factory=list)
    base: str = ""
    _started: threading.Event = field(default_factory=threading.Event)

    @property
    def address(self) -> tuple[str, int]:
        """The address on which the service listens."""
        return "127.0.0.1", int(self.base.rpartition(":")[2])

    def events(self, name: str, **fields: object) -> list[dict[str, Any]]:
        """Return the logged events with a name and with these fields."""
        wanted = {"event": name, **fields}.items()
        return [line for line in list(self.log) if wanted <= line.items()]

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> httpx2.Response:
        """GET a path on a new connection."""
        return httpx2.get(self.base + path, headers=headers, trust_env=False, verify=NO_TLS)

    def client(self, **headers: str) -> httpx2.Client:
        """Return a client that keeps its connections."""
        return httpx2.Client(base_url=self.base, headers=headers, trust_env=False, verify=NO_TLS)

    def wait_ready(self) -> None:
        """Wait until the service has odds to serve."""
        eventually(lambda: self.get("/health/ready").status_code == httpx2.codes.OK, "it is ready")

    def check(self, bookmaker: str) -> Any:
        """Return the entry of one bookmaker in /health."""
        return self.get("/health").json()["checks"][bookmaker]

    def has(self, state: str, bookmaker: str) -> bool:
        """Return whether a bookmaker is in a given state."""
        return bool(self.check(bookmaker)["state"] == state)

    def source(self, name: str) -> Any:
        """Return the entry of one source in /monitor."""
        return next(record for record in self.get("/monitor").json()["sources"] if record["name"] == name)

    def stop(self, number: signal.Signals = signal.SIGTERM, within_s: float = DEADLINE_S) -> int:
        """Send a signal and return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(within_s)

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with contextlib.suppress(json.JSONDecodeError):
                self.log.append(json.loads(line))
                if self.log[-1].get("event") == "service.started":
                    self.base = self.log[-1].get("url", "")
                    self._started.set()
        self._started.set()


@contextlib.contextmanager
def service(config: Path, environment: Mapping[str, str] | None = None) -> Iterator[Service]:
    """Run `serve --config CONFIG` on a free port within the block."""
    with program(
        "serve", "--config", str(config), "--bind", "127.0.0.1:0", environment=environment
    ) as running:
        yield running


@contextlib.contextmanager
def program(*arguments: str, environment: Mapping[str, str] | None = None) -> Iterator[Service]:
    """Run a command that logs when it has started, within the block."""
    with started([sys.executable, "-m", "web", *arguments], ROOT, environment) as running:
        yield running


@contextlib.contextmanager
def started(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str] | None = None,
    within_s: float = 2 * DEADLINE_S,
) -> Iterator[Service]:
    """Run a command line in `folder` that logs when it has started, within the block."""
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, **(environment or {})},
        stdout=subprocess.PIPE,
        text=True,
    )
    running = Service(process)
    reader = threading.Thread(target=running._read, daemon=True)
    reader.start()
    try:
        assert running._started.wait(within_s), "the service did not start"
        yield running
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        process.wait(10)
        reader.join(5)
        if process.stdout is not None:
            process.stdout.close()


def ran(*arguments: str, environment: Mapping[str, str] | None = None) -> tuple[int, str, str]:
    """Run the interpreter with these arguments to its end; return code, output and errors."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def free_port() -> int:
    """Return a port at which nothing listens now, and which the system gives to no other test meanwhile."""
    while True:
        port = SystemRandom().randrange(*NOT_EPHEMERAL)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


@contextlib.contextmanager
def logging_to(
    folder: Path, output: Any, *, redirection: str = "", drain_s: float = 0.0
) -> Iterator[Service]:
    """Run the service at level debug with a given standard output, until the service is ready."""
    config = simulated(folder, drain_s=drain_s, matches=20, server='log_level = "debug"')
    bind = f"127.0.0.1:{free_port()}"
    shell = ["/bin/sh", "-c", f'exec "$@" {redirection}', "sh"]
    command = [*shell, sys.executable, "-m", "web", "serve", "--config", str(config), "--bind", bind]
    with subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=subprocess.PIPE, text=True) as process:
        try:
            running = Service(process, base=f"http://{bind}")
            eventually(lambda: _is_ready(running), "it is ready")
            yield running
        finally:
            process.kill()


def _is_ready(running: Service) -> bool:
    with contextlib.suppress(httpx2.TransportError):
        return running.get("/health/ready").status_code == httpx2.codes.OK
    return False


@contextlib.contextmanager
def small_pipe() -> Iterator[tuple[int, int]]:
    """Return the ends of a pipe with a small buffer, to read from and to write to."""
    reading, writing = os.pipe()
    try:
        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        yield reading, writing
    finally:
        os.close(reading)
        os.close(writing)
