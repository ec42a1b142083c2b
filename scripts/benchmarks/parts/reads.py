"""Reads: requests a second of /api/v2/odds, compared with other frameworks and with the limits.

The service runs as shipped, with a local file as its one source. The peers have the same data and send the
same shape, each written as its users would write it: some hold their bytes, others serialise at each
request. The bare application and nginx send the very same bytes. All run together and are measured in turn,
so that a drift of the machine affects all alike.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from http import HTTPStatus
from itertools import repeat
from math import inf
from pathlib import Path

from msgspec import Struct

from scripts.benchmarks.clients import wrk
from scripts.benchmarks.data.boards import KEYS, csv_body
from scripts.benchmarks.data.polled_site import site
from scripts.benchmarks.figures import median, spread
from scripts.benchmarks.peers.bare_asgi import ANSWERS
from scripts.benchmarks.processes import (
    Served,
    configured_service,
    free_port,
    get,
    listening,
    nginx,
    server,
)
from scripts.benchmarks.report import Report, versions

PATH = "/api/v2/odds"
FIXTURES = "/api/v2/fixtures"
CHANGES = "/api/v2/changes"
BOOKMAKERS = KEYS[:2]
ROUNDS = {1_200: 8, 10_000: 5}
RUN_S = 1
FORMS = ("identity", "gzip", "304")
Answer = tuple[int, dict[str, str], bytes]
Asked = Mapping[str, tuple[str, Mapping[str, str]]]


class Peer(Struct, frozen=True):
    """One server under measurement, with path and headers of the request for each form of the answer."""

    name: str
    served: Served
    asked: Asked


def run(report: Report) -> None:
    """Print requests a second of all peers, for both sizes of the board."""
    if not wrk.is_there():
        report.paragraph("Not measured: wrk is missing (Debian: `apt-get install wrk`).")
        return
    if report.has_servers and not shutil.which("nginx"):
        report.paragraph(
            "nginx is missing (Debian: `apt-get install nginx`): the static file was not measured."
        )
    report.paragraph(
        f"Requests a second of `{PATH}` by wrk over {wrk.CONNECTIONS} connections, {RUN_S} s a run,"
        " all in turn: servers on the same core, wrk on the other. Ratio: oddsboard on"
        " Hypercorn to it, the median over the rounds."
        f"\nVersions: {versions()}."
    )
    for size in ROUNDS:
        _measure(report, size)
    report.paragraph(
        "gzip is level 6 for all. Peers do no unneeded work: they hold their bytes, or the data ready to be"
        " serialised, and a 304 compares a version that they hold. uvicorn runs with uvloop and httptools,"
        " aiohttp with uvloop, Flask with one worker of class gthread, 4 threads, because a sync worker"
        " closes each connection. FastAPI sends bytes or Pydantic models that it holds, or models that it"
        " makes of dicts at each request. Granian and nginx, which need `--with-servers`, have one worker;"
        " nginx sends files, the gzip form precompressed."
    )


def _measure(report: Report, size: int) -> None:
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as running:
        peers = _peers(running, Path(folder), size, report)
        rates: dict[tuple[str, str], list[float]] = {}
        for _ in range(report.size(ROUNDS[size], 2)):
            for form in FORMS:
                for peer in [peer for peer in peers if form in peer.asked]:
                    path, headers = peer.asked[form]
                    found = wrk.rate(peer.served.url + path, headers, RUN_S)
                    rates.setdefault((peer.name, form), []).append(found)
                    peer.served.settle()
        lengths = {form: len(get(peers[0].served.url, *peers[0].asked[form])[2]) for form in FORMS}
    header = ["server"]
    for form in FORMS:
        header += [f"{form}, {lengths[form]:,} bytes", "ratio"]
    ours = {form: rates[peers[0].name, form] for form in FORMS}
    rows = [_row(peer.name, rates, ours) for peer in peers]
    report.table(f"{size:,} matches: requests a second", header, rows)


def _row(
    name: str, rates: Mapping[tuple[str, str], list[float]], ours: Mapping[str, list[float]]
) -> list[str]:
    cells = [name]
    for form in FORMS:
        if (found := rates.get((name, form))) is None:
            cells += ["-", "-"]
            continue
        ratios = [mine / theirs if theirs else inf for mine, theirs in zip(ours[form], found, strict=True)]
        cells += [spread(found), f"{median(ratios):.2f}"]
    return cells


def _peers(running: contextlib.ExitStack, folder: Path, size: int, report: Report) -> list[Peer]:
    """Start the service, then the peers, and check that all send the same data. Raises: RuntimeError."""
    config = folder / "bench.toml"
    files = running.enter_context(site({"/fixtures.csv": repeat(csv_body(size // len(BOOKMAKERS)))}))
    config.write_text(configuration(files), encoding="utf-8")
    ours = running.enter_context(configured_service(config))
    peers = [_peer("oddsboard (Hypercorn)", ours)]
    answers = {form: get(ours.url, *asked) for form, asked in peers[0].asked.items()}
    if (count := json.loads(answers["identity"][2])["matches_count"]) != size:
        raise RuntimeError(f"the board has {count} matches, must have {size}")
    if report.has_peers:
        peers += _others(running, folder, answers, peers[0].asked, has_servers=report.has_servers)
    for peer in peers:
        _check(peer, answers["identity"][2])
    fixtures = _peer(f"oddsboard (Hypercorn), {FIXTURES} of the same entries", ours, FIXTURES)
    since = answers["identity"][1]["etag"].strip('"')
    newest = Peer(f"oddsboard (Hypercorn), {CHANGES} without any", ours, _asked(f"{CHANGES}?since={since}"))
    return [*peers, fixtures, newest]


def _others(
    running: contextlib.ExitStack,
    folder: Path,
    answers: Mapping[str, Answer],
    asked: Asked,
    *,
    has_servers: bool,
) -> list[Peer]:
    """Start the peers; the bare application and nginx send the service's own answers."""
    body, canned = folder / "body.json", folder / "canned.json"
    body.write_bytes(answers["identity"][2])
    canned.write_text(
        json.dumps({f"/{form}": _canned(*answer) for form, answer in answers.items()}), encoding="utf-8"
    )
    by_form = {form: (f"/{form}", headers) for form, (_, headers) in asked.items()}
    peers = []
    for name, kind in (("Hypercorn", "hypercorn"), ("uvicorn", "uvicorn")):
        bare = running.enter_context(server([*BARE, str(canned), "--kind", kind]))
        peers.append(Peer(f"bare ASGI application ({name})", bare, by_form))
    for name, module, kind in PEERS:
        served = running.enter_context(server(["-m", module, str(body), "--kind", kind]))
        peers.append(_peer(name, served))
    if has_servers:
        served = running.enter_context(_granian(canned))
        peers.append(Peer("bare ASGI application (Granian)", served, by_form))
    if has_servers and shutil.which("nginx"):
        peers.append(_peer("nginx (static file)", running.enter_context(static(folder, answers))))
    return peers


