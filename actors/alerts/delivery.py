"""The delivery of alerts: a task for each receiver, which tries its oldest message until it is taken.

No receiver waits for another, and nothing waits for a receiver. State is in `Delivery`, which outlives the
actor: after a crash of the actor its messages are tried again.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Final

import anyio
import anyio.lowlevel
import structlog
from anyio.abc import TaskGroup

from actors.alerts.alert import Alert
from actors.alerts.journal import Journal
from actors.alerts.message import Message, messages_of
from actors.alerts.queue import MAX_AGE_S, MAX_ALERTS, Queue
from actors.alerts.receivers.options import ReceiverSettings
from actors.alerts.recent import Recent
from actors.core.clock import Clock
from actors.core.errors import TransportError
from actors.monitoring.receivers import AlertsStatus, ReceiverStatus
from actors.runtime.backoff import Backoff
from actors.runtime.facts import announce
from actors.runtime.supervisor import contained

log = structlog.get_logger()

FIRST_WAIT_S: Final = 1.0
LONGEST_WAIT_S: Final = 60.0
DOWN_AFTER: Final = 2
TAKEN_AT_ONCE: Final = 200
"""The most alerts taken in one step; making messages of them takes about 10 ms."""
HELD_S: Final = 5.0
"""Seconds after which a message is sent even if the disk does not answer."""
GRACE_S: Final = 1.5
"""Seconds that a running attempt has to end when the service stops."""
REFUSED: Final = frozenset({400, 413, 415, 422})
"""Statuses that find fault with the message itself, which another attempt cannot mend."""
MAX_REFUSALS: Final = 3
MAX_CRASHES: Final = 2

Send = Callable[[ReceiverSettings, Message], Awaitable[object]]
"""Sends a message. Raises: TransportError."""


@dataclass(slots=True)
class _Line:
    """A receiver. `arrived` is set when a message may be sent, `renewed` when its settings are new."""

    settings: ReceiverSettings
    status: ReceiverStatus
    backoff: Backoff
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    renewed: asyncio.Event = field(default_factory=asyncio.Event)
    scope: anyio.CancelScope | None = None
    in_flight: Message | None = None
    crashes: int = 0
    refusals: int = 0
    is_dropping: bool = False


class Delivery:
    """Takes alerts by `offer`, and sends them by `send`; a `journal` keeps them on disk before.

    Raises: QueueLockedError, ConfigError if the journal cannot be opened.
    """

    def __init__(
        self,
        receivers: Mapping[str, ReceiverSettings],
        status: AlertsStatus,
        clock: Clock,
        random: Random,
        send: Send,
        *,
        journal: Journal | None = None,
        max_alerts: int = MAX_ALERTS,
    ) -> None:
        self.recent = Recent()
        self._status, self._clock, self._random, self._send = status, clock, random, send
        self._journal, self._queue = journal, Queue(max_alerts)
        self._offered: deque[Alert] = deque(maxlen=max_alerts)
        self._arrived = asyncio.Event()
        self._lines: dict[str, _Line] = {}
        self._held: deque[tuple[float, list[int]]] = deque()
        self._next = 0
        self._tasks: TaskGroup | None = None
        status.waiting = self._queue.waiting
        self.replace(receivers)
        if journal is not None:
            self._admit(journal.open(self._next), is_held=False)

    def offer(self, alert: Alert) -> None:
        """Take an alert, which is sent soon; never waits."""
        self._status.fired.add(alert.rule)
        self.recent.add(alert)
        if len(self._offered) == self._offered.maxlen:
            for name in self._offered[0].to:
                self._count_dropped(name, "full", 1)
        self._offered.append(alert)
        self._arrived.set()

    def replace(self, receivers: Mapping[str, ReceiverSettings]) -> None:
        """Use these receivers from now on; messages for other receivers are dropped. Never waits."""
        for name in [name for name in self._lines if name not in receivers]:
            line = self._lines.pop(name)
            if line.scope is not None:
                line.scope.cancel()
            self._forget(self._queue.of(name), "removed")
            del self._status.receivers[name]
        for name, settings in receivers.items():
            if name not in self._lines:
                record = self._status.receivers[name] = ReceiverStatus()
                backoff = Backoff(LONGEST_WAIT_S, self._random, base_s=FIRST_WAIT_S, least_share=0.5)
                self._lines[name] = _Line(settings, record, backoff)
                if self._tasks is not None:
                    self._tasks.start_soon(contained, self._serve, name, self._lines[name])
            elif self._lines[name].settings != settings:
                self._lines[name].settings = settings
                self._lines[name].renewed.set()

    def start(self) -> None:
        """Start the thread of the journal. Raises: RuntimeError if the system allows none."""
        if self._journal is not None:
            self._journal.start()

    def close(self, within_s: float) -> None:
        """Write the rest to the journal, and close it; return after `within_s` seconds at the latest."""
        if self._journal is not None:
            self._journal.stop(within_s)

    async def run(self) -> None:
        """Send for ever."""
        if self._journal is not None:
            loop = asyncio.get_running_loop()
            self._journal.released = partial(_in_loop, loop, self._written)
        self._blame()
        try:
            async with anyio.create_task_group() as self._tasks:
                for name, line in self._lines.items():
                    self._tasks.start_soon(contained, self._serve, name, line)
                while True:
                    with anyio.move_on_after(HELD_S if self._held else None):
                        await self._arrived.wait()
                    self._arrived.clear()
                    self._take()
                    await anyio.lowlevel.checkpoint()
        finally:
            self._tasks = None

    def _take(self) -> None:
        """Make messages of what was offered; release those that wait too long for the disk."""
        now = self._clock.now()
        while self._held and now.mono - self._held[0][0] >= HELD_S:
            self._release(self._held.popleft()[1])
        some = [self._offered.popleft() for _ in range(min(len(self._offered), TAKEN_AT_ONCE))]
        if self._offered:
            self._arrived.set()
        messages = [*messages_of(some, self._next, now.wall)]
        if not messages:
            return
        if self._journal is not None:
            self._journal.add(messages)
            self._held.append((now.mono, [message.number for message in messages]))
        self._admit(messages, is_held=self._journal is not None)

    def _admit(self, messages: Sequence[Message], *, is_held: bool) -> None:
        self._next += len(messages)
        known = [message for message in messages if message.receiver in self._lines]
        self._forget([message for message in messages if message.receiver not in self._lines], "removed")
        self._forget(self._queue.add(known, is_held=is_held), "full")
        if not is_held:
            self._wake(message.receiver for message in known)

    def _written(self, numbers: Sequence[int], error: str | None) -> None:
        self._status.error = error
        while self._held and numbers and self._held[0][1][-1] <= numbers[-1]:
            self._held.popleft()
        self._release(numbers)

    def _release(self, numbers: Sequence[int]) -> None:
        self._wake(self._queue.release(numbers))

    def _wake(self, receivers: Iterable[str]) -> None:
        for name in receivers:
            self._lines[name].arrived.set()

    async def _serve(self, name: str, line: _Line) -> None:
        """Send the messages for a receiver, until it is removed."""
        with anyio.CancelScope() as line.scope:
            while True:
                line.arrived.clear()
                line.renewed.clear()
                message = self._queue.first(name)
                if message is None:
                    await line.arrived.wait()
                elif self._clock.now().wall - message.at > MAX_AGE_S:
                    self._forget([message], "expired")
                elif wait_s := await self._attempt(name, line, message):
                    with anyio.move_on_after(wait_s):
                        await line.renewed.wait()

    async def _attempt(self, name: str, line: _Line, message: Message) -> float:
        """Try to send; return the seconds until the next attempt.

        A cancelled attempt may still end within `GRACE_S`: otherwise a stop of the service would repeat a
        message that was just taken.
        """
        ended, shield, wait_s = asyncio.Event(), anyio.CancelScope(shield=True), 0.0

        async def attempt() -> None:
            nonlocal wait_s
            line.in_flight = message
            with shield:
                try:
                    await self._send(line.settings, message)
                except TransportError as error:
                    wait_s = self._failed(name, line, message, error)
                else:
                    self._sent(name, line, message)
            line.in_flight = None
            ended.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(contained, attempt)
            try:
                await ended.wait()
            except anyio.get_cancelled_exc_class():
                with anyio.move_on_after(GRACE_S, shield=True):
                    await ended.wait()
                shield.cancel()
                raise
        return wait_s

    def _sent(self, name: str, line: _Line, message: Message) -> None:
        now, record = self._clock.now(), line.status
        for alert in message.alerts:
            self._status.sent.add(name, alert.rule)
        if record.is_down:
            down_for_s = round(now.wall - (record.failing_since or now.wall), 3)
            announce(
                log, "receiver.recovered", receiver=name, attempts=record.failures, down_for_s=down_for_s
            )
        record.failures, record.is_down, record.failing_since, record.last_error = 0, False, None, None
        record.last_sent_at = now.wall
        line.backoff.succeeded(now.mono)
        line.crashes = line.refusals = 0
        line.is_dropping = False
        self._remove(message)

    def _failed(self, name: str, line: _Line, message: Message, error: TransportError) -> float:
        """Note a failed attempt; return the seconds until the next."""
        now, record = self._clock.now(), line.status
        record.failures += 1
        record.last_error = str(error)
        record.failing_since = record.failing_since or now.wall
        self._status.failed.add(name, error.reason)
        if record.failures == DOWN_AFTER:
            record.is_down = True
            announce(log, "receiver.down", receiver=name, error=str(error))
        line.refusals = line.refusals + 1 if error.status in REFUSED else 0
        if line.refusals == MAX_REFUSALS:
            line.refusals = 0
            announce(log, "receiver.refused", receiver=name, message=message.id, error=str(error))
            self._forget([message], "refused")
        return max(line.backoff.failed(now.mono), error.retry_after_s or 0.0)

    def _blame(self) -> None:
        """Drop each message that was being sent when the actor crashed, if that happens again."""
        for line in self._lines.values():
            blamed, line.in_flight = line.in_flight, None
            if blamed is not None:
                line.crashes += 1
                if line.crashes == MAX_CRASHES:
                    line.crashes = 0
                    self._forget([blamed], "crashed")

    def _forget(self, messages: Iterable[Message], reason: str) -> None:
        counts = Counter[str]()
        for message in messages:
            self._remove(message)
            counts[message.receiver] += len(message.alerts)
        for name, number in counts.items():
            self._count_dropped(name, reason, number)

    def _count_dropped(self, name: str, reason: str, number: int) -> None:
        line = self._lines.get(name)
        self._status.lost.add(name, reason, number=number)
        if line is not None:
            self._status.dropped += number
        if line is None or not line.is_dropping:
            announce(log, "alerts.dropped", receiver=name, reason=reason, alerts=number)
        if line is not None:
            line.is_dropping = True

    def _remove(self, message: Message) -> None:
        self._queue.remove(message)
        if self._journal is not None:
            self._journal.drop(message.number)


def _in_loop(
    loop: asyncio.AbstractEventLoop,
    then: Callable[[Sequence[int], str | None], None],
    numbers: Sequence[int],
    error: str | None,
) -> None:
    with suppress(RuntimeError):  # the loop has ended
        loop.call_soon_threadsafe(then, numbers, error)
