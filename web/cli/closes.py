"""Reads closing prices of fixtures that bets may be on, from an archive on disk or a running service."""

from __future__ import annotations

import argparse
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlencode

from msgspec import UNSET, UnsetType

from actors.archive.days.reading import UnreadableError
from actors.archive.folder import Folder
from actors.archive.lines.closings import AskedClosings, Closings, EntryClose, FixtureClose, Listed
from actors.archive.past import Days
from actors.core.errors import ConfigError
from actors.lines.closing import Close
from actors.lines.clv import AtClose, EntryAtClose, Finder
from actors.markets.market import Market
from actors.matches.fair import Method
from actors.matching.rules import Certainty
from web.cli.asking import answer
from web.endpoints.past.closing import PATH
from web.endpoints.past.closing_schemas import ClosingList, EntryClosing, FixtureClosing
from web.endpoints.past.line_schemas import fair_of

Spans = Sequence[tuple[int, int]]
"""Spans of kick-off times in order: begin, and end (excluded), in Unix milliseconds."""


def of_archive(
    path: Path, market: Market, spans: Spans, finder: Finder, *, method: Method, now_ms: int
) -> Iterator[AtClose]:
    """Yield the archive's fixtures that resemble a bet's; now is the archive's end, if after `now_ms`.

    Raises: ConfigError if the folder is no archive, or cannot be read.
    """
    folder = Folder.reading(path)
    if not path.is_dir() or not folder.days():
        raise ConfigError(f"{path}: is not the folder of an archive, or has no day")
    days = Days(folder, lambda: max(folder.days(), default=None))

    def is_wanted(listed: Listed) -> bool:
        return any(finder.fitting(AtClose("", listed.home, listed.away, listed.league, listed.kick_off)))

    begin: int | None = spans[0][0]
    try:
        now_ms = max([now_ms, *(day.seen_ms for day in days.held())])
        while begin is not None:  # one reading for all spans, because each day is read to its end
            asked = AskedClosings(begin, spans[-1][1], now_ms, market, {}, method)
            closed = Closings(days, asked).read(is_wanted)
            for fixture in closed.fixtures:
                yield _of_archive(fixture, market)
            begin = None if closed.next_from is None else closed.next_from * 1000
    except (OSError, sqlite3.Error, UnreadableError) as error:
        raise ConfigError(f"{path}: {error}; oddsboard archive check names the file") from error


def of_service(given: argparse.Namespace, market: Market, spans: Spans) -> Iterator[AtClose]:
    """Yield the service's fixtures in `spans`. Raises: ServiceUnreachableError."""
    for from_ms, until_ms in spans:
        begin: int | None = from_ms // 1000
        while begin is not None:
            asked = {"from": begin, "to": -(-until_ms // 1000), "market": str(market)}
            found = answer(given, f"{PATH}?{urlencode(asked)}", ClosingList)
            yield from map(_of_service, found.fixtures)
            begin = found.next_from


def _of_archive(of: FixtureClose, market: Market) -> AtClose:
    consensus, listed = of.consensus, of.listed
    chances = None if consensus is None else consensus.chances
    members = [(str(link.source_match_id), link.certainty) for link in of.members]
    return AtClose(
        *(of.id, listed.home, listed.away, listed.league, listed.kick_off, of.is_started),
        None if chances is None else fair_of(market, chances),
        None if consensus is None else consensus.absent,
        {
            entry.bookmaker: _entry_of_archive(entry, market, link_of(entry.id, entry.bookmaker, members))
            for entry in of.entries
        },
        is_merged=of.into is not None,
        members=frozenset([(str(link.source), str(link.source_match_id)) for link in of.members]),
    )


def _entry_of_archive(of: EntryClose, market: Market, link: Certainty | None) -> EntryAtClose:
    close = of.close
    if not isinstance(close, Close):
        return EntryAtClose(reason=close, link=link)
    odds = dict(zip(market.outcomes, close.odds, strict=True))
    return EntryAtClose(odds, close.closed_ms / 1000, close.on_offer, link=link)


def _of_service(of: FixtureClosing) -> AtClose:
    members = [
        (member.id, None if member.link is None else Certainty(member.link)) for member in of.members
    ]
    return AtClose(
        *(of.id, of.home, of.away, of.league, of.start_time, isinstance(of.reason, UnsetType)),
        of.fair,
        None if of.fair_reason is UNSET else str(of.fair_reason),
        {
            entry.bookmaker: _entry_of_service(entry, link_of(entry.id, entry.bookmaker, members))
            for entry in of.closings
        },
        is_merged=not isinstance(of.into, UnsetType),
        members=frozenset([(member.source, member.id) for member in of.members]),
    )


def _entry_of_service(of: EntryClosing, link: Certainty | None) -> EntryAtClose:
    if not isinstance(of.reason, UnsetType):
        return EntryAtClose(reason=of.reason, link=link)
    odds = None if isinstance(of.odds, UnsetType) else of.odds
    closed_at = None if isinstance(of.closed_at, UnsetType) else of.closed_at
    return EntryAtClose(odds, closed_at, of.on_offer is True, link=link)


def link_of(
    entry_id: str, bookmaker: str, members: Sequence[tuple[str, Certainty | None]]
) -> Certainty | None:
    """Return how sure an entry's link is, by the fixture's members; the less sure link of two."""
    found = {certainty for match_id, certainty in members if f"{bookmaker}_{match_id}" == entry_id}
    if Certainty.LIKELY in found:
        return Certainty.LIKELY
    return Certainty.SURE if found == {Certainty.SURE} else None
