"""football-data.co.uk: upcoming matches with the pre-match prices of several bookmakers, as CSV. Pure.

A real row (cut):

    Div,Date,Time,HomeTeam,AwayTeam,...,B365H,B365D,B365A,...
    XX,29/01/2026,19:45,Home Town,Away United,...,2.10,3.40,3.50,...

Whole column names are matched, never prefixes: `BFDH` is a bookmaker's home price and `BFD` another
bookmaker's draw. Format: the site's notes.txt.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Final
from urllib.parse import urlsplit

from msgspec import Meta, Struct

from actors.core.cooperative import SLICE, Sliced
from actors.core.errors import PayloadError
from actors.core.messages import (
    OF_EXCHANGE,
    Extract,
    Match,
    Offer,
    Payload,
    Prices,
    Removal,
    Scope,
    SourceMatchId,
)
from actors.core.nearest import did_you_mean
from actors.core.validation import Reason
from actors.markets.market import Kind
from actors.source_api.kinds import PolledKind
from actors.source_api.options import Markets, PolledOptions, Seconds
from actors.source_api.parsing import Parts, Unread
from actors.source_api.plan import Target, every
from actors.sources.football_data.cells import MAX_CELL_CHARS, price_in
from actors.sources.football_data.fixtures import FOR_ALL_BOOKMAKERS, FixtureRow, Layout, read_row, torn
from actors.sources.football_data.markets import SUFFIXES, find, read_others
from actors.sources.football_data.text import Row, rows_in, width_of
from actors.sources.football_data.widths import with_widths


class FootballDataOptions(PolledOptions, frozen=True, kw_only=True):
    """Options of a CSV file; its publisher asks for at most one poll in 15 minutes."""

    markets: Markets = (Kind.ONE_X_TWO,)
    poll_interval_s: Annotated[
        Seconds, Meta(description="The shortest time between two polls; most answers are: not modified.")
    ] = 900.0


class Sheet(Struct, frozen=True):
    """A decoded file: columns, and rows with their fixtures; `unknown` counts rows that are left out."""

    columns: Mapping[str, int]
    rows: Sequence[Row]
    fixtures: Sequence[FixtureRow | Removal]
    source_time: float | None
    answered_at: float | None
    unknown: int = 0


_FIRST_NAMES: Final = frozenset({"Div", "Country"})
# With more unreadable rows than this number, and than readable rows, the header is torn.
MAX_TORN: Final = 2
EXCHANGES: Final = frozenset({"BFE"})  # from the site's notes.txt
AGGREGATES: Final = frozenset({"Max", "Avg", "BbMx", "BbAv"})
# Prefixes in the site's notes.txt, and PP and SKB, which its files of 2026/27 have (they lack BMGM, CL, LB
# and PS). With them `B365C` (closing prices) can be distinguished from a bookmaker such as `VC`.
_PREFIXES: Final = "1XB B365 BF BFD BFE BMGM BS BV BW CL GB IW LB P PP PS SB SJ SKB SO SY VC WH"
KNOWN: Final = frozenset(_PREFIXES.split())
_SIDES: Final = ("H", "D", "A")
KINDS: Final = (Kind.ONE_X_TWO, *SUFFIXES)
"""The kinds of market that the site's files have."""


def check_key(key: str) -> None:
    """Raise ValueError unless `key` can be a bookmaker's column prefix, such as `B365`."""
    if not re.fullmatch("[A-Za-z0-9]{1,8}", key):
        what = "a column prefix of 1 to 8 letters and digits, like 'B365'"
        raise ValueError(f"key was {key!r}, must be {what}")
    if key in AGGREGATES or key.removesuffix("C") in AGGREGATES:
        raise ValueError(f"key was {key!r}, an aggregate over bookmakers, must be that of one, like 'B365'")
    _check_closing(key)


def _check_closing(key: str, columns: Container[str] = (), ends: Collection[str] = _SIDES) -> None:
    """Raise ValueError if `key` names closing prices in a file with these columns.

    Closing prices have the prefix of a bookmaker's live prices and a C; that bookmaker is known, or has a
    column in the file with one of the `ends`.
    """
    live = key.removesuffix("C")
    if live != key and (live in KNOWN or any(live + end in columns for end in ends)):
        raise ValueError(f"key was {key!r}, which names closing prices; {live!r} names the live prices")


