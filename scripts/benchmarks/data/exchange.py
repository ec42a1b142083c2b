"""A local betting exchange: invented markets, their changes, and a server that sends them."""

from __future__ import annotations

import json
import random
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from scripts.benchmarks.data.boards import NOW

MARKETS, LEVELS = 1_000, 10
DRAW = 58805
KICK_OFF = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(NOW.wall + 86400))


def encoded(message: Any) -> bytes:
    """Return a message as bytes on the wire."""
    return json.dumps(message, separators=(",", ":")).encode()


def whole_image() -> dict[str, Any]:
    """Return the image of all markets, each with a full ladder on both sides."""
    markets = [_market(number) for number in range(MARKETS)]
    clocks = {"initialClk": "a", "clk": "a"}
    return {"op": "mcm", "id": 2, "ct": "SUB_IMAGE", "pt": int(NOW.wall * 1000), **clocks, "mc": markets}


def _market(number: int) -> dict[str, Any]:
    runners = [
        {"status": "ACTIVE", "sortPriority": at + 1, "id": runner}
        for at, runner in enumerate(runner_ids(number))
    ]
    definition = {
        "status": "OPEN",
        "marketType": "MATCH_ODDS",
        "bettingType": "ODDS",
        "marketTime": KICK_OFF,
        "inPlay": False,
        "runners": runners,
    }
    ladders = [
        {
            "id": runner,
            "batb": [[level, round(best - level / 50, 2), 10.0] for level in range(LEVELS)],
            "batl": [[level, round(best + 0.1 + level / 50, 2), 10.0] for level in range(LEVELS)],
        }
        for runner, best in zip(runner_ids(number), (2.2, 3.9, 3.6), strict=True)
    ]
    return {"id": f"1.{number:06d}", "img": True, "marketDefinition": definition, "rc": ladders}


def runner_ids(number: int) -> tuple[int, int, int]:
    """Return home, away and draw of a market."""
    return 10_000 + 2 * number, 10_001 + 2 * number, DRAW


def delta(number: int) -> dict[str, Any]:
    """Return a change of one match's best price; each number changes another match."""
    market = random.Random(number).randrange(MARKETS)
    level = [0, 2.2 + (number % 20 + 1) / 100, 5.0]
    change = {"id": f"1.{market:06d}", "rc": [{"id": runner_ids(market)[0], "batb": [level]}]}
    return {"op": "mcm", "id": 2, "clk": str(number), "pt": int(NOW.wall * 1000) + number, "mc": [change]}


@contextmanager
def exchange(image: bytes) -> Iterator[tuple[str, Any]]:
    """Serve the image to one client. Yield the address and a function that sends one more line."""
    listener = socket.create_server(("127.0.0.1", 0))
    connections: list[socket.socket] = []

    def serve() -> None:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        lines = connection.makefile("rb")
        connection.sendall(b'{"op":"connection"}\r\n')
        for number in (1, 2):
            lines.readline()
            connection.sendall(b'{"op":"status","id":%d,"statusCode":"SUCCESS"}\r\n' % number)
        connection.sendall(image + b"\r\n")
        connections.append(connection)

    threading.Thread(target=serve, daemon=True).start()
    port = listener.getsockname()[1]
    with closing(listener):
        yield f"tcp://127.0.0.1:{port}", lambda line: connections[0].sendall(line + b"\r\n")
