"""A table of matches with the prices of one bookmaker or several, as CSV or JSON lines. Pure.

A row (German, with a decimal comma, and the prices of two bookmakers):

    Datum;Zeit;Liga;Heim;Gast;Nord 1;Nord X;Nord 2;Süd 1;Süd X;Süd 2
    05.12.2026;15:30;Bundesliga;Köln;Mainz 05;2,10;3,40;3,60;2,05;3,50;3,70

Other markets are in further columns (`markets`). An unreadable line or market is lost without affecting
other lines or markets; the notes of the extract say why.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import PurePath
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from actors.core.cooperative import SLICE, Sliced
from actors.core.errors import PayloadError
from actors.core.messages import Extract, Match, Payload, Prices, Removal, Scope, SourceMatchId
from actors.core.nearest import did_you_mean
from actors.core.validation import Reason, clean_name
from actors.source_api.kinds import PolledKind
from actors.source_api.match_ids import match_id_of
from actors.source_api.parsing import Parts, Unread
from actors.source_api.plan import Plan, Target
from actors.sources.table.markets import (
    Found,
    MarketColumns,
    columns_of,
    faults_of_markets,
    notes_of,
)
from actors.sources.table.options import KEY, Column, TableOptions, check, check_key, with_key
from actors.sources.table.starts import moment_of, start_of
from actors.sources.table.text import TWICE, Columns, Line, lines_of

MAX_TORN: Final = 2  # with more unreadable lines than this, and than readable lines, all is refused
MAX_AHEAD_S: Final = 60.0  # how far the time of a price may be after the answer
WITHDRAWN: Final = "withdrawn"

_OWN_ID = re.compile(r"[A-Za-z0-9._-]{1,128}").fullmatch


class Fixture(Struct, frozen=True):
    """A row without its prices; `bookmaker` is its key, None without such a column."""

    number: int
    source_match_id: SourceMatchId
    home: str
    away: str
    start_time: int | None
    latest_start: int | None
    league: str | None = None
    updated: float | None = None
    bookmaker: str | None = None


class UnreadRow(Struct, frozen=True):
    """An unreadable row: the reason, and its id and bookmaker if these are readable."""

    text: str
    reason: Reason = Reason.UNREADABLE
    source_match_id: SourceMatchId | None = None
    bookmaker: str | None = None


class Table(Struct, frozen=True):
    """A decoded table: its columns, readable rows with their cells, and `unread` rows."""

    columns: Columns
    rows: Sequence[tuple[Fixture, Sequence[str]]]
    unread: Sequence[UnreadRow]
    options: TableOptions
    source_time: float | None
    answered_at: float | None


class TablePlan(Plan):
    """Polls one file or address; `check-config` shows how long its prices are valid."""

    def describe(self) -> list[str]:
        """Return lines for an operator."""
        if self._options.is_as_old_as_its_file:
            held_s = self._options.staleness_s
            return [*super().describe(), f"live: its prices hold for {held_s:g} s after it was written"]
        return [*super().describe(), "collected: its prices are as old as it says, or as the file"]


def plan(options: TableOptions, keys: tuple[str, ...]) -> Plan:
    """Return the plan of a table; the scope is its name, if that is clearly no secret."""
    check(options, keys)
    if fault := next(faults_of_markets(options), None):
        raise ValueError(fault)
    name = PurePath(options.path or urlsplit(options.url).path).name
    scope = name if re.fullmatch(r"[A-Za-z0-9_-]{1,32}\.(csv|tsv|txt|jsonl|ndjson|json)", name) else "table"
    return TablePlan(options, (Target(Scope(scope), options.path or options.url),))


def decode(payload: Payload, options: TableOptions) -> Sliced[Table]:
    """Read the table, in slices. Raises: PayloadError if it lacks a column, or most rows are unreadable."""
    if not (payload.is_framed or payload.body.endswith(b"\n")):
        raise PayloadError("the body ends within a line, and its length was not announced: it may be cut")
    columns: Columns = {}
    rows: list[tuple[Fixture, Sequence[str]]] = []
    unread: list[UnreadRow] = []
    for count, line in enumerate(lines_of(payload.body, options, columns)):
        if count % SLICE == 0:
            yield
        read = _row(line, columns, options, payload.answered_at)
        if isinstance(read, Fixture):
            rows.append((read, line.cells))
        else:
            unread.append(read)
    if options.format == "csv":
        _check_columns(columns, options.columns)
    if MAX_TORN < len(unread) > len(rows):
        raise PayloadError(
            f"{len(unread)} lines cannot be read, {len(rows)} can; the first: {unread[0].text}"
        )
    return Table(columns, rows, unread, options, payload.source_time, payload.answered_at)


def extract(table: Table, key: str, options: TableOptions) -> Sliced[Extract]:
    """Read a bookmaker's prices, in slices. Raises: PayloadError if the table lacks its columns.

    A row without a price means that the match is not offered.
    """
    outcomes = tuple(with_key(column, key) for column in options.outcomes)
    if table.rows or options.format == "csv":
        _check_columns(table.columns, outcomes, key, keys_in(table))
    found = Found(options)
    of_key = [row for row in table.unread if row.bookmaker in {None, key}]
    found.removals += [Removal(row.source_match_id, row.reason) for row in of_key if row.source_match_id]
    found.passed_over.update(str(row.reason) for row in of_key if not row.source_match_id)
    found.note(row.text for row in of_key)
    places = _places(table, key, found)
    for count, (fixture, cells) in enumerate(table.rows):
        if count % SLICE == 0:
            yield
        if fixture.bookmaker in {None, key}:
            _read(fixture, partial(_cell, cells, table.columns), (outcomes, places), table, found)
    return Extract(
        tuple(found.matches),
        tuple(found.removals),
        passed_over=found.passed_over,
        answered_at=table.answered_at,
        is_collected=options.prices is Prices.COLLECTED,
        notes=tuple(found.notes),
    )


def _places(table: Table, key: str, found: Found) -> list[MarketColumns]:
    """Return the columns of a bookmaker's other markets; a market without its columns is left out."""
    places = []
    for name, columns in table.options.markets.items():
        place = columns_of(name, columns, key)
        try:
            if table.rows or table.options.format == "csv":
                _check_columns(table.columns, place.columns)
        except PayloadError as error:
            found.note([f"{name} is not read: {error}"])
        else:
            places.append(place)
    return places


