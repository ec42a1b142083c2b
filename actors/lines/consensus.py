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
    """The outcomes' chances from a version on, or (None) why there are none; the number of bookmakers."""

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
    """Return the same prices as `counted`, by entry id, in the order of the configuration."""
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


class Then:
    """The state at a version: prices by entry and since when, members, bookmakers, the gap around it.

    `counted` has the ids of the entries that count, None if the live prices are unknown.
    """

    def __init__(self) -> None:
        self.odds: dict[str, Odds | None] = {}
        self.since_ms: dict[str, int] = {}
        self.links: tuple[Link, ...] = ()
        self.bookmakers: Bookmakers = {}
        self.counted: list[str] | None = []
        self.gap: Break | None = None

    def go_on(self, event: _Event) -> None:
        """Apply an event."""
        match event.what:
            case LinkRow(links=links):
                self.links = links
                self.counted = ids_that_count(links, self.bookmakers)
            case RosterRow(bookmakers=bookmakers):
                self.bookmakers = bookmakers
                self.counted = ids_that_count(self.links, bookmakers)
            case Break() as gap if event.rank == _GAP_BEGINS:
                self.gap = gap
            case Break():
                self.gap = None
            case (entry_id, point):
                self.odds[entry_id], self.since_ms[entry_id] = point.odds, point.at_ms


class _Consensus:
    """The consensus of one fixture over time; the chances of unchanged prices are kept."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._known: dict[str, tuple[Odds, Chances]] = {}

    def of(self, then: Then, at_ms: int) -> FairPoint:
        """Return the consensus of a state, with version 0."""
        if then.gap is not None:
            return FairPoint(0, at_ms, None, NoConsensus.GAP, then.gap.reason)
        chances = None if then.counted is None else [*self._chances(then, then.counted)]
        return _consensus_of(self._terms, chances, at_ms)

    def _chances(self, then: Then, ids: list[str]) -> Iterator[Chances]:
        for entry_id in ids:
            if (odds := then.odds.get(entry_id)) is not None:
                known = self._known.get(entry_id)
                if known is None or known[0] is not odds:
                    known = self._known[entry_id] = odds, chances_of(self._terms, odds)
                yield known[1]


class Past(Struct, frozen=True):
    """The inputs for a fixture's consensus by version: lines by entry, members, bookmakers, gaps."""

    lines: Mapping[str, Sequence[Point]]
    links: Sequence[LinkRow]
    rosters: Sequence[RosterRow]
    gaps: Sequence[Break]


def consensus_points(terms: Terms, past: Past, last: int) -> Iterator[FairPoint]:
    """Yield each different consensus of a fixture over time, up to the version `last`."""
    consensus_then, before = _Consensus(terms), None
    for version, at_ms, then in states(past, last):
        found = consensus_then.of(then, at_ms)
        shown = found.chances, found.absent, found.reason
        if shown != before:
            before = shown
            yield FairPoint(version, at_ms, *shown, found.bookmakers)


def states(past: Past, last: int) -> Iterator[tuple[int, int, Then]]:
    """Yield each version that changes a fixture, its time (Unix milliseconds) and the state from then on.

    The state is one object, which changes. The first version is that at which the fixture has members.
    """
    then, exists = Then(), False
    events = merge(*_events(past, last), key=_IN_ORDER)  # in Python: other threads run meanwhile
    for version, some in groupby(events, attrgetter("version")):
        at_ms = 0
        for event in some:
            then.go_on(event)
            at_ms = event.at_ms
        exists = exists or bool(then.links)
        if exists:
            yield version, at_ms, then


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
