"""Delivers a stream's batches, and requests a new image from the server while the board lacks the list."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

import anyio

from actors.core.clock import Instant
from actors.core.messages import Batch
from actors.pipeline.context import SourceContext
from actors.pipeline.stream_feed import REFRESH_SCOPE, SCOPE, WITHDRAWAL_SCOPE, StreamFeed
from actors.source_api.stream import StreamOptions

# Wait for a requested image to reach the board, before the next request; doubled each time.
FIRST_WAIT_S, LONGEST_WAIT_S = 5.0, 300.0
LACKING_S = 60.0  # seconds between two requests for an image because of one match


class StreamDelivery:
    """The delivery of a source. Hold `lock` from a call of the feed until its batches are delivered."""

    def __init__(self, context: SourceContext[StreamOptions], feed: StreamFeed) -> None:
        self.lock = anyio.Lock(fast_acquire=True)
        self._context = context
        self.feed = feed
        self.is_image_requested = False  # the next `lines_to_send` requests it
        self._image_mono = 0.0
        self._wait_s = FIRST_WAIT_S
        self._lacking_mono: dict[str, float] = {}  # time of the last request for an image, by match

    def request_lacking(self, matches: Iterable[str], now: Instant) -> None:
        """Request an image for matches that only an image can complete."""
        since = now.mono - LACKING_S
        if new := [match for match in matches if self._lacking_mono.get(match, -inf) <= since]:
            self._lacking_mono = {match: at for match, at in self._lacking_mono.items() if at > since}
            self._lacking_mono |= dict.fromkeys(new, now.mono)
            self.is_image_requested = True

    def deliver(self, batches: Iterable[Batch]) -> None:
        """Put the batches into the inboxes of their bookmakers."""
        for batch in batches:
            if batch.complete:
                self.is_image_requested = False
                self._image_mono = batch.received_mono
            self._context.inboxes[batch.bookmaker].put_nowait(batch)

    def lines_to_send(self, now: Instant) -> tuple[bytes, ...]:
        """Return the lines that ask for an image, if one is requested or the board lacks the list."""
        is_missing = self._is_missing(now)
        if not (self.is_image_requested or is_missing):
            return ()
        if lines := self.feed.session.refresh().send:
            if is_missing:
                self._wait_s = min(2 * self._wait_s, LONGEST_WAIT_S)
            self.is_image_requested = False
            self._image_mono = now.mono
            self._context.record_payload(REFRESH_SCOPE, now)
        return lines

    async def handle_refreshes(self) -> None:
        """Run for ever: when a bookmaker has lost a part of the list, withdraw it and request an image."""
        while True:
            await self._context.refresh.wait()
            self._context.refresh.clear()
            async with self.lock:
                self.is_image_requested = True
                now = self._context.clock.now()
                self._context.record_payload(WITHDRAWAL_SCOPE, now)
                self.deliver(self.feed.withdraw(now))

    def _is_missing(self, now: Instant) -> bool:
        """Return whether the board has lacked the list for longer than an image may take."""
        if now.mono - self._image_mono < self._wait_s or self.feed.is_too_late:
            return False
        list_id = self.feed.list_id
        if list_id is None or not all(
            self._context.holds(bookmaker, SCOPE, list_id) for bookmaker in self._context.inboxes
        ):
            return True
        self._wait_s = FIRST_WAIT_S
        return False