def _read(
    fixture: Fixture,
    cell: Callable[[Column], str],
    columns: tuple[Sequence[Column], Sequence[MarketColumns]],
    table: Table,
    found: Found,
) -> None:
    """Add the markets of a row."""
    outcomes, places = columns
    written = {str(column): cell(column) for column in outcomes}
    found.note(notes_of(fixture.number, written, table.options))
    blank = [not text.strip() for text in written.values()]
    odds = found.odds(written.values())
    if not any(blank) and min(odds, default=0.0) > 1.0:
        found.matches.append(_match(fixture, odds, table))
    elif not all(blank):
        reason = Reason.INCOMPLETE if any(blank) else Reason.PRICE
        found.removals.append(Removal(fixture.source_match_id, reason))
    event = _match(fixture, (0.0, 0.0, 0.0), table)
    has_others = bool(places) and found.add_markets(event, fixture.number, places, cell)
    if all(blank) and outcomes and not has_others:
        found.removals.append(Removal(fixture.source_match_id, WITHDRAWN))


def keys_in(table: Table) -> Iterator[str]:
    """Yield the keys of the bookmakers that a table names."""
    options = table.options
    if options.bookmaker is not None:
        yield from dict.fromkeys(fixture.bookmaker for fixture, _ in table.rows if fixture.bookmaker)
    elif KEY in str(first := options.price_columns[0]):
        before, _, behind = str(first).partition(KEY)
        needed = options.outcomes or (first,)
        for name in table.columns:
            if isinstance(name, str) and name.startswith(before) and name.endswith(behind):
                key = name[len(before) : len(name) - len(behind)]
                if key and all(with_key(column, key) in table.columns for column in needed):
                    yield key


