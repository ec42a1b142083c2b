"""The format of a day's file: tables, exact numbers, file names. docs/archive.md describes it.

Pure. A number is stored in whole thousandths if dividing gives back exactly the same number, otherwise as
it is: SQLite types each cell. `version` of a change is relative to the base of its file, and `updated` to
the time of its commit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from typing import Final

from msgspec import Struct

FORMAT: Final = 1
"""`PRAGMA user_version` of a day's file; a file with an unknown one is refused or set aside."""
MARKETS_FORMAT: Final = 2
"""The `user_version` of a file that also has entries of other markets than 1X2 (`markets.py`)."""
SUFFIX: Final = ".db"
MOST_WHOLE: Final = 2**52
"""The largest integer that is stored as a whole number; SQLite has 64 bits, an exact double 53."""
DAY_MS: Final = 86_400_000
BY_VERSION, BY_ENTRY = "by_version", "by_entry"
"""The order of the changes: in the day being written, and in a sealed day."""

_DAY = re.compile(r"(\d{4}-\d{2}-\d{2})\.db", re.ASCII)
_CHANGES = """
CREATE TABLE changes (
  version INTEGER NOT NULL, entry INTEGER NOT NULL, listing INTEGER, home, draw, away, updated, source,
  reason TEXT, PRIMARY KEY ({key})
) WITHOUT ROWID"""
TABLES: Final = (
    "CREATE TABLE day (key TEXT PRIMARY KEY, value) WITHOUT ROWID",
    "CREATE TABLE commits (version INTEGER PRIMARY KEY, at INTEGER NOT NULL)",
    "CREATE TABLE lives (version INTEGER PRIMARY KEY, epoch TEXT NOT NULL)",
    "CREATE TABLE keyframes (version INTEGER PRIMARY KEY)",
    """CREATE TABLE gaps (
  after INTEGER PRIMARY KEY, until INTEGER NOT NULL, after_at INTEGER NOT NULL, until_at INTEGER NOT NULL,
  reason TEXT NOT NULL
)""",
    """CREATE TABLE bookmakers (
  version INTEGER, place INTEGER, id TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (version, place)
) WITHOUT ROWID""",
    "CREATE TABLE entries (entry INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, bookmaker TEXT NOT NULL)",
    """CREATE TABLE listings (
  listing INTEGER PRIMARY KEY, home TEXT NOT NULL, away TEXT NOT NULL, league TEXT, start_time INTEGER
)""",
    "CREATE TABLE view_names (view INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
    "CREATE TABLE views (view INTEGER, version INTEGER, PRIMARY KEY (view, version)) WITHOUT ROWID",
    """CREATE TABLE fixtures (
  version INTEGER, fixture TEXT, members TEXT, reason TEXT, into_fixture TEXT,
  PRIMARY KEY (version, fixture)
) WITHOUT ROWID""",
    """CREATE TABLE lists (
  bookmaker TEXT, scope TEXT, list_id TEXT, confirmed_at INTEGER, stale_after_s REAL,
  PRIMARY KEY (bookmaker, scope)
) WITHOUT ROWID""",
)
"""All tables except `changes`, which has another order in a sealed file."""
MARKS: Final = """
CREATE TABLE IF NOT EXISTS marks (
  mark INTEGER, entry INTEGER, version INTEGER NOT NULL, PRIMARY KEY (mark, entry)
) WITHOUT ROWID"""
"""For some versions (marks) the version of each entry's last change: no list has to read all changes.

Only the day being written needs it: a sealed file is sorted by entry.
"""
COPIED: Final = tuple(re.findall(r"CREATE TABLE (\w+)", " ".join(TABLES)))
COLUMNS: Final = "version, entry, listing, home, draw, away, updated, source, reason"


class Gap(Struct, frozen=True):
    """A range of versions and times without data, and why; the versions at both ends are known."""

    after: int
    until: int
    after_at: int
    until_at: int
    reason: str


def changes_table(layout: str) -> str:
    """Return the statement that creates the table of changes in that order."""
    return _CHANGES.format(key="version, entry" if layout == BY_VERSION else "entry, version")


def exact(value: float) -> float:
    """Return a number in thousandths if that is exact, otherwise the number itself."""
    if not abs(value) < MOST_WHOLE / 1000:
        return float(value)
    whole = round(value * 1000)
    return whole if whole / 1000 == value else float(value)


def number(stored: float) -> float:
    """Return the number from the stored form of `exact`."""
    return stored / 1000 if isinstance(stored, int) else stored


def numbers_of(stored: Iterable[float]) -> tuple[float, ...]:
    """Return the numbers from the stored forms of `exact`."""
    return tuple([of / 1000 if isinstance(of, int) else of for of in stored])


def exact_time(at: float, origin_ms: int) -> float:
    """Return a time (Unix seconds) in milliseconds from the origin if that is exact, otherwise as it is."""
    whole = exact(at)
    return whole - origin_ms if isinstance(whole, int) else whole


def time_of(stored: float, origin_ms: int) -> float:
    """Return the time from the stored form of `exact_time`."""
    return (stored + origin_ms) / 1000 if isinstance(stored, int) else stored


def milliseconds(at: float) -> int:
    """Return a time in whole milliseconds, the precision of commit times."""
    return round(at * 1000)


def text(given: str) -> str:
    """Return a text that can be stored: invalid characters become question marks."""
    return given if given.isascii() else given.encode("utf-8", "replace").decode()


def day_of(at_ms: int) -> date:
    """Return the day (UTC) of a time."""
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at_ms)).date()


def begin_of(day: date) -> int:
    """Return the first moment of a day in Unix milliseconds."""
    return (day - date(1970, 1, 1)).days * DAY_MS


def name_of(day: date) -> str:
    """Return the name of a day's file."""
    return f"{day.isoformat()}{SUFFIX}"


def day_named(name: str) -> date | None:
    """Return the day of a file's name; None if it is no day's file."""
    if (found := _DAY.fullmatch(name)) is None:
        return None
    try:
        return date.fromisoformat(found[1])
    except ValueError:
        return None
