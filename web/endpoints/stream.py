"""/api/v2/stream: the v2 list and then its changes, as Server-Sent Events.

Pure ASGI, because a Quart generator that yields without suspending blocks the loop once its client has
gone. A client has no queue, only the version that it was sent last; changes that a slow client missed are
merged. The kernel disconnects a client that reads nothing (`listener.py`). With gzip the stream is one
member, flushed at each event (`members.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import uuid4

import anyio
import anyio.lowlevel
from hypercorn.typing import ASGIFramework, ASGIReceiveCallable, ASGISendCallable, HTTPScope, Scope

from actors.core.clock import elapsed_s
from actors.core.errors import CommitLateError
from web.encoding.members import Member
from web.encoding.schemas import ResetReason
from web.feeds import messages
from web.feeds.own_bodies import Content, OwnBody
from web.feeds.subscribers import Live, Rest
from web.protocol.contract import ACCEPT_ENCODING, EVENT_STREAM, LAST_EVENT_ID, Answer, Operation
from web.protocol.moments import since_of
from web.protocol.negotiation import Coding, coding_for
from web.protocol.problems import Problem
from web.protocol.query import (
    BOOKMAKER,
    CONFLATE,
    LAST_SINCE,
    LEAGUE,
    MARKET,
    NOT_IN_CHANGES,
    VIEW,
    WEAK,
    Query,
)
from web.protocol.responses import COMMON, Asked, HttpCounters, asked, encoded, exact_path
from web.protocol.sending import ended_when_gone, send_problem
from web.server.listener import KeepFresh

PATH = "/api/v2/stream"
_ANSWERED = ("Cache-Control", "Vary", "Content-Encoding")
OPERATIONS = {
    PATH: Operation(
        "The v2 list and then its changes, as events",
        "Server-Sent Events: `snapshot` with the list, `changes`, `reset`, `heartbeat` and `bye`.",
        (Answer(200, "Events without end.", str, EVENT_STREAM, _ANSWERED),),
        (VIEW, BOOKMAKER, LEAGUE, MARKET, WEAK, LAST_SINCE, CONFLATE, LAST_EVENT_ID, ACCEPT_ENCODING),
        (
            *("invalid_view", "invalid_bookmaker", "invalid_league", "invalid_market", *NOT_IN_CHANGES),
            *("invalid_weak", "invalid_conflate_ms", "commit_late", "linking", "too_many_requests"),
            *("too_many_client_streams", "too_many_streams"),
            *("stopping", "overloaded"),
        ),
    )
}
UNKNOWN_S = 0.25  # seconds between two attempts to make the list
PIECE_BYTES = 65_536
"""The largest piece of a message: no more than this waits in memory for a slow client."""

_HEADERS = {
    "Content-Type": EVENT_STREAM,
    "Cache-Control": "no-store, no-transform",
    "X-Accel-Buffering": "no",  # otherwise nginx collects some kilobytes first
}
_GZIP_HEADERS = {"Content-Encoding": Coding.GZIP, "Vary": "Accept-Encoding"}


@dataclass(frozen=True, slots=True)
class Stream:
    """ASGI middleware: answers GET and HEAD of the stream itself."""

    app: ASGIFramework
    live: Live
    counters: HttpCounters
    keep_fresh: KeepFresh

    async def __call__(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """Serve or refuse a stream; pass on other requests."""
        if scope["type"] != "http" or not _is_ours(scope):
            await self.app(scope, receive, send)
            return
        request = asked(scope, uuid4().hex)
        try:
            follower = _Follower(self.live, send, request)
            await follower.resolve()
            with self.live.audience.admitted(request.client):
                try:
                    await self._serve(follower, request, scope, receive)
                finally:
                    self.counters.count(request, PATH, 200, follower.sent_bytes, is_timed=False)
        except Problem as problem:
            await send_problem(problem, request, PATH, self.counters, send)

    async def _serve(
        self, follower: _Follower, request: Asked, scope: HTTPScope, receive: ASGIReceiveCallable
    ) -> None:
        headers = encoded({**_HEADERS, **follower.headers, "X-Request-Id": request.id, **COMMON})
        async with ended_when_gone(receive):
            await follower.send({"type": "http.response.start", "status": 200, "headers": headers})
            if request.method == "GET":
                self.keep_fresh(scope["client"])
                await follower.follow()
            await follower.send({"type": "http.response.body", "body": b"", "more_body": False})


class _Follower:
    """A client that follows a view. Raises: Problem for an invalid request."""

    def __init__(self, live: Live, send: ASGISendCallable, request: Asked) -> None:
        query = Query(request.query)
        self.send = send
        self.sent_bytes = 0
        self._view = query.watched(live.names)
        self._every, self._live = live, live.of(self._view)
        self._audience = live.audience
        self._frames = self._live.frames(self._view)
        self._conflate_s = query.conflate_s()
        self._since = request.header(b"last-event-id") or query.last_since()
        self._coding = coding_for(request.header(b"accept-encoding")) or Coding.IDENTITY
        self._member = None if self._coding is Coding.IDENTITY else Member()
        self._client = request.client
        self._version, self._epoch = 0, ""
        self._holds: OwnBody | None = None
        """The owner of the bytes to be sent, until they are sent."""
        self._beats = live.audience.beats
        self._rest: Rest | None = None
        self._woken_s: float | None = None
        """When the change that woke this client was committed; None once it is sent."""

    async def resolve(self) -> None:
        """Resolve the requested league. Raises: Problem if no or more than one league matches."""
        self._view = await self._every.resolved(self._view, self._client)

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers of the stream's coding."""
        return {} if self._member is None else _GZIP_HEADERS

    async def follow(self) -> None:
        """Send changes and heartbeats until the service ends."""
        step = self._first
        if self._member is not None:
            await self._write([self._member.header])
        try:
            while not self._audience.is_leaving:
                try:
                    due, is_known = [*await step()], True
                    step = self._next
                except CommitLateError:  # send nothing until overdue entries are withdrawn
                    continue
                except Problem:  # fixtures are not linked yet, or single clients cause too much work
                    due, is_known = [*self._beat(self._frames.history.latest(self._view))], False
                if due:
                    await self._write(due)
                    self._holds = None
                    self._note_written()
                elif is_known:
                    self._woken_s = await self._audience.wait(self._view, self._rest)
                else:
                    await anyio.sleep(UNKNOWN_S)
        finally:
            if self._rest is not None:
                self._rest.cancel()
        await self._write(self._coded(messages.bye(self._version, self._audience.retry_ms())))
        if self._member is not None:
            await self._write([self._member.end])

    async def _first(self) -> Sequence[bytes]:
        await self._live.read(self._view)
        if self._since is None:
            return await self._snapshot()
        if (since := since_of(self._since)) is None:
            return await self._snapshot(ResetReason.MALFORMED)
        if not since.is_of(self._frames.history.epoch):
            return await self._snapshot(ResetReason.OTHER_EPOCH)
        if not self._every.is_known(since.version) and not await self._live.reached(
            self._view, since.version
        ):
            is_future = since.is_of(self._frames.history.epoch)  # False: a new epoch began meanwhile
            return await self._snapshot(ResetReason.FUTURE if is_future else ResetReason.OTHER_EPOCH)
        self._version, self._epoch = since.version, self._frames.history.epoch
        return await self._next() or self._coded(messages.heartbeat(self._version))

    async def _changes(self) -> OwnBody | None:
        """Return the message with the changes to the newest version; None to send the whole list instead.

        A client's first message counts as its own work; followers share the later messages.
        """
        client, self._client = self._client, None
        try:
            last = None if self._member is None else self._member.last
            return await self._frames.changes(self._view, self._version, client, last)
        except Problem:  # too much work; the whole list is shared by all clients
            return None

    async def _next(self) -> Sequence[bytes]:
        snapshot = await self._live.read(self._view)  # withdraws overdue entries
        latest = self._frames.history.latest(self._view)
        if latest > self._version and (self._rest is None or self._rest.is_over):
            made = await self._changes()
            if not self._live.is_valid(self._view, snapshot):  # a deadline passed meanwhile
                return await self._next()
            if made is not None and made.is_empty:  # no change in its league
                self._version = made.version
                return await self._next()
            if made is None:
                is_same = self._epoch == self._frames.history.epoch
                return await self._snapshot(ResetReason.TOO_OLD if is_same else ResetReason.OTHER_EPOCH)
            self._holds = made
            self._audience.conflated.inc(made.is_merged)
            self._rest = Rest(self._conflate_s) if self._conflate_s else None
            return self._take(made)
        return self._beat(self._version)

    def _beat(self, version: int) -> Sequence[bytes]:
        """Return a heartbeat if it is due."""
        if self._beats == self._audience.beats:
            return []
        self._beats = self._audience.beats
        return self._coded(messages.heartbeat(version))

    async def _snapshot(self, reset_reason: ResetReason | None = None) -> Sequence[bytes]:
        made = await self._frames.snapshot(self._view, self._coding, self._client)
        if reset_reason is None:
            return self._take(made)
        self._audience.resets[reset_reason].inc()
        return [*self._coded(messages.reset(reset_reason, made.version)), *self._take(made)]

    def _take(self, made: Content | OwnBody) -> Sequence[bytes]:
        """Return the parts of the next message, and note the version that the client then has."""
        self._version, self._epoch = made.version, self._frames.history.epoch
        if self._member is not None and made.text is not None:
            self._member.follow(made.text)
        return made.parts

    def _coded(self, pieces: messages.Pieces) -> messages.Pieces:
        return pieces if self._member is None else [self._member.block(b"".join(pieces))]

    def _note_written(self) -> None:
        if self._woken_s is not None:
            self._audience.commit_to_wire.observe(elapsed_s() - self._woken_s)
            self._woken_s = None

    async def _write(self, pieces: messages.Pieces) -> None:
        """Send the pieces; drop each once it is sent."""
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
    return scope["method"] in {"GET", "HEAD"} and exact_path(scope) == PATH
