"""The fixtures of one kind of market at one version: a fixture for each line of each match.

Pure values. What is one match is decided by the 1X2 prices alone (`actors/matches`): a market of a match
has the id of the match's fixture, its names, league and kick-off. An event without 1X2 prices stays in the
fixture that it was in, or is one of its own.
"""

from __future__ import annotations

from math import inf

from immutables import Map
from msgspec import Struct, field
from msgspec.structs import replace

from actors.board.snapshot import Snapshot
from actors.core.messages import BookmakerId, Match
from actors.markets.market import Market
from actors.matches.leagues import league_of_fixture
from actors.matches.model import Fixture, FixtureChanges, FixtureSettings, FixtureState, Head
from actors.matching.event import EventKey, FixtureId


class MarketState(FixtureState, frozen=True, eq=False):
    """All fixtures of one kind of market at one version.

    `homes` has the fixture of the match that each event with such a market is in, `markets` the fixtures of
    its markets. They follow the 1X2 fixtures in `followed`. At `next_start` (Unix seconds) the next match
    begins, if that is for the fixtures to know.
    """

    homes: Map[EventKey, FixtureId] = field(default_factory=Map)
    markets: Map[FixtureId, tuple[FixtureId, ...]] = field(default_factory=Map)
    followed: FixtureState | None = None
    next_start: float = inf

    @property
    def kick_off(self) -> float:
        """Unix second at which it changes by itself, also if that clock was set meanwhile."""
        return min(self.candidates.kick_off, self.next_start)

    def of_match(self, match_id: FixtureId) -> list[Fixture]:
        """Return the fixtures of the markets of a match, by line."""
        found = [fixture for name in self.markets.get(match_id, ()) if (fixture := self.get(name))]
        return sorted(found, key=lambda fixture: fixture.market)


class Followed(Struct, frozen=True, eq=False):
    """The 1X2 fixtures before and after a commit, and what it changed of them."""

    before: FixtureState
    after: FixtureState
    changes: FixtureChanges | None = None


def market_fixture_id(match_id: FixtureId, market: Market) -> FixtureId:
    """Return the id of the fixture of a market of a match."""
    return FixtureId(f"{match_id} {market}")


def head_of(fixture: Fixture, live: frozenset[BookmakerId]) -> Head:
    """Return what its other markets have of the fixture of the 1X2 prices; `live` are bookmakers."""
    match, league = fixture.match, league_of_fixture(fixture)
    starts = [
        entry.match.start_time
        for name, entry in fixture.entries.items()
        if name in live and entry.match.start_time is not None
    ]
    said = [entry.match.in_play for entry in fixture.listed if entry.match.in_play is not None]
    listed = Match(
        match.source_match_id, match.home, match.away, match.league, 0.0, 0.0, 0.0, match.start_time
    )
    in_play = any(said) if said else None
    return Head(listed, league.id, league.country, float(min(starts, default=inf)), in_play)


def first_of_kind(first: Snapshot, terms: FixtureSettings) -> Snapshot:
    """Return the first board of another kind of market, beside the first of 1X2."""
    empty = Snapshot.empty(first.version, tuple(first.books), first.epoch)
    return replace(empty, fixtures=MarketState(first.version, terms))


def markets_of(snapshot: Snapshot) -> MarketState:
    """Return the fixtures of a board of another kind of market. Raises: TypeError for one of 1X2."""
    if not isinstance(snapshot.fixtures, MarketState):
        raise TypeError("this board has no markets")
    return snapshot.fixtures


def with_markets(
    state: FixtureState,
    homes: Map[EventKey, FixtureId],
    markets: Map[FixtureId, tuple[FixtureId, ...]],
    *,
    followed: FixtureState,
    next_start: float,
) -> MarketState:
    """Return a state of fixtures as one of markets."""
    fields = {name: getattr(state, name) for name in FixtureState.__struct_fields__}
    return MarketState(**fields, homes=homes, markets=markets, followed=followed, next_start=next_start)
