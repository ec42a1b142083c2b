"""Streams: latency from a commit to the frame at each client, and the cost of a client, slow ones included.

The service runs as shipped on simulated odds, with about ten commits a second. A commit's time is the time
in its log line. All clients are one loop of plain sockets on the other core, so that figures contain
as little as possible of the clients' own work.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import socket
import statistics
import subprocess
import tempfile
import time
import zlib
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from scripts.benchmarks.processes import SERVER_CORE, SERVICE_ROOT, pinned, python_of
from scripts.benchmarks.report import Report

AUDIENCES = (1, 100, 1000)
SETTLE_S = 2.0
SLOW = 20
MATCHES, UPDATES_PER_S = 1_200, 100
REQUEST = b"GET /api/v2/stream HTTP/1.1\r\nHost: bench\r\nAccept-Encoding: %b\r\n\r\n"
CODINGS = ("identity", "gzip")
_ID = b"\nid: "
TICK_S = 1 / os.sysconf("SC_CLK_TCK")


def run(report: Report) -> None:
    """Print latency and cost for three numbers of clients, and with clients that do not read."""
    seconds = report.size(5.0, 2.0)
    rows = [_row(clients, 0, seconds, coding) for clients in AUDIENCES for coding in CODINGS]
    rows.append(_row(100, SLOW, seconds, CODINGS[0]))
    header = ["clients", "coding", "kB/s a client", "commits/s", "events/s", "merged"]
    header += ["median, ms", "p99, ms", "CPU, %", "CPU a client and event, us", "memory a client, kB"]
    title = f"{MATCHES:,} matches, {UPDATES_PER_S} changes a second, from commit to client"
    report.table(title, header, rows)


def _row(clients: int, slow: int, seconds: float, coding: str) -> list[str]:
    with _service() as service:
        idle_cpu, idle_rss = service.busy_over(SETTLE_S), service.rss_bytes()
        audience = Clients(service.port, clients, slow, coding)
        with contextlib.closing(audience):
            audience.listen(SETTLE_S)
            audience.begin()
            began, cpu = time.monotonic(), service.cpu_s()
            audience.listen(seconds)
            took, busy = time.monotonic() - began, service.cpu_s() - cpu
            rss = service.rss_bytes()
            commits = service.commits()
    waits = sorted((at - commits[version]) * 1e3 for version, at in audience.events if version in commits)
    events = len(audience.events)
    of_clients = max(busy / took - idle_cpu, 0.0)
    committed = sum(audience.began_at <= at < audience.began_at + took for at in commits.values())
    return [
        f"{clients:,}" + (f" and {slow} that read nothing" if slow else ""),
        coding,
        f"{audience.received / 1000 / took / clients:.1f}",
        f"{committed / took:.1f}",
        f"{events / took:,.0f}",
        f"{100 * audience.merged / max(events, 1):.1f} %",
        f"{statistics.median(waits):.2f}",
        f"{waits[int(len(waits) * 0.99)]:.2f}",
        f"{100 * busy / took:.0f}",
        f"{1e6 * of_clients * took / max(events, 1):.0f}",
        f"{(rss - idle_rss) / 1024 / (clients + slow):.0f}",
    ]


class Clients:
    """Clients of the stream; `events` has the events since `begin`, as (version, Unix time).

    `received` are the bytes since then.
    """

    def __init__(self, port: int, clients: int, slow: int, coding: str) -> None:
        self.events: list[tuple[int, float]] = []
        self.merged = self.received = 0
        self.began_at = 0.0
        self._selector = selectors.DefaultSelector()
        self._sockets = []
        for number in range(clients + slow):
            client = socket.create_connection(("127.0.0.1", port))
            client.sendall(REQUEST % coding.encode())
            self._sockets.append(client)
            if number < clients:
                reader = _Inflating() if coding == "gzip" else bytes
                self._selector.register(client, selectors.EVENT_READ, reader)
            self.listen(0.0)

    def begin(self) -> None:
        """Forget the events so far."""
        self.events.clear()
        self.merged, self.received, self.began_at = 0, 0, time.time()

    def listen(self, seconds: float) -> None:
        """Read events for `seconds` seconds; 0 reads events that have already arrived."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0 or seconds == 0:
            for key, _ in self._selector.select(left if seconds else 0):
                data = key.fileobj.recv(1 << 20)  # type: ignore[union-attr]
                at = time.time()
                self.received += len(data)
                self._parse(key.data(data), at)
            if seconds == 0:
                return

    def _parse(self, data: bytes, at: float) -> None:
        place = data.find(_ID)
        while place >= 0 and (end := data.find(b"\n", place + len(_ID))) >= 0:
            version, _, _ = data[place + len(_ID) : end].partition(b"-")
            self.events.append((int(version), at))
            head = data[end : end + 120]
            self.merged += b'"conflated"' in head
            place = data.find(_ID, end)

    def close(self) -> None:
        """Close all connections."""
        for client in self._sockets:
            client.close()


