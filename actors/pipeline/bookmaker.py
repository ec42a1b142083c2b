"""The bookmaker actor: publishes its part of each document of its source as a batch on the bus.

It keeps the bookmaker's record. A crash affects this bookmaker alone: its inbox outlives it, and a new
instance asks the source for a new list.
"""

from __future__ import annotations

import asyncio

import anyio
import structlog

from actors.core.clock import Clock
from actors.core.cooperative import run_sliced
from actors.core.errors import PayloadError
from actors.core.messages import Batch, Scope
from actors.core.validation import Bounds
from actors.monitoring.status import BookmakerStatus
from actors.pipeline.fanout import Delivery, Extractor, read_delivery
from actors.runtime.bus import Bus
from actors.runtime.conflation import Inbox
from actors.runtime.poison import PoisonGuard

log = structlog.get_logger()


class BookmakerActor:
    """One bookmaker; `refresh` is set to request a new list from its source."""

    def __init__(
        self,
        *,
        status: BookmakerStatus,
        inbox: Inbox,
        bus: Bus,
        extract: Extractor,
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
        """Publish a batch for every delivery, for ever."""
        self._recover()
        while True:
            delivery = await self._inbox.get()
            if self._poison_guard.begin(delivery.list_id):
                try:
                    await self._deliver(delivery)
                except anyio.get_cancelled_exc_class():
                    self._poison_guard.end()  # stopped from outside: the list did no harm
                    raise
            else:
                self._fail(
                    delivery.scope, f"set aside: list {delivery.list_id} has crashed this actor twice"
                )
            self._poison_guard.end()
            self._inbox.ack_all()

    def _recover(self) -> None:
        """Ask for a new list: what the last instance worked on is lost.

        Pending changes and confirmations of that list must not confirm it: a change is missing.
        """
        self._poison_guard.recover()
        lost = self._inbox.in_flight
        self._inbox.ack_all()
        if lost is not None:
            self._inbox.discard(
                lambda item: isinstance(item, Batch) and not item.complete and item.list_id == lost.list_id
            )
        self._refresh.set()

    async def _deliver(self, delivery: Delivery) -> None:
        try:
            read = await run_sliced(read_delivery(self._status.id, delivery, self._extract, self._bounds))
        except PayloadError as error:
            self._fail(delivery.scope, str(error))
            return
        self._status.rejected.update(read.rejected)
        self._status.learn_name(read.title)
        self._bus.publish(read.batch)
        self._succeed(delivery.scope)

    def _fail(self, scope: Scope, error: str) -> None:
        if scope not in self._status.errors:
            self._log.warning("bookmaker.lost", scope=scope, error=error)
        self._status.errors[scope] = error

    def _succeed(self, scope: Scope) -> None:
        if self._status.errors.pop(scope, None) is not None:
            self._log.info("bookmaker.recovered", scope=scope)
        self._status.batches += 1
        self._status.last_batch_at = self._clock.now().wall
