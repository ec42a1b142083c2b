"""Builds the parts of a cluster in one process from its configuration: boards, actors, archive."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from hashlib import blake2b
from importlib.metadata import version
from secrets import token_hex

import msgspec
import structlog
from msgspec.structs import replace
from structlog.typing import FilteringBoundLogger

from actors.archive.archive import FollowedArchive, open_followed
from actors.board.published import Published
from actors.board.snapshot import Snapshot
from actors.cluster.follower import CHECKPOINT_RECORDS, FollowerActor
from actors.cluster.gate import Gate, GatedActor
from actors.cluster.keeper import LINKS, KeeperActor
from actors.cluster.liveness import MatcherClock
from actors.cluster.outbox import Outbox
from actors.cluster.progress import LinksBox, Seen
from actors.cluster.redis_store import RedisStore
from actors.cluster.store import CollectorId, Store
from actors.cluster.wire.records import FORMAT
from actors.core.clock import Clock, Instant
from actors.core.messages import Batch, Scope, SourceName
from actors.market_fixtures.boards import market_boards
from actors.markets.market import Kind
from actors.matches.history import FixtureHistory
from actors.matches.linking import Partition, Waiting
from actors.matches.model import FixtureSettings, FixtureView, ViewKind, first_snapshot
from actors.monitoring.status import ArchiveStatus, ServiceStatus
from actors.monitoring.transitions import polling_stopped
from actors.pipeline.linker import LinkerActor
from actors.pipeline.schedule import Schedule, ScheduleState
from actors.review.review import Review
from actors.runtime.actor import Actor, ActorStatus
from actors.runtime.facts import announce
from actors.runtime.mailbox import Bus
from actors.runtime.membership import ClusterStatus
from actors.runtime.supervisor import ChildSpec
from actors.service.settings import Settings
from actors.service.tables import Role

OpenStore = Callable[[Seen], Store]
log: FilteringBoundLogger = structlog.get_logger()


class Cluster:
    """The parts of a process in a cluster: `published` is the board that all processes show.

    `markets` are the boards of kinds of market other than 1X2. `collects` says whether sources run here,
    each behind its gate. Tests may pass `open_store`, to open another connection than to the configured
    server; `checkpoint_records` is passed to `FollowerActor`.
    """

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        terms: FixtureSettings,
        open_store: OpenStore | None = None,
        checkpoint_records: int = CHECKPOINT_RECORDS,
    ) -> None:
        self._settings, self._clock, self._terms = settings, clock, terms
        self._open = open_store or partial(redis_store, settings)
        self._checkpoint_records = checkpoint_records
        roles = settings.cluster.roles
        self.collects = Role.COLLECTOR in roles
        self.shows = Role.REPLICA in roles
        own = CollectorId(token_hex(8)) if self.collects else None
        self._own = own
        self.status = ClusterStatus(tuple(roles), own)
        self._seen = Seen()
        self._store = partial(self._open, self._seen)
        self._polls = _Polls(clock)
        self._gates = {name: Gate() for name in (*settings.sources, LINKS)}
        first = first_snapshot(0, terms, "none")
        self.published = Published(first, settings.board, clock, settings.history)
        self.fixture_history = FixtureHistory(first, settings.history)
        self.published.follow(self.fixture_history.add, self.fixture_history.digest)
        rules, limits, kinds = settings.board, settings.history, settings.market_kinds
        self.markets = market_boards(
            first, terms, kinds, rules=rules, clock=clock, limits=limits, request=lambda _: None
        )
        self.waiting = Waiting()
        self.published.follow(self.waiting.add)
        self._changed = asyncio.Event()
        self._links, self._matcher = LinksBox(self._changed.set), MatcherClock()
        self._archive: FollowedArchive | None = None

    def archived(self, status: ServiceStatus) -> FollowedArchive | None:
        """Open the configured archive, which then follows the shown board; None if none is configured.

        The board begins anew if the archive has higher versions. The caller starts and closes the archive.
        Raises: ArchiveLockedError, ConfigError.
        """
        if self._settings.archive.path is None:
            return None
        status.archive = ArchiveStatus()
        opened = open_followed(self._settings.archive, status.archive, self._clock, status.names)
        self._archive, highest = opened
        self._seen.note(highest)
        self._archive.writer.newest_until = self._newest_until
        for kind, board in {Kind.ONE_X_TWO: self.published, **self.markets.published}.items():
            board.follow(partial(self._archive.note, kind))
        self.markets = replace(self.markets, committed=self._archive.commit)
        return self._archive

    def _newest_until(self, now: Instant) -> float:
        """Return the time (Unix seconds) up to which the shown version is known to be the newest."""
        lag_s = self.status.lag_s(now.mono)
        return 0.0 if lag_s is None else now.wall - lag_s

    def gated(
        self, source: SourceName, start: Callable[[], Actor], schedule: Schedule | None = None
    ) -> Callable[[], Actor]:
        """Return a function that starts a source's actor behind its gate; share its `schedule`."""
        if schedule is not None:
            self._polls.share(source, schedule)
        return partial(GatedActor, self._gates[source], start)

    def linker(self, status: ActorStatus, matcher: Callable[[], Partition], review: Review) -> ChildSpec:
        """Return the linker of the shown board, behind the gate of the lease for links."""
        parts = (self.published, self.waiting, self._terms.roster, matcher)
        of_sides = self.markets, self._links.sides.put
        start = partial(LinkerActor, *parts, self._links.put, review, self._clock, *of_sides)
        return ChildSpec(status, self.gated(LINKS, start))

    def _restart(self, boards: Mapping[Kind, Snapshot]) -> None:
        for kind, history in {Kind.ONE_X_TWO: self.fixture_history, **self.markets.histories}.items():
            names = None, *boards[kind].books
            history.restart(boards[kind], [FixtureView(view, name) for view in ViewKind for name in names])
        self.waiting.begin_anew()
        if self._archive is not None:
            self._archive.restart(boards)

    def children(
        self, collected: Mapping[Kind, Published], bus: Bus, status: ServiceStatus
    ) -> list[ChildSpec]:
        """Return the actors that write the `collected` boards to the cluster, and read the cluster's."""
        drop = partial(self._drop, collected, bus, status)
        children = [] if self._own is None else [self._keeper(self._own, collected, drop)]
        follow = partial(
            FollowerActor,
            store=self._store(),
            published=self.published,
            terms=self._terms,
            own=self._own,
            links=self._links,
            matcher=self._matcher,
            restarted=self._restart,
            status=self.status,
            clock=self._clock,
            markets=self.markets,
            archived=None if self._archive is None else self._archive.newest_of,
            checkpoint_records=self._checkpoint_records,
        )
        return [*children, ChildSpec(ActorStatus("follower"), follow)]

    def _keeper(
        self, own: CollectorId, collected: Mapping[Kind, Published], drop: Callable[[SourceName], None]
    ) -> ChildSpec:
        main, *others = collected.values()
        beside = {kind: Outbox(board.newest, self._matcher) for kind, board in collected.items()}
        beside.pop(Kind.ONE_X_TWO)
        outbox = Outbox(main.newest, self._matcher, beside)
        for kind, board in collected.items():
            board.follow((outbox if kind is Kind.ONE_X_TWO else beside[kind]).follow)
            board.follow(lambda _: self._changed.set())
        sources = self._settings.sources
        keep = partial(
            KeeperActor,
            id=own,
            store=self._store(),
            outbox=outbox,
            published=main,
            shown=self.published,
            markets=others,
            shown_markets=[*self.markets.published.values()],
            links=self._links,
            sources={name: tuple(self._settings.bookmakers_of(name)) for name in (LINKS, *sources)},
            gates=self._gates,
            drop=drop,
            polls=self._polls,
            changed=self._changed,
            status=self.status,
            clock=self._clock,
        )
        return ChildSpec(ActorStatus("keeper"), keep)

    def _drop(
        self, collected: Mapping[Kind, Published], bus: Bus, status: ServiceStatus, source: SourceName
    ) -> None:
        """Withdraw the lists of a source from the boards of this process."""
        now = self._clock.now()
        if source in status.sources:
            polling_stopped(status, source)
        for name in self._settings.bookmakers_of(source):
            withdrawn: dict[Scope, Batch] = {}
            for kind, board in collected.items():
                for scope, state in board.newest.books[name].lists.items():
                    if not state.withdrawn:
                        about = (name, scope, state.list_id, False, (), (), now.wall, now.mono)
                        first = Batch(*about, state.stale_after_s, withdrawn=True)
                        known = withdrawn.get(scope, first)
                        withdrawn[scope] = replace(known, kinds=(*known.kinds, kind))
            for batch in withdrawn.values():
                bus.publish(batch)


