"""A polled source of several scopes in virtual time, with scripted answers."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import anyio

from actors.board.snapshot import Snapshot
from actors.board.validity import BoardRules
from actors.core.cooperative import Sliced
from actors.core.messages import Batch, BookmakerId, Failure, Payload, Scope
from actors.pipeline.context import SourceContext
from actors.pipeline.polled_source import SourceActor
from actors.pipeline.schedule import Schedule
from actors.runtime.conflation import merged_deliveries
from actors.runtime.mailbox import Mailbox
from actors.runtime.supervisor import ChildSpec
from actors.source_api.kinds import PolledKind
from actors.source_api.options import PolledOptions
from actors.source_api.plan import Target, every
from actors.transports.polling import Fetched, Transport, Validators
from tests.support.systems.committing import Committing
from tests.support.systems.supervision import source_record
from tests.support.time.virtual import VirtualClock

Script = Callable[[Scope, int], Awaitable[bytes]]
"""`(scope, number of requests before) -> body`; raises SourceError to answer with an error."""

ALDER = BookmakerId("alder")
URL = "http://127.0.0.1:9"


class Longest(Random):
    """Randomness that always gives the longest delay allowed."""

    def uniform(self, a: float, b: float) -> float:
        """Return the upper bound."""
        return max(a, b)


def scripted(scopes: Iterable[str], decode: Callable[[Payload, Any], Sliced[object]]) -> PolledKind:
    """Return a kind with these scopes and that decoder."""
    targets = tuple(Target(Scope(scope), f"{URL}/{scope}") for scope in scopes)
    plan = every(lambda _: targets)
    return PolledKind("scripted", PolledOptions, lambda _: None, plan, decode, _never)


def verbatim(payload: Payload, options: PolledOptions) -> Sliced[object]:
    """Return the body undecoded."""
    del options
    yield
    return payload.body


class ScopesStage:
    """The source's actor and all state that outlives it: `asked` and `got` are virtual seconds by scope."""

    def __init__(self, kind: PolledKind, script: Script, options: PolledOptions | None = None) -> None:
        self.asked: list[tuple[float, Scope]] = []
        self.got: list[tuple[float, Scope]] = []
        self.failures: list[Failure] = []
        self._before = Counter[Scope]()
        self._script = script
        self.clock = VirtualClock()
        self.context: SourceContext[Any] = SourceContext(
            options=options or PolledOptions(kind=kind.name, url=URL, poll_interval_s=60.0),
            keys={ALDER: "A"},
            inboxes={ALDER: Mailbox(lambda delivery: delivery.scope, merged_deliveries)},
            status=source_record(),
            refresh=asyncio.Event(),
            published=Committing(Snapshot.empty(1, (ALDER,)), BoardRules(), self.clock),
            clock=self.clock,
            random=Longest(),
            record=lambda payload: self.got.append((payload.received_mono, payload.scope)),
        )
        self.context.bus.subscribe(self._take)
        self.schedule = Schedule(kind.plan(self.context.options, ("A",)), self.context.random)
        self.child = ChildSpec(
            self.context.status.actor, lambda: SourceActor(kind, self.context, self.schedule, self._connect)
        )

    def times(self, scope: str) -> list[float]:
        """Return the times when a scope was requested."""
        return [at for at, asked in self.asked if asked == scope]

    def most_in(self, span_s: float, after: float = 0.0) -> int:
        """Return the most requests within any span of a given length that begins after `after`."""
        starts = [at for at, _ in self.asked if at > after]
        return max(sum(start <= at < start + span_s for at in starts) for start in starts)

    @asynccontextmanager
    async def _connect(self) -> AsyncIterator[Transport]:
        yield self

    def _take(self, message: Batch | Failure) -> None:
        if isinstance(message, Failure):
            self.failures.append(message)

    async def fetch(self, url: str, validators: Validators, body: bytes = b"") -> Fetched:
        """Answer by the script."""
        del body
        now, asked_mono = anyio.current_time(), self.clock.now().mono
        scope = _scope(url)
        before = self._before[scope]
        self._before[scope] += 1
        self.asked.append((now, scope))
        body = await self._script(scope, before)
        return Fetched(body, len(body), validators, None, asked_mono)


def _scope(url: str) -> Scope:
    """Return the scope of an address: its last part, or the sport of The Odds API."""
    path = url.partition("?")[0].removesuffix("/odds")
    return Scope(path.rpartition("/")[2])


def _never(*given: object) -> Sliced[Any]:
    raise AssertionError(given)
