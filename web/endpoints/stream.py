"""/api/v2/stream: the v2 list and then its changes, as Server-Sent Events.

A client has no queue, only the version that it was sent last; changes that a slow client missed are merged.
The kernel disconnects a client that reads nothing (`listener.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from uuid import uuid4

import anyio
from hypercorn.typing import ASGIFramework, ASGIReceiveCallable, ASGISendCallable, HTTPScope, Scope

from actors.alerts.recent import Recent
from actors.core.errors import CommitLateError
from web.encoding.schemas import ResetReason
from web.endpoints.alert_stream import AlertFollower
from web.endpoints.event_writer import EventWriter
from web.endpoints.value_stream import ValueFollower
from web.endpoints.values import followed_values
from web.feeds import messages
from web.feeds.own_bodies import Content, OwnBody
from web.feeds.subscribers import Beside, Live, Rest
from web.feeds.value.changes import FollowedValues
from web.protocol.contract import ACCEPT_ENCODING, EVENT_STREAM, LAST_EVENT_ID, Answer, Operation
from web.protocol.moments import since_of
from web.protocol.problems import Problem
from web.protocol.query import (
    BOOKMAKER,
    CONFLATE,
    LAST_SINCE,
    LEAGUE,
    MARKET,
    NOT_IN_CHANGES,
    VIEW_OF_STREAM,
    WEAK,
    Query,
)
from web.protocol.responses import COMMON, Asked, HttpCounters, asked, encoded, exact_path
from web.protocol.sending import ended_when_gone, send_problem
from web.protocol.value_query import DOUBTED, OF_VALUES, ValueQuery
from web.server.listener import KeepFresh

PATH = "/api/v2/stream"
_ANSWERED = ("Cache-Control", "Vary", "Content-Encoding")
OPERATIONS = {
    PATH: Operation(
        "The v2 list and then its changes, as events",
        "Server-Sent Events: `snapshot` with the list, `changes`, `reset`, `heartbeat` and `bye`. With"
        " `view=alerts` a list is the body of /api/v2/alerts, with `view=value` that of /api/v2/changes.",
        (Answer(200, "Events without end.", str, EVENT_STREAM, _ANSWERED),),
        (
            *(VIEW_OF_STREAM, BOOKMAKER, LEAGUE, MARKET, WEAK, *OF_VALUES, DOUBTED, LAST_SINCE, CONFLATE),
            *(LAST_EVENT_ID, ACCEPT_ENCODING),
        ),
        (
            *("invalid_view", "invalid_bookmaker", "invalid_league", "invalid_market", *NOT_IN_CHANGES),
            *("invalid_min_ev", "invalid_reference"),
            *("invalid_weak", "invalid_conflate_ms", "commit_late", "linking", "too_many_requests"),
            *("too_many_client_streams", "too_many_streams"),
            *("stopping", "overloaded"),
        ),
    )
}
UNKNOWN_S = 0.25  # seconds between two attempts to make the list

_HEADERS = {
    "Content-Type": EVENT_STREAM,
    "Cache-Control": "no-store, no-transform",
    "X-Accel-Buffering": "no",  # otherwise nginx collects some kilobytes first
}


@dataclass(frozen=True, slots=True)
class Stream:
    """ASGI middleware: answers GET and HEAD of the stream itself."""

    app: ASGIFramework
    live: Live
    recent: Recent
    values: FollowedValues
    counters: HttpCounters
    keep_fresh: KeepFresh

    def __post_init__(self) -> None:
        self.recent.follow(partial(self.live.audience.wake, Beside.ALERTS))

    async def __call__(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """Serve or refuse a stream; pass on other requests."""
        if scope["type"] != "http" or not _is_ours(scope):
            await self.app(scope, receive, send)
            return
        request = asked(scope, uuid4().hex)
        writer = EventWriter(send, request, self.live.audience)
        try:
            follower = await self._follower(writer, ValueQuery(request.query), request)
            with self.live.audience.admitted(request.client):
                try:
                    await self._serve(writer, follower, request, scope, receive)
                finally:
                    self.counters.count(request, PATH, 200, writer.sent_bytes, is_timed=False)
        except Problem as problem:
            await send_problem(problem, request, PATH, self.counters, send)

    async def _follower(
        self, writer: EventWriter, query: ValueQuery, request: Asked
    ) -> _Follower | AlertFollower | ValueFollower:
        if query.watches_values():
            asked = await followed_values(query, self.live, request.client)
            return ValueFollower(self.values, asked, writer, query, request)
        if query.watches_alerts():
            return AlertFollower(self.recent, writer, query, request)
        follower = _Follower(self.live, writer, query, request)
        await follower.resolve()
        return follower

    async def _serve(
        self,
        writer: EventWriter,
        follower: _Follower | AlertFollower | ValueFollower,
        request: Asked,
        scope: HTTPScope,
        receive: ASGIReceiveCallable,
    ) -> None:
        headers = encoded({**_HEADERS, **writer.headers, "X-Request-Id": request.id, **COMMON})
        async with ended_when_gone(receive):
            await writer.send({"type": "http.response.start", "status": 200, "headers": headers})
            if request.method == "GET":
                self.keep_fresh(scope["client"])
                await follower.follow()
            await writer.send({"type": "http.response.body", "body": b"", "more_body": False})


class _Follower:
    """A client that follows a view. Raises: Problem for an invalid request."""

    def __init__(self, live: Live, writer: EventWriter, query: Query, request: Asked) -> None:
        self._writer = writer
        self._view = query.watched(live.names, VIEW_OF_STREAM)
        self._every, self._live = live, live.of(self._view)
        self._audience = live.audience
        self._frames = self._live.frames(self._view)
        self._conflate_s = query.conflate_s()
        self._since = request.header(b"last-event-id") or query.last_since()
        self._client = request.client
        self._version, self._epoch = 0, ""
        self._holds: OwnBody | None = None
        """The owner of the bytes to be sent, until they are sent."""
        self._rest: Rest | None = None
        self._woken_s: float | None = None
        """When the change that woke this client was committed; None once it is sent."""

    async def resolve(self) -> None:
        """Resolve the requested league. Raises: Problem if no or more than one league matches."""
        self._view = await self._every.resolved(self._view, self._client)

    async def follow(self) -> None:
        """Send changes and heartbeats until the service ends."""
        step = self._first
        await self._writer.begin()
        try:
            while not self._audience.is_leaving:
                try:
                    due, is_known = [*await step()], True
                    step = self._next
                except CommitLateError:  # send nothing until overdue entries are withdrawn
                    continue
                except Problem:  # fixtures are not linked yet, or single clients cause too much work
                    due, is_known = self._writer.beat(self._frames.history.latest(self._view)), False
                if due:
                    await self._writer.write(due)
                    self._holds = None
                    self._note_written()
                elif is_known:
                    self._woken_s = await self._audience.wait(self._view, self._rest)
                else:
                    await anyio.sleep(UNKNOWN_S)
        finally:
            if self._rest is not None:
                self._rest.cancel()
        await self._writer.end(self._version)

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
            is_future = since.is_of(self._frames.history.epoch)  # False if a new epoch began meanwhile
            return await self._snapshot(ResetReason.FUTURE if is_future else ResetReason.OTHER_EPOCH)
        self._version, self._epoch = since.version, self._frames.history.epoch
        return await self._next() or self._writer.coded(messages.heartbeat(self._version))

    async def _changes(self) -> OwnBody | None:
        """Return the message with the changes to the newest version; None to send the whole list instead.

        A client's first message counts as its own work; followers share the later messages.
        """
        client, self._client = self._client, None
        try:
            return await self._frames.changes(self._view, self._version, client, self._writer.last)
        except Problem:  # single clients cause too much work: send the whole list, which all clients share
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
        return self._writer.beat(self._version)

    async def _snapshot(self, reset_reason: ResetReason | None = None) -> Sequence[bytes]:
        made = await self._frames.snapshot(self._view, self._writer.coding, self._client)
        if reset_reason is None:
            return self._take(made)
        self._audience.resets[reset_reason].inc()
        return [*self._writer.coded(messages.reset(reset_reason, made.version)), *self._take(made)]

    def _take(self, made: Content | OwnBody) -> Sequence[bytes]:
        """Return the parts of the next message, and note the version that the client then has."""
        self._version, self._epoch = made.version, self._frames.history.epoch
        self._writer.follow(made.text)
        return made.parts

    def _note_written(self) -> None:
        if self._woken_s is not None:
            self._audience.note_sent(self._woken_s)
            self._woken_s = None


def _is_ours(scope: HTTPScope) -> bool:
    return scope["method"] in {"GET", "HEAD"} and exact_path(scope) == PATH
