"""The alerts that fired lately and then each later one, as events: `view=alerts` of /api/v2/stream."""

from __future__ import annotations

from actors.alerts.recent import Recent
from web.encoding.schemas import ResetReason, cursor_of
from web.endpoints.alerts import encoded_list, missed
from web.endpoints.event_writer import EventWriter
from web.feeds import messages
from web.feeds.subscribers import Beside, Rest
from web.protocol.moments import since_of
from web.protocol.query import Query
from web.protocol.responses import Asked


class AlertFollower:
    """A client that follows alerts; like all clients it has no queue, only the number of its last alert.

    Raises: Problem 400 for an invalid parameter.
    """

    def __init__(self, recent: Recent, writer: EventWriter, query: Query, request: Asked) -> None:
        self._recent, self._writer = recent, writer
        self._since = request.header(b"last-event-id") or query.last_since()
        self._conflate_s = query.conflate_s()
        self._rest: Rest | None = None
        self._number = 0

    async def follow(self) -> None:
        """Send alerts and heartbeats until the service ends."""
        writer, audience = self._writer, self._writer.audience
        await writer.begin()
        due = await self._first()
        try:
            while not audience.is_leaving:
                if due:
                    await writer.write(due)
                else:
                    await audience.wait(Beside.ALERTS, self._rest)
                due = await self._next()
        finally:
            if self._rest is not None:
                self._rest.cancel()
        await writer.end(self._number)

    async def _first(self) -> messages.Pieces:
        if self._since is None:
            return await self._snapshot()
        if (since := since_of(self._since)) is None:
            return await self._snapshot(ResetReason.MALFORMED)
        if (reason := missed(self._recent, since)) is not None:
            return await self._snapshot(reason)
        self._number = since.version
        return await self._next() or self._writer.coded(messages.heartbeat(self._number))

    async def _next(self) -> messages.Pieces:
        if self._recent.newest == self._number or not (self._rest is None or self._rest.is_over):
            return self._writer.beat(self._number)
        if self._number + 1 < self._recent.oldest:
            return await self._snapshot(ResetReason.TOO_OLD)
        self._rest = Rest(self._conflate_s) if self._conflate_s else None
        return await self._listed("changes", self._number, is_complete=True)

    async def _snapshot(self, reason: ResetReason | None = None) -> messages.Pieces:
        oldest, newest = self._recent.oldest, self._recent.newest
        if reason is None:
            return await self._listed("snapshot", 0, is_complete=oldest == 1)
        self._writer.audience.resets[reason].inc()
        told = self._writer.coded(messages.reset(reason, newest))
        return [*told, *await self._listed("snapshot", 0, is_complete=False)]

    async def _listed(self, name: str, number: int, *, is_complete: bool) -> messages.Pieces:
        """Return the message with the alerts after a number, and note the newest."""
        body = encoded_list(self._recent, number, is_complete=is_complete)
        self._number = self._recent.newest
        cursor = cursor_of(self._number, self._recent.epoch).encode()
        return await self._writer.packed(messages.event(name, [body], cursor))