class _Polls:
    """The schedules of a process's polled sources; implements `keeper.Polls`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._schedules: dict[SourceName, Schedule] = {}

    def share(self, source: SourceName, schedule: Schedule) -> None:
        """Share a source's schedule: from now on it asks only with the keeper's permission."""
        schedule.share()
        self._schedules[source] = schedule

    def tell(self, sources: Iterable[SourceName]) -> dict[SourceName, bytes]:
        now, of = self._clock.now(), self._schedules
        return {name: msgspec.msgpack.encode(of[name].tell(now)) for name in sources if name in of}

    def permit(self, sources: Iterable[SourceName], until_mono: float) -> None:
        for name in self._schedules.keys() & set(sources):
            self._schedules[name].permit(until_mono)

    def take(self, source: SourceName, told: bytes) -> None:
        if source not in self._schedules:
            return
        if not told:
            announce(log, "polls.lost", source=source)
        found = msgspec.msgpack.decode(told, type=ScheduleState) if told else ScheduleState({})
        self._schedules[source].resume(found, self._clock.now())


def redis_store(settings: Settings, seen: Seen) -> Store:
    """Return a connection to the configured server, not yet open."""
    cluster = settings.cluster
    return RedisStore(cluster.url or "", cluster.prefix, shape_of(settings), partial(token_hex, 4), seen)


def shape_of(settings: Settings) -> str:
    """Return a digest of all settings and libraries, besides the records, that affect a version's bytes.

    It includes the version of zlib, because versions compress differently. If any source reads markets
    other than 1X2, it includes each source's markets, and which bookmakers are exchanges, because in play
    an exchange's handicap is another bet than a bookmaker's.
    """
    bookmakers = [[name, *msgspec.structs.astuple(entry)] for name, entry in settings.bookmakers.items()]
    made_by = [FORMAT, version("oddsboard"), zlib.ZLIB_RUNTIME_VERSION]
    parts: list[object] = [made_by, bookmakers, settings.fair, settings.surebets]
    if len(settings.market_kinds) > 1:  # otherwise equal to the digest of releases with 1X2 alone
        venues = {name: settings.offer_of(entry).venue for name, entry in settings.bookmakers.items()}
        kinds = {name: source.options.kinds for name, source in settings.sources.items()}
        parts += [sorted(kinds.items()), sorted(venues.items())]
    told = msgspec.json.encode(parts)
    return blake2b(told, digest_size=8).hexdigest()
