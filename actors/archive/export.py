"""The archive as rows: every change of a time, in order, for other programs.

A row is plain values by column. The first day in the time begins with the whole state, and so does the
archive after a gap; all other rows are changes.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from itertools import islice
from typing import Final, TextIO, TypeAlias

from msgspec import Struct

from actors.archive.folder import Folder
from actors.archive.reading import Reader, Row
from actors.core.errors import ConfigError
from actors.core.messages import BookmakerId

COLUMNS: Final = (
    *("version", "time", "kind", "bookmaker", "id", "home", "away", "league", "start_time"),
    *("odds_1", "odds_x", "odds_2", "updated", "source_time", "reason"),
)
Values = dict[str, str | int | float | None]
Write: TypeAlias = Callable[[Iterator[Values], TextIO], None]
"""Writes rows to a file, which is open for text; Parquet to the bytes below it."""

CSV, NDJSON, PARQUET = "csv", "ndjson", "parquet"
FORMATS: Final = (CSV, NDJSON, PARQUET)
WHOLE: Final = {"version", "start_time"}
REAL: Final = {"time", "odds_1", "odds_x", "odds_2", "updated", "source_time"}
ROWS: Final = 50_000
"""Rows of a group of a Parquet file: some 40 MB of memory while they are written."""


class Chosen(Struct, frozen=True):
    """What is exported: times in Unix milliseconds, the end excluded; one bookmaker, or (None) all."""

    from_ms: int
    until_ms: int
    bookmaker: BookmakerId | None = None


def rows(folder: Folder, chosen: Chosen, read: Callable[[float], None]) -> Iterator[Values]:
    """Yield the rows; `read` is told which part of the days has been read.

    Raises: sqlite3.Error, UnreadableError for a day that cannot be read.
    """
    days, is_first = folder.days(), True
    for number, day in enumerate(days):
        read(number / len(days))
        with Reader.open(folder.file(day), is_written=day == days[-1]) as reader:
            if reader.last_ms < chosen.from_ms and reader.seen_ms < chosen.from_ms:
                continue
            if reader.min_ms >= chosen.until_ms:
                continue
            span = reader.last - reader.base + 1
            for count, row in enumerate(reader.rows(chosen.from_ms, chosen.until_ms, chosen.bookmaker)):
                if not count % ROWS:
                    read((number + (row.past.version - reader.base) / span) / len(days))
                if is_first or row.past.version > reader.base:
                    yield values(row)
            is_first = False
    read(1.0)


def values(row: Row) -> Values:
    """Return a row by column: times in Unix seconds, prices of an entry that has left are None."""
    past, entry = row.past, row.past.entry
    found: Values = dict.fromkeys(COLUMNS)
    found |= {"version": past.version, "time": row.at_ms / 1000, "bookmaker": past.bookmaker, "id": past.id}
    if entry is None:
        return found | {"kind": "removed", "reason": str(past.reason)}
    match = entry.match
    return found | {
        "kind": "state" if row.is_state else "change",
        "home": match.home,
        "away": match.away,
        "league": match.league,
        "start_time": match.start_time,
        "odds_1": match.home_price,
        "odds_x": match.draw_price,
        "odds_2": match.away_price,
        "updated": entry.updated,
        "source_time": match.source_time,
    }


def write_csv(some: Iterator[Values], out: TextIO) -> None:
    """Write rows as CSV (RFC 4180) with a head; None is an empty field."""
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(some)


def write_ndjson(some: Iterator[Values], out: TextIO) -> None:
    """Write rows as JSON, a line each."""
    encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
    out.writelines(f"{encoder.encode(row)}\n" for row in some)


def writer_of(name: str) -> Write:
    """Return what writes rows in a format. Raises: ConfigError if the package for it is not installed."""
    if name == PARQUET:
        return _parquet_writer()
    return write_ndjson if name == NDJSON else write_csv


def _parquet_writer() -> Write:
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise ConfigError(
            "--format parquet: pyarrow is not installed; pip install 'oddsboard[parquet]'"
        ) from error
    kinds: Mapping[str, str] = dict.fromkeys(WHOLE, "int64") | dict.fromkeys(REAL, "float64")
    schema = arrow.schema([(name, kinds.get(name, "string")) for name in COLUMNS])

    def write(some: Iterator[Values], out: TextIO) -> None:
        with parquet.ParquetWriter(out.buffer, schema, compression="zstd") as writer:
            while group := [*islice(some, ROWS)]:
                writer.write_table(arrow.Table.from_pylist(group, schema))

    return write