def parts(table: Table) -> Parts:
    """Return the rows of a table."""
    why = table.unread[0].text if table.unread else ""
    return Parts("rows", tuple(fixture for fixture, _ in table.rows), Unread(len(table.unread), why))


def _check_columns(
    columns: Columns, needed: Sequence[Column], key: str = "", keys: Iterable[str] = ()
) -> None:
    """Raise PayloadError for a missing or doubled column; suggest one of `keys` in place of `key`."""
    if missing := [str(column) for column in needed if column not in columns]:
        near = did_you_mean(key, keys) or did_you_mean(missing[0], map(str, columns))
        raise PayloadError(f"column not in this table: {', '.join(missing)}{near}")
    if twice := [str(column) for column in needed if columns[column] == TWICE]:
        raise PayloadError(f"column more than once in this table: {', '.join(twice)}")


def _cell(cells: Sequence[str], columns: Columns, column: Column | None) -> str:
    place = -1 if column is None else columns.get(column, -1)
    return cells[place] if 0 <= place < len(cells) else ""


def _row(
    line: Line, columns: Columns, options: TableOptions, answered_at: float | None
) -> Fixture | UnreadRow:
    """Return a line without its prices, or why it cannot be read."""

    def cell(column: Column | None) -> str:
        return _cell(line.cells, columns, column).strip()

    home, away, league = (clean_name(cell(each)) for each in (options.home, options.away, options.league))
    own, bookmaker = cell(options.id), None if options.bookmaker is None else cell(options.bookmaker)
    match_id, reason, fault = _own_id(own) if own else None, Reason.UNREADABLE, line.fault
    if not fault and not (home != away and all(any(map(str.isalpha, name)) for name in (home, away))):
        fault = f"has the teams {home!r} and {away!r}, must have two names"
    if not fault and (bookmaker == "" or (options.id is not None and not own)):
        fault = "must have a bookmaker and an id, as these columns are named"
    if fault:
        return UnreadRow(f"line {line.number} {fault}", reason, match_id, bookmaker or None)
    try:
        reason = Reason.START_TIME
        first = options.start if options.date is None else options.date
        start = start_of(cell(first), cell(options.time), options)
        match_id, reason = (
            match_id or match_id_of(league, f"{start.day:%Y%m%d}", home, away),
            Reason.UNREADABLE,
        )
        updated = _updated(cell(options.updated), options, answered_at)
    except ValueError as error:
        return UnreadRow(f"line {line.number}: {error}", reason, match_id, bookmaker)
    at = None if start.start_time is None else int(start.start_time)
    times, named = (at, start.latest_start), (home, away)
    return Fixture(line.number, match_id, *named, *times, league or None, updated, bookmaker)


def _updated(cell: str, options: TableOptions, answered_at: float | None) -> float | None:
    """Read the time of a row's prices, None without such a column. Raises: ValueError."""
    updated = None if options.updated is None else moment_of(cell, options)
    if updated is not None and answered_at is not None and updated > answered_at + MAX_AHEAD_S:
        raise ValueError(f"the time was {cell!r}, in the future: is a clock, or the timezone, wrong?")
    return updated


def _own_id(text: str) -> SourceMatchId:
    """Return an id of the table; special characters get a form that no plain id has."""
    return SourceMatchId(text) if _OWN_ID(text) else SourceMatchId(f"~{match_id_of(text)}"[:128])


def _match(fixture: Fixture, odds: Sequence[float], table: Table) -> Match:
    home, draw, away = odds
    return Match(
        fixture.source_match_id,
        fixture.home,
        fixture.away,
        fixture.league,
        home,
        draw,
        away,
        fixture.start_time,
        table.source_time if fixture.updated is None else fixture.updated,
        fixture.latest_start,
    )


KIND = PolledKind(
    name="table",
    options=TableOptions,
    check_key=check_key,
    plan=plan,
    decode=decode,
    extract=extract,
    repeats_confirm=False,  # the ages of rows must be computed anew
    prices_of=lambda options: options.prices,
    keys_in=keys_in,
    parts=parts,
)
