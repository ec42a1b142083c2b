"""The boards of all kinds of market: the 1X2 board, and one for each other kind that a source reads.

All boards share one version counter: a commit gives every board that it changes the same new version, and
leaves the others as they are. So another market never moves the version of the 1X2 board.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from msgspec import Struct
from msgspec.structs import replace

from actors.board.board import Advance, Applied, Board
from actors.board.diff import Verdict
from actors.board.history import HistoryLimits
from actors.board.kinds import parts
from actors.board.published import Published, Request
from actors.board.snapshot import Entry, Snapshot
from actors.board.validity import BoardRules, is_due
from actors.core.clock import Clock, Instant
from actors.core.cooperative import Sliced
from actors.core.messages import Batch, BookmakerId, Scope
from actors.market_fixtures.following import followed
from actors.market_fixtures.model import Followed, first_of_kind, markets_of
from actors.market_fixtures.sides import SideEvents, SideLinks
from actors.market_fixtures.update import MarketUpdater
from actors.markets.market import FORMS, Kind
from actors.matches.history import FixtureHistory
from actors.matches.model import FixtureSettings, FixtureState
from actors.matches.surebets import SurebetRules
from actors.monitoring.status import MarketCounts

OTHERS = tuple(kind for kind in Kind if kind is not Kind.ONE_X_TWO)
LINES = 8
"""The most entries of a kind with lines, as a multiple of the most matches."""


class MarketBoards(Struct, frozen=True, eq=False):
    """The published boards of kinds other than 1X2, their histories, and the updaters of their fixtures.

    There is a board for every kind; only the kinds in `updaters`, which some source reads, ever change. An
    updater is None where no fixtures are made, as on the own boards of a collector in a cluster.
    `committed` is called after all boards of a version, including 1X2, are published.
    """

    published: Mapping[Kind, Published] = {}
    histories: Mapping[Kind, FixtureHistory] = {}
    updaters: Mapping[Kind, MarketUpdater | None] = {}
    committed: Callable[[], None] = lambda: None

    def rule(self, rules: SurebetRules) -> None:
        """Use these rules for surebets from the next commit on."""
        for updater in self.updaters.values():
            if updater is not None:
                updater.rule(rules)

    def counts(self) -> dict[str, MarketCounts]:
        """Return the counts of entries and fixtures, for each kind that some source reads."""
        return {kind: _counts(self.published[kind].newest) for kind in self.updaters}

    @property
    def sides(self) -> SideEvents:
        """The events without 1X2 prices."""
        for kind in self.updaters:
            return markets_of(self.published[kind].newest).sides
        return SideEvents()


def market_boards(
    first: Snapshot,
    terms: FixtureSettings,
    kinds: Collection[Kind],
    *,
    rules: BoardRules,
    clock: Clock,
    limits: HistoryLimits,
    request: Callable[[Request], None],
    is_linked: bool = True,
    begun: Mapping[Kind, Snapshot] = {},
) -> MarketBoards:
    """Return boards of the kinds other than 1X2 that start with the `first` 1X2 board.

    Only boards of `kinds`, which some source reads, will change. `begun` has boards that already contain
    lists; all others start empty. Without `is_linked` no board has fixtures.
    """
    published: dict[Kind, Published] = {}
    histories: dict[Kind, FixtureHistory] = {}
    for kind in OTHERS:
        first_here = begun.get(kind) or first_of_kind(first, terms)
        most = rules.max_matches * (LINES if FORMS[kind].lines else 1)
        board = Published(first_here, replace(rules, max_matches=most), clock, limits, request)
        published[kind], histories[kind] = board, FixtureHistory(first_here, limits)
        board.follow(histories[kind].add, histories[kind].digest)
    updaters: dict[Kind, MarketUpdater | None] = {
        kind: updater_of(kind, terms) if is_linked else None for kind in OTHERS if kind in kinds
    }
    return MarketBoards(published, histories, updaters)


def _counts(board: Snapshot) -> MarketCounts:
    entries = {name: book.count for name, book in board.books.items() if book.count}
    return MarketCounts(entries, len(markets_of(board).places))


def updater_of(kind: Kind, terms: FixtureSettings) -> MarketUpdater:
    """Return the function that takes the fixtures of a kind from one version to the next."""
    form = FORMS[kind]
    return MarketUpdater(terms, has_lines=form.lines is not None, may_count_from_now=form.count_from_now)


def of_batch(applied: Mapping[Kind, Applied]) -> Applied:
    """Return the fate of a whole batch: its 1X2 part's, if there is one, with the sum of `too_many`."""
    every = [*applied.values()]
    founded = [each for each in every if each.verdict is not Verdict.UNFOUNDED]
    return replace((founded or every)[0], too_many=sum([each.too_many for each in every]))


