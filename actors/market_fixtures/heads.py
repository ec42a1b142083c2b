"""The names, league and kick-off that other markets take from their match's 1X2 fixture. Pure."""

from __future__ import annotations

from math import inf

from actors.core.messages import BookmakerId, Match
from actors.matches.draft import bonds
from actors.matches.leagues import league_of_fixture
from actors.matches.model import Fixture, Head


def head_of(fixture: Fixture, live: frozenset[BookmakerId]) -> Head:
    """Return the head that a 1X2 fixture gives to its other markets; `live` are bookmakers."""
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


def are_alike(before: Fixture | None, after: Fixture | None) -> bool:
    """Return whether a 1X2 fixture changed in nothing but prices."""
    if before is None or after is None or before.bookmakers != after.bookmakers:
        return False
    if before.lead != after.lead or before.place != after.place:
        return False
    if before.members is not after.members and bonds(before.members) != bonds(after.members):
        return False
    return all(
        old is new or (old.match.listing == new.match.listing and old.match.in_play == new.match.in_play)
        for old, new in zip(before.listed, after.listed, strict=True)
    )
