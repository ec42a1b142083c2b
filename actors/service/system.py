"""Composes everything below the web: the supervision tree, and the state that outlives its actors."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from functools import partial
from math import inf
from random import Random
from secrets import token_hex
from typing import Any

import structlog
from msgspec.structs import replace

from actors.alerts.alert import Alert
from actors.alerts.delivery import Delivery, Send
from actors.alerts.rules.engine import RuleEngine
from actors.alerts.rules.rule import Rule
from actors.archive.archive import OpenArchive
from actors.board.published import Overdue, Published, Rejection
from actors.board.snapshot import Snapshot
from actors.core.clock import Clock
from actors.core.messages import Batch, BookmakerId, Failure, Payload, Scope, SourceName, Venue
from actors.core.validation import Reason
from actors.market_fixtures.boards import market_boards
from actors.market_fixtures.sides import SideLinks
from actors.markets.market import Kind
from actors.matches.history import FixtureHistory
from actors.matches.linking import Links, Partition, Waiting
from actors.matches.model import BookmakerInfo, FixtureSettings, first_snapshot, roster_of
from actors.matches.surebets import SurebetRules
from actors.matches.update import FixtureUpdater
from actors.matching.overrides import Overrides
from actors.monitoring.log_events import LogStatus
from actors.monitoring.status import BoardStatus, BookmakerStatus, LinksStatus, ServiceStatus, SourceStatus
from actors.pipeline.aggregator import TICK_S, AggregatorActor, Item, new_intake
from actors.pipeline.bookmaker import BookmakerActor
from actors.pipeline.context import SourceContext
from actors.pipeline.fanout import extractor
from actors.pipeline.linker import LinkerActor
from actors.pipeline.polled_source import SourceActor
from actors.pipeline.program.source import ProgramSourceActor
from actors.pipeline.schedule import Schedule
from actors.pipeline.stream_http import OpenHttp
from actors.pipeline.stream_source import OpenLines, StreamSourceActor
from actors.pipeline.ticking_source import TickingSourceActor
from actors.review.reload import LinksFile
from actors.review.review import Review
from actors.runtime.actor import Actor, ActorStatus
from actors.runtime.backoff import WINDOW_S
from actors.runtime.conflation import Inbox, merged_deliveries
from actors.runtime.facts import announce
from actors.runtime.mailbox import Bus, Mailbox, PoisonGuard
from actors.runtime.supervisor import ChildSpec, Supervisor
from actors.service.alerting.delivery import delivering, open_delivery
from actors.service.archiving import open_configured
from actors.service.clustering import Cluster
from actors.service.settings import Settings
from actors.source_api.kinds import PolledKind, TickingKind, bounds_of, prices_of
from actors.source_api.program import ProgramKind
from actors.source_api.stream import StreamKind
from actors.transports.polling import Transport
from actors.transports.process import GRACE_S, KILL_S

log = structlog.get_logger()

PROGRAM_STOPS_S = GRACE_S + KILL_S + 0.5


class System:
    """The whole service below the web: `supervisor` runs it, `published` and `status` show it.

    `record(source)`, if given, returns the function that records a payload of a source. `transports` open
    the transports of polled sources in place of HTTP; `streams` open the lines and the HTTP client of
    pushed sources. `linker` makes the matcher; `tick_s` is passed to `AggregatorActor`. If `is_archived`, a
    configured archive is opened; the caller starts and closes it. Metrics are registered in the registry of
    `log_status`, if given. `cluster` makes this process a part of a cluster: then `published` has the
    entries that this process collects, without fixtures, and `shown` is the cluster's board; likewise
    `markets` and `shown_markets` for markets other than 1X2. `send` sends alerts to configured receivers;
    the caller starts and closes their `delivery`. Without it `offer` gets each alert, and must not wait.

    Raises: ArchiveLockedError, QueueLockedError, ConfigError.
    """

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        random: Random,
        record: Callable[[SourceName], Callable[[Payload], None]] | None = None,
        *,
        transports: Mapping[SourceName, Callable[[], AbstractAsyncContextManager[Transport]]] = {},
        streams: Mapping[SourceName, tuple[OpenLines, OpenHttp]] = {},
        linker: Callable[[], Partition] | None = None,
        tick_s: float = TICK_S,
        is_archived: bool = False,
        log_status: LogStatus | None = None,
        cluster: Callable[[FixtureSettings], Cluster] | None = None,
        offer: Callable[[Alert], None] = lambda _: None,
        send: Send | None = None,
    ) -> None:
        now = clock.now()
        self._settings, self._clock, self._random = settings, clock, random
        self._record, self._transports, self._streams = record, transports, streams
        self.status = service_status(settings, now.wall, log_status)
        self.status.board.last_turn_mono = now.mono
        self._terms, self._intake = terms_of(settings), new_intake()
        self._updater, self._tick_s = FixtureUpdater(self._terms), tick_s
        self._cluster = None if cluster is None else cluster(self._terms)
        self._own = open_configured(settings, self.status, clock, self._terms) if is_archived else None
        self.archive: OpenArchive | None = self._own
        self._begin(self._first(now.wall))
        self.bus, self.review, self._waiting = Bus(), Review(settings.overrides), Waiting()
        self._links_file = LinksFile(settings.links.file, self.status.links, settings.overrides)
        if self._cluster is not None:
            self._show(self._cluster, is_archived=is_archived)
        self._inboxes: dict[BookmakerId, Inbox] = {
            name: Mailbox(lambda item: item.scope, merged_deliveries) for name in settings.bookmakers
        }
        self._contexts = {name: self._context(name) for name in settings.sources}
        self._poisoned_mono: dict[BookmakerId | None, float] = {}
        self.status.is_idle, self.status.markets = self._is_idle, self.shown_markets.counts
        self.delivery, self._rules = self._alerts(send, offer)
        self.supervisor = Supervisor(self._children(linker), clock)

    def _begin(self, first: Snapshot) -> None:
        """Open the boards of all kinds of market."""
        settings, clock, request = self._settings, self._clock, self._intake.put_nowait
        self.published = Published(first, settings.board, clock, settings.history, request)
        self.shown, self.fixture_history = self.published, FixtureHistory(first, settings.history)
        kinds, rules, limits = settings.market_kinds, settings.board, settings.history
        self.markets = self.shown_markets = market_boards(
            first,
            self._terms,
            kinds,
            rules=rules,
            clock=clock,
            limits=limits,
            request=request,
            is_linked=self._cluster is None,
            begun={} if self._own is None else self._own.beginning.markets,
        )

    def _show(self, cluster: Cluster, *, is_archived: bool) -> None:
        """Show the board of a cluster in place of this process's own."""
        self.shown, self.fixture_history = cluster.published, cluster.fixture_history
        self._waiting, self.status.cluster = cluster.waiting, cluster.status
        if is_archived:
            self.archive = cluster.archived(self.status)
        self.shown_markets = cluster.markets  # read only now, because `archived` has replaced these boards

    def _is_idle(self) -> bool:
        is_idle = self._intake.is_idle and all(box.is_idle for box in self._inboxes.values())
        shown, own = [self.shown], [self.published]
        shown += self.shown_markets.published.values()
        own += self.markets.published.values()
        boards = zip(shown, own, strict=True)
        return is_idle and all(board.newest.has_lists_of(of_own.newest) for board, of_own in boards)

    def _children(self, linker: Callable[[], Partition] | None) -> list[ChildSpec]:
        """Return all actors in the order of their start."""
        core = [self._aggregator()]
        if (rules := self._rules) is not None:
            waiting = ActorStatus("alerts", mailbox_depth=lambda: rules.waiting)
            self.status.actors[waiting.name] = waiting
            core.append(ChildSpec(waiting, lambda: rules))
        if self.delivery is not None:
            core.append(delivering(self.delivery, self.status))
        if self._cluster is None:
            core.append(self._links(linker))
        else:
            collected = {Kind.ONE_X_TWO: self.published}
            collected |= {kind: self.markets.published[kind] for kind in self.markets.updaters}
            core += self._cluster.children(collected, self.bus, self.status)
            self.status.actors |= {child.status.name: child.status for child in core}
            if not self._cluster.collects:
                return core
            actor, matcher = self.status.links.actor, linker or self.review.new_matcher
            core.append(self._cluster.linker(actor, matcher, self.review))
        settings = self._settings
        return [*core, *map(self._bookmaker, settings.bookmakers), *map(self._source, settings.sources)]

    def _first(self, wall: float) -> Snapshot:
        """Return the first snapshot: the archive's, or an empty board under a new epoch."""
        epoch = token_hex(4)  # random, because a clock that was set back would repeat versions
        first = first_snapshot(int(wall * 1000), self._terms, epoch)
        if self._own is not None:
            first = self._own.beginning.snapshot
        return first

    def _aggregator(self) -> ChildSpec:
        if self._own is not None:
            self.published.admit = self._own.admit
            boards = {Kind.ONE_X_TWO: self.published, **self.markets.published}
            for kind, published in boards.items():
                published.follow(partial(self._own.note, kind))
            self.markets = replace(self.markets, committed=self._own.commit)
        board, intake = self.status.board, self._intake
        self.bus.subscribe(intake.put_nowait)
        board.versions = lambda: self.shown.versions
        board.received = lambda: intake.received
        board.conflated = lambda: intake.conflated
        board.actor.mailbox_depth = lambda: intake.depth
        start = partial(
            AggregatorActor,
            *(intake, self.published, self.status, self._blame_item, self._clock),
            resumed=self._wake_sources,
            on_rejected=self._reject_list,
            advance=self._updater if self._cluster is None else None,
            markets=self.markets,
            tick_s=self._tick_s,
        )
        return ChildSpec(board.actor, start, lambda: intake.in_flight is not None, is_core=True)

    def _links(self, linker: Callable[[], Partition] | None) -> ChildSpec:
        actor, waiting = self.status.links.actor, self._waiting
        self.published.follow(waiting.add)
        self.published.follow(self.fixture_history.add, self.fixture_history.digest)
        actor.mailbox_depth = lambda: waiting.depth
        parts = (self.published, waiting, self._terms.roster, linker or self.review.new_matcher)
        send = self._intake.put_nowait
        return ChildSpec(
            actor,
            partial(LinkerActor, *parts, send, self.review, self._clock, self.markets, send),
        )

    async def read_links_again(self) -> bool:
        """Read the file of links again, if there is one, and link by it immediately.

        A bad file is logged and changes nothing. Return False for a bad file, otherwise True.
        """
        if self._settings.links.file is None:
            return True
        overrides = await self._links_file.read_again(self.review.overrides)
        if overrides is not None:
            self.replace_links(overrides)
        return overrides is not None

    def replace_links(self, overrides: Overrides) -> None:
        """Link all events anew with these overrides."""
        self.review.replace(overrides)
        self._waiting.begin_anew()

    def replace_rules(self, rules: SurebetRules) -> None:
        """Find surebets by these rules from now on, with an immediate commit; not in a cluster."""
        self._updater.rule(rules)
        self.markets.rule(rules)
        self._intake.put_nowait(Overdue())

    def replace_alerts(self, rules: Iterable[Rule]) -> None:
        """Follow these rules of alerts from now on, if the service began with rules."""
        if self._rules is not None:
            self._rules.replace(rules)

    def _alerts(
        self, send: Send | None, offer: Callable[[Alert], None]
    ) -> tuple[Delivery | None, RuleEngine | None]:
        """Return the delivery of alerts, if there are receivers, and the engine of the rules, if any."""
        parts = (self._settings, self.status, self._clock, self._random)
        delivery = None if send is None else open_delivery(*parts, send)
        offered = offer if delivery is None else delivery.offer
        return delivery, self._rule_engine(offered) if self._settings.alert else None

    def _rule_engine(self, offer: Callable[[Alert], None]) -> RuleEngine:
        shown, sources = self.shown_markets, self.status.sources
        boards = {Kind.ONE_X_TWO: self.shown, **{kind: shown.published[kind] for kind in shown.updaters}}
        return RuleEngine(
            self._settings.alert,
            boards,
            names=self.status.names,
            was_up=lambda name: sources[SourceName(name)].last_success_at is not None,
            offer=offer,
            clock=self._clock,
        )

    def _wake_sources(self) -> None:
        for context in self._contexts.values():
            context.wake.set()

    def _blame_item(self, item: Item) -> None:
        """Request the list, or the links, that crashed the aggregator again."""
        match item:
            case Batch(bookmaker=bookmaker) | Rejection(bookmaker=bookmaker):
                self._blame(bookmaker)
            case Links():
                announce(log, "links.dropped", groups=len(item.groups))
                self._waiting.begin_anew()
                item.applied.set()
                if self._is_second(None):
                    self.supervisor.quarantine(self.status.links.actor.name, "two of its links crashed it")
            case SideLinks() | Failure() | Overdue():
                pass

    def _blame(self, bookmaker: BookmakerId, what: str = "crashed the aggregator") -> None:
        """Request a new list in place of a poison batch; quarantine its actor at the second in a minute."""
        status = self.status.bookmakers[bookmaker]
        self._contexts[status.source.name].refresh.set()
        if self._is_second(bookmaker):
            self.supervisor.quarantine(status.actor.name, f"two of its batches {what}")

    def _is_second(self, culprit: BookmakerId | None) -> bool:
        """Note a crash by a bookmaker, or (None) the linker; return whether it is the second soon."""
        now, last = self._clock.now().mono, self._poisoned_mono.get(culprit, -inf)
        self._poisoned_mono[culprit] = now
        return now - last <= WINDOW_S

    def _reject_list(self, bookmaker: BookmakerId, scope: Scope, why: str) -> None:
        """Record that a list was withdrawn because it cannot be shown, and request it anew."""
        status = self.status.bookmakers[bookmaker]
        status.rejected.add(Reason.TYPE)
        status.errors[scope] = f"rejected: {why}"
        announce(log, "list.rejected", bookmaker=bookmaker, scope=scope, error=why)
        self._blame(bookmaker, "could not be encoded")

    def _bookmaker(self, name: BookmakerId) -> ChildSpec:
        settings, status = self._settings.bookmakers[name], self.status.bookmakers[name]
        inbox = self._inboxes[name]
        source = self._settings.sources[settings.source]
        status.actor.mailbox_depth = lambda: inbox.depth
        start = partial(
            BookmakerActor,
            status=status,
            inbox=inbox,
            bus=self.bus,
            extract=extractor(source.kind, settings.key, source.options),
            bounds=bounds_of(source.kind, settings.key, source.options),
            refresh=self._contexts[settings.source].refresh,
            poison_guard=PoisonGuard(),
            clock=self._clock,
        )
        return ChildSpec(status.actor, start)

    def _context(self, name: SourceName) -> SourceContext[Any]:  # a kind always gets its own options
        bookmakers = self._settings.bookmakers_of(name)
        return SourceContext(
            options=self._settings.sources[name].options,
            keys={name: bookmaker.key for name, bookmaker in bookmakers.items()},
            inboxes={bookmaker: self._inboxes[bookmaker] for bookmaker in bookmakers},
            status=self.status.sources[name],
            refresh=asyncio.Event(),
            published=self.published,
            markets=self.markets,
            clock=self._clock,
            random=self._random,
            record=None if self._record is None else self._record(name),
            bus=self.bus,
        )

    def _source(self, name: SourceName) -> ChildSpec:
        context, kind = self._contexts[name], self._settings.sources[name].kind
        start: Callable[[], Actor]
        schedule = None
        match kind:
            case PolledKind():
                plan = kind.plan(context.options, tuple(context.keys.values()))
                schedule = Schedule(plan, self._random)
                start = partial(SourceActor, kind, context, schedule, self._transports.get(name))
            case TickingKind():
                start = partial(TickingSourceActor, kind, context)
            case StreamKind():
                open_lines, open_http = self._streams.get(name, (None, None))
                start = partial(StreamSourceActor, kind, context, open_lines, open_http)
            case ProgramKind():
                start = partial(ProgramSourceActor, kind, context)
        if self._cluster is not None:
            start = self._cluster.gated(name, start, schedule)
        actor = context.status.actor
        if isinstance(kind, ProgramKind):
            return ChildSpec(actor, start, is_leaf=True, stop_within_s=PROGRAM_STOPS_S)
        return ChildSpec(actor, start)


