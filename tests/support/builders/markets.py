"""Boards of several kinds of market, committed together, and a linker that compares names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from actors.board.history import HistoryLimits
from actors.board.published import Published
from actors.board.snapshot import Snapshot
from actors.board.validity import BoardRules
from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.messages import Batch, BookmakerId, Match, Removal
from actors.market_fixtures.boards import Drafts, market_boards
from actors.market_fixtures.linking import SideLinking
from actors.market_fixtures.model import MarketState, markets_of
from actors.market_fixtures.sides import SideEvents
from actors.markets.market import Kind, Market, parsed
from actors.matches.linking import Linking, Partition, Waiting
from actors.matches.model import (
    Fixture,
    FixtureChanges,
    FixtureSettings,
    FixtureState,
    first_snapshot,
    fixtures_of,
)
from actors.matches.update import FixtureUpdater
from actors.matching.event import EventKey
from tests.support.builders.fixtures import ADVANCING, TERMS, EqualNames
from tests.support.builders.messages import batch
from tests.support.time.virtual import WALL_0

OU25, OU35, AH, BTTS = (
    parsed(text) for text in ("over_under:2.5", "over_under:3.5", "asian_handicap:-0.5", "btts")
)
KINDS = (Kind.ONE_X_TWO, Kind.OVER_UNDER, Kind.ASIAN_HANDICAP, Kind.BTTS)
ODDS = (1.9, 1.9)


def of_markets(base: Match, *markets: Market, odds: Sequence[float] = ODDS) -> list[Match]:
    """Return other markets of a match, without its 1X2."""
    return [base.of_market(market, tuple(odds)) for market in markets]


def listed(
    *matches: Match,
    bookmaker: str,
    at: float = 0.0,
    complete: bool = True,
    removals: Sequence[Removal] = (),
) -> Batch:
    """Return a list of all kinds, or a change of such a list."""
    made = batch(matches, bookmaker=bookmaker, received_mono=at, complete=complete, removals=removals)
    return replace(made, kinds=KINDS)


class SetClock:
    """A clock that a test sets: `mono` seconds since the begin, which was at `began` (Unix seconds)."""

    def __init__(self) -> None:
        self.mono, self.began = 0.0, WALL_0

    def now(self) -> Instant:
        """Return the moment that was set."""
        return Instant(self.mono, self.began + self.mono)


class MarketBoard:
    """Boards of all kinds, whose linkers are run when a test says so."""

    def __init__(
        self,
        rules: BoardRules = BoardRules(),  # noqa: B008 - a frozen value
        kinds: Sequence[Kind] = KINDS,
        *,
        terms: FixtureSettings = TERMS,
        linker: Callable[[], Partition] = EqualNames,
    ) -> None:
        self.clock, first = SetClock(), first_snapshot(1000, terms)
        self.advancing = ADVANCING if terms is TERMS else FixtureUpdater(terms)
        self.main = Published(first, rules, self.clock)
        self.markets = market_boards(
            first,
            terms,
            kinds,
            rules=rules,
            clock=self.clock,
            limits=HistoryLimits(),
            request=lambda _: None,
        )
        self.waiting = Waiting()
        self.main.follow(self.waiting.add)
        self.commits: dict[Kind, list[Snapshot]] = {kind: [] for kind in kinds}
        for kind in kinds:
            self.board(kind).follow(self.commits[kind].append)
        self.linking, self.side_linking = Linking(linker(), terms.roster), SideLinking(linker, terms.roster)

    def board(self, kind: Kind) -> Published:
        """Return the board of a kind."""
        return self.main if kind is Kind.ONE_X_TWO else self.markets.published[kind]

    def draft(self) -> Drafts:
        """Return the next snapshots in the making."""
        return Drafts(self.main, self.advancing, self.markets)

    def apply(self, *batches: Batch) -> None:
        """Apply batches and commit once."""
        draft = self.draft()
        run_now(draft.expire(self.clock.now()))
        for change in batches:
            run_now(draft.apply(change, self.clock.now()))
        self.commit(draft)

    def commit(self, draft: Drafts) -> None:
        """Finish the draft and publish it."""
        run_now(draft.finish(self.clock.now()))
        draft.publish()

    def link(self) -> None:
        """Link events to the end: first events with 1X2 prices, then the other events."""
        due = self.waiting.get_nowait()
        keys = due
        while due is None or due:
            for links in run_now(self.linking.update(self.state, due)):
                draft = self.draft()
                draft.link(links)
                self.commit(draft)
            due = self.waiting.get_nowait()
            keys = None if keys is None or due is None else [*keys, *due]
        self.link_sides(keys)

    def link_sides(self, keys: Iterable[EventKey] | None = None) -> bool:
        """Link events without 1X2 prices after other events changed (`keys`); None: any may have changed.

        Returns whether there was anything to link.
        """
        links = run_now(self.side_linking.update(self.state, self.sides, keys))
        if links is not None:
            draft = self.draft()
            draft.link(links)
            self.commit(draft)
        return links is not None

    @property
    def state(self) -> FixtureState:
        """The 1X2 fixtures."""
        return fixtures_of(self.main.newest)

    @property
    def sides(self) -> SideEvents:
        """The events without 1X2 prices."""
        return self.markets.sides

    def markets_state(self, kind: Kind) -> MarketState:
        """Return the fixtures of another kind."""
        return markets_of(self.markets.published[kind].newest)

    def fixtures(self, kind: Kind) -> list[Fixture]:
        """Return the fixtures of a kind in order."""
        return list(self.state if kind is Kind.ONE_X_TWO else self.markets_state(kind))

    def shown(self, kind: Kind) -> list[tuple[str, list[BookmakerId]]]:
        """Return the market and the bookmakers of each fixture of a kind, by its match's leading entry."""
        return sorted((str(it.market), [*it.bookmakers]) for it in self.fixtures(kind))

    def gone(self, kind: Kind) -> list[tuple[str, str, str | None]]:
        """Return the fixtures that the last commit of a kind removed: id, reason, into."""
        changes = self.commits[kind][-1].fixture_changes
        assert isinstance(changes, FixtureChanges)
        return [(it.id, it.reason, it.into) for it in changes.changes if it.after is None]
