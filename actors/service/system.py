"""Builds the supervision tree from settings: every part made once, here, and handed to who needs it.

The composition of everything below the web. What outlives an actor (mailboxes, the published
snapshot, records) is made here; the actors themselves are made by the supervisor, again and again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from random import Random
from secrets import token_hex
from typing import Any

import structlog

from actors.board.board import BoardRules
from actors.board.history import HistoryLimits
from actors.board.published import Published
from actors.board.snapshot import Snapshot
from actors.core.clock import Clock
from actors.core.messages import BookmakerId, Payload, Scope, SourceName
from actors.core.validation import Bounds, Reason
from actors.monitoring.status import BoardStatus, BookmakerStatus, ServiceStatus, SourceStatus
from actors.pipeline.aggregator import AggregatorActor
from actors.pipeline.bookmaker import BookmakerActor
from actors.pipeline.context import SourceContext
from actors.pipeline.fanout import extractor
from actors.pipeline.polled_source import SourceActor
from actors.pipeline.schedule import Schedule
from actors.pipeline.stream_source import StreamSourceActor
from actors.pipeline.ticking_source import TickingSourceActor
from actors.runtime.actor import Actor, ActorStatus
from actors.runtime.backoff import WINDOW_S
from actors.runtime.bus import Bus
from actors.runtime.conflation import Inbox, Intake, merged_batches, merged_deliveries
from actors.runtime.mailbox import Mailbox
from actors.runtime.poison import PoisonGuard
from actors.runtime.supervisor import ChildSpec, Supervisor
from actors.service.settings import Settings, SourceSettings
from actors.source_api.kinds import PolledKind, TickingKind, prices_of
from actors.source_api.stream import StreamKind

log = structlog.get_logger()


class System:
    """The whole service below the web: `supervisor` runs it, `published` and `status` show it.

    `record(source)`, where given, is what is handed every payload of that source.
    """

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        random: Random,
        record: Callable[[SourceName], Callable[[Payload], None]] | None = None,
    ) -> None:
        now = clock.now()
        self._settings = settings
        self._clock = clock
        self._random = random
        self._record = record
        self.status = service_status(settings, now.wall)
        self.status.board.last_turn_mono = now.mono
        self.status.board.first_version = int(now.wall * 1000)
        epoch = token_hex(4)  # random, for after the clock is set back the same versions are counted again
        first = Snapshot.empty(self.status.board.first_version, tuple(settings.bookmakers), epoch)
        self.published = Published(
            first,
            BoardRules(settings.board.expire_after_kickoff_s, settings.board.max_matches),
            clock,
            HistoryLimits(settings.history.max_changes, settings.history.max_bytes),
            self._rejected,
        )
        self.bus = Bus()
        self._intake: Intake = Mailbox(lambda batch: (batch.bookmaker, batch.scope), merged_batches)
        self._inboxes: dict[BookmakerId, Inbox] = {
            name: Mailbox(lambda delivery: delivery.scope, merged_deliveries)
            for name in settings.bookmakers
        }
        self._refreshes = {name: asyncio.Event() for name in settings.sources}
        self._resumptions = {name: asyncio.Event() for name in settings.sources}
        self._poisoned_mono: dict[BookmakerId, float] = {}
        self.bus.subscribe(self._intake.put_nowait)
        self._connect_records()
        self.supervisor = Supervisor(self._children(), clock)

    def _connect_records(self) -> None:
        self.status.board.received = lambda: self._intake.received
        self.status.board.conflated = lambda: self._intake.conflated
        self.status.board.actor.mailbox_depth = lambda: self._intake.depth
        for name, inbox in self._inboxes.items():
            self.status.bookmakers[name].actor.mailbox_depth = partial(getattr, inbox, "depth")

    def _children(self) -> list[ChildSpec]:
        """Return the children in the order of their start: aggregator, bookmakers, sources."""
        aggregator = ChildSpec(
            status=self.status.board.actor,
            start=self._aggregator,
            is_explained=lambda: self._intake.in_flight is not None,
            is_core=True,
        )
        bookmakers = [
            ChildSpec(status=self.status.bookmakers[name].actor, start=self._bookmaker(name))
            for name in self._settings.bookmakers
        ]
        sources = [
            ChildSpec(status=self.status.sources[name].actor, start=self._source(name, source))
            for name, source in self._settings.sources.items()
        ]
        return [aggregator, *bookmakers, *sources]

    def _aggregator(self) -> AggregatorActor:
        return AggregatorActor(
            self._intake, self.published, self.status, self._blame, self._clock, resumed=self._resumed
        )

    def _resumed(self) -> None:
        """Have every source look at the clock."""
        for resumption in self._resumptions.values():
            resumption.set()

    def _blame(self, bookmaker: BookmakerId, what: str = "crashed the aggregator") -> None:
        """Ask again for what a poison batch has cost; the second within a minute is one too many."""
        status, now = self.status.bookmakers[bookmaker], self._clock.now().mono
        self._refreshes[status.source.name].set()
        last = self._poisoned_mono.get(bookmaker)
        self._poisoned_mono[bookmaker] = now
        if last is not None and now - last <= WINDOW_S:
            self.supervisor.quarantine(status.actor.name, f"two of its batches {what}")

    def _rejected(self, bookmaker: BookmakerId, scope: Scope, why: str) -> None:
        """Note that a list was withdrawn because it cannot be shown, and ask for another one."""
        status = self.status.bookmakers[bookmaker]
        status.rejected[Reason.TYPE] += 1
        status.errors[scope] = f"rejected: {why}"
        log.error("list.rejected", bookmaker=bookmaker, scope=scope, error=why)
        self._blame(bookmaker, "could not be encoded")

    def _bookmaker(self, name: BookmakerId) -> Callable[[], Actor]:
        settings = self._settings.bookmakers[name]
        source = self._settings.sources[settings.source]
        poison_guard = PoisonGuard()

        def start() -> BookmakerActor:
            return BookmakerActor(
                status=self.status.bookmakers[name],
                inbox=self._inboxes[name],
                bus=self.bus,
                extract=extractor(source.kind, settings.key, source.options),
                bounds=Bounds(source.options.book_sum_min, source.options.book_sum_max),
                refresh=self._refreshes[settings.source],
                poison_guard=poison_guard,
                clock=self._clock,
            )

        return start

    def _source(self, name: SourceName, source: SourceSettings) -> Callable[[], Actor]:
        bookmakers = self._settings.bookmakers_of(name)
        context: SourceContext[Any] = SourceContext(  # the registry pairs each kind with its own options
            options=source.options,
            keys={bookmaker: one.key for bookmaker, one in bookmakers.items()},
            inboxes={bookmaker: self._inboxes[bookmaker] for bookmaker in bookmakers},
            status=self.status.sources[name],
            refresh=self._refreshes[name],
            wake=self._resumptions[name],
            published=self.published,
            clock=self._clock,
            random=self._random,
            record=None if self._record is None else self._record(name),
        )
        match source.kind:
            case PolledKind() as polled:
                plan = polled.plan(source.options, tuple(context.keys.values()))
                return partial(SourceActor, polled, context, Schedule(plan, self._random))
            case TickingKind() as ticking:
                return partial(TickingSourceActor, ticking, context)
            case StreamKind() as stream:
                return partial(StreamSourceActor, stream, context)


def service_status(settings: Settings, now: float) -> ServiceStatus:
    """Open the records of a service that starts at `now` (Unix seconds)."""
    board = BoardStatus(ActorStatus("aggregator"))
    sources = {
        name: SourceStatus(
            name,
            source.kind.name,
            isinstance(source.kind, TickingKind),
            ActorStatus(f"source:{name}"),
            prices=prices_of(source.kind, source.options),
        )
        for name, source in settings.sources.items()
    }
    bookmakers = {
        name: BookmakerStatus(
            name,
            one.name or name,
            sources[one.source],
            ActorStatus(f"bookmaker:{name}"),
            is_named=one.name is not None,
        )
        for name, one in settings.bookmakers.items()
    }
    actors = [
        board.actor,
        *(one.actor for one in bookmakers.values()),
        *(one.actor for one in sources.values()),
    ]
    return ServiceStatus(now, board, sources, bookmakers, {actor.name: actor for actor in actors})
