"""Measures the processes of a cluster as their clients do: from a price to a frame, reads, processor time.

All is on this machine, whose cores they share with their clients: what counts is processor time, and the
difference to a process on its own.
"""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from statistics import quantiles

from scripts.benchmarks.clients import wrk
from scripts.benchmarks.processes import Served, configured_service, get, server, wait_until_ready
from tests.support.systems.shared_server import SharedServer

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
_STREAM = b"GET /api/v2/stream HTTP/1.1\r\nHost: bench\r\n\r\n"
_UPDATED = re.compile(rb'"updated":(\d+(?:\.\d+)?)')
_VERSION = re.compile('"(\\d+)-')


def rows(shared: SharedServer, folder: Path, seconds: float) -> Iterator[tuple[str, str]]:
    """Return what was measured, each as a title and figures."""
    alone = folder / "alone.toml"
    alone.write_text(SOURCES, "utf-8")
    with configured_service(alone) as served:
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
            yield f"reads of 304 kB a second, {count} replicas", _reads(replicas, seconds)


def frames(served: Served, seconds: float) -> list[float]:
    """Return for each price that comes in the stream how long ago it was made."""
    host, _, port = served.url.removeprefix("http://").partition(":")
    ages: list[float] = []
    with socket.create_connection((host, int(port)), 10.0) as stream:
        stream.sendall(_STREAM)
        kept, begin = b"", time.time()
        while (at := time.time()) < begin + SETTLE_S + seconds:
            whole, _, kept = (kept + stream.recv(1 << 20)).rpartition(b"\n\n")
            got = time.time()
            if at > begin + SETTLE_S:
                ages += [got - float(updated) for updated in _UPDATED.findall(whole)]
    return ages


def _cluster(shared: SharedServer, folder: Path, count: int, stack: ExitStack) -> list[Served]:
    """Start a collector, and so many replicas."""
    files = {}
    for role in ("collector", "replica"):
        files[role] = folder / f"{role}{count}.toml"
        about = CLUSTER.format(url=shared.url, prefix=f"processes{count}", role=role)
        files[role].write_text(about + SOURCES, "utf-8")
    stack.enter_context(server(["-m", "web", "serve", "--config", str(files["collector"])]))
    replica = ["-m", "web", "serve", "--config", str(files["replica"])]
    replicas = [stack.enter_context(server(replica)) for _ in range(count)]
    for served in replicas:
        wait_until_ready(served.url)
    return replicas


def _work(served: Served, seconds: float) -> str:
    before_s, before = served.cpu_s(), _version(served)
    time.sleep(seconds)
    worked_s, commits = served.cpu_s() - before_s, _version(served) - before
    share, rate = worked_s / seconds, commits / seconds
    return f"{worked_s / commits * 1e3:.2f} ms, {share:.1%} of a core at {rate:.0f} a second"


def _reads(replicas: list[Served], seconds: float) -> str:
    before_s = [served.cpu_s() for served in replicas]
    rate = partial(wrk.rate, headers={}, seconds=max(int(seconds), 1))
    with ThreadPoolExecutor(len(replicas)) as pool:
        rates = list(pool.map(lambda served: rate(served.url + PATH), replicas))
    worked_s = sum(served.cpu_s() for served in replicas) - sum(before_s)
    count = sum(rates) * max(int(seconds), 1)
    return f"{sum(rates):,.0f}, {worked_s / count * 1e6:.0f} us of a replica's processor time each"


def _version(served: Served) -> int:
    found = _VERSION.match(get(served.url, PATH, {})[1]["etag"])
    if found is None:
        raise RuntimeError("a list without a version")
    return int(found[1])


def _spread(ages: list[float]) -> str:
    cuts = quantiles(ages, n=100)
    return f"median {cuts[49] * 1e3:.1f} ms, p99 {cuts[98] * 1e3:.1f} ms, of {len(ages):,}"
