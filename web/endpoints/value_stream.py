"""Values and their changes: `view=value` of /api/v2/stream as events, of /api/v2/changes as answers."""

from __future__ import annotations

from typing import Final

import anyio

from actors.core.errors import CommitLateError
from web.encoding.schemas import ResetReason, cursor_of
from web.encoding.segments import gzipped
from web.endpoints.event_writer import PIECE_BYTES, EventWriter
from web.endpoints.values import followed_values
from web.feeds import messages
from web.feeds.subscribers import Audience, Beside, Live, Rest
from web.feeds.value.asked import AskedValues
from web.feeds.value.changes import Changed, FollowedValues
from web.feeds.waiting.first_links import NotLinkedError
from web.protocol.moments import Since, since_of
from web.protocol.negotiation import Coding, coding_for
from web.protocol.problems import Problem
from web.protocol.query import Query
from web.protocol.responses import Asked, Prepared, prepared
from web.protocol.value_query import ValueQuery

PAUSE_S: Final = 1.0
"""Seconds between two looks at the values for a client: they also end without a commit that wakes it."""
UNKNOWN: Final = -1
"""The number of a look at the values that was never made."""


class ValueFollower:
    """A client that follows values; like all clients it has no queue, only the number of its last look."""

    def __init__(
        self,
        followed: FollowedValues,
        asked: AskedValues,
        writer: EventWriter,
        query: Query,
        request: Asked,
    ) -> None:
        self._followed, self._asked, self._writer = followed, asked, writer
        self._since = request.header(b"last-event-id") or query.last_since()
        self._pause_s = max(PAUSE_S, query.conflate_s())
        self._client = request.client
        self._number = 0

    async def follow(self) -> None:
        """Send values and heartbeats until the service ends, or until the client causes too much work."""
        writer, audience, step = self._writer, self._writer.audience, self._first
        await writer.begin()
        while not audience.is_leaving:
            rest = Rest(self._pause_s)
            try:
                await writer.write(await step())
                step = self._next
            except (CommitLateError, NotLinkedError):  # send nothing until prices can be shown
                pass
            except Problem:
                break
            try:
                while not (rest.is_over or audience.is_leaving):
                    await audience.wait(Beside.VALUES, rest)
                    await writer.write(writer.beat(self._number))
            finally:
                rest.cancel()
        await writer.end(self._number)

    async def _first(self) -> messages.Pieces:
        if self._since is None:
            return await self._snapshot()
        if (since := since_of(self._since)) is None:
            return await self._snapshot(ResetReason.MALFORMED)
        if not since.is_of(self._followed.epoch):
            return await self._snapshot(ResetReason.OTHER_EPOCH)
        self._number = since.version
        return await self._next() or self._writer.coded(messages.heartbeat(self._number))

    async def _next(self) -> messages.Pieces:
        made = await self._followed.changed(self._asked, self._number, self._client)
        if made is None:
            is_future = self._number > self._followed.newest
            return await self._snapshot(ResetReason.FUTURE if is_future else ResetReason.TOO_OLD)
        return await self._event("changes" if self._number else "snapshot", made)

    async def _snapshot(self, reason: ResetReason | None = None) -> messages.Pieces:
        made = await self._followed.changed(self._asked, 0, self._client)
        if made is None:
            raise TypeError("all values are always known")
        if reason is None:
            return await self._event("snapshot", made)
        self._writer.audience.resets[reason].inc()
        told = self._writer.coded(messages.reset(reason, made.number))
        return [*told, *await self._event("snapshot", made)]

    async def _event(self, name: str, made: Changed) -> messages.Pieces:
        self._number = made.number
        if made.is_empty:
            return []
        cursor = cursor_of(made.number, self._followed.epoch).encode()
        return await self._writer.packed(messages.event(name, [made.body], cursor))


async def changes_of_values(
    followed: FollowedValues, live: Live, query: ValueQuery, request: Asked
) -> Prepared:
    """Return the answer with the changes; it may wait for one.

    Raises: Problem 400 for an invalid parameter, 410 if the changes are not known; the errors of
    `FollowedValues.changed`.
    """
    asked, since, wait_s = await followed_values(query, live, request.client), query.since(), query.wait_s()
    number = since.version if since.is_of(followed.epoch) or not since.version else UNKNOWN
    made = await followed.changed(asked, number, request.client)
    if wait_s and made is not None and made.is_empty:
        with live.audience.admitted(request.client), anyio.move_on_after(wait_s):
            while made is not None and made.is_empty and not live.audience.is_leaving:
                await _pause(live.audience)
                made = await followed.changed(asked, number, request.client)
    if made is None:
        raise _not_available(since, followed, followed.oldest(asked))
    headers = {"Cache-Control": "no-store", "Content-Type": "application/json", "Vary": "Accept-Encoding"}
    own, body = live.answers.own, made.body
    coding = coding_for(request.header(b"accept-encoding"))
    if coding is not Coding.GZIP or len(body) < messages.MIN_GZIP_BYTES:
        return prepared(200, headers, (body,), holds=own.hold([body]))
    pieces = [body[at : at + PIECE_BYTES] for at in range(0, len(body), PIECE_BYTES)]
    packed = tuple(await own.charged(gzipped(pieces), request.client))
    headers["Content-Encoding"] = Coding.GZIP
    return prepared(200, headers, packed, holds=own.hold(packed))


async def _pause(audience: Audience) -> None:
    rest = Rest(PAUSE_S)
    try:
        while not (rest.is_over or audience.is_leaving):
            await audience.wait(Beside.VALUES, rest)
    finally:
        rest.cancel()


def _not_available(since: Since, followed: FollowedValues, oldest: int) -> Problem:
    given = str(since.version) if since.epoch is None else f"{since.version} of epoch {since.epoch}"
    why = (
        f"version {given} is not among those that changes are known since: {oldest} to {followed.newest}"
        f" of epoch {followed.epoch}; get all values with since=0"
    )
    known: dict[str, int | str] = {"oldest_version": oldest, "current_version": followed.newest}
    return Problem(410, "version_not_available", why, extra={**known, "epoch": followed.epoch})
