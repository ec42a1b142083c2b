"""football-data.co.uk: upcoming matches with the pre-match prices of several bookmakers, as CSV.

Pure: decodes the file once, extracts one bookmaker's columns at a time. A real row (columns cut):

    Div,Date,Time,HomeTeam,AwayTeam,...,B365H,B365D,B365A,...
    XX,29/01/2026,19:45,Home Town,Away United,...,2.10,3.40,3.50,...

Whole column names are matched, never prefixes or positions: `BFDH` is one bookmaker's home price and
`BFD` another one's draw. Format: the site's notes.txt; pitfalls counted over 795 real files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from actors.core.cooperative import SLICE, Sliced
from actors.core.errors import PayloadError
from actors.core.messages import Extract, Match, Payload, Prices, Removal, Scope, SourceMatchId
from actors.core.validation import Reason
from actors.source_api.kinds import PolledKind
from actors.source_api.options import PolledOptions, Seconds
from actors.source_api.parsing import Gathered, Memo
from actors.source_api.plan import Target, every
from actors.sources.football_data.fixtures import (
    FINISHED,
    MAX_CELL_CHARS,
    Fixture,
    Layout,
    fixtures_of,
    torn,
)
from actors.sources.football_data.text import (
    Row,
    cells_in,
    read_text,
    rows_in,
    width_of,
)


class FootballDataOptions(PolledOptions, frozen=True, kw_only=True):
    """Options of one CSV file; its publisher asks for no more than a poll every 15 minutes."""

    poll_interval_s: Seconds = 900.0


class Sheet(Struct, frozen=True):
    """A decoded file: where each named column is, and its rows, in file order.

    To each row belongs what it says of its match: a fixture, or a removal where it cannot be one.
    `unknown` counts further rows, of which not even the match can be told.
    """

    columns: Mapping[str, int]
    rows: Iterable[Row]
    fixtures: Iterable[Fixture | Removal]
    source_time: float | None
    unknown: int = 0


_NUMBER = re.compile(r"(0|[1-9][0-9]{0,5})(\.[0-9]{1,6})?").fullmatch
"""A price; none has a leading zero, as what a decimal comma has cut off may have."""

MAX_TORN: Final = 2
"""If more rows than that, and more than can be read, are unreadable, it is the header that is torn."""

_WHATEVER_THE_PRICES: Final = frozenset({FINISHED, Reason.UNREADABLE})
"""Reasons of a row's removal for all bookmakers, also those that have no price in it."""

AGGREGATES: Final = frozenset({"Max", "Avg", "BbMx", "BbAv"})
KNOWN: Final = re.compile("B365|BFD|BMGM|BV|BW|CL|LB|PS|P|BFE|WH|1XB|BF|IW|VC|GB|SB|SJ|SO|SY|BS")
"""Prefixes seen in real files, to tell `B365C` (closing prices) from a bookmaker of its own."""


def check_key(key: str) -> None:
    """Raise ValueError unless `key` can be a bookmaker's column prefix, such as `B365`."""
    if not re.fullmatch("[A-Za-z0-9]{1,8}", key):
        raise ValueError(
            f"key was {key!r}, must be a column prefix of 1 to 8 letters and digits, like 'B365'"
        )
    if key in AGGREGATES or key.removesuffix("C") in AGGREGATES:
        raise ValueError(f"key was {key!r}, which is an aggregate over bookmakers, not a bookmaker")
    if key.endswith("C") and KNOWN.fullmatch(key[:-1]):
        raise ValueError(f"key was {key!r}, which names closing prices; {key[:-1]!r} names the live ones")


def targets(options: FootballDataOptions) -> tuple[Target, ...]:
    """Return the one file to poll; the scope is its name, if that is plainly one and no secret."""
    name = urlsplit(options.url).path.rpartition("/")[2]
    scope = name if re.fullmatch(r"[A-Za-z0-9_-]{1,32}\.csv", name) else "file"
    return (Target(Scope(scope), options.url),)


def decode(payload: Payload, options: FootballDataOptions) -> Sliced[Sheet]:
    """Read the file into a Sheet, in slices. Raises: PayloadError if it is not one of theirs."""
    del options
    if not (payload.is_framed or payload.body.endswith(b"\n")):
        raise PayloadError("the body ends within a line, and its length was not announced: it may be cut")
    return (yield from _sheet(rows_in((yield from read_text(payload.body))), payload.source_time))


def _sheet(rows: Iterator[Row], source_time: float | None) -> Sliced[Sheet]:
    """Read the rows. Beside a line of a single cell they are torn as well, even if of the right width.

    It is the end of the line above or the beginning of the one below, cut within a cell.
    """
    header = next(rows, "")
    columns = _columns(header)
    read_fixture = fixtures_of(Layout.of(columns), width_of(header))
    kept, fixtures = Gathered[Row](), Gathered[Fixture | Removal]()
    last: Fixture | Removal | None = None
    unknown, unreadable, is_beside = 0, 0, False
    for count, row in enumerate(rows):
        if count % SLICE == 0:
            yield
            kept.seal()
            fixtures.seal()
        if (fixture := read_fixture(row)) is None:
            continue
        if is_beside or isinstance(fixture, Removal):
            _check_header(row, header)
            fixture = torn(fixture) if is_beside or isinstance(fixture, Fixture) else fixture
            is_beside = width_of(row) == 1
            last = torn(last) if is_beside and isinstance(last, Fixture) else last
            unreadable += fixture.reason == Reason.UNREADABLE
            if not fixture.source_match_id:
                unknown += 1
                continue
        if last is not None:
            fixtures.add(last)
        last = fixture
        kept.add(row)
    if last is not None:
        fixtures.add(last)
    _check_torn(unreadable, fixtures)
    return Sheet(columns, kept, fixtures, source_time, unknown)


