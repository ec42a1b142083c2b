"""The actor of a polled source: asks on its schedule and offers what comes to its bookmakers.

One request and one decoding for all bookmakers of the source. It owns the session, the validators
and the backoff. Expected trouble becomes its status; only a bug in a decoder leaves it as a crash.
"""

from __future__ import annotations

from hashlib import blake2b

import anyio
import structlog
from msgspec import Struct

from actors.backoff import MIN_CAP_S, Backoff
from actors.desk import Desk
from actors.errors import PayloadError, SourceError, TransportError
from actors.kinds import PolledKind, PolledOptions, Target
from actors.messages import Batch, BookmakerId, Document, ListId, Payload
from actors.slices import in_slices
from actors.source_edges import failed, succeeded
from actors.transports.polling import Fetched, Limits, NotModified, PollingTransport, Validators

log = structlog.get_logger()

MAX_FIRST_DELAY_S = 0.5


class Held(Struct, frozen=True):
    """What the last answer of a target was: the list it gave, and how to ask whether it changed."""

    list_id: ListId
    validators: Validators


class SourceActor:
    """One polled source, with the desk that it shares with the instances before and after it."""

    def __init__(self, kind: PolledKind, desk: Desk[PolledOptions]) -> None:
        self._kind = kind
        self._options = desk.options
        self._desk = desk
        self._inboxes = desk.inboxes
        self._status = desk.status
        self._backoff = Backoff(max(MIN_CAP_S, desk.options.poll_interval_s / 3), desk.random)
        self._held: dict[Target, Held] = {}
        self._log = log.bind(actor=desk.status.actor.name, source=desk.status.name)

    async def run(self) -> None:
        """Poll for ever; the next poll is planned when this one has ended, so polls never overlap."""
        self._desk.set_aside.recover()
        options = self._options
        limits = Limits(options.timeout_s, options.max_payload_bytes, options.max_inflated_bytes)
        await anyio.sleep(self._short_delay())
        async with PollingTransport(limits, self._desk.clock) as transport:
            while True:
                await self._pause(await self._poll(transport))

    async def _poll(self, transport: PollingTransport) -> float:
        """Ask every target once and give the seconds until the next poll."""
        if self._desk.refresh.is_set():
            self._desk.refresh.clear()
            self._held.clear()
        self._status.attempts += 1
        try:
            for target in self._kind.targets(self._options):
                await self._ask(transport, target)
        except SourceError as error:
            return self._failed(error)
        now = self._desk.clock.now()
        self._backoff.succeeded(now.mono)
        succeeded(self._status, now, self._log)
        return self._options.poll_interval_s

    async def _ask(self, transport: PollingTransport, target: Target) -> None:
        try:
            if (held := self._held_by_all(target)) is not None:
                answer = await transport.fetch(target.url, held.validators)
                if isinstance(answer, NotModified) and self._held_by_all(target) is not None:
                    self._confirm(target, held.list_id, answer.asked_mono)
                    return
                if isinstance(answer, Fetched):
                    await self._received(target, answer)
                    return
                # Withdrawn while it was being vouched for: only the list itself brings it back.
            answer = await transport.fetch(target.url, Validators())
            if isinstance(answer, Fetched):
                await self._received(target, answer)
        except PayloadError:
            self._held.pop(target, None)
            raise

    def _held_by_all(self, target: Target) -> Held | None:
        """Give what a conditional request may refer to: a list that every bookmaker has on the board."""
        held = self._held.get(target)
        if held is None or not all(self._holds(bookmaker, target, held) for bookmaker in self._inboxes):
            return None
        return held

    async def _received(self, target: Target, answer: Fetched) -> None:
        self._status.payloads += 1
        self._status.received_bytes += answer.wire_bytes
        held = Held(ListId(blake2b(answer.body, digest_size=16).hexdigest()), answer.validators)
        wanting = [bookmaker for bookmaker in self._inboxes if not self._holds(bookmaker, target, held)]
        if len(wanting) < len(self._inboxes):
            self._confirm(target, held.list_id, answer.asked_mono)
        if wanting:
            document = await self._decoded(target, held.list_id, answer)
            for bookmaker in wanting:
                self._inboxes[bookmaker].put_nowait(document)
        self._held[target] = held

    async def _decoded(self, target: Target, list_id: ListId, answer: Fetched) -> Document:
        if not self._desk.set_aside.begin(list_id):
            raise PayloadError(f"set aside: payload {list_id} has crashed the decoder twice")
        received_at = self._desk.clock.now().wall
        payload = Payload(
            source=self._status.name,
            scope=target.scope,
            list_id=list_id,
            body=answer.body,
            received_at=received_at,
            received_mono=answer.asked_mono,
            source_time=answer.last_modified_at,
            is_framed=answer.is_framed,
        )
        try:
            content = await in_slices(self._kind.decode(payload, self._options))
        except PayloadError:
            self._desk.set_aside.end()
            raise
        self._desk.set_aside.end()
        return Document(
            scope=target.scope,
            list_id=list_id,
            content=content,
            received_at=received_at,
            received_mono=answer.asked_mono,
            stale_after_s=self._options.staleness_s,
        )

    def _confirm(self, target: Target, list_id: ListId, asked_mono: float) -> None:
        """Vouch again for the list of every bookmaker that has it on the board."""
        self._status.confirmations += 1
        received_at = self._desk.clock.now().wall
        for bookmaker, inbox in self._inboxes.items():
            if self._desk.published.read().holds(bookmaker, target.scope, list_id):
                inbox.put_nowait(
                    Batch(
                        bookmaker=bookmaker,
                        scope=target.scope,
                        list_id=list_id,
                        complete=False,
                        matches=(),
                        removals=(),
                        received_at=received_at,
                        received_mono=asked_mono,
                        stale_after_s=self._options.staleness_s,
                    )
                )

    def _holds(self, bookmaker: BookmakerId, target: Target, held: Held) -> bool:
        return self._desk.published.read().holds(bookmaker, target.scope, held.list_id)

    def _failed(self, error: SourceError) -> float:
        now = self._desk.clock.now()
        failed(self._status, error, now, self._log)
        asked_for = error.retry_after_s if isinstance(error, TransportError) else None
        return max(self._backoff.failed(now.mono), asked_for or 0.0)

    async def _pause(self, delay_s: float) -> None:
        """Wait; after a success a bookmaker that asks for a fresh list shortens it."""
        self._status.next_attempt_at = self._desk.clock.now().wall + delay_s
        if self._status.failures:
            await anyio.sleep(delay_s)
            return
        with anyio.move_on_after(delay_s):
            await self._desk.refresh.wait()
            await anyio.sleep(self._short_delay())

    def _short_delay(self) -> float:
        return self._desk.random.uniform(0.0, min(MAX_FIRST_DELAY_S, self._options.poll_interval_s / 10))
