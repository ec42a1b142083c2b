"""The past consensus: the median of the fair odds of bookmakers with live prices and sure links.

Pure. A price's age, doubts about it and the bookmaker's company are ignored, because they are not stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from heapq import merge
from itertools import chain, groupby
from operator import attrgetter
from typing import Final, TypeAlias

from msgspec import Struct

from actors.core.messages import Prices
from actors.lines.line import Absence, Break, Point
from actors.lines.links import Bookmakers, Link, LinkRow, RosterRow, entry_ids
from actors.markets.market import FORMS, Market
from actors.markets.odds import Odds, of_one_winner
from actors.matches.fair import Method, consensus, fair
from actors.matching.event import Chances
from actors.matching.rules import Certainty


class NoConsensus(StrEnum):
    """Why there is no consensus at a version."""

    GAP = "gap"
    KIND_UNKNOWN = "kind_unknown"  # which prices were live was not stored
    TOO_FEW = "too_few"  # too few bookmakers
    IN_PLAY = "in_play"  # in play some bookmakers count later goals only


class FairPoint(Struct, frozen=True, gc=False):
    """The chances of the outcomes from a version on, or (None) why not; and the number of bookmakers."""

    version: int
    at_ms: int
    chances: Chances | None = None
    absent: NoConsensus | None = None
    reason: str | None = None
    bookmakers: int = 0


class Terms(Struct, frozen=True):
    """The market and method of a consensus; from `in_play_ms` on the match is in play."""

    market: Market
    method: Method
    in_play_ms: int | None = None


def counted(
    odds: Mapping[str, Odds | None], links: Iterable[Link], bookmakers: Bookmakers
) -> list[Odds] | None:
    """Return the prices that count, of the entries on the board; None if the live prices are unknown."""
    found = counting(odds, links, bookmakers)
    return None if found is None else [*found.values()]


def counting(
    odds: Mapping[str, Odds | None], links: Iterable[Link], bookmakers: Bookmakers
) -> dict[str, Odds] | None:
    """Return the same as `counted`, by entry id, in the order of the configuration."""
    ids = ids_that_count(links, bookmakers)
    if ids is None:
        return None
    return {entry_id: prices for entry_id in ids if (prices := odds.get(entry_id)) is not None}


def ids_that_count(links: Iterable[Link], bookmakers: Bookmakers) -> list[str] | None:
    """Return the ids of the entries that count, in the order of the configuration.

    None if the live prices are unknown.
    """
    members = entry_ids(links, bookmakers)
    if any(bookmakers[name].prices is None for name, _ in members.values()):
        return None
    return [
        entry_id
        for entry_id, (name, link) in members.items()
        if link.certainty is Certainty.SURE and bookmakers[name].prices is Prices.LIVE
    ]


def consensus_of(terms: Terms, prices: Iterable[Odds] | None, at_ms: int) -> FairPoint:
    """Return the consensus of these prices, with version 0."""
    chances = None if prices is None else [chances_of(terms, odds) for odds in prices]
    return _consensus_of(terms, chances, at_ms)


def chances_of(terms: Terms, odds: Odds) -> Chances:
    """Return the chances without the margin, which add up to 1."""
    return fair(terms.method, of_one_winner(terms.market, odds))


def _consensus_of(terms: Terms, chances: Sequence[Chances] | None, at_ms: int) -> FairPoint:
    if (
        FORMS[terms.market.kind].count_from_now
        and terms.in_play_ms is not None
        and at_ms >= terms.in_play_ms
    ):
        return FairPoint(0, at_ms, None, NoConsensus.IN_PLAY)
    if chances is None:
        return FairPoint(0, at_ms, None, NoConsensus.KIND_UNKNOWN)
    found = consensus(chances)
    absent = NoConsensus.TOO_FEW if found is None else None
    return FairPoint(0, at_ms, found, absent, None, len(chances))


_What: TypeAlias = tuple[str, Point] | LinkRow | RosterRow | Break


class _Event(Struct, frozen=True):
    version: int
    rank: int
    at_ms: int
    what: _What


_GAP_ENDS, _CHANGES, _GAP_BEGINS = range(3)
_IN_ORDER: Final = attrgetter("version", "rank")


class _Then:
    """The state at a version: chances by entry, members, bookmakers, and the gap around it."""

    def __init__(self, terms: Terms) -> None:
        self.links: tuple[Link, ...] = ()
        self._terms = terms
        self._chances: dict[str, Chances | None] = {}
        self._bookmakers: Bookmakers = {}
        self._counted: list[str] | None = []  # ids
        self._gap: Break | None = None

    def go_on(self, event: _Event) -> None:
        """Apply an event."""
        match event.what:
            case LinkRow(links=links):
                self.links = links
                self._counted = ids_that_count(links, self._bookmakers)
            case RosterRow(bookmakers=bookmakers):
                self._bookmakers = bookmakers
                self._counted = ids_that_count(self.links, bookmakers)
            case Break() as gap if event.rank == _GAP_BEGINS:
                self._gap = gap
            case Break():
                self._gap = None
            case (entry_id, point):
                odds = point.odds
                self._chances[entry_id] = None if odds is None else chances_of(self._terms, odds)

    def consensus(self, at_ms: int) -> FairPoint:
        """Return the consensus, with version 0."""
        if self._gap is not None:
            return FairPoint(0, at_ms, None, NoConsensus.GAP, self._gap.reason)
        chances = None
        if self._counted is not None:
            chances = [of for entry_id in self._counted if (of := self._chances.get(entry_id)) is not None]
        return _consensus_of(self._terms, chances, at_ms)


class Past(Struct, frozen=True):
    """The inputs for a fixture's consensus by version: lines by entry, members, bookmakers, gaps."""

    lines: Mapping[str, Sequence[Point]]
    links: Sequence[LinkRow]
    rosters: Sequence[RosterRow]
    gaps: Sequence[Break]


def consensus_points(terms: Terms, past: Past, last: int) -> Iterator[FairPoint]:
    """Yield each different consensus of a fixture over time, up to the version `last`."""
    then, before = _Then(terms), None
    events = merge(*_events(past, last), key=_IN_ORDER)  # in Python: other threads run meanwhile
    for version, some in groupby(events, attrgetter("version")):
        at_ms = 0
        for event in some:
            then.go_on(event)
            at_ms = event.at_ms
        if before is None and not then.links:
            continue  # the fixture does not exist yet
        found = then.consensus(at_ms)
        shown = found.chances, found.absent, found.reason
        if shown != before:
            before = shown
            yield FairPoint(version, at_ms, *shown, found.bookmakers)


def _events(past: Past, last: int) -> Iterator[Iterable[_Event]]:
    """Yield the events of each line, of the bookmakers, of the members and of the gaps, each in order."""
    for entry_id, points in past.lines.items():
        yield [
            _Event(point.version, _CHANGES, point.at_ms, (entry_id, point))
            for point in points
            if point.absent is not Absence.GAP
        ]
    for rows in (past.rosters, past.links):
        yield [_Event(row.version, _CHANGES, row.at_ms, row) for row in rows]
    yield chain.from_iterable(_ends(gap, last) for gap in past.gaps)


def _ends(gap: Break, last: int) -> Iterator[_Event]:
    yield _Event(gap.after, _GAP_BEGINS, gap.after_ms, gap)
    if gap.until <= last:
        yield _Event(gap.until, _GAP_ENDS, gap.until_ms, gap)
