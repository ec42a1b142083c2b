"""A process on a scripted football_data site: configurations, prices that the test sets, a reader."""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from tests.support.builders.football_data import Odds, sheet
from tests.support.peers.http import Answer, Asked, HttpPeer, http_peer, respond
from tests.support.peers.plain_http import NO_TLS
from tests.support.systems.process import Service, program, service
from tests.support.time.waiting import eventually

TWO_BOOKMAKERS = """
[server]
drain_s = 0

[sources.file]
kind = "football_data"
url = "{url}"
poll_interval_s = 0.1
timeout_s = 0.5
stale_after_s = {stale_after_s}

[bookmakers.bet365]
name = "Bet365"
source = "file"
key = "B365"

[bookmakers.bwin]
name = "bwin"
source = "file"
key = "BW"
"""
PATH = "/file.csv"


def moving(key: str) -> Answer:
    """Return answers with a new home price each time: 2.01, 2.02, ..., 2.49, again 2, for one match."""
    numbers = itertools.count(1)

    def answer(connection: Any, asked: Asked) -> None:
        price = round(2 + next(numbers) % 50 / 100, 2)
        respond(sheet(key, (price, 3.5, 3.5)))(connection, asked)

    return answer


def configured(folder: Path, peer: HttpPeer, names: Sequence[str], **options: float) -> Path:
    """Return a configuration with one source and one bookmaker for each name, with the given options."""
    lines = ["[server]", "drain_s = 0"]
    given = {"poll_interval_s": 0.1, "timeout_s": 0.5, "stale_after_s": 1.5, **options}
    for name in names:
        lines += [f"[sources.{name}]", 'kind = "football_data"', f'url = "{peer.url(f"/{name}.csv")}"']
        lines += [f"{option} = {value}" for option, value in given.items()]
        lines += [f"[bookmakers.{name}]", f'name = "{name.title()}"', f'source = "{name}"', 'key = "B365"']
    config = folder / "feed.toml"
    config.write_text("\n".join(lines), "utf-8")
    return config


@contextlib.contextmanager
def unmoving(folder: Path) -> Iterator[Service]:
    """Run a service whose list of 40 matches, all in 2099, never changes: its version stays."""
    with http_peer() as peer:
        peer.answers["/only.csv"] = respond(sheet("B365", *[(2.1, 3.4, 3.6)] * 40))
        with service(configured(folder, peer, ["only"], stale_after_s=600)) as running:
            eventually(lambda: running.get("/health/ready").status_code == 200, "it is ready")
            eventually(
                lambda: running.get("/api/v2/fixtures").json().get("linking") == {"pending": 0},
                "all events are compared",
            )
            yield running


@dataclass
class Seen:
    """The results of a client that reads the whole board as fast as it can."""

    statuses: set[int] = field(default_factory=set)
    versions: list[int] = field(default_factory=list)
    odds: dict[str, set[Odds]] = field(default_factory=dict)

    def take(self, response: httpx2.Response) -> None:
        """Record the content of an answer."""
        self.statuses.add(response.status_code)
        if response.status_code == httpx2.codes.OK:
            shown = response.json()
            self.versions.append(shown["version"])
            for match in shown["matches"]:
                prices = match["odds"]
                self.odds.setdefault(match["bookmaker"], set()).add((prices["1"], prices["X"], prices["2"]))


@contextlib.contextmanager
def watching(base: str) -> Iterator[Seen]:
    """Read the board in a separate thread within the block."""
    seen, done = Seen(), threading.Event()

    def read() -> None:
        with httpx2.Client(base_url=base, trust_env=False, verify=NO_TLS) as client:
            while not done.wait(0.005):
                seen.take(client.get("/api/v2/odds"))

    thread = threading.Thread(target=read)
    thread.start()
    try:
        yield seen
    finally:
        done.set()
        thread.join(10)


@dataclass(frozen=True)
class Fixture:
    """One row of the file; a bookmaker without odds does not offer the match."""

    home: str
    away: str
    bet365: Odds | None = None
    bwin: Odds | None = None
    league: str = "E0"
    time: str = "15:00"


def _sheet(fixtures: Sequence[Fixture]) -> bytes:
    """Return the body of the CSV file; all matches are on one day in 2099."""
    rows = ["Div,Date,Time,HomeTeam,AwayTeam,B365H,B365D,B365A,BWH,BWD,BWA"]
    for row in fixtures:
        prices = [price for odds in (row.bet365, row.bwin) for price in (odds or ("", "", ""))]
        cells = (row.league, "02/05/2099", row.time, row.home, row.away, *prices)
        rows.append(",".join(map(str, cells)))
    return "\n".join([*rows, ""]).encode()


@dataclass
class Offered:
    """The scripted site, and the service that polls it, which may be stopped and started again."""

    folder: Path
    peer: HttpPeer
    _cleanup: contextlib.ExitStack
    _environment: Mapping[str, str] | None = None
    stale_after_s: float = 30.0  # long, so that a busy machine makes nothing stale
    _bind: str = "127.0.0.1:0"
    _service: Service | None = None

    def offer(self, *fixtures: Fixture) -> None:
        """Serve this file from the site."""
        self.peer.answers[PATH] = respond(_sheet(fixtures))

    def start(self) -> Service:
        """Start the service unless it runs, always at one address; wait until its prices are linked."""
        if self._service is None or self._service.process.poll() is not None:
            config = self.folder / "offered.toml"
            config.write_text(
                TWO_BOOKMAKERS.format(url=self.peer.url(PATH), stale_after_s=self.stale_after_s), "utf-8"
            )
            arguments = ("serve", "--config", str(config), "--bind", self._bind)
            running = program(*arguments, environment=self._environment)
            self._service = self._cleanup.enter_context(running)
            self._bind = self._service.base.removeprefix("http://")
        service = self._service
        eventually(lambda: service.has("live", "bet365") and service.has("live", "bwin"), "both are live")
        eventually(lambda: service.get("/api/v2/fixtures").is_success, "they are linked")
        return service


@contextlib.contextmanager
def offered(folder: Path, environment: Mapping[str, str] | None = None) -> Iterator[Offered]:
    """Return a site without content; everything started on it ends with the block."""
    with http_peer() as peer, contextlib.ExitStack() as cleanup:
        yield Offered(folder, peer, cleanup, environment)
