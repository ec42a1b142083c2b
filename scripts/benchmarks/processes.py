"""Starts and stops the programs under measurement, each on its own core if there are two."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from http import HTTPStatus
from pathlib import Path

import psutil
from msgspec import Struct

ROOT = Path(__file__).resolve().parents[2]
SERVICE_ROOT = Path(os.environ.get("ODDSBOARD_BENCH_SERVICE", ROOT))
"""The clone whose service is measured; another clone while two commits are compared."""
SERVER_CORE, CLIENT_CORE = 0, 1
START_S, STOP_S = 120.0, 60.0


class Served(Struct, frozen=True):
    """A running server: its address and its process."""

    url: str
    process: psutil.Process

    def cpu_s(self) -> float:
        """Return the processor seconds used by the process and its children."""
        times = [each.cpu_times() for each in self._processes()]
        return float(sum(used.user + used.system for used in times))

    def rss_bytes(self) -> int:
        """Return the resident memory of the process and its children."""
        return int(sum(each.memory_info().rss for each in self._processes()))

    def settle(self) -> None:
        """Wait until work left over from a load is done, so that the next load is not slowed down."""
        before = -1.0
        while self.cpu_s() - before > 0.01:  # noqa: PLR2004 - one tick of the kernel's clock
            before = self.cpu_s()
            time.sleep(0.05)

    def _processes(self) -> list[psutil.Process]:
        return [self.process, *self.process.children(recursive=True)]


def pinned(core: int, command: list[str]) -> list[str]:
    """Return the command line that runs `command` on `core`."""
    if _can_pin() and shutil.which("taskset"):
        return ["taskset", "-c", str(core), *command]
    return command


@contextlib.contextmanager
def on_core(core: int) -> Iterator[None]:
    """Keep this process on that core within the block."""
    if not (_can_pin() and hasattr(os, "sched_setaffinity")):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def python_of(root: Path) -> str:
    """Return the Python interpreter of that clone's benchmarks."""
    return sys.executable if root == ROOT else str(root / ".venv-bench" / "bin" / "python")


@contextlib.contextmanager
def server(arguments: list[str], root: Path = ROOT) -> Iterator[Served]:
    """Run a Python program that logs a `service.started` line with its URL, until the block ends.

    It runs in the folder of the clone `root`, with the interpreter and packages of that clone.
    """
    with _running([python_of(root), *arguments, "--bind", "127.0.0.1:0"], root) as process:
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        started = next((line for line in process.stdout if '"service.started"' in line), None)
        if started is None:
            raise RuntimeError(f"{arguments} ended before it served")
        threading.Thread(target=process.stdout.read, daemon=True).start()
        yield Served(json.loads(started)["url"], psutil.Process(process.pid))


@contextlib.contextmanager
def configured_service(config: Path, *options: str) -> Iterator[Served]:
    """Run oddsboard with a configuration file and other options, until the block ends."""
    with server(["-m", "web", "serve", "--config", str(config), *options], SERVICE_ROOT) as served:
        wait_until_ready(served.url)
        yield served


@contextlib.contextmanager
def nginx(folder: Path) -> Iterator[Served]:
    """Run nginx with `folder`/nginx.conf until the block ends."""
    config = folder / "nginx.conf"
    port = config.read_text(encoding="utf-8").partition("listen 127.0.0.1:")[2].partition(";")[0]
    command = ["nginx", "-p", str(folder), "-c", str(config), "-e", "stderr", "-g", "daemon off;"]
    with listening("nginx", command, int(port)) as served:
        yield served


@contextlib.contextmanager
def varnish(settings: Path, port: int) -> Iterator[Served]:
    """Run Varnish with `settings` at `port` until the block ends; its folder is beside the settings."""
    state = settings.parent / "state"
    state.mkdir()
    command = ["varnishd", "-F", "-a", f"127.0.0.1:{port}", "-f", str(settings), "-n", str(state)]
    with listening("Varnish", [*command, "-s", "malloc,64m", "-j", "none"], port) as served:
        yield served


@contextlib.contextmanager
def listening(name: str, command: list[str], port: int, **environment: str) -> Iterator[Served]:
    """Run a program that listens at `port`, until the block ends."""
    with _running(command, ROOT, **environment) as process:
        _wait(lambda: _accepts(port), name)
        yield Served(f"http://127.0.0.1:{port}", psutil.Process(process.pid))


def free_port() -> int:
    """Return a port of this machine at which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def get(base: str, path: str, headers: Mapping[str, str]) -> tuple[int, dict[str, str], bytes]:
    """Send one GET. Return status, headers (names in lower case, no date) and body."""
    connection = http.client.HTTPConnection(base.removeprefix("http://"), timeout=30)
    with contextlib.closing(connection):
        connection.request("GET", path, headers=dict(headers))
        response = connection.getresponse()
        kept = {name.lower(): value for name, value in response.getheaders() if name.lower() != "date"}
        return response.status, kept, response.read()


def wait_until_ready(base: str) -> None:
    """Wait until every bookmaker of the service is serving, and its matches are linked."""
    _wait(lambda: b'"status":"pass"' in get(base, "/health", {})[2][:20], "the service")
    _wait(lambda: get(base, "/api/v2/fixtures", {})[0] == HTTPStatus.OK, "its links")


@contextlib.contextmanager
def _running(command: list[str], root: Path, **environment: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        pinned(SERVER_CORE, command),
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root), **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl-C must not reach it, because it is stopped in order here
    )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _accepts(port: int) -> bool:
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", port)) == 0


def _wait(is_there: Callable[[], bool], name: str) -> None:
    deadline = time.monotonic() + START_S
    while not is_there():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{name} served nothing within {START_S:.0f} s")
        time.sleep(0.05)


def _can_pin() -> bool:
    return (os.cpu_count() or 1) > 1
