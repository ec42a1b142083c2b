"""Ends requests whose clients have left or read nothing; checks each second.

A server notices that a client has left when it reads from it. It does not read while a second request of
the same client waits behind the first. A server also waits for ever for a client that reads nothing, unless
the kernel disconnects that client (`listener.py`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import anyio
from hypercorn.typing import (
    ASGIFramework,
    ASGIReceiveCallable,
    ASGIReceiveEvent,
    ASGISendCallable,
    ASGISendEvent,
    Scope,
)

from web.server.connections import Connection
from web.server.listener import Client

Find = Callable[[Client], Connection | None]

LOOK_S = 1.0
SEND_LIMIT_S = 15.0
"""Seconds that one `send` may take, unless the client reads steadily."""


@dataclass(eq=False)
class _Request:
    """A request to the application; `receive` returns `http.disconnect` once its client is given up."""

    connection: Connection | None
    from_client: ASGIReceiveCallable
    to_client: ASGISendCallable
    is_given_up: bool = False
    sending_since: float | None = None
    receiving: anyio.CancelScope | None = None

    async def receive(self) -> ASGIReceiveEvent:
        with anyio.CancelScope() as self.receiving:
            if not self.is_given_up:
                return await self.from_client()
        return {"type": "http.disconnect"}

    async def send(self, event: ASGISendEvent) -> None:
        self.sending_since = asyncio.get_running_loop().time()
        await self.to_client(event)
        self.sending_since = None

    def look(self, now: float) -> None:
        is_late = self.sending_since is not None and now - self.sending_since > SEND_LIMIT_S
        takes_nothing = is_late and not (self.connection is not None and self.connection.is_steady)
        if takes_nothing and self.connection is not None:
            self.connection.end()
        if takes_nothing or (self.connection is not None and self.connection.is_gone()):
            self.is_given_up = True
            if self.receiving is not None:
                self.receiving.cancel()


class Watch:
    """Wraps applications so that their requests are checked; `find` returns a client's connection."""

    def __init__(self, find: Find) -> None:
        self._find = find
        self._requests: set[_Request] = set()
        self._timer: asyncio.TimerHandle | None = None

    def around(self, app: ASGIFramework) -> ASGIFramework:
        """Return `app`, wrapped; `app` must end a request at `http.disconnect`."""

        async def watched(scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
            if scope["type"] != "http":
                await app(scope, receive, send)
                return
            request = _Request(self._find(scope["client"]), receive, send)
            request.look(0.0)  # the client may have left during an earlier request
            self._requests.add(request)
            if self._timer is None:
                self._timer = asyncio.get_running_loop().call_later(LOOK_S, self._look)
            try:
                await app(scope, request.receive, request.send)
            finally:
                self._requests.discard(request)

        return watched

    def _look(self) -> None:
        loop = asyncio.get_running_loop()
        for request in self._requests:
            request.look(loop.time())
        self._timer = loop.call_later(LOOK_S, self._look) if self._requests else None
