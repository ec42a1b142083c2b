"""The actor of a polled source: asks on its schedule and offers what comes to its bookmakers.

One request and one decoding for all bookmakers of the source. It owns the session and the
validators; plan and schedule outlive it. Expected trouble becomes its status; only a bug in a decoder
leaves it as a crash.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from math import inf

import anyio
import msgspec
import structlog
from msgspec import Struct

from actors.core.clock import Instant
from actors.core.cooperative import run_sliced
from actors.core.errors import PayloadError, SourceError, TransportError
from actors.core.messages import NOT_MODIFIED, ListId, Payload, Scope
from actors.monitoring.status import ScopeStatus
from actors.monitoring.transitions import scope_failed, scope_succeeded
from actors.pipeline.context import SourceContext
from actors.pipeline.fanout import FanOut, list_id_of
from actors.pipeline.schedule import Schedule
from actors.runtime.supervisor import contained
from actors.source_api.kinds import PolledKind
from actors.source_api.options import PolledOptions, secrets_of
from actors.source_api.plan import Target
from actors.transports.polling import (
    Fetched,
    Limits,
    NotModified,
    PollingTransport,
    Transport,
    Validators,
)

log = structlog.get_logger()

MAX_FIRST_DELAY_S = 0.5
MAX_ERROR_CHARS = 300
PAUSE_S = 1.0
"""Seconds by which an answer may be later than its timeout before the process must have stood still."""
LOOK_AGAIN_S = 600.0
"""The longest wait without asking the plan again, which may go by a wall clock that was wrong."""


class Held(Struct, frozen=True):
    """What the last answer of a scope was: the list it gave, and how to ask whether it changed."""

    list_id: ListId
    validators: Validators


class SourceActor:
    """One polled source, with the context and the schedule that it shares with the instances before it.

    `connect` opens its transport, over HTTP unless a test has another.
    """

    def __init__(
        self,
        kind: PolledKind,
        context: SourceContext[PolledOptions],
        schedule: Schedule,
        connect: Callable[[], AbstractAsyncContextManager[Transport]] | None = None,
    ) -> None:
        options = context.options
        limits = Limits(options.timeout_s, options.max_payload_bytes, options.max_inflated_bytes)
        self._kind = kind
        self._context = context
        self._status = context.status
        self._schedule = schedule
        self._plan = schedule.plan
        self._connect = connect or partial(
            PollingTransport, limits, context.clock, kind.headers, context.names
        )
        self._fan_out = FanOut(kind, context)
        self._secrets = secrets_of(options)
        self._held: dict[Scope, Held] = {}
        self._changed = anyio.Event()
        self._log = log.bind(actor=context.status.actor.name, source=context.status.name)

    async def run(self) -> None:
        """Poll for ever; the next poll of a scope is planned when its last has ended."""
        self._context.poison_guard.recover()
        self._tell_plan()
        self._schedule.restart(self._context.clock.now())
        await anyio.sleep(self._short_delay())
        async with self._connect() as transport, anyio.create_task_group() as polls:
            polls.start_soon(contained, self._heed_requests, name=self._status.actor.name)
            polls.start_soon(contained, self._heed_pauses, name=self._status.actor.name)
            while True:
                target = await self._next()
                self._status.attempts += 1
                self._schedule.begin(target, self._context.clock.now())
                polls.start_soon(contained, self._poll, transport, target, name=self._status.actor.name)

    async def _next(self) -> Target:
        """Wait until a target may be asked, and give it."""
        while True:
            self._changed = anyio.Event()
            found = self._schedule.next(self._context.clock.now())
            if found is not None and found[1] <= 0:
                return found[0]
            wait_s = inf if found is None else found[1]
            self._note_wait(None if found is None else wait_s)
            with anyio.move_on_after(wait_s if found is None else min(wait_s, LOOK_AGAIN_S)):
                await self._changed.wait()

    async def _heed_requests(self) -> None:
        """When somebody asks for a fresh list, ask soon and unconditionally for what is not held."""
        while True:
            await self._context.refresh.wait()
            self._context.refresh.clear()
            lacking = {
                target.scope
                for target in self._plan.targets()
                if (held := self._held.get(target.scope)) is None
                or not self._fan_out.held_by_all(target.scope, held.list_id)
            }
            self._held.clear()
            self._schedule.hasten(lacking, self._short_delay(), self._context.clock.now())
            self._changed.set()

    async def _heed_pauses(self) -> None:
        """When time has passed that no timer measured, look anew at what is due."""
        while True:
            await self._context.resumed.wait()
            self._context.resumed.clear()
            self._changed.set()

    async def _poll(self, transport: Transport, target: Target) -> None:
        try:
            await self._ask(transport, target)
        except SourceError as error:
            self._failed(target, error)
        else:
            now = self._context.clock.now()
            self._schedule.succeeded(target, now)
            scope_succeeded(self._status, target.scope, now, self._log)
        self._note_scope(target, self._context.clock.now())
        self._changed.set()

    async def _ask(self, transport: Transport, target: Target) -> None:
        try:
            if (held := self._held_by_all(target)) is not None:
                answer = await self._fetch(transport, target, held.validators)
                if isinstance(answer, NotModified) and self._held_by_all(target) is not None:
                    self._confirmed(target, held, answer)
                    return
                if isinstance(answer, Fetched):
                    await self._received(target, answer)
                    return
                # Withdrawn while it was being vouched for: only the list itself brings it back.
            answer = await self._fetch(transport, target, Validators())
            if isinstance(answer, Fetched):
                await self._received(target, answer)
        except PayloadError:
            self._held.pop(target.scope, None)
            raise

    async def _fetch(
        self, transport: Transport, target: Target, validators: Validators
    ) -> Fetched | NotModified:
        """Ask for `target`, within the timeout also by a clock that goes on while timers stand still."""
        answer = await transport.fetch(target.url, validators)
        took_s, timeout_s = (
            self._context.clock.now().mono - answer.asked_mono,
            self._context.options.timeout_s,
        )
        if took_s > timeout_s + PAUSE_S:
            raise TransportError(
                f"no answer within {timeout_s:g} s, it took {took_s:.0f} s", reason="timeout"
            )
        return answer

    def _held_by_all(self, target: Target) -> Held | None:
        """Return what a conditional request may refer to: a list that every bookmaker has on the board."""
        held = self._held.get(target.scope)
        if held is None or not self._kind.repeats_confirm:
            return None
        return held if self._fan_out.held_by_all(target.scope, held.list_id) else None

    def _confirmed(self, target: Target, held: Held, answer: NotModified) -> None:
        now = self._context.clock.now()
        self._plan.on_answered(target, answer.headers, now)
        payload = Payload(
            source=self._status.name,
            scope=target.scope,
            list_id=held.list_id,
            body=b"",
            received_at=now.wall,
            received_mono=answer.asked_mono,
            stale_after_s=self._staleness_s(target, now),
            status=NOT_MODIFIED,
            headers=answer.headers,
        )
        self._context.record(payload)
        self._fan_out.confirm(payload)

    async def _received(self, target: Target, answer: Fetched) -> None:
        now = self._context.clock.now()
        self._status.payloads += 1
        self._status.received_bytes += answer.wire_bytes
        self._plan.on_answered(target, answer.headers, now)
        held = Held(await run_sliced(list_id_of(answer.body)), answer.validators)
        payload = self._payload(target, held.list_id, answer, now)
        if target.is_catalogue:
            self._plan.on_learnt(target, await self._fan_out.decoded(payload), now)
            self._tell_plan()
        else:
            await self._offer(target, payload, now)
        self._held[target.scope] = held

    async def _offer(self, target: Target, payload: Payload, now: Instant) -> None:
        lacking, content = self._fan_out.lacking(payload), None
        try:
            if lacking:
                content = await self._fan_out.decoded(payload)
                self._plan.on_learnt(target, content, now)
        finally:  # only now is it known how long it holds; what cannot be read is recorded as well
            stale_after_s = self._staleness_s(target, now)
            payload = msgspec.structs.replace(payload, stale_after_s=stale_after_s)
            self._context.record(payload)
        self._fan_out.hand_out(payload, lacking, content)

    def _payload(self, target: Target, list_id: ListId, answer: Fetched, now: Instant) -> Payload:
        return Payload(
            source=self._status.name,
            scope=target.scope,
            list_id=list_id,
            body=answer.body,
            received_at=now.wall,
            received_mono=answer.asked_mono,
            source_time=answer.last_modified_at,
            is_framed=answer.is_framed,
            answered_at=answer.answered_at,
            headers=answer.headers,
        )

    def _failed(self, target: Target, error: SourceError) -> None:
        now = self._context.clock.now()
        error = self._told(error)
        self._schedule.failed(target, error, now)
        alone = not self._schedule.is_troubled
        scope_failed(self._status, target.scope, error, now, self._log, alone=alone)

    def _told(self, error: SourceError) -> SourceError:
        """Have the kind say what a refusal means, and take every secret out of the message."""
        if isinstance(error, TransportError) and error.body and self._kind.explain is not None:
            self._kind.explain(error)
        message = str(error)
        for secret in self._secrets:
            message = message.replace(secret, "***")
        error.args = (message[:MAX_ERROR_CHARS],)
        return error

    def _staleness_s(self, target: Target, now: Instant) -> float:
        return self._context.options.staleness_at(self._schedule.interval_s(target, now))

    def _tell_plan(self) -> None:
        if facts := self._plan.facts():
            self._log.info("source.planned", **facts)

    def _note_wait(self, wait_s: float | None) -> None:
        """Write down for the probes when what is asked next."""
        now, targets = self._context.clock.now(), self._plan.targets()
        self._status.next_attempt_at = None if wait_s is None else now.wall + wait_s
        self._status.quota = self._plan.quota()
        if len(targets) != len(self._status.scopes):  # some have come or gone
            known = self._status.scopes
            self._status.scopes = {one.scope: known.get(one.scope) or ScopeStatus() for one in targets}
            for target in targets:
                self._note_scope(target, now)

    def _note_scope(self, target: Target, now: Instant) -> None:
        """Write down the same for one scope, whenever it was asked."""
        if (record := self._status.scopes.get(target.scope)) is not None:
            record.next_attempt_at = now.wall + self._schedule.due_s(target, now)
            if record.last_success_at is not None:
                record.interval_s = self._schedule.interval_s(target, now)
                record.stale_after_s = self._context.options.staleness_at(record.interval_s)

    def _short_delay(self) -> float:
        return self._context.random.uniform(
            0.0, min(MAX_FIRST_DELAY_S, self._context.options.poll_interval_s / 10)
        )
