"""The archive as rows: every change of a time, in order, for other programs.

A row is plain values by column. The first day in the time begins with the whole state, and so does the
archive after a gap; all other rows are changes.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Final, TextIO

from msgspec import Struct

from actors.archive.folder import Folder
from actors.archive.reading import Reader, Row
from actors.core.messages import BookmakerId

COLUMNS: Final = (
    *("version", "time", "kind", "bookmaker", "id", "home", "away", "league", "start_time"),
    *("odds_1", "odds_x", "odds_2", "updated", "source_time", "reason"),
)
Values = dict[str, str | int | float | None]


class Chosen(Struct, frozen=True):
    """What is exported: times in Unix milliseconds, the end excluded; one bookmaker, or (None) all."""

    from_ms: int
    until_ms: int
    bookmaker: BookmakerId | None = None


def rows(folder: Folder, chosen: Chosen, read: Callable[[float], None]) -> Iterator[Values]:
    """Yield the rows; `read` is told which part of the days has been read.

    Raises: sqlite3.Error, UnreadableError for a day that cannot be read.
    """
    days = folder.days()
    is_first = True
    for number, day in enumerate(days):
        read(number / len(days))
        with Reader.open(folder.file(day), is_written=day == days[-1]) as reader:
            if reader.last_ms < chosen.from_ms and reader.seen_ms < chosen.from_ms:
                continue
            if reader.min_ms >= chosen.until_ms:
                continue
            for row in reader.rows(chosen.from_ms, chosen.until_ms, chosen.bookmaker):
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


FORMATS: Final[Mapping[str, Callable[[Iterator[Values], TextIO], None]]] = {
    "csv": write_csv,
    "ndjson": write_ndjson,
}
