"""Hand-written messages of the exchange for tests, and a subscription that receives them."""

from __future__ import annotations

import bz2
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from actors.core.cooperative import run_now
from actors.core.messages import BookmakerId, Match, Removal
from actors.source_api.stream import Reaction
from actors.sources.betfair.options import BetfairStreamOptions
from actors.sources.betfair.session import BetfairSession
from tests.support.recordings import FOLDER

Json = dict[str, Any]

HOME, AWAY, DRAW = 11, 22, 58805
PRICES = (2.0, 3.5, 4.0)
APP_KEY, TOKEN = "the-app-key", "the-session-token"
OPTIONS = BetfairStreamOptions(kind="betfair_stream", app_key=APP_KEY, session_token=TOKEN)
SUCCESS = {"op": "status", "statusCode": "SUCCESS", "connectionClosed": False}

BOOKMAKER = BookmakerId("betfair-exchange")
TEAMS = ("Alder Town", "Birch United", "League")


def config(**options: Any) -> str:
    """Return a configuration of the source `stream` with one bookmaker; its matches never expire."""
    credentials = {} if "username" in options else {"session_token": TOKEN}
    options = {"kind": "betfair_stream", "app_key": APP_KEY, **credentials, **options}
    lines = [
        "[board]",
        "expire_after_kickoff_s = 1_000_000_000",
        "in_play_max_age_s = 1_000_000_000",
        "[sources.stream]",
    ]
    lines += [f"{name} = {json.dumps(value)}" for name, value in options.items()]
    lines += [f"[bookmakers.{BOOKMAKER}]", 'name = "Betfair Exchange"', 'source = "stream"']
    return "\n".join([*lines, 'key = "exchange"'])


def catalogue(*market_ids: str, teams: tuple[str, str, str] = TEAMS) -> bytes:
    """Return the catalogue's answer with the names of these markets."""
    home, away, league = teams
    runners = [
        {"selectionId": selection, "runnerName": name}
        for selection, name in ((HOME, home), (AWAY, away), (DRAW, "The Draw"))
    ]
    entries = [
        {"marketId": market_id, "runners": runners, "competition": {"id": "1", "name": league}}
        for market_id in market_ids
    ]
    return json.dumps({"jsonrpc": "2.0", "result": entries, "id": 1}).encode()


def token(value: str, status: str = "SUCCESS") -> bytes:
    """Return an answer to a login or a keep-alive."""
    return json.dumps({"token": value, "product": APP_KEY, "status": status, "error": ""}).encode()


def runner(selection: int | str, priority: int | None, **more: Any) -> Json:
    """Return a runner of a market definition."""
    return {"status": "ACTIVE", "sortPriority": priority, "id": selection, **more}


def definition(**changes: Any) -> Json:
    """Return the definition of an open match, kick-off 2026-06-01 at 15:00 UTC, with these changes."""
    return {
        "bettingType": "ODDS",
        "marketType": "MATCH_ODDS",
        "marketTime": "2026-06-01T15:00:00.000Z",
        "status": "OPEN",
        "inPlay": False,
        "runners": [runner(HOME, 1), runner(AWAY, 2), runner(DRAW, 3)],
        **changes,
    }


def offers(prices: Sequence[float] = PRICES, size: float = 10.0) -> list[Json]:
    """Return the runner changes that offer home, draw and away at these prices."""
    return [
        {"id": selection, "batb": [[0, price, size]]}
        for selection, price in zip((HOME, DRAW, AWAY), prices, strict=True)
    ]


def market(market_id: str = "1.1", prices: Sequence[float] = PRICES, **changes: Any) -> Json:
    """Return the image of a market; the changes apply to its definition."""
    return {"id": market_id, "img": True, "marketDefinition": definition(**changes), "rc": offers(prices)}


def change(market_id: str = "1.1", *runner_changes: Json, **more: Any) -> Json:
    """Return a change of a market."""
    return {"id": market_id, "rc": list(runner_changes), **more}


