"""nginx in front: requests a second of the list with the settings that we ship, next to a static file.

nginx, with one worker, and the service share a core. The service has a local file as its one source; the
static file is its list.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import socket
import tempfile
import time
from itertools import repeat
from pathlib import Path

from scripts.benchmarks.clients import wrk
from scripts.benchmarks.data.boards import csv_body
from scripts.benchmarks.data.polled_site import site
from scripts.benchmarks.figures import median, short, spread
from scripts.benchmarks.parts import reads
from scripts.benchmarks.processes import ROOT, Served, configured_service, get, nginx
from scripts.benchmarks.report import Report

CLIENTS = 1_000
MATCHES = 1_200
ROUNDS, RUN_S = 6, 3
MAIN = """
user root;
worker_processes 1;
worker_rlimit_nofile 8192;
pid nginx.pid;
events { worker_connections 4096; }
http {
    access_log off;
    keepalive_requests 1000000000;
    client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi; scgi_temp_path scgi;
    %s
}
"""


def run(report: Report) -> None:
    """Print requests a second of nginx in front, of the static file, and of the service behind."""
    if not wrk.is_there() or not shutil.which("nginx"):
        report.paragraph("Not measured: wrk or nginx is missing (Debian: `apt-get install wrk nginx`).")
        return
    report.paragraph(
        f"Requests a second of `{reads.PATH}`, {MATCHES:,} matches, by wrk over {CLIENTS:,} connections,"
        f" {RUN_S} s a run, in turn. `config/deploy/nginx.conf` as shipped, but for its limit of requests"
        " a client."
    )
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as running:
        folder, config = Path(name), Path(name) / "bench.toml"
        files = running.enter_context(
            site({"/fixtures.csv": repeat(csv_body(MATCHES // len(reads.BOOKMAKERS)))})
        )
        config.write_text(reads.configuration(files), encoding="utf-8")
        service = running.enter_context(configured_service(config))
        etag = get(service.url, reads.PATH, {})[1]["etag"]
        asked = {"identity": {}, "gzip": {"Accept-Encoding": "gzip"}, "304": {"If-None-Match": etag}}
        answers = {form: get(service.url, reads.PATH, headers) for form, headers in asked.items()}
        static = running.enter_context(reads.static(folder, answers))
        front = running.enter_context(_front(folder / "front", service))
        own = {**asked, "304": {"If-None-Match": get(static.url, reads.PATH, {})[1]["etag"]}}
        rows = []
        for form, headers in asked.items():
            rates: tuple[list[float], list[float]] = ([], [])
            upstream: list[float] = []
            for _ in range(report.size(ROUNDS, 2)):
                before, began = _lists(service), time.monotonic()
                rates[0].append(wrk.rate(front.url + reads.PATH, headers, RUN_S, CLIENTS))
                upstream.append((_lists(service) - before) / (time.monotonic() - began))
                rates[1].append(wrk.rate(static.url + reads.PATH, own[form], RUN_S, CLIENTS))
            ratio = median([proxied / local for proxied, local in zip(*rates, strict=True)])
            rows.append([form, *map(spread, rates), f"{ratio:.2f}", short(max(upstream))])
    header = (
        "form",
        "nginx in front",
        "nginx, static file",
        "ratio",
        "requests a second to the service, at most",
    )
    report.table("nginx in front of the service", header, rows)


def _lists(service: Served) -> int:
    """Return how many lists the service has answered."""
    counters = json.loads(get(service.url, "/api/stats", {})[2])["http"]["answers"]
    return sum(counters.get(reads.PATH, {}).values())


def _front(folder: Path, service: Served) -> contextlib.AbstractContextManager[Served]:
    shipped = (ROOT / "config" / "deploy" / "nginx.conf").read_text(encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as first, socket.create_server(("127.0.0.1", 0)) as second:
        ports = first.getsockname()[1], second.getsockname()[1]
    for old, new in (
        ("/var/cache/nginx", str(folder)),
        ("server 127.0.0.1:8000;", f"server {service.url.removeprefix('http://')};"),
        ("127.0.0.1:8001", f"127.0.0.1:{ports[1]}"),
        ("listen 80;", f"listen 127.0.0.1:{ports[0]};"),
        ("limit_conn oddsboard_clients 100;", ""),
    ):
        if old not in shipped:
            raise RuntimeError(f"config/deploy/nginx.conf has no {old!r}")
        shipped = shipped.replace(old, new)
    folder.mkdir()
    # The first address to listen on is measured.
    (folder / "nginx.conf").write_text(MAIN % shipped, encoding="utf-8")
    return nginx(folder)
