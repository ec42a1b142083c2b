"""The fixtures of one kind of market at one version: a fixture for each line of each match.

Pure values. The 1X2 prices alone decide which events are one match (`actors/matches`): a market of a match
takes the match fixture's id, names, league and kick-off. `sides.py` places events without 1X2 prices.
"""

from __future__ import annotations

from math import inf

from immutables import Map
from msgspec import Struct, field
from msgspec.structs import replace

from actors.board.snapshot import Snapshot
from actors.market_fixtures.sides import SideEvents
from actors.markets.market import Market
from actors.matches.model import Fixture, FixtureChanges, FixtureSettings, FixtureState
from actors.matching.event import EventKey, FixtureId


class MarketState(FixtureState, frozen=True, eq=False):
    """All fixtures of one kind of market at one version.

    `markets` has the fixtures of each match's markets. They follow the 1X2 fixtures in `followed`, and the
    side events in `sides`, which all kinds share. At `next_start` (Unix seconds) the next match begins, if
    the kind needs to know; it is minus infinity while the time is unknown, because any match may have
    begun. If it `is_foreign`, another machine provides the time.
    """

    markets: Map[FixtureId, tuple[FixtureId, ...]] = field(default_factory=Map)
    followed: FixtureState | None = None
    sides: SideEvents = field(default_factory=SideEvents)
    next_start: float = inf
    is_foreign: bool = False

    @property
    def kick_off(self) -> float:
        """The Unix second at which it changes without new data; valid even if that clock is set."""
        if self.is_foreign:
            return self.candidates.kick_off
        return min(self.candidates.kick_off, self.next_start)

    def of_match(self, match_id: FixtureId) -> list[Fixture]:
        """Return the fixtures of a match's markets, by line."""
        found = [fixture for name in self.markets.get(match_id, ()) if (fixture := self.get(name))]
        return sorted(found, key=lambda fixture: fixture.market)


class Followed(Struct, frozen=True, eq=False):
    """The 1X2 fixtures and side events before and after a commit, and their changes in the commit."""

    before: FixtureState
    after: FixtureState
    sides_before: SideEvents
    sides: SideEvents
    changes: FixtureChanges = FixtureChanges()
    changed_sides: tuple[EventKey, ...] = ()


def market_fixture_id(match_id: FixtureId, market: Market) -> FixtureId:
    """Return the id of the fixture of a market of a match."""
    return FixtureId(f"{match_id} {market}")


def match_id_of(fixture_id: FixtureId) -> FixtureId:
    """Return the match's id from the id of one of its markets' fixtures."""
    return FixtureId(fixture_id.partition(" ")[0])


def first_of_kind(first: Snapshot, terms: FixtureSettings) -> Snapshot:
    """Return the first board of another kind of market, to start with the first 1X2 board."""
    empty = Snapshot.empty(first.version, tuple(first.books), first.epoch)
    return replace(empty, fixtures=MarketState(first.version, terms))


def markets_of(snapshot: Snapshot) -> MarketState:
    """Return the fixtures of another kind's board. Raises: TypeError for the 1X2 board."""
    if not isinstance(snapshot.fixtures, MarketState):
        raise TypeError("this board has no markets")
    return snapshot.fixtures


def with_markets(
    state: FixtureState,
    markets: Map[FixtureId, tuple[FixtureId, ...]],
    followed: Followed,
    next_start: float,
) -> MarketState:
    """Return fixtures with their markets and the 1X2 fixtures and side events that they follow."""
    fields = {name: getattr(state, name) for name in FixtureState.__struct_fields__}
    return MarketState(
        **fields, markets=markets, followed=followed.after, sides=followed.sides, next_start=next_start
    )
