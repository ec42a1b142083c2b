"""The entries of one match at a version: links with their certainty, bookmakers with their sources.

Pure values, as an archive stores them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from msgspec import Struct

from actors.core.messages import BookmakerId, Prices, SourceMatchId, SourceName
from actors.matches.model import Roster
from actors.matching.event import FixtureId
from actors.matching.rules import Certainty


class Bookmaker(Struct, frozen=True):
    """A bookmaker at a version: its source, and the places of both in the configuration.

    `prices` says whether its prices were live; None if that was not stored.
    """

    source: SourceName
    prices: Prices | None
    place: int
    source_place: int


Bookmakers: TypeAlias = Mapping[BookmakerId, Bookmaker]


class Link(Struct, frozen=True):
    """A member of a fixture, with its rule and certainty; the certainty is None if not stored."""

    source: SourceName
    source_match_id: SourceMatchId
    rule: str
    certainty: Certainty | None = None


class LinkRow(Struct, frozen=True):
    """The members of a fixture from a version on; none if it has gone, perhaps merged `into` another."""

    version: int
    at_ms: int
    fixture: FixtureId
    links: tuple[Link, ...]
    into: FixtureId | None = None


class RosterRow(Struct, frozen=True):
    """The bookmakers from a version on."""

    version: int
    at_ms: int
    bookmakers: Bookmakers


def bookmakers_of(rows: Iterable[tuple[BookmakerId, SourceName, Prices | None]]) -> Bookmakers:
    """Return bookmakers, in the order of the configuration, with their places."""
    sources: dict[SourceName, int] = {}
    return {
        name: Bookmaker(source, prices, place, sources.setdefault(source, place))
        for place, (name, source, prices) in enumerate(rows)
    }


def of_today(roster: Roster) -> Bookmakers:
    """Return today's bookmakers, without kinds of prices, for days that did not store theirs."""
    return bookmakers_of([(name, info.source, None) for name, info in roster.items()])


def entry_ids(links: Iterable[Link], bookmakers: Bookmakers) -> dict[str, tuple[BookmakerId, Link]]:
    """Return the ids of the members' possible entries, each with its bookmaker and member.

    In the order of the configuration. A bookmaker of the source need not list the match.
    """
    of_source = _of_sources(links)
    return {
        f"{name}_{link.source_match_id}": (name, link)
        for name, info in bookmakers.items()
        for link in of_source.get(info.source, ())
    }


def ids_by_source(links: Iterable[Link], bookmakers: Bookmakers) -> Iterator[str]:
    """Yield the ids of the members' possible entries, in the order of sources, then of bookmakers."""
    of_source = _of_sources(links)
    for name, info in sorted(bookmakers.items(), key=lambda of: (of[1].source_place, of[1].place)):
        for link in of_source.get(info.source, ()):
            yield f"{name}_{link.source_match_id}"


def _of_sources(links: Iterable[Link]) -> dict[SourceName, list[Link]]:
    of_source: dict[SourceName, list[Link]] = {}
    for link in links:
        of_source.setdefault(link.source, []).append(link)
    return of_source
