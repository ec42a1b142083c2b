"""Waits: clients that wait for changes of one list, at the service itself, behind nginx and behind Varnish.

The service runs as shipped on simulated odds, with about a commit a second; proxy and service share a core.
The time of a commit is the time when its event comes on a stream of the service itself.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
import time
from http import HTTPStatus
from itertools import pairwise
from pathlib import Path

from scripts.benchmarks import proxies
from scripts.benchmarks.clients.waiting import Crowd
from scripts.benchmarks.figures import median, quantile, short
from scripts.benchmarks.processes import CLIENT_CORE, Served, configured_service, get, on_core
from scripts.benchmarks.report import Report

CLIENTS = 2_000
MATCHES = 400
SETTLE_S = 8.0
PATH = "/api/v2/changes"
CONFIG = f"""
[server]
max_streams = {CLIENTS + 100}
[limits]
requests_per_s = 100000.0
max_connections = {CLIENTS + 100}
max_streams_per_client = {CLIENTS + 100}
[sources.simulated]
kind = "simulated"
matches = {MATCHES}
updates_per_s = 5.0
[bookmakers.alder]
name = "Alder"
source = "simulated"
key = "sharp"
"""


def run(report: Report) -> None:
    """Print upstream requests per commit, and times from a commit to clients, with and without a proxy."""
    seconds, clients = report.size(30.0, 5.0), report.size(CLIENTS, 200)
    report.paragraph(
        f"{clients:,} clients that wait for the changes of all {MATCHES} matches, for {seconds:.0f} s."
    )
    with tempfile.TemporaryDirectory() as name:
        rows = [_row("none", None, Path(name), clients, seconds)]
        rows += [
            _row(proxy, front, Path(name) / proxy, clients, seconds)
            for proxy, front in proxies.installed().items()
        ]
    header = ["proxy", "commits/s", "answers with changes a commit", "requests to the service a commit"]
    header += [
        "median, ms",
        "p99, ms",
        "longest, ms",
        "refused",
        "CPU of the service, %",
        "of the proxy, %",
    ]
    report.table("From a commit to clients that wait", header, rows)


def _row(name: str, front: proxies.Front | None, folder: Path, clients: int, seconds: float) -> list[str]:
    with contextlib.ExitStack() as running:
        folder.mkdir(exist_ok=True)
        config = folder / "bench.toml"
        config.write_text(CONFIG, encoding="utf-8")
        service = running.enter_context(configured_service(config))
        proxy = service if front is None else running.enter_context(front(folder / "front", service))
        running.enter_context(on_core(CLIENT_CORE))
        crowd = running.enter_context(contextlib.closing(Crowd(proxy.url, service.url, clients)))
        crowd.listen(SETTLE_S)
        crowd.begin()
        before, cpu = _asked(service), (service.cpu_s(), proxy.cpu_s())
        crowd.listen(seconds)
        asked, busy = _asked(service) - before, service.cpu_s() - cpu[0]
        of_proxy = proxy.cpu_s() - cpu[1]
    commits = len(crowd.commits)
    delays = [1e3 * delay for delay in _delays(crowd)]
    return [
        name,
        f"{commits / seconds:.1f}",
        f"{len(crowd.news) / commits:,.0f}",
        f"{asked / commits:,.1f}",
        *(short(delay) for delay in (median(delays), quantile(delays, 0.99), max(delays))),
        ", ".join(f"{why}: {count}" for why, count in crowd.refusals.items()) or "none",
        f"{100 * busy / seconds:.0f}",
        "" if front is None else f"{100 * of_proxy / seconds:.0f}",
    ]


def _asked(service: Served) -> int:
    """Return how many requests for changes the service has answered."""
    while (answer := get(service.url, "/api/stats", {}))[0] != HTTPStatus.OK:
        time.sleep(0.1)  # a busy service refuses new clients for a moment
    counters = json.loads(answer[2])["http"]["answers"]
    return sum(counters.get(PATH, {}).values())


def _delays(crowd: Crowd) -> list[float]:
    """Return the seconds from the first version that a client lacked until it had a newer one."""
    versions = sorted(crowd.commits)
    nexts = dict(pairwise(versions))
    return [
        news.at - crowd.commits[first]
        for news in crowd.news
        if (first := nexts.get(news.before)) is not None
    ]