BARE = ("-m", "scripts.benchmarks.peers.bare_asgi")
GRANIAN_APP = "scripts.benchmarks.peers.bare_asgi:of_environment"
PEERS = (
    ("FastAPI, bytes that it holds (uvicorn)", "scripts.benchmarks.peers.fastapi_app", "bytes"),
    ("aiohttp, bytes that it holds", "scripts.benchmarks.peers.aiohttp_app", ""),
    ("Quart, jsonify (Hypercorn)", "scripts.benchmarks.peers.quart_app", "jsonify"),
    ("Quart, msgspec per request (Hypercorn)", "scripts.benchmarks.peers.quart_app", "msgspec"),
    ("FastAPI, Pydantic models that it holds (uvicorn)", "scripts.benchmarks.peers.fastapi_app", "held"),
    ("FastAPI, Pydantic models made of dicts (uvicorn)", "scripts.benchmarks.peers.fastapi_app", "made"),
    ("Flask, jsonify (gunicorn)", "scripts.benchmarks.peers.flask_app", ""),
)


def _peer(name: str, served: Served, path: str = PATH) -> Peer:
    etag = get(served.url, path, {})[1]["etag"]
    return Peer(name, served, {**_asked(path), "304": (path, {"If-None-Match": etag})})


def _asked(path: str) -> Asked:
    """Return the requests for a path that do not lead to a 304."""
    return {"identity": (path, {}), "gzip": (path, {"Accept-Encoding": "gzip"})}


def _check(peer: Peer, wanted: bytes) -> None:
    """Raise RuntimeError unless all forms have the same matches; versions may differ between servers."""
    plain, packed, unchanged = (get(peer.served.url, *peer.asked[form]) for form in FORMS)
    unpacked = gzip.decompress(packed[2])
    matches = [json.loads(body)["matches"] for body in (wanted, plain[2], unpacked)]
    without_times = [[{**match, "updated": 0} for match in each] for each in matches]
    are_equal = without_times[0] == without_times[1] == without_times[2]
    if not are_equal or unchanged[0] != HTTPStatus.NOT_MODIFIED or unchanged[2]:
        raise RuntimeError(f"{peer.name} does not answer what the others answer")


def _canned(status: int, headers: dict[str, str], body: bytes) -> dict[str, object]:
    return {"status": status, "headers": headers, "body": body.hex()}


def _granian(canned: Path) -> contextlib.AbstractContextManager[Served]:
    """Run Granian with the bare application."""
    port = free_port()
    options = ["--interface", "asgi", "--factory", "--loop", "uvloop", "--no-ws", "--log-level", "warning"]
    command = [sys.executable, "-m", "granian", *options, "--host", "127.0.0.1", "--port", str(port)]
    return listening("Granian", [*command, GRANIAN_APP], port, **{ANSWERS: str(canned)})


def static(folder: Path, answers: Mapping[str, Answer]) -> contextlib.AbstractContextManager[Served]:
    """Run nginx with the service's answers as files."""
    file = folder / "files" / PATH.lstrip("/")
    file.parent.mkdir(parents=True)
    file.write_bytes(answers["identity"][2])
    file.with_name(file.name + ".gz").write_bytes(answers["gzip"][2])
    port = free_port()
    user = "user root;" if os.geteuid() == 0 else ""  # otherwise its worker may not read the folder
    (folder / "nginx.conf").write_text(NGINX % (user, port, folder / "files"), encoding="utf-8")
    return nginx(folder)


NGINX = """
%s
worker_processes 1;
pid nginx.pid;
events { worker_connections 4096; }
http {
    access_log off;
    sendfile on;
    tcp_nopush on;
    open_file_cache max=10;
    keepalive_requests 1000000000;
    default_type application/json;
    client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi; scgi_temp_path scgi;
    server { listen 127.0.0.1:%d; root %s; gzip_static on; }
}
"""


def configuration(url: str) -> str:
    """Return a configuration of the service with the file at `url` as its source."""
    bookmakers = "".join(
        f'[bookmakers.{key.lower()}]\nname = "{key}"\nsource = "file"\nkey = "{key}"\n'
        for key in BOOKMAKERS
    )
    return f'[sources.file]\nkind = "football_data"\nurl = "{url}/fixtures.csv"\n{bookmakers}'