def targets(options: FootballDataOptions) -> tuple[Target, ...]:
    """Return the file to poll; the scope is its name, if that is clearly no secret.

    Raises: ValueError for a kind of market that no file has.
    """
    if unknown := [kind for kind in options.kinds if kind not in KINDS]:
        raise ValueError(f"markets had {', '.join(unknown)}, must be of {', '.join(KINDS)}")
    name = urlsplit(options.url).path.rpartition("/")[2]
    scope = name if re.fullmatch(r"[A-Za-z0-9_-]{1,32}\.csv", name) else "file"
    return (Target(Scope(scope), options.url),)


def decode(payload: Payload, options: FootballDataOptions) -> Sliced[Sheet]:
    """Read the file into a Sheet, in slices. Raises: PayloadError if it is not such a file."""
    del options
    if not (payload.is_framed or payload.body.endswith(b"\n")):
        raise PayloadError("the body ends within a line, and its length was not announced: it may be cut")
    rows = rows_in(payload.body)
    header = next(rows, [])
    yield
    columns = _columns(header)
    layout = Layout.of(columns)
    kept: list[Row] = []
    fixtures: list[FixtureRow | Removal] = []
    unknown, unreadable, is_after_torn = 0, 0, False
    is_ended = payload.body.endswith((b"\n", b"\r"))
    for count, (row, width) in enumerate(with_widths(header, rows, is_ended=is_ended)):
        if count % SLICE == 0:
            yield
        if (fixture := read_row(layout, width, row)) is None:
            continue
        if is_after_torn or isinstance(fixture, Removal):
            _check_header(row, header)
            # A line of a single cell is a piece of the line above or below, which was cut within a cell:
            # both neighbours are torn, even if their width is right.
            fixture = torn(fixture) if is_after_torn or isinstance(fixture, FixtureRow) else fixture
            is_after_torn = width_of(row) == 1
            if is_after_torn and fixtures and isinstance(fixtures[-1], FixtureRow):
                fixtures[-1] = torn(fixtures[-1])
            unreadable += fixture.reason == Reason.UNREADABLE
            if not fixture.source_match_id:
                unknown += 1
                continue
        fixtures.append(fixture)
        kept.append(row)
    read = sum(isinstance(fixture, FixtureRow) for fixture in fixtures)
    if MAX_TORN < unreadable > read:
        raise PayloadError(f"{unreadable} rows do not fit the header, {read} do")
    return Sheet(columns, kept, fixtures, payload.source_time, payload.answered_at, unknown)


def extract(sheet: Sheet, key: str, options: FootballDataOptions) -> Sliced[Extract]:
    """Read a bookmaker's prices, in slices. Raises: PayloadError if the file lacks its columns."""
    found = find(sheet.columns, key, options.kinds)
    sides = _columns_of(sheet, key, with_others=len(options.kinds) > 1)
    notes: tuple[str, ...] = ()
    if missing := [name for name in sides if name not in sheet.columns]:
        notes = (f"column not in this file: {', '.join(missing)}",)
        if not found.read:
            raise PayloadError(f"{notes[0]}{did_you_mean(key, _keys_in(sheet.columns))}")
        matches, removals = list[Match](), list[Removal]()
    else:
        matches, removals = yield from _results(sheet, [sheet.columns[name] for name in sides])
    others = yield from read_others(sheet.columns, found, sheet.fixtures, sheet.rows, sheet.source_time)
    passed_over = others.passed_over + Counter({Reason.UNREADABLE: sheet.unknown})
    return Extract(
        (*matches, *others.matches),
        (*removals, *others.removals),
        passed_over=passed_over,
        answered_at=sheet.answered_at,
        is_collected=True,
        notes=(*notes, *others.notes),
    )


