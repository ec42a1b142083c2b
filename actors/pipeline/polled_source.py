"""The actor of a polled source: requests on schedule, decodes once for all bookmakers of the source.

It owns the HTTP session and the validators. Only a bug, as in a decoder, crashes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from functools import partial

import anyio
from msgspec import Struct
from msgspec.structs import replace

from actors.core.clock import Clock, Instant
from actors.core.cooperative import run_sliced
from actors.core.errors import PayloadError, SourceError, TransportError
from actors.core.messages import NOT_MODIFIED, ListId, Payload, Scope, SourceName
from actors.monitoring.status import ScopeStatus
from actors.monitoring.transitions import note_found, note_keys, scope_failed, scope_succeeded
from actors.pipeline.context import SourceContext, redact
from actors.pipeline.fanout import deliveries, list_id_of, needing_document
from actors.pipeline.schedule import Schedule
from actors.runtime.facts import announce
from actors.runtime.supervisor import contained
from actors.source_api.kinds import PolledKind
from actors.source_api.options import PolledOptions, secrets_of
from actors.source_api.plan import Target
from actors.transports.files import FileTransport
from actors.transports.polling import (
    Fetched,
    FetchLimits,
    NotModified,
    PollingTransport,
    Transport,
    Validators,
)

MAX_FIRST_DELAY_S = 0.5
SUSPENDED_S = 1.0  # if an answer is this much later than its timeout, the process was suspended
MAX_AHEAD_S = 60.0  # how far the clock of a file's writer may be ahead of ours
MAX_WAIT_S = 600.0  # longest wait until the plan is asked again: a wrong wall clock may have misled it


class LastAnswer(Struct, frozen=True):
    """The list in a scope's last answer, and the validators to ask whether it changed."""

    list_id: ListId
    validators: Validators


def connection(kind: PolledKind, options: PolledOptions, clock: Clock) -> PollingTransport | FileTransport:
    """Return the transport of a source, over HTTP or from a disk."""
    limits = FetchLimits(options.timeout_s, options.max_payload_bytes, options.max_inflated_bytes)
    if options.reads_file:
        return FileTransport(limits, clock)
    sent = None if kind.sent_headers is None else kind.sent_headers(options)
    return PollingTransport(limits, clock, kind.headers, options.user_agent, sent)


def dated(answer: Fetched | NotModified, options: PolledOptions, holds_s: float) -> Fetched | NotModified:
    """Return an answer with its age; it is at least the age of its file if the options say so.

    Raises: TransportError if its prices are older than `holds_s`.
    """
    found = f"a cache had the answer for {answer.age_s:.0f} s"
    if isinstance(answer, Fetched) and options.is_as_old_as_its_file:
        written, at = answer.last_modified_at, answer.answered_at
        age_s = 0.0 if written is None or at is None else at - written
        if age_s < -MAX_AHEAD_S:
            message = f"its file was written {-age_s:.0f} s after the answer: one of the clocks is wrong"
            raise TransportError(message, reason="aged")
        if age_s > answer.age_s:
            found, answer = f"its file was written {age_s:.0f} s ago", replace(answer, age_s=age_s)
    if answer.age_s >= holds_s:
        message = f"{found}, its prices hold for {holds_s:g} s"
        raise TransportError(message, reason="aged", headers=answer.headers)
    return answer


def payload_of(source: SourceName, target: Target, answer: Fetched, now: Instant) -> Payload:
    """Return the answer of a target, received at `now`, as a payload."""
    body, answered_at = target.preface + answer.body, answer.answered_at
    return Payload(
        source,
        target.scope,
        list_id_of(body),
        body,
        now.wall,
        answer.asked_mono - answer.age_s,
        source_time=answer.last_modified_at,
        is_framed=answer.is_framed,
        answered_at=None if answered_at is None else answered_at - answer.age_s,
        headers=answer.headers,
    )


def known_by(payload: Payload, known_mono: float) -> Payload:
    """Return a payload that counts as received no later than `known_mono`, when its catalogue was known."""
    older_s = payload.received_mono - known_mono
    if older_s <= 0:
        return payload
    at = payload.answered_at
    answered_at = None if at is None else at - older_s
    return replace(payload, received_mono=known_mono, answered_at=answered_at)


def explain(error: SourceError, kind: PolledKind, options: PolledOptions) -> None:
    """Add the venue's explanation to a refusal, and remove the source's credentials."""
    if isinstance(error, TransportError) and error.body and kind.explain is not None:
        kind.explain(error)
    redact(error, secrets_of(options))


