"""A service with two sources: an API whose live prices the test sets, and a file of collected prices."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.support.builders.the_odds_api import event, market, serve
from tests.support.peers.http import HttpPeer, http_peer, respond
from tests.support.systems.process import Service, service

CONFIG = """
[server]
drain_s = 0

[surebets]
min_life_s = 0.1

[sources.api]
kind = "the_odds_api"
url = "{api}"
api_key = "key"
sports = ["soccer_epl"]
poll_interval_s = 0.1
stale_after_s = 20

[sources.file]
kind = "football_data"
url = "{file}"
poll_interval_s = 0.1
stale_after_s = 20

[bookmakers.pinnacle]
name = "Pinnacle"
source = "api"
key = "pinnacle"

[bookmakers.williamhill]
name = "William Hill"
source = "api"
key = "williamhill"

[bookmakers.marathon]
name = "Marathon"
source = "api"
key = "marathonbet"
commission = 0.02

[bookmakers.bet365]
name = "Bet365"
source = "file"
key = "B365"
"""
SHEET = b"""Div,Date,Time,HomeTeam,AwayTeam,B365H,B365D,B365A
E0,02/05/2099,15:00,Man United,Fulham,2.3,3.3,3.4
E0,02/05/2099,17:30,Leeds,Everton,2.5,3.3,2.8
"""


@dataclass
class Two:
    """Two sources: an API whose prices the test sets, and a file of collected prices."""

    peer: HttpPeer
    service: Service

    def offer(self, prices: dict[str, tuple[float, float, float]]) -> None:
        """List one match with these prices by bookmaker key."""
        offered = {key: [market("Manchester United", "Fulham", odds)] for key, odds in prices.items()}
        listed = event("m1", "Manchester United", "Fulham", offered, kick_off="2099-05-02T14:00:00Z")
        serve(self.peer, {"soccer_epl": json.dumps([listed]).encode()})


@contextlib.contextmanager
def two_sources(folder: Path) -> Iterator[Two]:
    """Run the service in a folder."""
    with http_peer() as peer, service(configured(folder, peer)) as running:
        yield Two(peer, running)


def configured(folder: Path, peer: HttpPeer, more: str = "") -> Path:
    """Return a configuration of both sources at `peer`; the API has no match yet."""
    peer.answers["/file.csv"] = respond(SHEET)
    serve(peer, {"soccer_epl": b"[]"})
    config = folder / "two.toml"
    config.write_text(CONFIG.format(api=peer.url(""), file=peer.url("/file.csv")) + more, "utf-8")
    return config
