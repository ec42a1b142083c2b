"""Prints the modules that process a changed price, from its source's bytes to a response's bytes.

The service runs in this process on a polled CSV of 300 matches of three bookmakers. Once they are served,
one price changes in the file. From then on `sys.setprofile` records every called function of the project,
until a client has read the new price from a gzip answer. Site and client run in other threads, which
the profile does not cover.
"""

from __future__ import annotations

import http.client
import os
import signal
import socket
import sys
import tempfile
import threading
import time
import zlib
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import FrameType

from web.__main__ import main as oddsboard

ROOT = Path(__file__).resolve().parents[1]
PROJECT = (f"{ROOT}/actors/", f"{ROOT}/web/")

MATCHES = 300
HEADER = "Div,Date,Time,HomeTeam,AwayTeam,B365H,B365D,B365A,BWH,BWD,BWA,BFEH,BFED,BFEA"
OLD, NEW = "2.10,3.40,3.50,2.05,3.30,3.60,2.14,3.45,3.65", "2.13,3.40,3.50,2.05,3.30,3.60,2.14,3.45,3.65"
WITHIN_S = 30.0
CONFIG = """
[server]
log_level = "error"
drain_s = 0.1
[sources.file]
kind = "football_data"
url = "http://127.0.0.1:{port}/fixtures.csv"
poll_interval_s = 1
[bookmakers.bet365]
source = "file"
key = "B365"
name = "Bet365"
[bookmakers.bwin]
source = "file"
key = "BW"
name = "bwin"
[bookmakers.betfair-exchange]
source = "file"
key = "BFE"
name = "Betfair Exchange"
"""


class Trace:
    """The recorded functions of the project, by module, in the order of their first calls."""

    def __init__(self) -> None:
        self.is_on = False
        self.functions: dict[str, set[str]] = {}

    def record(self, frame: FrameType, event: str, argument: object) -> None:
        """Record a call; this is a function for `sys.setprofile`."""
        del argument
        code = frame.f_code
        if self.is_on and event == "call" and code.co_filename.startswith(PROJECT):
            path = Path(code.co_filename).relative_to(ROOT).with_suffix("")
            self.functions.setdefault(".".join(path.parts), set()).add(code.co_qualname)

    def print(self) -> None:
        """Print a row for each package, and the sums."""
        packages: dict[str, list[str]] = {}
        for module in self.functions:
            package, _, name = module.rpartition(".")
            packages.setdefault(package, []).append(name)
        print("| package | modules | in the order of their first call |\n|---|---:|---|")
        for package, names in packages.items():
            print(f"| {package} | {len(names)} | {', '.join(names)} |")
        print(f"\n{len(self.functions)} modules, {sum(map(len, self.functions.values()))} functions")


class Site:
    """A local HTTP server on `port` for one file, which can be changed."""

    def __init__(self, body: bytes) -> None:
        self.body = body
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = site.body
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Log nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = server.server_port
        threading.Thread(target=server.serve_forever, daemon=True).start()


def main() -> int:
    """Serve, change a price, read it and print the table. Return 1 if it was not read in time."""
    trace, site = Trace(), Site(_file(OLD))
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    threading.Thread(target=_change_and_read, args=(address, site, trace), daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "trace.toml"
        config.write_text(CONFIG.format(port=site.port), encoding="utf-8")
        sys.setprofile(trace.record)
        try:
            oddsboard(["serve", "--config", str(config), "--bind", address])
        except SystemExit:
            sys.setprofile(None)
    if not trace.functions:
        print("the new price was not read in time", file=sys.stderr)
        return 1
    trace.print()
    return 0


def _file(first: str) -> bytes:
    day = time.strftime("%d/%m/%Y", time.gmtime(time.time() + 2 * 86_400))
    rows = [f"E0,{day},15:00,Home {at},Away {at},{OLD if at else first}" for at in range(MATCHES)]
    return "\r\n".join([HEADER, *rows, ""]).encode()


def _change_and_read(address: str, site: Site, trace: Trace) -> None:
    until = time.monotonic() + WITHIN_S
    old = f'"1":{OLD[:4].rstrip("0")},'.encode()
    new = f'"1":{NEW[:4]},'.encode()
    if _wait_for(old, address, until):
        trace.is_on = True
        site.body = _file(NEW)
        if not _wait_for(new, address, until):
            trace.functions.clear()
        trace.is_on = False
    os.kill(os.getpid(), signal.SIGTERM)


def _wait_for(price: bytes, address: str, until: float) -> bool:
    """Read the list as gzip until it has the price. Return whether it had it in time."""
    host, _, port = address.partition(":")
    while time.monotonic() < until:
        connection = http.client.HTTPConnection(host, int(port), timeout=5)
        try:
            connection.request("GET", "/api/v2/odds", headers={"Accept-Encoding": "gzip"})
            answer = connection.getresponse()
            if answer.status == HTTPStatus.OK and price in zlib.decompress(answer.read(), wbits=31):
                return True
        except OSError:  # not listening yet
            pass
        finally:
            connection.close()
        time.sleep(0.2)
    return False


if __name__ == "__main__":
    sys.exit(main())
