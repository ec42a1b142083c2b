"""The archive as rows: every change in a range of time, in order, for other programs.

A row is plain values by column: an entry of 1X2 with its three prices, or, for all markets, one price. The
first rows are the whole state at the beginning of the range. The whole state comes again after a gap,
unless all removals in the gap are known. All other rows are changes.
"""

from __future__ import annotations

import csv
import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import partial
from heapq import merge
from importlib import import_module
from itertools import chain, islice
from typing import Final, TextIO, TypeAlias

from msgspec import Struct

from actors.archive.days.reading import Reader, Row
from actors.archive.folder import Folder
from actors.core.errors import ConfigError
from actors.core.messages import BookmakerId
from actors.markets.market import ONE_X_TWO, parsed

_ODDS: Final = tuple([f"odds_{outcome.lower()}" for outcome in ONE_X_TWO.outcomes])
_SHOWN: Final = ("home", "away", "league", "start_time", *_ODDS, "updated", "source_time")
COLUMNS: Final = ("version", "time", "kind", "bookmaker", "id", *_SHOWN, "reason")
_PRICED: Final = (
    "home",
    "away",
    "league",
    "start_time",
    "market",
    "outcome",
    "odds",
    "updated",
    "source_time",
)
MARKET_COLUMNS: Final = ("version", "time", "kind", "bookmaker", "id", *_PRICED, "reason")
"""The columns of an export of all markets, one price a row."""
Values = dict[str, str | int | float | None]
Write: TypeAlias = Callable[[Iterator[Values], TextIO], None]
"""Writes rows to a file that is open for text; Parquet goes to the bytes below it."""

CSV, NDJSON, PARQUET = "csv", "ndjson", "parquet"
FORMULAS = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")  # noqa: RUF001 - wide forms
"""Beginnings of texts that spreadsheets take for formulas."""
FORMATS: Final = (CSV, NDJSON, PARQUET)
WHOLE: Final = {"version", "start_time"}
REAL: Final = {"time", *_ODDS, "odds", "updated", "source_time"}
ROWS: Final = 50_000
"""Rows in a group of a Parquet file: some 40 MB of memory while they are written."""


