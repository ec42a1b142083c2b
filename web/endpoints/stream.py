"""/api/v2/stream: the v2 list and then its changes, as Server-Sent Events.

Pure ASGI in front of Quart. An event costs a client as much either way (40 us, all of it the
server's); but here nothing yields, where a generator behind Quart that yields without suspending
holds the whole loop once its client has gone. What is no stream is handed on, and so is what has to
be refused: then the route behind raises the problem. A client has no queue, only the version that it
was sent last; what it missed while it was slow is merged. Whoever takes nothing at all is cut by the
kernel (`listener.py`).
"""

from __future__ import annotations

from uuid import uuid4

import anyio
import anyio.lowlevel
import structlog
from hypercorn.typing import ASGIFramework, ASGIReceiveCallable, ASGISendCallable, HTTPScope, Scope
from quart import Blueprint, Response, request

from actors.core.clock import elapsed_s
from actors.core.messages import BookmakerId
from web.feeds import events
from web.feeds.subscribers import Live, Rest
from web.protocol.middleware import HttpCounters
from web.protocol.problems import Problem
from web.protocol.query import Query, since_of
from web.protocol.responses import CORS
from web.server.listener import KeepFresh

log = structlog.get_logger()

PATH = "/api/v2/stream"
FILTERS = ("bookmaker", "since", "conflate_ms")
PIECE_BYTES = 65_536
"""A long event goes out in pieces, so that no more than this waits in memory for a slow client."""

_HEADERS = {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-store, no-transform",
    "X-Accel-Buffering": "no",  # nginx would wait until it has some kilobytes
}
_PROBLEM = "oddsboard.problem"


def blueprint() -> Blueprint:
    """Return the route behind the stream: it says why one is refused."""
    routes = Blueprint("stream", __name__)

    @routes.get(PATH)
    async def stream() -> Response:
        raise request.scope["extensions"][_PROBLEM]["problem"]

    return routes


class Stream:
    """An ASGI application around another one: serves the stream itself."""

    def __init__(
        self, app: ASGIFramework, live: Live, counters: HttpCounters, keep_fresh: KeepFresh
    ) -> None:
        self._app = app
        self._keep_fresh = keep_fresh
        self._live = live
        self._counters = counters

    async def __call__(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """Serve a GET of the stream, hand on the rest."""
        if scope["type"] != "http" or not _is_ours(scope):
            await self._app(scope, receive, send)
            return
        try:
            follower = self._follower(scope, send)
            with self._live.audience.admitted():
                await self._serve(follower, scope, receive)
        except Problem as problem:
            extensions = {**(scope.get("extensions") or {}), _PROBLEM: {"problem": problem}}
            await self._app({**scope, "extensions": extensions}, receive, send)

    def _follower(self, scope: HTTPScope, send: ASGISendCallable) -> _Follower:
        query = Query(scope["query_string"])
        view, conflate_s = query.bookmaker(self._live.names), query.conflate_s()
        follower = _Follower(self._live, send, view, conflate_s)
        follower.since = _last_event_id(scope) or query.last_since()
        return follower

    async def _serve(self, follower: _Follower, scope: HTTPScope, receive: ASGIReceiveCallable) -> None:
        began, request_id = elapsed_s(), uuid4().hex
        headers = {**_HEADERS, "X-Request-Id": request_id, **CORS}
        encoded = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_until_gone, receive, tasks.cancel_scope)
                await follower.send({"type": "http.response.start", "status": 200, "headers": encoded})
                if scope["method"] == "GET":
                    self._keep_fresh(scope["client"])
                    await follower.follow()
                await follower.send({"type": "http.response.body", "body": b"", "more_body": False})
                tasks.cancel_scope.cancel()
        finally:
            self._counters.count(PATH, 200, follower.sent_bytes)
            log.debug(
                "request.served",
                request_id=request_id,
                method=scope["method"],
                path=scope["path"],
                status=200,
                body_bytes=follower.sent_bytes,
                took_ms=round((elapsed_s() - began) * 1e3, 3),
            )


class _Follower:
    """One client of one view. `since` is what it has, as it wrote it."""

    def __init__(
        self, live: Live, send: ASGISendCallable, view: BookmakerId | None, conflate_s: float
    ) -> None:
        self.send = send
        self.since: str | None = None
        self.sent_bytes = 0
        self._live = live
        self._audience = live.audience
        self._view = view
        self._conflate_s = conflate_s
        self._version = 0
        self._beats = live.audience.beats
        self._rest: Rest | None = None

    async def follow(self) -> None:
        """Send what is new, now and whenever there is anything, until the service ends."""
        due = [*await self._first()]
        try:
            while not self._audience.is_leaving:
                await self._write(due)
                if not (due := [*await self._next()]):
                    await self._audience.wait(self._view, self._rest)
        finally:
            if self._rest is not None:
                self._rest.cancel()
        await self._write(events.bye(self._version, self._audience.retry_ms()))

    async def _first(self) -> events.Pieces:
        newest = (await self._live.board.read()).version
        if self.since is None:
            return await self._snapshot()
        if (since := since_of(self.since)) is None:
            return await self._reset("malformed")
        if not since.is_of(self._live.history.epoch):
            return await self._reset("other_epoch")
        if since.version > newest:
            return await self._reset("future")
        self._version = since.version
        return await self._next() or events.heartbeat(self._version)

    async def _next(self) -> events.Pieces:
        snapshot = await self._live.board.read()  # withdraws what is overdue
        latest = self._live.history.latest(self._view)
        if latest > self._version and (self._rest is None or self._rest.is_over):
            told = await self._live.frames.changes(self._view, self._version)
            if not self._live.board.is_valid(snapshot):  # something fell due while it was made
                return await self._next()
            if told is None:
                return await self._reset("too_old")
            self._version, event = told
            if self._conflate_s:
                self._rest = Rest(self._conflate_s)
            return event
        if self._beats != self._audience.beats:
            self._beats = self._audience.beats
            return events.heartbeat(self._version)
        return []

    async def _snapshot(self) -> events.Pieces:
        self._version, pieces = await self._live.frames.snapshot(self._view)
        return pieces

    async def _reset(self, reason: str) -> events.Pieces:
        pieces = await self._snapshot()
        return [*events.reset(reason, self._version), *pieces]

    async def _write(self, pieces: events.Pieces) -> None:
        """Send the pieces, and let go of each once it is sent."""
        pieces.reverse()
        while pieces:
            long = pieces.pop()
            for at in range(0, len(long), PIECE_BYTES):
                piece = long[at : at + PIECE_BYTES]
                self.sent_bytes += len(piece)
                await self.send({"type": "http.response.body", "body": piece, "more_body": True})
                if pieces or at + PIECE_BYTES < len(long):
                    await anyio.lowlevel.checkpoint()


def _is_ours(scope: HTTPScope) -> bool:
    """Return whether it is a GET or HEAD of exactly this path, as the router would read it."""
    return (
        scope["path"] == PATH
        and scope["method"] in {"GET", "HEAD"}
        and b"%2f" not in scope["raw_path"].lower()
    )


def _last_event_id(scope: HTTPScope) -> str | None:
    lines = [value for name, value in scope["headers"] if name == b"last-event-id"]
    return b", ".join(lines).decode("latin-1") or None


async def _until_gone(receive: ASGIReceiveCallable, scope: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()