class _Inflating:
    """Decompresses the bytes that one client receives, whose chunks may be cut anywhere."""

    def __init__(self) -> None:
        self._inflater = zlib.decompressobj(31)
        self._data = b""
        self._has_head = False

    def __call__(self, data: bytes) -> bytes:
        self._data += data
        if not self._has_head:
            _, self._has_head, rest = _cut(self._data, b"\r\n\r\n")
            self._data = rest
        text = b""
        while self._has_head:
            size, is_whole, rest = _cut(self._data, b"\r\n")
            if not is_whole or len(rest) < (length := int(size, 16)) + 2:
                break
            text += b"\n" + self._inflater.decompress(rest[:length])
            self._data = rest[length + 2 :]
        return text


def _cut(data: bytes, mark: bytes) -> tuple[bytes, bool, bytes]:
    before, found, after = data.partition(mark)
    return (before, True, after) if found else (b"", False, data)


class Service:
    """The service under measurement."""

    def __init__(self, process: subprocess.Popen[str], log: Path) -> None:
        self.port = 0
        self._pid = process.pid
        self._log = log

    def cpu_s(self) -> float:
        """Return the processor seconds used so far."""
        fields = Path(f"/proc/{self._pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * TICK_S

    def busy_over(self, seconds: float) -> float:
        """Return the share of a core used during `seconds` seconds."""
        before = self.cpu_s()
        time.sleep(seconds)
        return (self.cpu_s() - before) / seconds

    def rss_bytes(self) -> int:
        """Return the resident memory in bytes."""
        pages = Path(f"/proc/{self._pid}/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def lines(self) -> Iterator[dict[str, object]]:
        """Return the lines of the service's log."""
        for line in self._log.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)

    def commits(self) -> dict[int, float]:
        """Return when each version was committed, in Unix seconds."""
        return {
            int(str(line["version"])): datetime.fromisoformat(str(line["timestamp"])).timestamp()
            for line in self.lines()
            if line["event"] == "board.committed"
        }


@contextlib.contextmanager
def _service() -> Iterator[Service]:
    with tempfile.TemporaryDirectory() as name:
        config, log = Path(name) / "bench.toml", Path(name) / "log"
        bookmakers = "".join(
            f'[bookmakers.{key}]\nname = "{key}"\nsource = "simulated"\nkey = "{key}"\n'
            for key in ("sharp", "standard", "wide")
        )
        config.write_text(
            f'[server]\nlog_level = "debug"\nmax_streams = 2000\n[sources.simulated]\nkind = "simulated"\n'
            f"matches = {MATCHES // 3}\nupdates_per_s = {UPDATES_PER_S}\n{bookmakers}",
            encoding="utf-8",
        )
        arguments = ["-m", "web", "serve", "--config", str(config), "--bind", "127.0.0.1:0"]
        with log.open("w", encoding="utf-8") as output:
            process = subprocess.Popen(
                pinned(SERVER_CORE, [python_of(SERVICE_ROOT), *arguments]),
                cwd=SERVICE_ROOT,
                env={**os.environ, "PYTHONPATH": str(SERVICE_ROOT)},
                stdout=output,
                text=True,
            )
        try:
            service = Service(process, log)
            service.port = _port(service)
            yield service
        finally:
            process.terminate()
            process.wait(15)


def _port(service: Service) -> int:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        with contextlib.suppress(json.JSONDecodeError, StopIteration):
            started = next(line for line in service.lines() if line["event"] == "service.started")
            time.sleep(SETTLE_S)  # until odds are served
            return int(str(started["url"]).rpartition(":")[2])
        time.sleep(0.05)
    raise TimeoutError("the service did not start within 20 s")