class Chosen(Struct, frozen=True):
    """The range of an export: Unix milliseconds, the end excluded; one bookmaker, or (None) all.

    With all markets a row is a price, otherwise an entry of 1X2.
    """

    from_ms: int
    until_ms: int
    bookmaker: BookmakerId | None = None
    all_markets: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of each row, in order."""
        return MARKET_COLUMNS if self.all_markets else COLUMNS


def rows(folder: Folder, chosen: Chosen, read: Callable[[float], None]) -> Iterator[Values]:
    """Yield the rows; `read` gets the share of the days that has been read.

    Raises: OSError, sqlite3.Error, UnreadableError for a day that cannot be read.
    """
    days = folder.days()
    days = days[_first(folder, days, chosen.from_ms) :]
    before: int | None = None  # the last exported version
    for number, day in enumerate(days):
        read(number / len(days))
        with Reader.open(folder.file(day), is_written=day == days[-1]) as reader:
            until = reader.version_at(chosen.until_ms - 1)
            after = reader.base if before is not None else _begin(reader, chosen.from_ms)
            if until is None or until < after:
                continue
            if after != before:
                yield from _state(reader, after, chosen, is_first=before is None)
            span = reader.last - reader.base + 1
            for count, row in enumerate(_changes(reader, after, until, chosen)):
                if not count % ROWS:
                    read((number + count / max(span, count + 1)) / len(days))
                yield row
            before = until
    read(1.0)


def _first(folder: Folder, days: Sequence[date], from_ms: int) -> int:
    """Return the index of the newest day with a version before a time, 0 if there is none."""
    for number in reversed(range(len(days))):
        with Reader.open(folder.file(days[number]), is_written=number == len(days) - 1) as reader:
            if reader.min_ms < from_ms:
                return number
    return 0


def _begin(reader: Reader, from_ms: int) -> int:
    """Return the newest version before a time, or the first of the day."""
    return reader.version_at(from_ms - 1) or reader.base


def _changes(reader: Reader, after: int, until: int, chosen: Chosen) -> Iterator[Values]:
    """Yield the changes after a version, up to another, and a row for each whole state without entries."""
    keyframes = deque(reader.keyframes(after, until))
    found: Iterable[Row] = reader.rows(after, until, chosen.bookmaker)
    if chosen.all_markets:
        others = reader.market_rows(after, until, chosen.bookmaker)
        found = merge(found, others, key=lambda row: row.past.version)
    for row in found:
        while keyframes and keyframes[0] <= row.past.version:
            if (version := keyframes.popleft()) < row.past.version:
                yield _nothing(reader, version, chosen)
        yield from _values(row, chosen)
    for version in keyframes:
        yield _nothing(reader, version, chosen)


def _state(reader: Reader, version: int, chosen: Chosen, *, is_first: bool) -> Iterator[Values]:
    """Yield the whole state at a version; an empty state gives a row, unless it is the first."""
    found = reader.state(version, chosen.bookmaker)
    if chosen.all_markets:
        found += reader.market_state(version, chosen.bookmaker)
    yield from chain.from_iterable(_values(row, chosen) for row in found)
    if not found and not is_first:
        yield _nothing(reader, version, chosen)


def _nothing(reader: Reader, version: int, chosen: Chosen) -> Values:
    """Return the row for an empty whole state."""
    found: Values = dict.fromkeys(chosen.columns)
    return found | {"version": version, "time": reader.time(version) / 1000, "kind": "state"}


def _values(row: Row, chosen: Chosen) -> Iterable[Values]:
    return prices(row) if chosen.all_markets else (values(row),)


def values(row: Row) -> Values:
    """Return a row of 1X2 by column: times in Unix seconds; prices are None if the entry has left."""
    found, entry = dict.fromkeys(COLUMNS) | _about(row), row.past.entry
    if entry is not None:
        match = entry.match
        shown = *match.listing, *match.prices, entry.updated, match.source_time
        found |= zip(_SHOWN, shown, strict=True)
    return found


def prices(row: Row) -> Iterator[Values]:
    """Yield a row for each outcome of an entry in any market; without odds if the entry has left."""
    match_id, _, name = row.past.id.partition(" ")
    market = parsed(name) if name else ONE_X_TWO
    about, entry = _about(row) | {"id": match_id}, row.past.entry
    for place, outcome in enumerate(market.outcomes):
        found: Values = dict.fromkeys(MARKET_COLUMNS) | about | {"market": str(market), "outcome": outcome}
        if entry is not None:
            match = entry.match
            times = {"updated": entry.updated, "source_time": match.source_time}
            found |= zip(_PRICED, match.listing, strict=False)
            found |= times | {"odds": match.prices[place]}
        yield found


def _about(row: Row) -> Values:
    """Return the columns that all kinds of rows have."""
    past = row.past
    found: Values = {"version": past.version, "time": row.at_ms / 1000}
    found |= {"bookmaker": past.bookmaker, "id": past.id}
    if past.entry is None:
        return found | {"kind": "removed", "reason": str(past.reason)}
    return found | {"kind": "state" if row.is_state else "change"}


def write_csv(some: Iterator[Values], out: TextIO, columns: Sequence[str] = COLUMNS) -> None:
    """Write rows as CSV (RFC 4180) with a head; None is an empty field, and formulas are made harmless."""
    writer = csv.DictWriter(out, columns, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows({name: harmless(value) for name, value in row.items()} for row in some)


def harmless(value: object) -> object:
    """Return a value with an apostrophe before it if a spreadsheet would take it for a formula.

    https://owasp.org/www-community/attacks/CSV_Injection
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULAS) else value


def write_ndjson(some: Iterator[Values], out: TextIO) -> None:
    """Write rows as JSON, a line each."""
    encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
    out.writelines(f"{encoder.encode(row)}\n" for row in some)


def writer_of(name: str, columns: Sequence[str] = COLUMNS) -> Write:
    """Return the function that writes rows with these columns in a format.

    Raises: ConfigError if the package for it is not installed.
    """
    if name == PARQUET:
        return _parquet_writer(columns)
    return write_ndjson if name == NDJSON else partial(write_csv, columns=columns)


def _parquet_writer(columns: Sequence[str]) -> Write:
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise ConfigError(
            "--format parquet: pyarrow is not installed; pip install 'oddsboard[parquet]'"
        ) from error
    kinds: Mapping[str, str] = dict.fromkeys(WHOLE, "int64") | dict.fromkeys(REAL, "float64")
    schema = arrow.schema([(name, kinds.get(name, "string")) for name in columns])

    def write(some: Iterator[Values], out: TextIO) -> None:
        with parquet.ParquetWriter(out.buffer, schema, compression="zstd") as writer:
            while group := [*islice(some, ROWS)]:
                writer.write_table(arrow.Table.from_pylist(group, schema))

    return write