def _results(sheet: Sheet, sides: Sequence[int]) -> Sliced[tuple[list[Match], list[Removal]]]:
    """Read the 1X2 prices in these columns, in slices.

    Three blank prices mean that the match is not offered; an earlier row of the match is then a duplicate.
    """
    at_home, at_draw, at_away = sides
    matches: list[Match] = []
    removals: list[Removal] = []
    listed: set[SourceMatchId] = set()
    taken_back: set[SourceMatchId] = set()
    for count, (fixture, row) in enumerate(zip(sheet.fixtures, sheet.rows, strict=True)):
        if count % SLICE == 0:
            yield
        if isinstance(fixture, Removal) and fixture.reason in FOR_ALL_BOOKMAKERS:
            removals.append(fixture)
            continue
        home, draw, away = (price_in(row[at][:MAX_CELL_CHARS]) for at in (at_home, at_draw, at_away))
        if home is draw is away is None:
            if fixture.source_match_id in listed:
                taken_back.add(fixture.source_match_id)
        elif isinstance(fixture, Removal):
            removals.append(fixture)
        elif home is None or draw is None or away is None:
            removals.append(Removal(fixture.source_match_id, Reason.INCOMPLETE))
        else:
            matches.append(_match(fixture, home, draw, away, sheet.source_time))
            listed.add(fixture.source_match_id)
    removals += [Removal(match_id, Reason.DUPLICATE) for match_id in sorted(taken_back)]
    if taken_back:
        matches = [match for match in matches if match.source_match_id not in taken_back]
    return matches, removals


def _columns_of(sheet: Sheet, key: str, *, with_others: bool) -> list[str]:
    """Return the names of a bookmaker's live prices for home, draw and away.

    Raises: PayloadError if the key names closing prices in this file.
    """
    others = [end for ends in SUFFIXES.values() for end in ends] if with_others else []
    try:
        _check_closing(key, sheet.columns, (*_SIDES, *others))
    except ValueError as error:
        raise PayloadError(str(error)) from error
    return [key + side for side in _SIDES]


def _keys_in(columns: Collection[str]) -> Iterator[str]:
    """Return the prefixes under which a file has live prices of one bookmaker."""
    for key in [name[:-1] for name in columns if name.endswith("D")]:
        with suppress(ValueError):
            check_key(key)
            _check_closing(key, columns)
            if all(key + side in columns for side in _SIDES):
                yield key


def _match(fixture: FixtureRow, home: float, draw: float, away: float, source_time: float | None) -> Match:
    # Positional arguments take half the time, and this runs for every row.
    return Match(
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


def _check_header(row: Row, header: Row) -> None:
    """Raise PayloadError if a row is another table's header, with columns in other places."""
    if row[0].strip() in _FIRST_NAMES and _names_in(row) != _names_in(header):
        raise PayloadError("the body holds a second header, with other columns than the first")


def _columns(header: Row) -> Mapping[str, int]:
    names = _names_in(header)
    if names[0] not in _FIRST_NAMES:
        raise PayloadError(f"first header cell was {names[0][:40]!r}, must be 'Div' or 'Country'")
    if any('"' in name for name in names):
        raise PayloadError("a column's name has a stray quotation mark")
    # The first of equal names counts; cells without a name are not columns.
    return {name: at for at, name in reversed(list(enumerate(names))) if name}


def _names_in(header: Row) -> list[str]:
    return [cell.strip() for cell in header] or [""]  # a blank line has no cell


def parts(sheet: Sheet) -> Parts:
    """Return the rows of a file."""
    rows = tuple(fixture for fixture in sheet.fixtures if isinstance(fixture, FixtureRow))
    torn_rows = [
        each for each in sheet.fixtures if isinstance(each, Removal) and each.reason == Reason.UNREADABLE
    ]
    return Parts("rows", rows, Unread(sheet.unknown + len(torn_rows), "they do not fit the header"))


KIND = PolledKind(
    name="football_data",
    options=FootballDataOptions,
    check_key=check_key,
    plan=every(targets),
    decode=decode,
    extract=extract,
    prices=Prices.COLLECTED,  # collected by its publisher; a 304 may confirm the same file days later
    parts=parts,
    offer_of=lambda key, _options: OF_EXCHANGE if key in EXCHANGES else Offer(),
)
