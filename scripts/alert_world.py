"""The outside world of scripts/alerts' service: sites with invented answers, a kind of source with bugs."""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from email.utils import formatdate
from itertools import count
from pathlib import Path
from typing import Any

import httpx2

from tests.support.builders.the_odds_api import event, market, odds_path
from tests.support.peers.http import Answer, Asked, HttpPeer, drop, respond

KICK_OFF = "2099-05-02T15:00:00Z"
HEAD = "Div,Date,Time,HomeTeam,AwayTeam"
BIG = 400
"""Matches of the large list; with three bookmakers each poll makes 1,200 changes."""

CONFIG = """
[server]
drain_s = 0
[archive]
path = "{folder}/archive"
[alerts]
path = "{folder}/alerts/queue"
[receivers.hook]
kind = "webhook"
url = "{url}/alerts"
secret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3"
[[alert]]
name = "trouble"
when = "source"
to = ["hook"]
[sources.feed]
kind = "football_data"
url = "{url}/feed"
poll_interval_s = 1
stale_after_s = 10
[sources.other]
kind = "football_data"
url = "{url}/other"
poll_interval_s = 1
stale_after_s = 10
[sources.api]
kind = "the_odds_api"
url = "{url}"
api_key = "key"
sports = ["soccer_epl"]
poll_interval_s = 1
credits_per_day = 1_000_000
stale_after_s = 10
[sources.faulty]
kind = "faulty"
url = "{url}/faulty"
poll_interval_s = 1
stale_after_s = 10
mode = "{folder}/mode"
[bookmakers.bet365]
source = "feed"
key = "B365"
name = "Bet365"
[bookmakers.bwin]
source = "feed"
key = "BW"
name = "bwin"
[bookmakers.betfred]
source = "feed"
key = "BF"
name = "Betfred"
[bookmakers.other]
source = "other"
key = "B365"
name = "Other"
[bookmakers.pinnacle]
source = "api"
key = "pinnacle"
[bookmakers.faulty]
source = "faulty"
key = "x"
name = "Faulty"
"""

KIND = '''
import time
from pathlib import Path

import actors.archive.writer
from actors.core.messages import Extract, Match, Scope, SourceMatchId
from actors.source_api.kinds import PolledKind
from actors.source_api.options import PolledOptions
from actors.source_api.plan import Target, every


actors.archive.writer.MAX_WAITING = 500


class Options(PolledOptions, frozen=True, kw_only=True):
    mode: str


def decode(payload, options):
    """Do what the mode says: crash, block the loop, or break an endpoint."""
    yield
    file = Path(options.mode)
    mode = file.read_text() if file.exists() else ""
    if mode == "crash":
        raise RuntimeError("a bug of a plug-in")
    if mode == "block":
        time.sleep(1.3)
    import web.endpoints.probes as probes
    healthy = probes.__dict__.setdefault("_healthy", probes.health_of)
    probes.health_of = broken if mode == "break" else healthy
    return None


def broken(*_):
    raise RuntimeError("a bug of an endpoint")


def extract(content, key, options):
    yield
    match = Match(SourceMatchId("m1"), "Leeds", "Hull", "League", 2.0, 3.5, 4.0, 4_081_503_600)
    rejected = Match(SourceMatchId("m2"), "Derby", "Qpr", "League", 1.1, 1.1, 1.1, 4_081_503_600)
    return Extract((match, rejected))


plan = every(lambda options: (Target(Scope("all"), options.url),))
KIND = PolledKind("faulty", Options, lambda key: None, plan, decode, extract)
'''


