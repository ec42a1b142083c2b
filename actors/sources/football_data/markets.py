"""Over/under 2.5 goals and the Asian handicap of one bookmaker in a football-data.co.uk file. Pure.

A real row (cut):

    ...,B365>2.5,B365<2.5,...,AHh,B365AHH,B365AHA,...,B365C>2.5,B365C<2.5,...,AHCh,B365CAHH,B365CAHA
    ...,1.90,1.95,...,-0.25,1.88,2.02,...,,,...,,,

Whole column names are matched. `AHh` is the home team's line for all bookmakers of a row; files of 2003 to
2005 have a line for each bookmaker instead (`GBAH`). Closing prices and their line (`AHCh`) are not read.
Format: the site's notes.txt.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from actors.core.cooperative import SLICE, Sliced
from actors.core.messages import Match, Removal, market_id
from actors.core.validation import Reason
from actors.markets.market import Kind, Market, market_of
from actors.sources.football_data.cells import MAX_CELL_CHARS, handicap_in, price_in
from actors.sources.football_data.fixtures import FOR_ALL_BOOKMAKERS, FixtureRow
from actors.sources.football_data.text import Row, is_blank

GOALS_2_5: Final = market_of(Kind.OVER_UNDER, 2.5)
SUFFIXES: Final[Mapping[Kind, tuple[str, str]]] = {
    Kind.OVER_UNDER: (">2.5", "<2.5"),
    Kind.ASIAN_HANDICAP: ("AHH", "AHA"),
}
"""The ends of the names of a bookmaker's columns, in the order of the outcomes."""
_ALIKE: Final = {Kind.OVER_UNDER: "[<>][0-9.]{1,8}", Kind.ASIAN_HANDICAP: "AH[HA]"}
LINE: Final = "AHh"
OTHER_PREFIX: Final = {"PS": "P"}
"""Pinnacle's columns begin with PS for 1X2 and with P for the rest."""
MAX_NOTES: Final = 20
_LINE_IN_WORDS: Final = "a multiple of 0.25 from -10 to 10"


class Columns(Struct, frozen=True):
    """The places of both prices of a market, and of a handicap's line (-1 if there is none)."""

    prices: tuple[int, int]
    market: Market | None = None
    line: int = -1
    line_name: str = ""


class Found(Struct, frozen=True):
    """The columns of a bookmaker's other markets: columns to read, and columns that are only counted."""

    read: tuple[Columns, ...] = ()
    unread: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Others(Struct):
    """A bookmaker's other markets: matches, removals, and counts of passed-over markets by reason."""

    matches: list[Match]
    removals: list[Removal]
    passed_over: Counter[str]
    notes: list[str]

    def add(self, columns: Columns, fixture: FixtureRow, row: Row, source_time: float | None) -> None:
        """Add a market of a row, if the row has a price of the market."""
        first, second = _prices(columns, row)
        if first is second is None or (market := self._market(columns, fixture, row)) is None:
            return
        if first is None or second is None:
            match_id = market_id(fixture.source_match_id, market)
            self.removals.append(Removal(match_id, Reason.INCOMPLETE))
            return
        match = Match(
            fixture.source_match_id,
            fixture.home,
            fixture.away,
            fixture.league,
            0.0,
            0.0,
            0.0,
            fixture.start_time,
            source_time,
            fixture.latest_start,
        )
        self.matches.append(match.of_market(market, (first, second)))

    def refuse(self, columns: Columns, fixture: FixtureRow | Removal, row: Row, reason: str) -> None:
        """Add the removal of a market of a rejected row, if the row has a price of the market."""
        if any(price is not None for price in _prices(columns, row)):
            market = self._market(columns, fixture, row)
            if market is not None:
                self.removals.append(Removal(market_id(fixture.source_match_id, market), reason))

    def _market(self, columns: Columns, fixture: FixtureRow | Removal, row: Row) -> Market | None:
        """Return the market of these prices; for an invalid line count it and return None."""
        if columns.market is not None:
            return columns.market
        cell = row[columns.line][:MAX_CELL_CHARS] if columns.line >= 0 else ""
        if (market := handicap_in(cell)) is None:
            self.passed_over[Reason.LINE] += 1
            if columns.line >= 0 and isinstance(fixture, FixtureRow) and len(self.notes) < MAX_NOTES:
                what = f"{columns.line_name} was {cell[:40]!r}, must be {_LINE_IN_WORDS}"
                self.notes.append(f"{fixture.home} - {fixture.away}: {what}")
        return market


