"""The bookmaker actor: publishes its part of each of its source's documents as a batch on the bus."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from math import inf

import anyio
import structlog
from structlog.typing import FilteringBoundLogger

from actors.core.clock import Clock
from actors.core.cooperative import run_sliced
from actors.core.errors import PayloadError
from actors.core.messages import Batch, Failure, Scope
from actors.core.validation import Bounds
from actors.monitoring.status import BookmakerStatus
from actors.pipeline.fanout import Delivery, Extractor, read_delivery
from actors.runtime.conflation import Inbox
from actors.runtime.facts import announce
from actors.runtime.mailbox import Bus, PoisonGuard
from actors.runtime.supervisor import MAX_ERROR_CHARS

MAX_NOTES = 3  # logged notes of a list
NOTES_EVERY_S = 60.0

log: FilteringBoundLogger = structlog.get_logger()


@dataclass(kw_only=True, slots=True)
class BookmakerActor:
    """A bookmaker; `refresh` is set to request a new list from its source."""

    status: BookmakerStatus
    inbox: Inbox
    bus: Bus
    extract: Extractor
    bounds: Bounds
    refresh: asyncio.Event
    poison_guard: PoisonGuard
    clock: Clock
    noted: dict[Scope, tuple[str, ...]] = field(default_factory=dict)  # the notes that were logged last
    noted_mono: float = -inf

    async def run(self) -> None:
        """Publish a batch for every delivery, for ever."""
        self._recover()
        while True:
            delivery = await self.inbox.get()
            if self.poison_guard.begin(delivery.list_id):
                try:
                    await self._deliver(delivery)
                except anyio.get_cancelled_exc_class():
                    self.poison_guard.end()  # stopped from outside: the list did not crash
                    raise
            else:
                error = f"set aside: list {delivery.list_id} has crashed this actor twice"
                self._failed(delivery.scope, error)
                self._report_failure(delivery)
            self.poison_guard.end()
            self.inbox.ack_all()

    def _recover(self) -> None:
        """Request a new list; drop changes of the list whose delivery the last instance lost."""
        self.poison_guard.recover()
        lost = self.inbox.in_flight
        self.inbox.ack_all()
        if lost is not None:
            self.inbox.discard(
                lambda item: isinstance(item, Batch) and not item.complete and item.list_id == lost.list_id
            )
        self.refresh.set()

    async def _deliver(self, delivery: Delivery) -> None:
        is_read = False
        try:
            read = await run_sliced(read_delivery(self.status.id, delivery, self.extract, self.bounds))
            is_read = True
        except PayloadError as error:
            self._failed(delivery.scope, str(error)[:MAX_ERROR_CHARS])
            return
        finally:  # also if the list crashes this actor
            if not is_read:
                self._report_failure(delivery)
        self.status.note_rejected(self.status.rejections.note(read.batch, read.rejected))
        self.status.learn_name(read.title, is_in_use=bool(read.batch.matches))
        self._log_notes(delivery.scope, read.notes)
        self.bus.publish(read.batch)
        if self.status.errors.pop(delivery.scope, None) is not None:
            announce(self._logger(), "bookmaker.recovered", scope=delivery.scope)
        self.status.batches.inc()
        self.status.last_batch_at = self.clock.now().wall
        self.status.newest_rejected.note(delivery.scope, read.refused, self.status.last_batch_at)

    def _log_notes(self, scope: Scope, notes: tuple[str, ...]) -> None:
        """Log the notes of a list if they are new, once a minute at most."""
        now_mono = self.clock.now().mono
        if not notes:
            self.noted.pop(scope, None)
        elif notes != self.noted.get(scope) and now_mono - self.noted_mono >= NOTES_EVERY_S:
            self.noted[scope], self.noted_mono = notes, now_mono
            told = "; ".join(notes[:MAX_NOTES])
            announce(self._logger(), "bookmaker.noted", scope=scope, count=len(notes), notes=told)

    def _failed(self, scope: Scope, error: str) -> None:
        if scope not in self.status.errors:
            announce(self._logger(), "bookmaker.lost", scope=scope, error=error)
        self.status.errors[scope] = error

    def _report_failure(self, delivery: Delivery) -> None:
        self.bus.publish(Failure(self.status.id, delivery.scope, delivery.received_mono))

    def _logger(self) -> FilteringBoundLogger:
        return log.bind(actor=self.status.actor.name, bookmaker=self.status.id)
