"""A service with two bookmakers of one source whose prices the test sets, for tests of what people see."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.peers.http import HttpPeer, http_peer, respond
from tests.support.systems.feed import Odds
from tests.support.systems.process import Service, program
from tests.support.time.waiting import eventually

CONFIG = """
[server]
drain_s = 0

[sources.file]
kind = "football_data"
url = "{url}"
poll_interval_s = 0.1
timeout_s = 0.5
stale_after_s = 1.5

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


@dataclass(frozen=True)
class Fixture:
    """One row of the file; a bookmaker without odds does not offer the match."""

    home: str
    away: str
    bet365: Odds | None = None
    bwin: Odds | None = None
    league: str = "E0"
    time: str = "15:00"


def sheet(fixtures: Sequence[Fixture]) -> bytes:
    """Return the file; all matches are on one day in 2099."""
    rows = ["Div,Date,Time,HomeTeam,AwayTeam,B365H,B365D,B365A,BWH,BWD,BWA"]
    for one in fixtures:
        prices = [price for odds in (one.bet365, one.bwin) for price in (odds or ("", "", ""))]
        cells = (one.league, "02/05/2099", one.time, one.home, one.away, *prices)
        rows.append(",".join(map(str, cells)))
    return "\n".join([*rows, ""]).encode()


@dataclass
class Offered:
    """The scripted site, and the service that polls it, which may be stopped and started again."""

    folder: Path
    peer: HttpPeer
    _cleanup: contextlib.ExitStack
    _environment: Mapping[str, str] | None = None
    _bind: str = "127.0.0.1:0"
    _service: Service | None = None

    def offer(self, *fixtures: Fixture) -> None:
        """Serve this file from the site."""
        self.peer.answers[PATH] = respond(sheet(fixtures))

    def start(self) -> Service:
        """Start the service unless it runs, always at the same address; wait until it has prices."""
        if self._service is None or self._service.process.poll() is not None:
            config = self.folder / "offered.toml"
            config.write_text(CONFIG.format(url=self.peer.url(PATH)), "utf-8")
            arguments = ("serve", "--config", str(config), "--bind", self._bind)
            running = program(*arguments, environment=self._environment)
            self._service = self._cleanup.enter_context(running)
            self._bind = self._service.base.removeprefix("http://")
        service = self._service
        eventually(lambda: service.has("live", "bet365") and service.has("live", "bwin"), "both are live")
        return service


@contextlib.contextmanager
def offered(folder: Path, environment: Mapping[str, str] | None = None) -> Iterator[Offered]:
    """Return a site without content; everything started on it ends with the block."""
    with http_peer() as peer, contextlib.ExitStack() as cleanup:
        yield Offered(folder, peer, cleanup, environment)
