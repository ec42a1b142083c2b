"""The front end without a socket: its application, and requests to it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import anyio
from hypercorn.typing import ASGIFramework
from quart import Quart

from actors.alerts.recent import Recent
from actors.board.history import HistoryLimits
from actors.board.snapshot import Snapshot
from actors.board.validity import BoardRules
from actors.core.limits import Limits
from tests.support.systems.committing import Committing
from tests.support.systems.site import EPOCH, FIRST_VERSION, NAMES, site_status
from tests.support.time.virtual import ManualClock
from web.app import create_app
from web.feeds.subscribers import Audience

UNLIMITED = Limits(requests_per_s=1_000_000, burst=1_000_000)


def front_end(*given: Any, **more: Any) -> Quart:
    """Return the application as `create_app` makes it, without the parts of a listener."""
    return create_app(*given, keep_fresh=lambda _client: None, refusals="/refused/", **more)


class FilledBoard:
    """The front end on a board that the test fills, with a clock that it sets."""

    def __init__(self, max_changes: int = 1000) -> None:
        self.clock = ManualClock()
        first = Snapshot.empty(FIRST_VERSION, tuple(NAMES), EPOCH)
        rules, limits = BoardRules(expire_after_kickoff_s=3600.0), HistoryLimits(max_changes=max_changes)
        self.published = Committing(first, rules, self.clock, limits)
        self.audience = Audience(self.published.history, 10_000, 10_000)
        self.recent = Recent()
        status = site_status(NAMES, self.clock.wall)
        given = self.published, status, NAMES, self.clock, self.audience
        self.app = front_end(*given, recent=self.recent).asgi_app


class Answer(NamedTuple):
    """An answer; header names in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


async def get(app: ASGIFramework, path: str, query: str = "", **headers: str) -> Answer:
    """GET a path of the application."""
    status, found, body = 0, dict[str, str](), b""

    async def send(message: Any) -> None:
        nonlocal status, found, body
        if message["type"] == "http.response.start":
            status = message["status"]
            found = {name.decode(): value.decode() for name, value in message["headers"]}
        else:
            body += message.get("body", b"")

    sent = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    await app(asgi_scope(path, query, sent), asked(), send)  # type: ignore[arg-type]
    return Answer(status, found, body)


def asked() -> Callable[[], Awaitable[Any]]:
    """Return a function that receives for a GET: no body, and no end of the connection."""
    messages = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> Any:
        return messages.pop() if messages else await anyio.sleep_forever()

    return receive


def asgi_scope(path: str, query: str, headers: list[tuple[bytes, bytes]]) -> dict[str, Any]:
    """Return the scope that an ASGI server passes for a GET."""
    return {
        "type": "http",
        "asgi": {"spec_version": "2.1", "version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
        "state": {},
        "extensions": {},
    }
