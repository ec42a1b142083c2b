"""The way of a stream's batches to its bookmakers, and back: whether the list got there.

Owned by the stream's actor. A bookmaker that has lost the list, or a part of it, gets a fresh image
from the server, never one from memory; until then the list is withdrawn.
"""

from __future__ import annotations

from collections.abc import Iterable

import anyio

from actors.core.clock import Instant
from actors.core.messages import Batch, ListId, Payload, Scope
from actors.pipeline.context import SourceContext
from actors.pipeline.stream_feed import DISTRUST_SCOPE, REFRESH_SCOPE, SCOPE, StreamFeed
from actors.source_api.stream import StreamOptions

PATIENCE_S, LONGEST_PATIENCE_S = 5.0, 300.0
"""Seconds an image may be under way to the board before another one is asked for."""


class StreamOutlet:
    """One source's outlet; whoever tells the feed anything does so `in_turn`."""

    def __init__(self, context: SourceContext[StreamOptions], feed: StreamFeed) -> None:
        self.in_turn = anyio.Lock(
            fast_acquire=True
        )  # a line may be taken in slices, and is recorded before what follows
        self._context = context
        self._feed = feed
        self._wants_image = False
        self._asked_mono = 0.0
        self._patience_s = PATIENCE_S

    def hand_out(self, batches: Iterable[Batch]) -> None:
        """Return the bookmakers what they are addressed to."""
        for batch in batches:
            if batch.complete:
                self._wants_image = False
                self._asked_mono = batch.received_mono
            self._context.inboxes[batch.bookmaker].put_nowait(batch)

    def want_image(self) -> None:
        """See to it that an image is asked for."""
        self._wants_image = True

    def request(self, now: Instant) -> tuple[bytes, ...]:
        """Return the lines that ask for an image when one is wanted, or the list is not on the board."""
        is_missing = self._is_missing(now)
        if not (self._wants_image or is_missing):
            return ()
        if sent := self._feed.session.refresh().send:
            if is_missing:
                self._patience_s = min(2 * self._patience_s, LONGEST_PATIENCE_S)
            self._wants_image = False
            self._asked_mono = now.mono
            self.record(REFRESH_SCOPE, b"", now)
        return sent

    async def heed_requests(self) -> None:
        """When somebody has lost a part of the list, take it back at once; runs for ever."""
        while True:
            await self._context.refresh.wait()
            self._context.refresh.clear()
            async with self.in_turn:
                self._wants_image = True
                now = self._context.clock.now()
                self.record(DISTRUST_SCOPE, b"", now)
                self.hand_out(self._feed.distrust(now))

    def record(self, scope: Scope, body: bytes, now: Instant) -> None:
        """Keep what came, or what was done, where somebody records it."""
        if self._context.is_recorded:
            self._context.record(
                Payload(
                    source=self._context.status.name,
                    scope=scope,
                    list_id=ListId(""),
                    body=body,
                    received_at=now.wall,
                    received_mono=now.mono,
                    stale_after_s=self._context.options.staleness_s,
                )
            )

    def _is_missing(self, now: Instant) -> bool:
        """Return whether the list is overdue on the board."""
        if now.mono - self._asked_mono < self._patience_s:
            return False
        published, list_id = self._context.published, self._feed.list_id
        is_held = all(published.holds(one, SCOPE, list_id) for one in self._context.inboxes)
        if self._feed.is_given and is_held:
            self._patience_s = PATIENCE_S
            return False
        return True
