"""Configurations with football_data sources on a scripted peer, their files, and a reader of the board."""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from tests.support.peers.http import Answer, Asked, HttpPeer, respond
from tests.support.peers.plain_http import NO_TLS

Odds = tuple[float, float, float]


def sheet(key: str, *prices: Odds) -> bytes:
    """Return a CSV file with one match for each triple of prices, all in 2099."""
    head = f"Div,Date,Time,HomeTeam,AwayTeam,{key}H,{key}D,{key}A"
    rows = (
        f"E0,02/05/2099,15:00,Home {number},Away {number},{home},{draw},{away}"
        for number, (home, draw, away) in enumerate(prices, 1)
    )
    return "\n".join([head, *rows, ""]).encode()


def moving(key: str) -> Answer:
    """Return answers with a new home price each time: 2.01, 2.02, ..., for one match."""
    numbers = itertools.count(1)

    def answer(connection: Any, asked: Asked) -> None:
        price = round(2 + next(numbers) % 400 / 100, 2)
        respond(sheet(key, (price, 3.5, 3.5)))(connection, asked)

    return answer


def configured(folder: Path, peer: HttpPeer, names: Sequence[str], **options: float) -> Path:
    """Return a configuration with one source and one bookmaker for each name, with those options."""
    lines = ["[server]", "drain_s = 0"]
    given = {"poll_interval_s": 0.1, "timeout_s": 0.5, "stale_after_s": 1.5, **options}
    for name in names:
        lines += [f"[sources.{name}]", 'kind = "football_data"', f'url = "{peer.url(f"/{name}.csv")}"']
        lines += [f"{option} = {value}" for option, value in given.items()]
        lines += [f"[bookmakers.{name}]", f'name = "{name.title()}"', f'source = "{name}"', 'key = "B365"']
    config = folder / "feed.toml"
    config.write_text("\n".join(lines), "utf-8")
    return config


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
            for one in shown["matches"]:
                prices = one["odds"]
                self.odds.setdefault(one["bookmaker"], set()).add((prices["1"], prices["X"], prices["2"]))


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
