"""nginx and Varnish as proxies: requests a second with the shipped settings, and the age of lists.

A proxy (nginx with one worker) and the service share a core. For speed, the service's only source is a
local file, and the comparison is nginx with the list as a static file. For ages the service has simulated
odds.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
import time
from itertools import repeat
from pathlib import Path

from scripts.benchmarks import proxies
from scripts.benchmarks.clients import wrk
from scripts.benchmarks.clients.ages import Ages
from scripts.benchmarks.data.boards import csv_body
from scripts.benchmarks.data.polled_site import site
from scripts.benchmarks.figures import median, quantile, short, spread
from scripts.benchmarks.parts import reads
from scripts.benchmarks.processes import Served, configured_service, get
from scripts.benchmarks.report import Report

CLIENTS = 1_000
MATCHES = 1_200
ROUNDS, RUN_S = 6, 3
MOVING = f"""
[sources.simulated]
kind = "simulated"
matches = {MATCHES // 3}
updates_per_s = 5.0
""" + "".join(
    f'[bookmakers.{key}]\nname = "{key}"\nsource = "simulated"\nkey = "{key}"\n'
    for key in ("sharp", "standard", "wide")
)


def run(report: Report) -> None:
    """Print requests a second of each proxy, of the static file, and of the service itself; then ages."""
    if not wrk.is_there() or not shutil.which("nginx"):
        report.paragraph("Not measured: wrk or nginx is missing (Debian: `apt-get install wrk nginx`).")
        return
    if len(proxies.installed()) == 1:
        report.paragraph("Varnish is missing (Debian: `apt-get install varnish`): it was not measured.")
    report.paragraph(
        f"Requests a second of `{reads.PATH}`, {MATCHES:,} matches, by wrk over {CLIENTS:,} connections,"
        f" {RUN_S} s a run, in turn. Files of `config/deploy` as shipped, but for the limit of requests"
        " a client."
    )
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as running:
        folder, config = Path(name), Path(name) / "bench.toml"
        files = running.enter_context(
            site({"/fixtures.csv": repeat(csv_body(MATCHES // len(reads.BOOKMAKERS)))})
        )
        config.write_text(reads.configuration(files), encoding="utf-8")
        service = running.enter_context(configured_service(config))
        _speed(report, folder, service, running)
    with tempfile.TemporaryDirectory() as name:
        _ages(report, Path(name))


def _speed(report: Report, folder: Path, service: Served, running: contextlib.ExitStack) -> None:
    etag = get(service.url, reads.PATH, {})[1]["etag"]
    asked = {"identity": {}, "gzip": {"Accept-Encoding": "gzip"}, "304": {"If-None-Match": etag}}
    answers = {form: get(service.url, reads.PATH, headers) for form, headers in asked.items()}
    static = running.enter_context(reads.static(folder, answers))
    own = {**asked, "304": {"If-None-Match": get(static.url, reads.PATH, {})[1]["etag"]}}
    rows = []
    for name, front in proxies.installed().items():
        served = running.enter_context(front(folder / name, service))
        for form, headers in asked.items():
            rates: tuple[list[float], list[float]] = ([], [])
            upstream: list[float] = []
            for _ in range(report.size(ROUNDS, 2)):
                before, began = _lists(service), time.monotonic()
                rates[0].append(wrk.rate(served.url + reads.PATH, headers, RUN_S, CLIENTS))
                upstream.append((_lists(service) - before) / (time.monotonic() - began))
                rates[1].append(wrk.rate(static.url + reads.PATH, own[form], RUN_S, CLIENTS))
            ratio = median([proxied / local for proxied, local in zip(*rates, strict=True)])
            rows.append([name, form, *map(spread, rates), f"{ratio:.2f}", short(max(upstream))])
    header = ["proxy", "form", "requests a second", "nginx, static file", "ratio"]
    header += ["requests a second to the service, at most"]
    report.table("A proxy in front of the service", header, rows)


def _ages(report: Report, folder: Path) -> None:
    """Print for how long a newer version existed when a client got its answer."""
    config = folder / "moving.toml"
    config.write_text(MOVING, encoding="utf-8")
    rows = []
    with configured_service(config) as service:
        for name, front in {"none": None, **proxies.installed()}.items():
            with contextlib.ExitStack() as running:
                served = service if front is None else running.enter_context(front(folder / name, service))
                clients = wrk.CONNECTIONS if front is None else CLIENTS
                before, began = _lists(service), time.monotonic()
                with Ages(served.url, service.url) as ages:
                    rates = [
                        wrk.rate(served.url + reads.PATH, {"Accept-Encoding": "gzip"}, RUN_S, clients)
                        for _ in range(report.size(ROUNDS, 2))
                    ]
                upstream = (_lists(service) - before) / (time.monotonic() - began)
            seconds = ages.seconds()
            figures = (median(seconds), quantile(seconds, 0.99), max(seconds))
            rows.append([name, spread(rates), short(upstream), *(f"{age:.3f}" for age in figures)])
    header = ["proxy", "requests a second", "requests a second to the service"]
    header += ["age of an answer: median, s", "p99, s", "longest, s"]
    report.table(f"{MATCHES:,} matches whose prices move: how old answers are", header, rows)


def _lists(service: Served) -> int:
    """Return how many lists the service has answered."""
    counters = json.loads(get(service.url, "/api/stats", {})[2])["http"]["answers"]
    return sum(counters.get(reads.PATH, {}).values())