class World:
    """Answers of all sites; the attributes say what is wrong with them.

    `silent` are the paths that do not answer, `lacking` is a bookmaker's key that the feed leaves out, and
    while `big` is set the feed has thousands of matches. With each call the API has `spends` credits less.
    """

    def __init__(self, peer: HttpPeer, folder: Path) -> None:
        self.silent: set[str] = set()
        self.lacking = ""
        self.is_big = False
        self.spends = 0
        self._credits = 400
        self._numbers = count(1)
        self._mode = folder / "mode"
        for path, body in (("/feed", self._feed), ("/other", self._other), ("/faulty", self._faulty)):
            peer.answers[path] = self._answer(path, lambda body=body: respond(body()))  # type: ignore[misc]
        peer.answers["/alerts"] = self._answer("/alerts", respond)
        peer.answers[odds_path("soccer_epl")] = self._answer("/api", self._api)

    def set_mode(self, mode: str) -> None:
        """Set the bug of the kind with bugs at each poll; "" for none."""
        self._mode.write_text(mode, "utf-8")

    def _answer(self, path: str, make: Callable[[], Answer]) -> Answer:
        def answer(connection: Any, asked: Asked) -> None:
            (drop if path in self.silent else make())(connection, asked)

        return answer

    def _feed(self) -> bytes:
        keys = [key for key in ("B365", "BW", "BF") if key != self.lacking]
        return _sheet(keys, self._names(BIG if self.is_big else 3), next(self._numbers))

    def _other(self) -> bytes:
        return _sheet(["B365"], self._names(3), next(self._numbers))

    def _faulty(self) -> bytes:
        """Return a new payload each time, because a payload that crashes an actor twice is set aside."""
        return str(next(self._numbers)).encode()

    def _names(self, number: int) -> Iterator[tuple[str, str]]:
        yield "Leeds", "Hull"
        yield from ((f"Home {at}", f"Away {at}") for at in range(1, number))

    def _api(self) -> Answer:
        now = time.time()
        updated = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))
        prices = (2.0 + next(self._numbers) % 50 / 100, 3.5, 4.0)
        markets = {"pinnacle": [market("Leeds", "Hull", prices, updated=updated)]}
        self._credits -= self.spends
        headers = {
            "Date": formatdate(now, usegmt=True),
            "x-requests-remaining": str(self._credits),
            "x-requests-used": str(500 - self._credits),
            "x-requests-last": "1",
        }
        body = json.dumps([event("e1", "Leeds", "Hull", markets, kick_off=KICK_OFF)]).encode()
        return respond(body, headers=headers)


def _sheet(keys: list[str], names: Iterator[tuple[str, str]], number: int) -> bytes:
    """Return a file with new prices of all bookmakers at each call."""
    columns = ",".join(f"{key}{side}" for key in keys for side in "HDA")
    prices = ",".join(f"{2.0 + (number + at) % 50 / 100:.2f},3.5,4.0" for at, _ in enumerate(keys))
    rows = (f"E0,02/05/2099,15:00,{home},{away},{prices}" for home, away in names)
    return "\n".join([f"{HEAD},{columns}", *rows, ""]).encode()


def ask_for_ever(base: str, stopped: threading.Event) -> None:
    """Act as clients: with an old cursor, on the stream, leaving immediately, and never reading."""
    others = [
        threading.Thread(target=of, args=(base, stopped), daemon=True) for of in (_follow, _never_read)
    ]
    for other in others:
        other.start()
    paths = (
        "/health",
        "/api/v2/odds",
        "/api/v2/changes?since=1",
        "/api/v2/fixtures",
        "/monitor",
        "/nothing",
    )
    with httpx2.Client(base_url=base, trust_env=False, timeout=5) as client:
        while not stopped.wait(1):
            for path in paths:
                with contextlib.suppress(httpx2.HTTPError):
                    client.get(path)
            with contextlib.suppress(OSError):
                _leave_at_once(base)
    for other in others:
        other.join(10)


def _leave_at_once(base: str) -> None:
    """Act as a client that resets its connection before the answer."""
    with _connected(base) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.sendall(b"GET /api/v2/odds HTTP/1.1\r\nHost: board\r\n\r\n")


def _never_read(base: str, stopped: threading.Event) -> None:
    """Act as a client that requests much and reads nothing, until it is disconnected after about 10 s."""
    while not stopped.is_set():
        with contextlib.suppress(OSError), _connected(base) as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: board\r\n\r\n" * 40)
            stopped.wait(20)
        stopped.wait(1)


def _connected(base: str) -> socket.socket:
    host, _, port = base.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), timeout=5)


def _follow(base: str, stopped: threading.Event) -> None:
    headers = {"Last-Event-ID": "1-00000000"}
    while not stopped.wait(1):
        with (
            contextlib.suppress(httpx2.HTTPError),
            httpx2.stream(
                "GET", f"{base}/api/v2/stream", headers=headers, trust_env=False, timeout=5
            ) as answer,
        ):
            for _ in answer.iter_lines():
                if stopped.is_set():
                    return
