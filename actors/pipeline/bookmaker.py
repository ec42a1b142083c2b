"""The bookmaker actor: one bookmaker's part of each document becomes a batch on the bus.

Between its source, which offers documents, and the aggregator. It extracts, lets the integrity gate
judge, publishes, and keeps the bookmaker's record. Its crash is this bookmaker's alone: its inbox
outlives it, and a fresh instance asks the source for a fresh list.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import anyio
import structlog

from actors.core.clock import Clock
from actors.core.cooperative import Sliced, run_sliced
from actors.core.errors import PayloadError
from actors.core.messages import Batch, Document, Extract, Scope
from actors.core.validation import Bounds, admit, clean_name
from actors.monitoring.status import BookmakerStatus
from actors.pipeline.fanout import complete_batch
from actors.runtime.bus import Bus
from actors.runtime.conflation import Inbox
from actors.runtime.poison import PoisonGuard

log = structlog.get_logger()


class BookmakerActor:
    """One bookmaker. `extract(content)` reads its part of a document, raising PayloadError."""

    def __init__(
        self,
        *,
        status: BookmakerStatus,
        inbox: Inbox,
        bus: Bus,
        extract: Callable[[object], Sliced[Extract]],
        bounds: Bounds,
        refresh: asyncio.Event,
        poison_guard: PoisonGuard,
        clock: Clock,
    ) -> None:
        self._status = status
        self._inbox = inbox
        self._bus = bus
        self._extract = extract
        self._bounds = bounds
        self._refresh = refresh
        self._poison_guard = poison_guard
        self._clock = clock
        self._log = log.bind(actor=status.actor.name, bookmaker=status.id)

    async def run(self) -> None:
        """Publish a batch for every delivery; waits for deliveries only, and gives way in between."""
        self._recover()
        while True:
            delivery = await self._inbox.get()
            if self._poison_guard.begin(delivery.list_id):
                try:
                    await self._deliver(delivery)
                except anyio.get_cancelled_exc_class():
                    self._poison_guard.end()  # it did not die of this list
                    raise
            else:
                self._fail(
                    delivery.scope, f"set aside: list {delivery.list_id} has crashed this actor twice"
                )
            self._poison_guard.end()
            self._inbox.ack_all()

    def _recover(self) -> None:
        """Begin where the last instance ended: ask for a fresh list, for something of the old is lost.

        What is still pending and builds on the list in hand must not vouch for it: a change is missing.
        """
        self._poison_guard.recover()
        lost = self._inbox.in_flight
        self._inbox.ack_all()
        if lost is not None:
            self._inbox.discard(
                lambda item: isinstance(item, Batch) and not item.complete and item.list_id == lost.list_id
            )
        self._refresh.set()

    async def _deliver(self, delivery: Document | Batch) -> None:
        try:
            batch = delivery if isinstance(delivery, Batch) else await self._extracted(delivery)
        except PayloadError as error:
            self._fail(delivery.scope, str(error))
            return
        admission = await run_sliced(admit(batch, self._bounds))
        self._status.rejected.update(admission.rejected)
        self._bus.publish(admission.batch)
        self._succeed(delivery.scope)

    async def _extracted(self, document: Document) -> Batch:
        extract = await run_sliced(self._extract(document.content))
        batch = complete_batch(self._status.id, document, extract)
        self._status.rejected.update(extract.passed_over)
        self._status.learn_name(clean_name(extract.title or ""))
        return batch

    def _fail(self, scope: Scope, error: str) -> None:
        if scope not in self._status.errors:
            self._log.warning("bookmaker.lost", scope=scope, error=error)
        self._status.errors[scope] = error

    def _succeed(self, scope: Scope) -> None:
        if self._status.errors.pop(scope, None) is not None:
            self._log.info("bookmaker.recovered", scope=scope)
        self._status.batches += 1
        self._status.last_batch_at = self._clock.now().wall