class Drafts:
    """The next snapshots of all boards in the making. Owned by one caller; never waits."""

    def __init__(self, main: Published, advance: Advance | None, markets: MarketBoards) -> None:
        self._main, self._committed = main, markets.committed
        self._published = {kind: markets.published[kind] for kind in markets.updaters}
        newest = [main.newest.version, *(board.newest.version for board in self._published.values())]
        version = max(newest) + 1
        self._base = main.newest
        self._board = Board(main.newest, main.rules, advance, version)
        self._others = {
            kind: Board(board.newest, board.rules, markets.updaters[kind], version)
            for kind, board in self._published.items()
        }
        self._are_linked = None not in markets.updaters.values()
        self._side_links: SideLinks | None = None
        self._made: dict[Kind, Snapshot] = {}

    def apply(self, batch: Batch, now: Instant) -> Sliced[dict[Kind, Applied]]:
        """Apply a batch to the board of each of its kinds of market, and return the fates."""
        found: dict[Kind, Applied] = {}
        for kind, part in (yield from parts(batch)).items():
            board = self._board if kind is Kind.ONE_X_TWO else self._others.get(kind)
            if board is not None:
                found[kind] = yield from board.apply(part, now)
        return found

    def expire(self, now: Instant) -> Sliced[None]:
        """Withdraw overdue entries from all boards."""
        for board in self._boards:
            yield from board.expire(now)

    def withdraw(self, bookmaker: BookmakerId, scope: Scope) -> Sliced[None]:
        """Remove a list from all boards until a complete one comes."""
        for board in self._boards:
            yield from board.withdraw(bookmaker, scope)

    def fail(self, bookmaker: BookmakerId, scope: Scope, at_mono: float) -> None:
        """Note that an attempt to get a list failed."""
        for board in self._boards:
            board.fail(bookmaker, scope, at_mono)

    def reject(self, bookmaker: BookmakerId, entry: Entry) -> Sliced[Scope | None]:
        """Withdraw the list of an entry that cannot be shown from the board of its kind of market."""
        kind = entry.match.market.kind
        board = self._board if kind is Kind.ONE_X_TWO else self._others.get(kind)
        return None if board is None else (yield from board.reject(bookmaker, entry))

    def link(self, links: object) -> None:
        """Make fixtures of groups of 1X2 events in this commit; or, for `SideLinks`, link side events."""
        if isinstance(links, SideLinks):
            self._side_links = links
        else:
            self._board.link(links)

    def finish(self, now: Instant) -> Sliced[Snapshot]:
        """Make the next snapshots, and return the 1X2 one. Afterwards the drafts may be changed again."""
        main = yield from self._board.finish(now)
        self._made = {Kind.ONE_X_TWO: main}
        if self._others and self._are_linked and isinstance(main.fixtures, FixtureState):
            follow = yield from self._followed(main, main.fixtures)
            for board in self._others.values():
                board.link(follow)
        for kind, board in self._others.items():
            self._made[kind] = yield from board.finish(now)
        return main

    def _followed(self, main: Snapshot, after: FixtureState) -> Sliced[Followed]:
        """Return the 1X2 events that other markets' fixtures follow, and this commit's side events."""
        state = markets_of(next(iter(self._published.values())).newest)  # published first, so the newest
        noted = None if main is self._base else main.fixture_changes
        boards = [(board.books, board.noted) for board in self._others.values()]
        return (
            yield from followed(state, self._base.fixtures, after, noted, boards, links=self._side_links)
        )

    def is_due(self, now: Instant) -> bool:
        """Return whether any of the snapshots made is overdue by now."""
        return any(
            is_due(made.deadlines, self._published_of(kind).rules, now) for kind, made in self._made.items()
        )

    def publish(self) -> None:
        """Publish all snapshots made, at one moment and in one epoch.

        A version that begins a new epoch begins it for all boards, including unchanged ones.
        """
        newest = max(self._made.values(), key=lambda made: made.version)
        epoch = self._main.admit(newest).epoch
        try:
            for kind, made in self._made.items():
                is_of_epoch = made.epoch == epoch
                self._published_of(kind).publish(made if is_of_epoch else replace(made, epoch=epoch))
        finally:
            self._committed()

    @property
    def _boards(self) -> tuple[Board, ...]:
        return self._board, *self._others.values()

    def _published_of(self, kind: Kind) -> Published:
        return self._main if kind is Kind.ONE_X_TWO else self._published[kind]