def image(*markets: Json, **fields: Any) -> Json:
    """Return a message with the image of a subscription."""
    clocks = {"initialClk": "initial-1", "clk": "clk-1"}
    message = {"op": "mcm", "id": 2, "ct": "SUB_IMAGE", "pt": 1_780_000_000_000, "mc": list(markets)}
    return {**message, **clocks, **fields}


def delta(*changes: Json, **fields: Any) -> Json:
    """Return a message with a change of a subscription."""
    return {"op": "mcm", "id": 2, "pt": 1_780_000_001_000, "mc": list(changes), **fields}


def heartbeat(**fields: Any) -> Json:
    """Return a heartbeat."""
    return {"op": "mcm", "id": 2, "ct": "HEARTBEAT", "pt": 1_780_000_002_000, **fields}


def failure(code: str, *, closed: bool = True, **fields: Any) -> Json:
    """Return a status message with an error code."""
    refusal = {"statusCode": "FAILURE", "errorCode": code, "connectionClosed": closed}
    return {"op": "status", "id": 2, **refusal, **fields}


def line(message: Json) -> bytes:
    """Return a message as a line of the stream."""
    return json.dumps(message).encode()


def recorded(name: str) -> list[bytes]:
    """Return the lines of a recording, one message each; a file with a single message is one line."""
    path = FOLDER / "betfair" / name
    raw = bz2.decompress(path.read_bytes()) if path.suffix == ".bz2" else path.read_bytes()
    if path.suffix == ".json":
        return [line(json.loads(raw))]
    return [body.rstrip(b"\r") for body in raw.split(b"\n") if body.strip()]


def recordings(pattern: str) -> list[Path]:
    """Return the recorded files that match a pattern, ordered by name."""
    return sorted((FOLDER / "betfair").glob(pattern))


class Stage:
    """A subscription and the lines that it has sent; `options` replace those of the default options."""

    def __init__(self, **options: Any) -> None:
        self.session = BetfairSession(msgspec.structs.replace(OPTIONS, **options))
        self.sent: list[Json] = []

    def receive(self, message: Json | bytes) -> Reaction:
        """Pass a message to the subscription, and record its answer. Raises: PayloadError, StreamError."""
        reaction = run_now(self.session.receive(message if isinstance(message, bytes) else line(message)))
        self.take(reaction)
        return reaction

    def take(self, reaction: Reaction) -> None:
        """Record what the subscription sends."""
        self.sent += map(json.loads, reaction.send)

    def connect(self, token: str = TOKEN) -> None:
        """Begin a connection and go on until the subscription is granted."""
        self.session.connect(token)
        self.receive({"op": "connection", "connectionId": "1"})
        self.receive({**SUCCESS, "id": self.last_id})
        self.receive({**SUCCESS, "id": self.last_id})

    def presented(self) -> tuple[Any, Any]:
        """Connect again and return the clocks in the subscription."""
        self.connect()
        return self.sent[-1].get("initialClk"), self.sent[-1].get("clk")

    @property
    def last_id(self) -> int:
        """The number of the last request."""
        return int(self.sent[-1]["id"])


def live(*markets: Json, **options: Any) -> Stage:
    """Return a subscription that has received its image."""
    stage = Stage(**options)
    stage.connect()
    stage.receive(image(*markets))
    return stage


def offered(reaction: Reaction) -> Match | Removal:
    """Return the only match or removal of a change."""
    assert reaction.changes is not None
    changes: list[Match | Removal] = [*reaction.changes.matches, *reaction.changes.removals]
    (match,) = changes
    return match


def prices_of(matches: Iterable[Match]) -> dict[str, tuple[float, float, float]]:
    """Return home, draw and away price by match id."""
    return {
        match.source_match_id: (match.home_price, match.draw_price, match.away_price) for match in matches
    }


def shown(reaction: Reaction) -> dict[str, tuple[float, float, float]]:
    """Return the prices of an image by match id."""
    assert reaction.image is not None
    return prices_of(reaction.image.matches)