def _check_torn(unreadable: int, fixtures: Iterable[Fixture | Removal]) -> None:
    """Raise PayloadError if fewer rows have the header's width: then it is the header that is torn."""
    if unreadable > MAX_TORN and unreadable > (read := sum(isinstance(one, Fixture) for one in fixtures)):
        raise PayloadError(f"{unreadable} rows do not fit the header, {read} do")


def extract(sheet: Sheet, key: str, options: FootballDataOptions) -> Sliced[Extract]:
    """Read one bookmaker's prices, in slices. Raises: PayloadError if the file lacks its columns.

    A blank triple is a match that the bookmaker does not offer, an incomplete or unreadable one is
    rejected, and so is a torn row, whatever stands where the prices should be. A row that says of a
    match listed above it that it is not offered takes that back, counted as a duplicate.
    """
    del options
    names = (f"{key}H", f"{key}D", f"{key}A")
    if missing := [name for name in names if name not in sheet.columns]:
        raise PayloadError(f"column not in this file: {', '.join(missing)}")
    at_home, at_draw, at_away = (sheet.columns[name] for name in names)
    width = max(at_home, at_draw, at_away) + 1
    matches = Gathered[Match]()
    removals: list[Removal] = []
    listed: dict[SourceMatchId, None] = {}  # the collector would go through a set
    taken_back: set[SourceMatchId] = set()
    for count, (fixture, row) in enumerate(zip(sheet.fixtures, sheet.rows, strict=True)):
        if count % SLICE == 0:
            yield
            matches.seal()
        if isinstance(fixture, Removal) and fixture.reason in _WHATEVER_THE_PRICES:
            removals.append(fixture)
            continue
        cells = row.split(",", width) if isinstance(row, str) else row  # a whole row has all of them
        home, draw, away = _price[cells[at_home]], _price[cells[at_draw]], _price[cells[at_away]]
        if home is draw is away is None:
            taken_back.update({fixture.source_match_id} & listed.keys())
        elif isinstance(fixture, Removal):
            removals.append(fixture)
        elif home is None or draw is None or away is None:
            removals.append(Removal(fixture.source_match_id, Reason.INCOMPLETE))
        else:
            matches.add(_match(fixture, home, draw, away, sheet.source_time))
            listed[fixture.source_match_id] = None
    removals += [Removal(match_id, Reason.DUPLICATE) for match_id in sorted(taken_back)]
    yield
    kept = (one for one in matches if one.source_match_id not in taken_back) if taken_back else matches
    passed_over: dict[str, int] = {Reason.UNREADABLE: sheet.unknown} if sheet.unknown else {}
    return Extract(tuple(kept), tuple(removals), passed_over=passed_over)


def _match(fixture: Fixture, home: float, draw: float, away: float, source_time: float | None) -> Match:
    return Match(  # in the order of its fields, which is half as dear: this is done for every row
        fixture.source_match_id,
        fixture.home,
        fixture.away,
        fixture.league,
        home,
        draw,
        away,
        fixture.start_time,
        source_time,
        fixture.latest_start,
    )


def _read_price(cell: str) -> float | None:
    """Read a price; None for a blank; 0.0, which the integrity gate refuses, for no plain number."""
    cell = cell[:MAX_CELL_CHARS].strip()
    if not cell:
        return None
    return float(cell) if _NUMBER(cell) else 0.0


_FIRST_NAMES: Final = frozenset({"Div", "Country"})
_price = Memo(_read_price, size=8192, max_chars=16)


def _check_header(row: Row, header: Row) -> None:
    """Raise PayloadError if a row is the header of another table, whose columns stand in other places."""
    if cells_in(row, 1)[0].strip() in _FIRST_NAMES and _names_in(row) != _names_in(header):
        raise PayloadError("the body holds a second header, with other columns than the first")


def _columns(header: Row) -> Mapping[str, int]:
    names = _names_in(header)
    if names[0] not in _FIRST_NAMES:
        raise PayloadError(f"first header cell was {names[0][:40]!r}, must be 'Div' or 'Country'")
    if any('"' in name for name in names):
        raise PayloadError("a column's name holds a quotation mark, which is astray")
    # Of equal names the first counts; trailing unnamed cells are none.
    return {name: at for at, name in reversed(list(enumerate(names))) if name}


def _names_in(header: Row) -> list[str]:
    return [cell.strip() for cell in cells_in(header, -1)] or [""]  # of a blank line `csv` gives no cell


KIND = PolledKind(
    name="football_data",
    options=FootballDataOptions,
    check_key=check_key,
    plan=every(targets),
    decode=decode,
    extract=extract,
    prices=Prices.COLLECTED,  # by its publisher, days before a 304 says that the file is the same
)