class SourceActor:
    """One polled source; `connect` opens its transport: HTTP or a file unless a test replaces it."""

    def __init__(
        self,
        kind: PolledKind,
        context: SourceContext[PolledOptions],
        schedule: Schedule,
        connect: Callable[[], AbstractAsyncContextManager[Transport]] | None = None,
    ) -> None:
        self._kind = kind
        self._context = context
        self._status = context.status
        self._schedule = schedule
        self._plan = schedule.plan
        self._connect = connect or partial(connection, kind, context.options, context.clock)
        self._decoding = anyio.Lock()  # one payload at a time, so that a crash has one possible cause
        self._last: dict[Scope, LastAnswer] = {}
        self._facts: Mapping[str, object] = {}  # as they were logged
        self._log = context.logger()

    async def run(self) -> None:
        """Poll for ever; the next poll of a scope is planned after its last one has ended."""
        self._context.poison_guard.recover()
        self._log_plan()
        self._schedule.restart(self._context.clock.now())
        await anyio.sleep(self._short_delay_s())
        async with self._connect() as transport, anyio.create_task_group() as polls:
            polls.start_soon(contained, self._handle_refreshes, name=self._status.actor.name)
            while True:
                target = await self._next()
                self._status.attempts.inc()
                self._schedule.begin(target, self._context.clock.now())
                polls.start_soon(contained, self._poll, transport, target, name=self._status.actor.name)

    async def _next(self) -> Target:
        while True:
            self._context.wake.clear()
            found = self._schedule.next(self._context.clock.now())
            if found is not None and found[1] <= 0:
                return found[0]
            self._note_wait(None if found is None else found[1])
            with anyio.move_on_after(None if found is None else min(found[1], MAX_WAIT_S)):
                await self._context.wake.wait()

    async def _handle_refreshes(self) -> None:
        """When `refresh` is set, poll the scopes that the board does not show soon and unconditionally."""
        while True:
            await self._context.refresh.wait()
            self._context.refresh.clear()
            missing = {target.scope for target in self._plan.targets() if not self._is_shown(target.scope)}
            self._last.clear()
            self._schedule.hasten(missing, self._short_delay_s(), self._context.clock.now())
            self._context.wake.set()

    async def _poll(self, transport: Transport, target: Target) -> None:
        try:
            with self._context.attempt(target.scope):
                await self._ask(transport, target)
        except SourceError as error:
            explain(error, self._kind, self._context.options)
            now = self._context.clock.now()
            self._schedule.failed(target, error, now)
            self._note_failure(target, error, now)
        else:
            now = self._context.clock.now()
            self._schedule.succeeded(target, now)
            scope_succeeded(self._status, target.scope, now, self._log)
            if self._kind.keys_in is not None:
                note_keys(self._status, self._context.keys, self._kind.known_keys, self._log)
        self._note_scope(target, now)
        self._context.wake.set()

    def _note_failure(self, target: Target, error: SourceError, now: Instant) -> None:
        """Record a failure; log markets that the API refuses permanently, which the plan now omits."""
        for refusal in self._plan.take_refusals():
            announce(self._log, "markets.refused", error=refusal)
        if self._plan.asks_otherwise(target):
            self._status.failed_by.add(error.reason)
            return
        alone = not self._schedule.is_troubled
        scope_failed(self._status, target.scope, error, now, self._log, alone=alone)

    async def _ask(self, transport: Transport, target: Target) -> None:
        try:
            last = self._confirmable(target)
            validators = Validators() if last is None else last.validators
            answer = await self._fetch(transport, target, validators)
            if isinstance(answer, NotModified) and last is not None:
                if self._confirmable(target) is not None:
                    await self._confirmed(target, last.list_id, answer)
                    return
                # The list was withdrawn during the request: only the list itself can restore it.
                answer = await self._fetch(transport, target, Validators())
            if isinstance(answer, Fetched):
                await self._received(target, answer)
        except PayloadError:
            self._last.pop(target.scope, None)
            raise

    async def _fetch(
        self, transport: Transport, target: Target, validators: Validators
    ) -> Fetched | NotModified:
        """Request `target`; check the timeout by the clock too, because a suspension stops timers.

        Raises: TransportError, also if a cache has had the answer for longer than its prices are valid.
        """
        answer = await transport.fetch(target.url, validators, target.body)
        now, options = self._context.clock.now(), self._context.options
        took_s, timeout_s = now.mono - answer.asked_mono, options.timeout_s
        if took_s > timeout_s + SUSPENDED_S:
            message = f"no answer within {timeout_s:g} s, it took {took_s:.0f} s"
            raise TransportError(message, reason="timeout")
        holds_s = options.staleness_at(self._plan.interval_s(target, now))
        return answer if target.is_catalogue else dated(answer, options, holds_s)

    def _confirmable(self, target: Target) -> LastAnswer | None:
        """Return the last answer, for a conditional request, if every bookmaker's board shows its list."""
        is_shown = self._kind.repeats_confirm and self._is_shown(target.scope)
        return self._last.get(target.scope) if is_shown else None

    def _is_shown(self, scope: Scope) -> bool:
        last = self._last.get(scope)
        return last is not None and all(
            self._context.holds(bookmaker, scope, last.list_id) for bookmaker in self._context.inboxes
        )

    async def _confirmed(self, target: Target, list_id: ListId, answer: NotModified) -> None:
        now = self._context.clock.now()
        self._plan.on_answered(target, answer.headers, now)
        name, scope, headers = self._status.name, target.scope, answer.headers
        since = answer.asked_mono - answer.age_s
        same = Payload(name, scope, list_id, b"", now.wall, since, status=NOT_MODIFIED, headers=headers)
        await self._hand_out(target, known_by(same, self._plan.known_mono(target)), now)

    async def _received(self, target: Target, answer: Fetched) -> None:
        now = self._context.clock.now()
        self._status.payloads.inc()
        self._status.received_bytes.inc(answer.wire_bytes)
        self._plan.on_answered(target, answer.headers, now)
        payload = payload_of(self._status.name, self._newest(target), answer, now)
        if target.is_catalogue:
            await self._learn(target, payload, now)
        else:
            await self._hand_out(target, known_by(payload, self._plan.known_mono(target)), now)
        self._last[target.scope] = LastAnswer(payload.list_id, answer.validators)

    async def _learn(self, target: Target, payload: Payload, now: Instant) -> None:
        """Give the plan a catalogue, then hand out the plan's lists, even if it refuses the catalogue."""
        content = await self._decoded(payload)
        try:
            self._plan.on_learnt(target, content, now)
        finally:
            for made in self._plan.take_lists():
                made_id = list_id_of(made.body)
                listed = Payload(payload.source, made.scope, made_id, made.body, now.wall, made.since_mono)
                listed = replace(listed, stale_after_s=made.holds_s)
                await self._offer(listed)
        self._log_plan()

    async def _offer(self, payload: Payload) -> None:
        """Hand out a list that the plan made from other answers."""
        inboxes, holds = self._context.inboxes, self._context.holds
        content = await self._decoded(payload)
        if self._context.record is not None:
            self._context.record(payload)
        for bookmaker, delivery in deliveries(payload, content, list(inboxes), inboxes, holds):
            inboxes[bookmaker].put_nowait(delivery)

    def _newest(self, target: Target) -> Target:
        """Return the present target of its scope: a catalogue may have changed it during the request."""
        return next((each for each in self._plan.targets() if each.scope == target.scope), target)

    async def _hand_out(self, target: Target, payload: Payload, now: Instant) -> None:
        inboxes, holds, content = self._context.inboxes, self._context.holds, None
        needing = needing_document(payload, self._kind, inboxes, holds)
        try:
            if needing:
                content = await self._decoded(payload)
                self._plan.on_learnt(target, content, now)
                if self._kind.keys_in is not None:
                    found = self._kind.keys_in(content)
                    note_found(self._status, found, self._context.keys, self._kind.known_keys)
        finally:  # the plan knows the interval only now; unreadable payloads are recorded too
            stale_after_s = self._context.options.staleness_at(self._plan.interval_s(target, now))
            payload = replace(payload, stale_after_s=stale_after_s)
            if self._context.record is not None:
                self._context.record(payload)
        if len(needing) < len(inboxes):
            self._status.confirmations.inc()
        for bookmaker, delivery in deliveries(payload, content, needing, inboxes, holds):
            inboxes[bookmaker].put_nowait(delivery)

    async def _decoded(self, payload: Payload) -> object:
        """Decode a payload. Raises: PayloadError if it cannot be read, or has crashed the decoder twice."""
        poison_guard = self._context.poison_guard
        async with self._decoding:
            if not poison_guard.begin(payload.list_id):
                message = f"set aside: payload {payload.list_id} has crashed the decoder twice"
                raise PayloadError(message, "set_aside")
            try:
                content: object = await run_sliced(self._kind.decode(payload, self._context.options))
            except (PayloadError, anyio.get_cancelled_exc_class()):
                poison_guard.end()
                raise
            poison_guard.end()
        return content

    def _log_plan(self) -> None:
        facts = self._plan.facts()
        if facts and facts != self._facts:
            self._facts = facts
            announce(self._log, "source.planned", **facts)

    def _note_wait(self, wait_s: float | None) -> None:
        """Show in the status when the source, and each new scope, is polled next."""
        now, targets = self._context.clock.now(), self._plan.targets()
        self._status.next_attempt_at = None if wait_s is None else now.wall + wait_s
        self._status.quota = self._plan.quota()
        if len(targets) != len(self._status.scopes):  # targets were added or removed
            known = self._status.scopes
            self._status.scopes = {
                target.scope: known.get(target.scope) or ScopeStatus() for target in targets
            }
            for target in targets:
                self._note_scope(target, now)

    def _note_scope(self, target: Target, now: Instant) -> None:
        if (record := self._status.scopes.get(target.scope)) is not None:
            record.next_attempt_at = now.wall + self._schedule.due_s(target, now)
            if record.last_success_at is not None:
                record.interval_s = self._plan.interval_s(target, now)
                record.stale_after_s = self._context.options.staleness_at(record.interval_s)

    def _short_delay_s(self) -> float:
        longest_s = min(MAX_FIRST_DELAY_S, self._context.options.poll_interval_s / 10)
        return self._context.random.uniform(0.0, longest_s)
