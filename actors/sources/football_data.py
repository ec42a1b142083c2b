"""football-data.co.uk: upcoming matches with the pre-match prices of several bookmakers, as CSV.

Pure: decodes the file once, extracts one bookmaker's columns at a time. A real row (columns cut):

    Div,Date,Time,HomeTeam,AwayTeam,...,B365H,B365D,B365A,...
    XX,29/01/2026,19:45,Home Town,Away United,...,2.10,3.40,3.50,...

Whole column names are matched, never prefixes or positions: `BFDH` is one bookmaker's home price and
`BFD` another one's draw. Format: the site's notes.txt; pitfalls counted over 795 real files.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from actors.errors import PayloadError
from actors.integrity import Reason
from actors.kinds import PolledKind
from actors.messages import Extract, Match, Payload, Removal, Scope, SourceMatchId
from actors.options import PolledOptions, Seconds
from actors.plan import Target, every
from actors.slices import SLICE, Steps
from actors.sources.football_data_rows import FINISHED, MAX_CELL_CHARS, Fixture, Layout, read_fixture


class FootballDataOptions(PolledOptions, frozen=True, kw_only=True):
    """Options of one CSV file; its publisher asks for no more than a poll every 15 minutes."""

    poll_interval_s: Seconds = 900.0


class Sheet(Struct, frozen=True):
    """A decoded file: where each named column is, and its rows with their cells, in file order.

    A row is a fixture, or a removal where it cannot be one.
    """

    columns: Mapping[str, int]
    rows: tuple[tuple[Fixture | Removal, list[str]], ...]
    source_time: float | None


_NUMBER = re.compile(r"[0-9]{1,6}(\.[0-9]{1,6})?").fullmatch

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
    """Give the one file to poll; the scope is its name, if that is plainly one and no secret."""
    name = urlsplit(options.url).path.rpartition("/")[2]
    scope = name if re.fullmatch(r"[A-Za-z0-9_-]{1,32}\.csv", name) else "file"
    return (Target(Scope(scope), options.url),)


def decode(payload: Payload, options: FootballDataOptions) -> Steps[Sheet]:
    """Read the file into a Sheet, in slices. Raises: PayloadError if it is not one of theirs."""
    del options
    if not (payload.is_framed or payload.body.endswith(b"\n")):
        raise PayloadError("the body ends within a line, and its length was not announced: it may be cut")
    rows = csv.reader(_text(payload.body), strict=True)  # a quote left open is a cut file
    layout = _layout(_next(rows))
    read: list[tuple[Fixture | Removal, list[str]]] = []
    for count in itertools.count():
        if count % SLICE == 0:
            yield
        if (row := _next(rows)) is None:
            break
        if any(map(str.strip, row)):
            read.append((read_fixture(layout, row), row))
    return Sheet(layout.columns, tuple(read), payload.source_time)


def extract(sheet: Sheet, key: str, options: FootballDataOptions) -> Steps[Extract]:
    """Read one bookmaker's prices, in slices. Raises: PayloadError if the file lacks its columns.

    A blank triple is a match that the bookmaker does not offer, an incomplete or unreadable one is
    rejected. A row that says so of a match listed above it takes that back, counted as a duplicate.
    """
    del options
    names = (f"{key}H", f"{key}D", f"{key}A")
    if missing := [name for name in names if name not in sheet.columns]:
        raise PayloadError(f"column not in this file: {', '.join(missing)}")
    home, draw, away = (sheet.columns[name] for name in names)
    matches: list[Match] = []
    removals: list[Removal] = []
    listed: set[SourceMatchId] = set()
    taken_back: set[SourceMatchId] = set()
    for count, (fixture, row) in enumerate(sheet.rows):
        if count % SLICE == 0:
            yield
        cells = (_cell(row, home), _cell(row, draw), _cell(row, away))
        if not any(cells) or _is_finished(fixture):
            taken_back.update({fixture.source_match_id} & listed)
        elif isinstance(fixture, Removal):
            removals.append(fixture)
        elif not all(cells):
            removals.append(Removal(fixture.source_match_id, Reason.INCOMPLETE))
        else:
            matches.append(_match(fixture, cells, sheet.source_time))
            listed.add(fixture.source_match_id)
    removals += [Removal(match_id, Reason.DUPLICATE) for match_id in sorted(taken_back)]
    return Extract(tuple(one for one in matches if one.source_match_id not in taken_back), tuple(removals))


def _is_finished(fixture: Fixture | Removal) -> bool:
    return isinstance(fixture, Removal) and fixture.reason == FINISHED


def _match(fixture: Fixture, cells: tuple[str, str, str], source_time: float | None) -> Match:
    home, draw, away = map(_price, cells)
    return Match(
        source_match_id=fixture.source_match_id,
        home=fixture.home,
        away=fixture.away,
        league=fixture.league,
        home_price=home,
        draw_price=draw,
        away_price=away,
        start_time=fixture.start_time,
        source_time=source_time,
    )


@lru_cache(maxsize=8192)
def _price(cell: str) -> float:
    """Read a price; 0.0, which the integrity gate refuses, for whatever is not plainly a number."""
    return float(cell) if _NUMBER(cell) else 0.0


def _cell(row: list[str], at: int) -> str:
    return row[at][:MAX_CELL_CHARS].strip() if at < len(row) else ""


def _text(body: bytes) -> io.StringIO:
    """Decode as UTF-8, or as cp1252 like 13 of the real files."""
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            text = body.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" in text:
            break
        return io.StringIO(text, newline="")
    raise PayloadError("the body is neither UTF-8 nor cp1252 text")


def _next(rows: Iterator[list[str]]) -> list[str] | None:
    try:
        return next(rows, None)
    except csv.Error as error:
        raise PayloadError(f"the body is not CSV: {error}") from error


def _layout(header: list[str] | None) -> Layout:
    names = [cell.strip() for cell in header or []]
    if not names or names[0] not in {"Div", "Country"}:
        found = names[0][:40] if names else ""
        raise PayloadError(f"first header cell was {found!r}, must be 'Div' or 'Country'")
    # Of equal names the first counts; trailing unnamed cells are none.
    columns = {name: at for at, name in reversed(list(enumerate(names))) if name}
    return Layout.of(columns)


KIND = PolledKind(
    name="football_data",
    options=FootballDataOptions,
    check_key=check_key,
    plan=every(targets),
    decode=decode,
    extract=extract,
)
