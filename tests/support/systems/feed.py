"""A service with football_data sources on a scripted peer, and the board as its clients see it."""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from tests.support.peers.http import Answer, Asked, HttpPeer, respond
from tests.support.peers.plain_http import NO_TLS
from tests.support.systems.process import Service, service

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
class Feed:
    """The running service and a client of it."""

    service: Service
    client: httpx2.Client

    def check(self, bookmaker: str) -> Any:
        """Return the entry of one bookmaker in /health."""
        return self.client.get("/health").json()["checks"][bookmaker]

    def has(self, state: str, bookmaker: str) -> bool:
        """Return whether the bookmaker is in that state."""
        return bool(self.check(bookmaker)["state"] == state)

    def source(self, name: str) -> Any:
        """Return the entry of one source in /monitor."""
        sources = self.client.get("/monitor").json()["sources"]
        return next(one for one in sources if one["name"] == name)

    def events(self, name: str, key: str, value: str) -> int:
        """Count the logged events of that name about that bookmaker or source."""
        return sum(line.get(key) == value for line in self.service.events(name))


@contextlib.contextmanager
def running_feed(config: Path, environment: Mapping[str, str] | None = None) -> Iterator[Feed]:
    """Run the service within the block."""
    with (
        service(config, environment) as process,
        httpx2.Client(base_url=process.base, trust_env=False, verify=NO_TLS) as client,
    ):
        yield Feed(process, client)


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
