"""The actor of a computed source: steps its machine by the clock and delivers the changes.

Each image is a new list with a new id; a bookmaker that has lost its list gets another image.
"""

from __future__ import annotations

import anyio
import msgspec

from actors.core.clock import Instant
from actors.core.cooperative import run_sliced
from actors.core.errors import SourceError
from actors.core.messages import BookmakerId, Document, ListId
from actors.monitoring.transitions import ended, failed, succeeded
from actors.pipeline.context import SourceContext, redact
from actors.pipeline.fanout import batch_of
from actors.source_api.kinds import Machine, TickingKind
from actors.source_api.options import SourceOptions, secrets_of

# Wait for an image to reach the board, before the next is sent. Doubled each time, up to a third of
# `stale_after_s`: an overloaded computer must not get more images.
FIRST_WAIT_S = 3.0


class TickingSourceActor:
    """A computed source."""

    def __init__(self, kind: TickingKind, context: SourceContext[SourceOptions]) -> None:
        self._kind = kind
        self._context = context
        self._status = context.status
        self._lists: dict[BookmakerId, ListId] = {}
        self._image_mono: dict[BookmakerId, float] = {}
        self._wait_s: dict[BookmakerId, float] = {}
        self._log = context.logger()

    async def run(self) -> None:
        """Tick for ever: deliver an image first, then changes."""
        now = self._context.clock.now()
        machine = self._kind.start(self._context.options, tuple(self._context.keys.values()), now)
        await self._tick(machine, now)
        while True:
            await anyio.sleep(machine.interval_s)
            await self._tick(machine, self._context.clock.now())

    async def _tick(self, machine: Machine, now: Instant) -> None:
        try:
            with self._context.attempt(machine.scope):
                changes = await run_sliced(machine.advance(now))
        except SourceError as error:
            self._status.attempts.inc()
            redact(error, secrets_of(self._context.options))
            failed(self._status, error, now, self._log)
            return
        if self._context.refresh.is_set():
            self._context.refresh.clear()
            self._lists.clear()
            self._wait_s.clear()
        needing = [name for name in self._context.inboxes if self._needs_image(name, machine, now)]
        image = machine.image() if needing else {}
        tick = ListId(f"{self._status.name}-{now.wall:.6f}")
        batches = []
        for bookmaker, key in self._context.keys.items():
            is_image = bookmaker in needing
            if (extract := (image if is_image else changes).get(key)) is None:
                continue
            if is_image:
                self._lists[bookmaker] = tick
                self._image_mono[bookmaker] = now.mono
            listed, stale_after_s = self._lists[bookmaker], self._context.options.staleness_s
            origin = Document(machine.scope, listed, None, now.wall, now.mono, stale_after_s)
            batches.append(batch_of(bookmaker, origin, extract, complete=is_image, is_image=is_image))
        if self._context.record is not None:
            self._context.record_payload(machine.scope, now, msgspec.json.encode(batches), tick)
        for batch in batches:
            self._context.inboxes[batch.bookmaker].put_nowait(batch)
        self._status.attempts.inc()
        self._status.payloads.inc()
        succeeded(self._status, now, self._log)
        if getattr(machine, "is_over", False) is True:
            ended(self._status, now, self._log)

    def _needs_image(self, bookmaker: BookmakerId, machine: Machine, now: Instant) -> bool:
        """Return whether the board lacks the bookmaker's list, and no image is on its way."""
        list_id, wait_s = self._lists.get(bookmaker), self._wait_s.get(bookmaker, 0.0)
        if list_id is not None:
            if self._context.holds(bookmaker, machine.scope, list_id):
                self._wait_s[bookmaker] = 0.0
                return False
            if now.mono - self._image_mono[bookmaker] < wait_s:
                return False
        longest_s = self._context.options.staleness_s / 3
        self._wait_s[bookmaker] = min(max(2 * wait_s, FIRST_WAIT_S), longest_s)
        return True
