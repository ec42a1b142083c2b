"""A cluster without processes, of several kinds of market: a collector, its records, and their results."""

from __future__ import annotations

from collections.abc import Iterable

from actors.board.history import HistoryLimits
from actors.board.published import Published
from actors.board.validity import BoardRules
from actors.cluster.liveness import MatcherClock
from actors.cluster.outbox import Outbox
from actors.cluster.replay import State, applied, empty, kept, restored
from actors.cluster.store import CollectorId, Position, Restored
from actors.cluster.wire.fixtures import wire_links, wire_side_links
from actors.cluster.wire.records import MarketsRecord, Record, Tick, decoded, encoded, record_of
from actors.core.cooperative import run_now
from actors.core.messages import Batch
from actors.market_fixtures.boards import Drafts, market_boards
from actors.market_fixtures.linking import SideLinking
from actors.market_fixtures.model import markets_of
from actors.markets.market import Kind
from actors.matches.linking import Linking
from actors.matches.model import FixtureChanges, first_snapshot, fixtures_of
from actors.matches.update import FixtureUpdater
from actors.matching.event import EventKey
from tests.support.builders.fixtures import TERMS, EqualNames
from tests.support.builders.markets import KINDS, SetClock

FIRST = 1000
COLLECTOR, MATCHER = CollectorId("collector"), CollectorId("matcher")
LogEntry = tuple[Position, bytes]


class MarketCluster:
    """A collector of all bookmakers, the matcher, and the `state` of a replica after all of the `log`."""

    def __init__(self, kinds: Iterable[Kind] = KINDS, rules: BoardRules = BoardRules()) -> None:  # noqa: B008
        self.clock, first = SetClock(), first_snapshot(1, TERMS)
        self.main = Published(first, rules, self.clock)
        self.markets = market_boards(
            *(first, TERMS, [*kinds]),
            rules=rules,
            clock=self.clock,
            limits=HistoryLimits(),
            request=lambda _: None,
            is_linked=False,
        )
        self.matcher = MatcherClock()
        others = {kind: self.markets.published[kind] for kind in self.markets.updaters}
        beside = {kind: Outbox(board.newest, self.matcher) for kind, board in others.items()}
        self.outbox = Outbox(first, self.matcher, beside)
        self.main.follow(self.outbox.follow)
        for kind, board in others.items():
            board.follow(beside[kind].follow)
        self.log: list[LogEntry] = []
        self.replica = Replica(kinds)
        self._linking = Linking(EqualNames(), TERMS.roster)
        self._side_linking = SideLinking(EqualNames, TERMS.roster)
        self._waiting: dict[EventKey, None] = {}

    @property
    def state(self) -> State:
        """The state of a replica."""
        return self.replica.state

    def take(self, *batches: Batch) -> None:
        """Apply batches to the collector's own boards, and commit the changes."""
        draft = Drafts(self.main, None, self.markets)
        run_now(draft.expire(self.clock.now()))
        for change in batches:
            run_now(draft.apply(change, self.clock.now()))
        run_now(draft.finish(self.clock.now()))
        draft.publish()
        self.commit()

    def commit(self) -> None:
        """Commit the differences."""
        due = run_now(self.outbox.due([*TERMS.roster], with_times=True))
        self.outbox.acked(due)
        if due.changed:
            self.append(record_of(COLLECTOR, due.changed, due.clock), is_seen=due.is_seen)

    def tick(self, *, is_seen: bool = True) -> None:
        """Let the matcher report the time, and the collector receive this report."""
        now = self.clock.now()
        self.append(Record(MATCHER, tick=Tick(now.mono, now.wall, 1)), is_seen=is_seen)
        self.matcher.ticked(MATCHER, now.mono, now.mono, now.mono)

    def leave(self, collector: CollectorId) -> None:
        """Depose a collector."""
        self.append(Record(collector, leaves=True), is_seen=True)

    def link(self) -> None:
        """Link all events, and then those without 1X2 prices."""
        waiting, self._waiting = self._waiting, {}
        for links in run_now(self._linking.update(fixtures_of(self.state.snapshot), waiting)):
            self.append(Record(MATCHER, links=wire_links(links)), is_seen=True)
        main, sides = fixtures_of(self.state.snapshot), markets_of(self.state.markets[KINDS[1]]).sides
        found = run_now(self._side_linking.update(main, sides, None))
        if found is not None:
            self.append(MarketsRecord(MATCHER, sides=wire_side_links(found)), is_seen=True)

    def append(self, record: Record, *, is_seen: bool) -> None:
        """Add a record to the log, and apply it."""
        at = self.state.at
        at = Position(at.version + 1) if is_seen else Position(at.version, at.sub + 1)
        self.log.append((at, encoded(record)))
        self.replica.follow(self.log[-1:])
        changes = self.state.snapshot.fixture_changes
        if isinstance(changes, FixtureChanges):
            self._waiting |= dict.fromkeys(changes.events)


class Replica:
    """A process that applies records, from the empty board or from a checkpoint."""

    def __init__(self, kinds: Iterable[Kind] = KINDS, found: Restored | None = None) -> None:
        self.state = empty(FIRST, TERMS, "e")
        if found is not None:
            self.state = run_now(restored(found, TERMS, "e"))
        self._updater = FixtureUpdater(TERMS)
        made = market_boards(
            *(self.state.snapshot, TERMS, [*kinds]),
            rules=BoardRules(),
            clock=SetClock(),
            limits=HistoryLimits(),
            request=lambda _: None,
        )
        self._of_kinds = {kind: of for kind, of in made.updaters.items() if of is not None}

    def follow(self, log: Iterable[LogEntry]) -> None:
        """Apply records."""
        for at, data in log:
            self.state = run_now(applied(self.state, at, decoded(data), self._updater, self._of_kinds))

    def kept(self) -> Restored:
        """Return a checkpoint of the replica's state."""
        return Restored(FIRST, self.state.at, run_now(kept(self.state)))
