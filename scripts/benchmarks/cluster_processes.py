"""Measures the processes of a cluster from outside: from a price to a frame, reads, processor time.

Processes and clients share this machine's cores, so the useful results are processor time, and differences
to a single process.
"""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from statistics import quantiles

from tests.support.systems.process import Service, service
from tests.support.systems.shared_server import SharedServer, worked_s

SOURCES = """
[sources.simulated]
kind = "simulated"
matches = 1000
updates_per_s = 100.0
[bookmakers.alder]
name = "Alder"
source = "simulated"
key = "sharp"
"""
CLUSTER = """
[cluster]
url = "{url}"
prefix = "{prefix}"
roles = ["{role}"]
"""
PATH = "/api/v2/odds"
REPLICAS = (1, 2, 4)
SETTLE_S = 2.0
CONNECTIONS = 16
_STREAM = b"GET /api/v2/stream HTTP/1.1\r\nHost: bench\r\n\r\n"
_UPDATED = re.compile(rb'"updated":(\d+(?:\.\d+)?)')
_VERSION = re.compile('"(\\d+)-')


def rows(shared: SharedServer, folder: Path, seconds: float) -> Iterator[tuple[str, str]]:
    """Return the measurements, each as a title and figures."""
    alone = folder / "alone.toml"
    alone.write_text(SOURCES, "utf-8")
    with service(alone) as served:
        served.wait_ready()
        yield "from a price to a frame at a client, in one process", _spread(frames(served, seconds))
    for count in REPLICAS:
        with ExitStack() as stack:
            replicas = _cluster(shared, folder, count, stack)
            if count == 1:
                yield "the same, over the shared server", _spread(frames(replicas[0], seconds))
                yield (
                    "processor time of a replica for a commit, without clients",
                    _work(replicas[0], seconds),
                )
            if shutil.which("wrk"):  # without wrk, reads are not measured
                yield f"reads of the whole list a second, {count} replicas", _reads(replicas, seconds)


def configured(shared: SharedServer, folder: Path, prefix: str) -> tuple[Path, Path]:
    """Return configurations of a collector and a replica of a simulated source with 1,000 matches."""
    collector, replica = (folder / f"{prefix}-{role}.toml" for role in ("collector", "replica"))
    for file, role in ((collector, "collector"), (replica, "replica")):
        file.write_text(CLUSTER.format(url=shared.url, prefix=prefix, role=role) + SOURCES, "utf-8")
    return collector, replica


def frames(served: Service, seconds: float) -> list[float]:
    """Return the age of each price when it comes in the stream."""
    ages: list[float] = []
    with socket.create_connection(served.address, 10.0) as stream:
        stream.sendall(_STREAM)
        kept, begin = b"", time.time()
        while (at := time.time()) < begin + SETTLE_S + seconds:
            whole, _, kept = (kept + stream.recv(1 << 20)).rpartition(b"\n\n")
            got = time.time()
            if at > begin + SETTLE_S:
                ages += [got - float(updated) for updated in _UPDATED.findall(whole)]
    return ages


def _cluster(shared: SharedServer, folder: Path, count: int, stack: ExitStack) -> list[Service]:
    """Start a collector and `count` replicas."""
    collector, replica = configured(shared, folder, f"processes{count}")
    stack.enter_context(service(collector))
    replicas = [stack.enter_context(service(replica)) for _ in range(count)]
    for served in replicas:
        served.wait_ready()
    return replicas


def _work(served: Service, seconds: float) -> str:
    before_s, before = worked_s(served.process.pid), _version(served)
    time.sleep(seconds)
    took_s, commits = worked_s(served.process.pid) - before_s, _version(served) - before
    share, rate = took_s / seconds, commits / seconds
    return f"{took_s / commits * 1e3:.2f} ms, {share:.1%} of a core at {rate:.0f} a second"


def _reads(replicas: list[Service], seconds: float) -> str:
    before_s = [worked_s(served.process.pid) for served in replicas]
    with ThreadPoolExecutor(len(replicas)) as pool:
        rates = list(pool.map(lambda served: _rate(served.base + PATH, int(seconds)), replicas))
    took_s = sum(worked_s(served.process.pid) for served in replicas) - sum(before_s)
    each_us = took_s / (sum(rates) * int(seconds)) * 1e6
    return f"{sum(rates):,.0f}, {each_us:.0f} us of a replica's processor time each"


def _rate(url: str, seconds: int) -> float:
    """Return requests a second, measured by wrk: a client in Python would mostly measure itself."""
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "--timeout", "60s", url]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found = re.search(r"Requests/sec:\s+([0-9.]+)", done.stdout)
    if found is None or "Non-2xx" in done.stdout:
        raise RuntimeError(f"wrk on {url} printed: {done.stdout}")
    return float(found[1])


def _version(served: Service) -> int:
    found = _VERSION.match(served.get(PATH).headers["etag"])
    if found is None:
        raise RuntimeError("a list without a version")
    return int(found[1])


def _spread(ages: list[float]) -> str:
    cuts = quantiles(ages, n=100)
    return f"median {cuts[49] * 1e3:.1f} ms, p99 {cuts[98] * 1e3:.1f} ms, of {len(ages):,}"
