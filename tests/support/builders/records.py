"""A cluster without processes: collectors that commit records, a matcher that ticks, and the results.

The matcher's clock is `AHEAD_S` ahead of the collectors' clock.
"""

from __future__ import annotations

from collections.abc import Iterable

from actors.board.board import Board
from actors.board.snapshot import Snapshot
from actors.cluster.liveness import MatcherClock
from actors.cluster.outbox import Outbox
from actors.cluster.replay import State, applied, empty
from actors.cluster.store import CollectorId, Position
from actors.cluster.wire.fixtures import wire_links
from actors.cluster.wire.records import Record, Tick, decoded, encoded
from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.messages import BookmakerId
from actors.matches.linking import Linking
from actors.matches.model import Fixture, FixtureChanges, FixtureSettings, fixtures_of
from actors.matches.update import FixtureUpdater
from actors.matching.event import EventKey
from tests.support.builders.boards import RULES
from tests.support.builders.fixtures import EqualNames
from tests.support.builders.messages import SCOPE, batch, match
from tests.support.time.virtual import WALL_0

FIRST, AHEAD_S = 1000, 5000.0
MATCHER, OTHER = CollectorId("matcher"), CollectorId("other")


class Collector:
    """The own board of a collector of one bookmaker, and the records that it has committed."""

    def __init__(self, cluster: Cluster, name: BookmakerId) -> None:
        self.clock = MatcherClock()
        self._cluster, self._name = cluster, name
        self._own = Snapshot.empty(1, (name,))
        self._outbox = Outbox(self._own, self.clock)

    def list(self, prices: tuple[float, float, float], at: float, holds_s: float = 30.0) -> None:
        """List the match at these prices at `at` (monotonic seconds), and commit."""
        listed = match(self._name, home="Home", prices=prices, start_time=int(WALL_0) + 86_400)
        board = Board(self._own, RULES)
        of = batch([listed], bookmaker=self._name, received_mono=at, stale_after_s=holds_s)
        run_now(board.apply(of, Instant(at, WALL_0 + at)))
        self._commit(board, at)

    def confirm(self, at: float, *, with_times: bool = True) -> None:
        """Confirm the list; the time of this is committed immediately only `with_times`."""
        board = Board(self._own, RULES)
        of = batch(complete=False, bookmaker=self._name, received_mono=at)
        run_now(board.apply(of, Instant(at, WALL_0 + at)))
        self._commit(board, at, with_times=with_times)

    def fail(self, at: float) -> None:
        """Note that an attempt to get the list failed, and commit."""
        board = Board(self._own, RULES)
        board.fail(self._name, SCOPE, at)
        self._commit(board, at, with_times=False)

    def tell(self) -> None:
        """Commit all that is due, times as well."""
        self._commit(Board(self._own, RULES), 0.0)

    def _commit(self, board: Board, at: float, *, with_times: bool = True) -> None:
        self._own = run_now(board.finish(Instant(at, WALL_0 + at)))
        self._outbox.follow(self._own)
        due = run_now(self._outbox.due([self._name], with_times=with_times))
        self._outbox.acked(due)
        if due.books:
            by = CollectorId(self._name)
            self._cluster.append(Record(by, dict(due.books), clock=due.clock), is_seen=due.is_seen)


class Cluster:
    """The log, the state after it, and the changes of fixtures with each record."""

    def __init__(self, terms: FixtureSettings) -> None:
        self.log: list[tuple[Position, bytes]] = []
        self.state = empty(FIRST, terms, "e")
        self.changes: list[FixtureChanges] = []
        self.collectors = {name: Collector(self, name) for name in terms.roster}
        self.updater = FixtureUpdater(terms)
        self._linking = Linking(EqualNames(), terms.roster)
        self._waiting: dict[EventKey, None] = {}

    def append(self, record: Record, *, is_seen: bool) -> None:
        """Add a record to the log, and apply it."""
        at, data = self.state.at, encoded(record)
        self.log.append((Position(at.version + 1) if is_seen else Position(at.version, at.sub + 1), data))
        self.state = run_now(applied(self.state, self.log[-1][0], decoded(data), self.updater))
        changes = self.state.snapshot.fixture_changes
        if isinstance(changes, FixtureChanges):
            self.changes.append(changes)
            self._waiting |= dict.fromkeys(changes.events)

    def link(self) -> None:
        """Link all events."""
        waiting, self._waiting = self._waiting, {}
        for links in run_now(self._linking.update(fixtures_of(self.state.snapshot), waiting)):
            self.append(Record(MATCHER, links=wire_links(links)), is_seen=True)

    def tick(self, at: float, by: CollectorId = MATCHER, *, is_seen: bool = True) -> None:
        """Let the matcher tick at that time, and all collectors receive it."""
        tick = Tick(at + AHEAD_S, WALL_0 + at, 1)
        self.append(Record(by, tick=tick), is_seen=is_seen)
        for collector in self.collectors.values():
            collector.clock.ticked(by, tick.mono, at, at)

    @property
    def fixture(self) -> Fixture:
        """The only fixture."""
        (found,) = fixtures_of(self.state.snapshot)
        return found


def replayed(log: Iterable[tuple[Position, bytes]], state: State, updater: FixtureUpdater) -> State:
    """Return the state after more records."""
    for at, data in log:
        state = run_now(applied(state, at, decoded(data), updater))
    return state
