"""Reads: requests per second of /api/v2/odds, next to a bare ASGI application under the same server.

The service runs as it is shipped, its one source a local file; the bare application answers with the
very same bytes and headers. Server and load generator each have a core of their own where there are
two. wrk, because a client in Python would measure itself.
"""

from __future__ import annotations

import contextlib
import functools
import http.client
import http.server
import json
import re
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from boards import KEYS, csv_body
from serving import pinned, server
from tables import spread, table

HERE = Path(__file__).resolve().parent
MATCHES = 1_200
RUNS = 5
RUN_S = 3
CONNECTIONS = 32
PATH = "/api/v2/odds"


def run() -> None:
    """Print requests per second, the two servers in turn."""
    if shutil.which("wrk") is None:
        print("\nreads: not measured, wrk is missing (Debian: apt-get install wrk)")
        return
    with tempfile.TemporaryDirectory() as folder, _files(Path(folder)) as files:
        config = _config(Path(folder), files)
        with server(["-m", "web", "serve", "--config", str(config)]) as ours:
            _wait_until_served(ours)
            rows = [_row(name, ours, request, Path(folder)) for name, request in _requests(ours).items()]
    title = f"Reads: {PATH}, {MATCHES:,} matches, {CONNECTIONS} connections, requests/s"
    table(title, ["answer", "bytes", "oddsboard", "bare ASGI application", "ratio"], rows)


def _row(name: str, ours: str, headers: dict[str, str], folder: Path) -> list[str]:
    status, answered, body = _get(ours, headers)
    canned = folder / f"{name}.json"
    canned.write_text(
        json.dumps({"status": status, "headers": answered, "body": body.hex()}), encoding="utf-8"
    )
    mine, bare = [], []
    with server([str(HERE / "bare.py"), str(canned)]) as theirs:
        for _ in range(RUNS):
            mine.append(_load(ours, headers))
            bare.append(_load(theirs, headers))
    ratio = sorted(mine)[RUNS // 2] / sorted(bare)[RUNS // 2]
    return [name, f"{len(body):,}", spread(mine), spread(bare), f"{ratio:.2f}"]


def _requests(base: str) -> dict[str, dict[str, str]]:
    etag = dict(_get(base, {})[1])["etag"]
    return {"identity": {}, "gzip": {"Accept-Encoding": "gzip"}, "304": {"If-None-Match": etag}}


def _get(base: str, headers: dict[str, str]) -> tuple[int, list[tuple[str, str]], bytes]:
    connection = http.client.HTTPConnection(base.removeprefix("http://"), timeout=5)
    with contextlib.closing(connection):
        connection.request("GET", PATH, headers=headers)
        response = connection.getresponse()
        kept = [(name.lower(), value) for name, value in response.getheaders() if name.lower() != "date"]
        return response.status, kept, response.read()


def _wait_until_served(base: str) -> None:
    deadline = time.monotonic() + 10
    while _get(base, {})[0] != http.HTTPStatus.OK:
        if time.monotonic() > deadline:
            raise TimeoutError("the service served no odds within 10 s")
        time.sleep(0.05)


def _load(base: str, headers: dict[str, str]) -> float:
    sent = [part for name, value in headers.items() for part in ("-H", f"{name}: {value}")]
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{RUN_S}s", *sent, base + PATH]
    output = subprocess.run(pinned(1, command), check=True, capture_output=True, text=True).stdout
    found = re.search(r"Requests/sec:\s+([0-9.]+)", output)
    if found is None or "Non-2xx" in output.replace("Non-2xx or 3xx responses: 0", ""):
        raise RuntimeError(f"wrk said: {output}")
    return float(found[1])


@contextlib.contextmanager
def _files(folder: Path) -> Iterator[str]:
    """Serve `folder` with an invented fixtures.csv over HTTP."""
    (folder / "fixtures.csv").write_bytes(csv_body(MATCHES // len(KEYS)))

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/fixtures.csv"
        server.shutdown()


def _config(folder: Path, url: str) -> Path:
    bookmakers = "".join(
        f'[bookmakers.{key.lower()}]\nname = "{key}"\nsource = "file"\nkey = "{key}"\n' for key in KEYS
    )
    path = folder / "bench.toml"
    path.write_text(
        f'[sources.file]\nkind = "football_data"\nurl = "{url}"\n{bookmakers}', encoding="utf-8"
    )
    return path
