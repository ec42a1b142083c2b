"""The wire format of other markets' fixtures, and of side events. Pure.

A market's fixture usually has the members of its match, and shares its head with the other markets of the
match: both are sent once.
"""

from __future__ import annotations

from math import inf

import msgspec
from immutables import Map
from msgspec import Struct
from msgspec.structs import asdict, replace

from actors.board.board import Books
from actors.cluster.wire.fixtures import (
    WireFixture,
    WireFixtures,
    listed_of,
    nested,
    wire_fixture,
    wire_views,
)
from actors.core.cooperative import Sliced
from actors.market_fixtures.model import MarketState, match_id_of
from actors.market_fixtures.sides import SideEvent, SideEvents
from actors.markets.market import parsed
from actors.matches.model import Fixture, FixtureChunk, FixtureState, Head, Highest, Place, Roster
from actors.matching.event import EventKey, FixtureId, derived_id


class WireMarketFixture(WireFixture, frozen=True, array_like=True):
    """A fixture of another market, which its id names; `head` is an index of `heads`.

    Without members it has the members of its match's 1X2 fixture.
    """

    head: int | None = None
    has_begun: bool = False
    is_main: bool = False


class WireMarketFixtures(WireFixtures, frozen=True, array_like=True):
    """All fixtures of another kind of market: like `WireFixtures`, with `WireMarketFixture`."""

    heads: tuple[Head, ...] = ()
    next_start: float = inf


class WireSides(Struct, frozen=True, array_like=True):
    """All side events by key, and by id the heads of matches that had 1X2 prices."""

    events: tuple[SideEvent, ...] = ()
    heads: tuple[tuple[FixtureId, Head], ...] = ()


_encode = msgspec.msgpack.Encoder().encode
_fixtures = msgspec.msgpack.Decoder(tuple[WireMarketFixture, ...])


def wire_market_fixtures(state: MarketState, main: FixtureState) -> Sliced[WireMarketFixtures]:
    """Return all fixtures of a kind in wire form, with references to the 1X2 fixtures."""
    heads: dict[Head, int] = {}
    chunks = []
    for chunk in state.chunks:
        chunks.append(_encode([_wire(fixture, main, heads) for fixture in chunk.entries]))
        yield
    return WireMarketFixtures(
        tuple(chunks),
        wire_views(state.versions),
        wire_views(state.pendings),
        state.pending,
        state.candidates,
        tuple(heads),
        float(state.next_start),  # a place may have an int
    )


def market_fixtures_from(
    wire: WireMarketFixtures, books: Books, main: FixtureState, sides: SideEvents
) -> Sliced[MarketState]:
    """Decode fixtures, with the entries of these books.

    Raises: MsgspecError, ValueError.
    """
    roster = main.terms.roster
    chunks = []
    places: dict[FixtureId, Place] = {}
    by_event: dict[EventKey, FixtureId] = {}
    markets: dict[FixtureId, list[FixtureId]] = {}
    for data in wire.chunks:
        fixtures = [_fixture(kept, books, main, wire.heads) for kept in _fixtures.decode(data)]
        chunks.append(FixtureChunk.of([fixture.place for fixture in fixtures], fixtures))
        for fixture in fixtures:
            places[fixture.id] = fixture.place
            by_event |= dict.fromkeys(_keys(fixture, roster), fixture.id)
            markets.setdefault(match_id_of(fixture.id), []).append(fixture.id)
        yield
    return MarketState(
        main.first_version,
        main.terms,
        tuple(chunks),
        Map(places),
        Map(by_event),
        Map({derived_id(key): key for key in by_event}),
        nested(wire.versions),
        wire.pending,
        nested(wire.pendings),
        wire.candidates,
        Map({match_id: tuple(some) for match_id, some in markets.items()}),
        main,
        sides,
        wire.next_start,
    )


def wire_sides(sides: SideEvents) -> WireSides:
    """Return the events without 1X2 prices in wire form."""
    events = [sides.by_event[key] for key in sorted(sides.by_event)]
    return WireSides(tuple(events), tuple(sorted(sides.heads.items(), key=lambda item: item[0])))


def sides_from(wire: WireSides) -> SideEvents:
    """Decode the events without 1X2 prices."""
    homes: dict[FixtureId, list[EventKey]] = {}
    for event in wire.events:
        homes.setdefault(event.home, []).append(event.key)
    by_event = Map({event.key: event for event in wire.events})
    return SideEvents(by_event, Map({home: tuple(keys) for home, keys in homes.items()}), Map(wire.heads))


def _wire(fixture: Fixture, main: FixtureState, heads: dict[Head, int]) -> WireMarketFixture:
    of_match, head = main.get(fixture.match_id), fixture.head
    wire = wire_fixture(fixture)
    if of_match is not None and of_match.members == fixture.members:
        wire = replace(wire, members=())
    number = None if head is None else heads.setdefault(head, len(heads))
    return WireMarketFixture(
        **asdict(wire), head=number, has_begun=fixture.has_begun, is_main=fixture.is_main
    )


def _fixture(wire: WireMarketFixture, books: Books, main: FixtureState, heads: tuple[Head, ...]) -> Fixture:
    listed, lead = listed_of(wire, books)
    head, of_match = None if wire.head is None else heads[wire.head], main.get(match_id_of(wire.id))
    members = wire.members or (() if of_match is None else of_match.members)
    start = (lead.match if head is None else head.match).start_time
    return Fixture(
        wire.id,
        wire.created,
        members,
        tuple([name for name, _ in wire.listed]),
        listed,
        wire.lead,
        Place(inf if start is None else start, wire.id),
        Highest(wire.highest),
        wire.surebet,
        wire.outdone,
        parsed(wire.id.partition(" ")[2]),
        head,
        wire.has_begun,
        wire.is_main,
    )


def _keys(fixture: Fixture, roster: Roster) -> list[EventKey]:
    entries = fixture.entries.items()
    return [EventKey(roster[name].source, entry.source_match_id) for name, entry in entries]
