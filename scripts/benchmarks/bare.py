"""The limit of the server: a bare ASGI application that gives one canned answer, under our Hypercorn."""

from __future__ import annotations

import argparse
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio

from actors.settings import parse_bind
from web.server import address_of, listen, serve

Send = Callable[[dict[str, Any]], Awaitable[None]]


def canned(path: Path) -> Callable[..., Awaitable[None]]:
    """Make an application that always gives the answer in that file."""
    answer = json.loads(path.read_text(encoding="utf-8"))
    body = bytes.fromhex(answer["body"])
    headers = [(name.encode(), value.encode()) for name, value in answer["headers"]]
    start = {"type": "http.response.start", "status": answer["status"], "headers": headers}

    async def app(
        scope: dict[str, Any], receive: Callable[[], Awaitable[dict[str, Any]]], send: Send
    ) -> None:
        if scope["type"] == "lifespan":
            for event in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{event}.complete"})
            return
        await send(start)
        await send({"type": "http.response.body", "body": body})

    return app


async def main(path: Path, bind: str) -> None:
    """Serve it until the process is ended."""
    sock = listen(*parse_bind(bind))
    print(json.dumps({"event": "service.started", "url": address_of(sock)}), flush=True)
    await serve(canned(path), sock, anyio.Event())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("answer", type=Path)
    parser.add_argument("--bind", required=True)
    given = parser.parse_args()
    anyio.run(main, given.answer, given.bind)
