"""The wire format of links and fixtures. Pure.

A fixture names its entries, which are sent in their books; all its other fields depend on its past, and are
sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

import msgspec
from immutables import Map
from msgspec import Struct

from actors.board.board import Books
from actors.board.chunks import find
from actors.board.snapshot import Entry
from actors.core.cooperative import Sliced
from actors.core.messages import BookmakerId, SourceMatchId
from actors.market_fixtures.sides import SideLinks
from actors.markets.odds import Odds
from actors.matches.candidates import Candidates
from actors.matches.linking import Links
from actors.matches.model import (
    Fixture,
    FixtureChunk,
    FixtureSettings,
    FixtureState,
    Highest,
    Place,
    ViewKind,
)
from actors.matches.surebets import Surebet
from actors.matching.event import Event, EventKey, FixtureId, derived_id
from actors.matching.matcher import Group, Member


class WireLinks(Struct, frozen=True, array_like=True):
    """Links from the matcher, in wire form."""

    groups: tuple[Group, ...]
    events: tuple[Event, ...]
    pending: int


class WireFixture(Struct, frozen=True, array_like=True):
    """A fixture; `listed` has the bookmaker and the match of each entry."""

    id: FixtureId
    created: int
    members: tuple[Member, ...]
    listed: tuple[tuple[BookmakerId, SourceMatchId], ...]
    lead: BookmakerId
    highest: Odds
    outdone: dict[BookmakerId, BookmakerId]
    surebet: Surebet | None


class WireFixtures(Struct, frozen=True, array_like=True):
    """All fixtures: chunks with their cuts, versions of views, and counts of unlinked events."""

    chunks: tuple[bytes, ...]
    versions: tuple[tuple[ViewKind, BookmakerId | None, int], ...]
    pendings: tuple[tuple[ViewKind, BookmakerId | None, int], ...]
    pending: int
    candidates: Candidates


_encode = msgspec.msgpack.Encoder().encode
_fixtures = msgspec.msgpack.Decoder(tuple[WireFixture, ...])


def wire_links(links: Links) -> WireLinks:
    """Return links in wire form."""
    return WireLinks(links.groups, tuple(links.events.values()), links.pending)


def links_of(wire: WireLinks) -> Links:
    """Decode links. Their `applied` is unused, because nobody waits for it on this machine."""
    return Links(wire.groups, {event.key: event for event in wire.events}, wire.pending)


def wire_side_links(links: SideLinks) -> WireLinks:
    """Return links of side events in wire form."""
    return WireLinks(links.groups, tuple(links.events.values()), 0)


def side_links_of(wire: WireLinks) -> SideLinks:
    """Decode links of side events."""
    return SideLinks(wire.groups, {event.key: event for event in wire.events})


def wire_fixtures(state: FixtureState) -> Sliced[WireFixtures]:
    """Return all fixtures in wire form."""
    chunks = []
    for chunk in state.chunks:
        chunks.append(_encode([wire_fixture(fixture) for fixture in chunk.entries]))
        yield
    views = wire_views(state.versions), wire_views(state.pendings)
    return WireFixtures(tuple(chunks), *views, state.pending, state.candidates)


def fixtures_from(
    wire: WireFixtures, books: Books, first_version: int, terms: FixtureSettings
) -> Sliced[FixtureState]:
    """Decode fixtures, with the entries of these books. Raises: MsgspecError."""
    chunks = []
    places: dict[FixtureId, Place] = {}
    by_event: dict[EventKey, FixtureId] = {}
    for data in wire.chunks:
        fixtures = [_fixture(kept, books) for kept in _fixtures.decode(data)]
        chunks.append(FixtureChunk.of([fixture.place for fixture in fixtures], fixtures))
        places |= {fixture.id: fixture.place for fixture in fixtures}
        by_event |= {member.key: fixture.id for fixture in fixtures for member in fixture.members}
        yield
    return FixtureState(
        first_version,
        terms,
        tuple(chunks),
        Map(places),
        Map(by_event),
        Map({derived_id(key): key for key in by_event}),
        nested(wire.versions),
        wire.pending,
        nested(wire.pendings),
        wire.candidates,
    )


def wire_fixture(fixture: Fixture) -> WireFixture:
    """Return a 1X2 fixture in wire form, or the common part of another market's."""
    listed = zip(fixture.bookmakers, fixture.listed, strict=True)
    return WireFixture(
        fixture.id,
        fixture.created,
        fixture.members,
        tuple([(name, entry.source_match_id) for name, entry in listed]),
        fixture.lead,
        fixture.highest.prices,
        dict(fixture.outdone),
        fixture.surebet,
    )


def listed_of(wire: WireFixture, books: Books) -> tuple[tuple[Entry, ...], Entry]:
    """Return the entries that a fixture lists, and the leading one. Raises: ValidationError if missing."""
    listed: list[Entry] = []
    for name, match_id in wire.listed:
        if (entry := find(books[name].chunks, match_id)) is None:
            raise msgspec.ValidationError(f"fixture {wire.id} lists an entry that is not on the board")
        listed.append(entry)
    return tuple(listed), listed[[name for name, _ in wire.listed].index(wire.lead)]


def _fixture(wire: WireFixture, books: Books) -> Fixture:
    listed, lead = listed_of(wire, books)
    start = lead.match.start_time
    return Fixture(
        wire.id,
        wire.created,
        wire.members,
        tuple([name for name, _ in wire.listed]),
        listed,
        wire.lead,
        Place(inf if start is None else start, wire.id),
        Highest(wire.highest),
        wire.surebet,
        wire.outdone,
    )


def wire_views(
    of_views: Mapping[ViewKind, Mapping[BookmakerId | None, int]],
) -> tuple[tuple[ViewKind, BookmakerId | None, int], ...]:
    """Return the views' numbers in wire form."""
    return tuple([(kind, name, value) for kind, views in of_views.items() for name, value in views.items()])


def nested(
    flat: tuple[tuple[ViewKind, BookmakerId | None, int], ...],
) -> dict[ViewKind, dict[BookmakerId | None, int]]:
    """Decode the views' numbers."""
    nested: dict[ViewKind, dict[BookmakerId | None, int]] = {}
    for kind, name, value in flat:
        nested.setdefault(kind, {})[name] = value
    return nested