def service_status(settings: Settings, now: float, log_status: LogStatus | None = None) -> ServiceStatus:
    """Open the records of a service that starts at `now` (Unix seconds), in `log_status`'s registry."""
    log_status = log_status or LogStatus()
    metrics = log_status.metrics
    board = BoardStatus(ActorStatus("aggregator"), metrics)
    sources = {
        name: SourceStatus(
            name,
            source.kind.name,
            isinstance(source.kind, TickingKind),
            ActorStatus(f"source:{name}"),
            prices=prices_of(source.kind, source.options),
            metrics=metrics,
        )
        for name, source in settings.sources.items()
    }
    bookmakers = {
        name: BookmakerStatus(
            name,
            bookmaker.name or name,
            sources[bookmaker.source],
            ActorStatus(f"bookmaker:{name}"),
            is_named=bookmaker.name is not None,
            short=bookmaker.short,
            offer=settings.offer_of(bookmaker),
        )
        for name, bookmaker in settings.bookmakers.items()
    }
    links = LinksStatus(ActorStatus("linker"))
    owners: list[BoardStatus | LinksStatus | BookmakerStatus | SourceStatus] = [board, links]
    actors = [owner.actor for owner in (*owners, *bookmakers.values(), *sources.values())]
    status = ServiceStatus(now, board, sources, bookmakers, {actor.name: actor for actor in actors}, links)
    status.log = log_status
    return status


def terms_of(settings: Settings) -> FixtureSettings:
    """Return the configured settings of fixtures."""
    kinds = {name: prices_of(source.kind, source.options) for name, source in settings.sources.items()}
    listed = {
        name: BookmakerInfo(
            bookmaker.source,
            kinds[bookmaker.source],
            bookmaker.commission,
            bookmaker.company or name,
            counts_from_now=settings.offer_of(bookmaker).venue is Venue.BOOKMAKER,
        )
        for name, bookmaker in settings.bookmakers.items()
    }
    return FixtureSettings(
        roster_of(listed), settings.fair.method, settings.surebets, settings.value.max_kelly
    )
