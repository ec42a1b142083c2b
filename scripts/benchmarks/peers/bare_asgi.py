"""The upper limit of a server: a bare ASGI application that sends fixed answers, one for each path."""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from scripts.benchmarks.peers import hosting

ANSWERS = "ODDSBOARD_BENCH_ANSWERS"
Send = Callable[[dict[str, Any]], Awaitable[None]]


def of_environment() -> Callable[..., Awaitable[None]]:
    """Return the application with the file that a variable names, for servers that import it."""
    return canned(Path(os.environ[ANSWERS]))


def canned(path: Path) -> Callable[..., Awaitable[None]]:
    """Return an application that sends the answers in that file."""
    answers = {name: _events(answer) for name, answer in json.loads(path.read_bytes()).items()}

    async def app(
        scope: dict[str, Any], receive: Callable[[], Awaitable[dict[str, Any]]], send: Send
    ) -> None:
        if scope["type"] == "lifespan":
            for event in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{event}.complete"})
            return
        start, body = answers[scope["path"]]
        await send(start)
        await send(body)

    return app


def _events(answer: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    headers = [(name.encode(), value.encode()) for name, value in answer["headers"].items()]
    start = {"type": "http.response.start", "status": answer["status"], "headers": headers}
    return start, {"type": "http.response.body", "body": bytes.fromhex(answer["body"])}


if __name__ == "__main__":
    given = hosting.arguments()
    run = hosting.serve_with_uvicorn if given.kind == "uvicorn" else hosting.serve_with_hypercorn
    run(canned(given.data), given.bind)