def find(columns: Mapping[str, int], key: str, kinds: Collection[Kind]) -> Found:
    """Find the columns of a bookmaker's other markets of these kinds in a file."""
    read: list[Columns] = []
    unread: list[str] = []
    notes: list[str] = []
    for kind in [kind for kind in SUFFIXES if kind in kinds]:
        prefix = _prefix(columns, key, kind)
        names = [prefix + suffix for suffix in SUFFIXES[kind]]
        if missing := [name for name in names if name not in columns]:
            notes.append(f"column not in this file: {', '.join(missing)}")
            continue
        if kind is Kind.OVER_UNDER:
            read.append(Columns((columns[names[0]], columns[names[1]]), GOALS_2_5))
        else:
            line = f"{prefix}AH" if f"{prefix}AH" in columns else LINE
            at = columns.get(line, -1)
            read.append(Columns((columns[names[0]], columns[names[1]]), None, at, line))
            notes += [f"column not in this file: {line}, the line of {names[0]}"] if at < 0 else []
        is_alike = re.compile(f"{re.escape(prefix)}C?{_ALIKE[kind]}").fullmatch
        alike = [name for name in columns if is_alike(name) and name not in names]
        unread += sorted(alike, key=columns.__getitem__)
    return Found(tuple(read), tuple(unread), tuple(notes))


def read_others(
    columns: Mapping[str, int],
    found: Found,
    fixtures: Sequence[FixtureRow | Removal],
    rows: Sequence[Row],
    source_time: float | None,
) -> Sliced[Others]:
    """Read a bookmaker's other markets, in slices.

    A match in several rows is rejected: the rows may have different lines, and the right one is unknown.
    """
    others = Others([], [], Counter(), [*found.notes])
    if not found.read:
        return others
    counts = Counter(fixture.source_match_id for fixture in fixtures)
    unread = [columns[name] for name in found.unread]
    for count, (fixture, row) in enumerate(zip(fixtures, rows, strict=True)):
        if count % SLICE == 0:
            yield
        if isinstance(fixture, Removal) and fixture.reason in FOR_ALL_BOOKMAKERS:
            continue
        reason = fixture.reason if isinstance(fixture, Removal) else None
        if counts[fixture.source_match_id] > 1:
            reason = Reason.DUPLICATE
        for market in found.read:
            if reason is not None:
                others.refuse(market, fixture, row, reason)
            elif isinstance(fixture, FixtureRow):
                others.add(market, fixture, row, source_time)
        others.passed_over[Reason.MARKET] += not is_blank([row[at] for at in unread])
    if others.passed_over[Reason.MARKET]:
        others.notes.append(f"columns that are not read: {', '.join(found.unread)}")
    return others


def prefixes_of(key: str) -> Iterator[str]:
    """Yield the prefixes of a bookmaker's columns of other markets."""
    yield key
    if key in OTHER_PREFIX:
        yield OTHER_PREFIX[key]


def _prefix(columns: Mapping[str, int], key: str, kind: Kind) -> str:
    prefixes = [*prefixes_of(key)]
    return next((it for it in prefixes if all(it + end in columns for end in SUFFIXES[kind])), prefixes[-1])


def _prices(columns: Columns, row: Row) -> tuple[float | None, float | None]:
    first, second = columns.prices
    return price_in(row[first][:MAX_CELL_CHARS]), price_in(row[second][:MAX_CELL_CHARS])
