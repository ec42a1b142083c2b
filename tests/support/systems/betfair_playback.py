"""The whole system below the web with a scripted stream and a scripted catalogue, over real sockets."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any

from actors.board.snapshot import Entry
from actors.core.messages import BookmakerId
from tests.support.builders.betfair import APP_KEY, AWAY, DRAW, HOME, TOKEN, Json, prices_of
from tests.support.peers.http import HttpPeer, http_peer, respond
from tests.support.peers.stream import StreamPeer, stream_peer
from tests.support.systems.playback import Running, running
from tests.support.time.virtual import WALL_0

EXCHANGE = BookmakerId("betfair-exchange")
CATALOGUE, LOGIN, KEEP_ALIVE = "/rpc", "/api/login", "/api/keepAlive"
TEAMS = ("Alder Town", "Birch United", "League")


def catalogue(*market_ids: str, teams: tuple[str, str, str] = TEAMS) -> bytes:
    """Return the catalogue's answer with the names of these markets."""
    home, away, league = teams
    runners = [
        {"selectionId": selection, "runnerName": name}
        for selection, name in ((HOME, home), (AWAY, away), (DRAW, "The Draw"))
    ]
    entries = [
        {"marketId": one, "runners": runners, "competition": {"id": "1", "name": league}}
        for one in market_ids
    ]
    return json.dumps({"jsonrpc": "2.0", "result": entries, "id": 1}).encode()


def token(value: str, status: str = "SUCCESS") -> bytes:
    """Return an answer to a login or a keep-alive."""
    return json.dumps({"token": value, "product": APP_KEY, "status": status, "error": ""}).encode()


class Exchange:
    """A stream and a web server that act as the exchange, and the system connected to them."""

    def __init__(self, stream: StreamPeer, rest: HttpPeer, board: Running) -> None:
        self.stream = stream
        self.rest = rest
        self.board = board

    def prices(self) -> dict[str, tuple[float, float, float]]:
        """Return the prices on the board, by match."""
        return prices_of(entry.match for entry in self.entries())

    def entries(self) -> list[Entry]:
        """Return the entries on the board."""
        return self.board.entries(EXCHANGE)

    def teams(self) -> dict[str, tuple[str, str, str | None]]:
        """Return home, away and league by match."""
        matches = [entry.match for entry in self.entries()]
        return {one.source_match_id: (one.home, one.away, one.league) for one in matches}

    def asked(self, path: str) -> list[Mapping[str, str]]:
        """Return the headers of all requests for a path."""
        return [one.headers for one in list(self.rest.asked) if one.path == path]

    async def shows(self, expected: dict[str, tuple[float, float, float]]) -> None:
        """Wait until the board shows exactly these prices."""
        await self.board.until(lambda: self.prices() == expected)

    async def names(self, market_id: str, teams: tuple[str, str, str | None]) -> None:
        """Wait until the board shows that match with these names."""
        await self.board.until(lambda: self.teams().get(market_id) == teams)

    async def says(self, *messages: Json) -> None:
        """Push messages and wait until they have been read."""
        wanted = self.board.source.payloads + len(messages)
        self.stream.push(*messages)
        await self.board.until(lambda: self.board.source.payloads >= wanted)


@contextlib.contextmanager
def peers() -> Iterator[tuple[StreamPeer, HttpPeer]]:
    """Listen for both; the catalogue is empty, and a login is granted."""
    with stream_peer() as stream, http_peer() as rest:
        rest.answers[CATALOGUE] = respond(catalogue())
        rest.answers[LOGIN] = respond(token("token-of-login"))
        rest.answers[KEEP_ALIVE] = respond(token(TOKEN))
        yield stream, rest


@contextlib.asynccontextmanager
async def exchange(
    folder: Path, stream: StreamPeer, rest: HttpPeer, out: Path | None = None, /, **options: Any
) -> AsyncIterator[Exchange]:
    """Run the system on these peers within the block; record to `out` if given."""
    credentials = {} if "username" in options else {"session_token": TOKEN}
    options = {
        "kind": "betfair_stream",
        "stream_url": stream.url,
        "catalogue_url": rest.url(CATALOGUE),
        "login_url": rest.url(LOGIN),
        "app_key": APP_KEY,
        **credentials,
        **options,
    }
    lines = [
        "[board]",
        "expire_after_kickoff_s = 1_000_000_000",
        "[sources.stream]",
        *(f"{name} = {json.dumps(value)}" for name, value in options.items()),
    ]
    lines += [
        f"[bookmakers.{EXCHANGE}]",
        'name = "Betfair Exchange"',
        'source = "stream"',
        'key = "exchange"',
    ]
    async with running(folder, "\n".join(lines), WALL_0, out) as board:
        yield Exchange(stream, rest, board)
