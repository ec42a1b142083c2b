"""The journal of transitions on disk: the file `journal.db` of SQLite in the archive's folder.

The archive's thread writes it beside the days, which its faults do not touch. docs/archive.md describes it.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from itertools import count
from math import inf
from pathlib import Path
from typing import Final

import msgspec
import structlog
from msgspec import Struct

from actors.archive.days.file import connect, insert
from actors.archive.days.reading import may_be_damage
from actors.archive.folder import BAD, BESIDE, Folder
from actors.core.clock import elapsed_s, wall_s
from actors.monitoring.journal import EventReport, Journal
from actors.runtime.facts import announce

log = structlog.get_logger()

NAME: Final = "journal.db"
KEPT_S, MAX_ROWS = 14 * 86_400, 50_000
"""The age in seconds, and the number, of the events that are kept; older ones are removed."""
TIDY_S, RETRY_S = 3600.0, 5.0
_TABLES = """
CREATE TABLE IF NOT EXISTS events (
  id INTEGER PRIMARY KEY, time REAL NOT NULL, level TEXT NOT NULL, event TEXT NOT NULL,
  subject TEXT NOT NULL, bookmakers TEXT NOT NULL, fields TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS by_time ON events (time);
CREATE INDEX IF NOT EXISTS by_subject ON events (subject)"""
_COLUMNS = "time, level, event, subject, bookmakers, fields"


class About(Struct, frozen=True):
    """The wanted events: all, or the events about a bookmaker, a source or another subject.

    The events about a bookmaker are those that name it, and those of its `source` that name no bookmaker.
    """

    subject: str | None = None
    source: str | None = None

    def has(self, event: EventReport) -> bool:
        """Return whether an event is wanted."""
        if self.subject is None or self.subject in {event.subject, *event.bookmakers}:
            return True
        return event.subject == self.source and not event.bookmakers


class Kept(Struct, frozen=True):
    """Events, the newest first; the time of the oldest kept one, whatever it is about; all subjects."""

    events: list[EventReport]
    since: float | None
    subjects: list[str]


class JournalFile:
    """The file, written by one thread. After an error, events wait in memory, as many as it keeps."""

    def __init__(self, folder: Folder, journal: Journal) -> None:
        self._folder, self._journal = folder, journal
        self._path = folder.path / NAME
        self._connection: sqlite3.Connection | None = None
        self._inodes: dict[Path, int] = {}
        self._written = 0
        self._tidy_s = self._again_s = -inf
        self._is_doubted = False
        """Whether the last look found the file damaged; a second one, `RETRY_S` later, decides."""

    def step(self) -> None:
        """Write the events since the last step, and remove old ones once an hour."""
        now_s = elapsed_s()
        newest, events = self._journal.since(self._written)
        is_tidied = now_s >= self._tidy_s and (bool(events) or self._path.exists())
        if now_s < self._again_s or not (events or is_tidied):
            return
        try:
            self._write(events, is_tidied=is_tidied)
        except (sqlite3.Error, OSError) as error:
            self.close()
            self._again_s = now_s + RETRY_S
            if isinstance(error, sqlite3.Error) and may_be_damage(error):
                if self._is_doubted:
                    self._set_aside(error)
                self._is_doubted = not self._is_doubted
            return
        self._written, self._is_doubted = newest, False
        if is_tidied:
            self._tidy_s = now_s + TIDY_S

    def _write(self, events: tuple[EventReport, ...], *, is_tidied: bool) -> None:
        connection = self._connection or self._opened()
        self._folder.require(self._inodes)
        connection.execute("BEGIN IMMEDIATE")
        insert(connection, f"INSERT INTO events ({_COLUMNS})", [_row(event) for event in events])
        if is_tidied:
            connection.execute("DELETE FROM events WHERE time < ?", (wall_s() - KEPT_S,))
            oldest = "(SELECT max(id) FROM events) - ?"
            connection.execute(f"DELETE FROM events WHERE id <= {oldest}", (MAX_ROWS,))  # noqa: S608 - a constant
        connection.execute("COMMIT")

    def _opened(self) -> sqlite3.Connection:
        self._folder.require({})
        self._connection = connection = connect(self._path)
        connection.execute("PRAGMA journal_mode = WAL")
        for statement in _TABLES.split(";"):
            connection.execute(statement)
        in_use = (self._path, Path(f"{self._path}-wal"))
        self._inodes = {path: path.stat().st_ino for path in in_use if path.exists()}
        return connection

    def _set_aside(self, error: sqlite3.Error) -> None:
        """Rename a damaged file, and those beside it; the next step begins another."""
        names = (self._path.with_name(f"{NAME}{BAD}{number or ''}") for number in count())
        bad = next(name for name in names if not name.exists())
        try:
            for beside in BESIDE:
                with suppress(FileNotFoundError):
                    Path(f"{self._path}{beside}").rename(f"{bad}{beside}")
            self._path.rename(bad)
        except OSError:
            return
        announce(log, "archive.set_aside", file=bad.name, error=str(error))

    def close(self) -> None:
        """Close the file; a later step opens it again."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def read_events(folder: Path, about: About, before_s: float, most: int) -> Kept:
    """Return the newest events before a time (Unix seconds). Raises: OSError, sqlite3.Error."""
    path = folder / NAME
    if not path.exists():
        return Kept([], None, [])
    connection = connect(path, "ro")
    try:
        subjects = connection.execute("SELECT DISTINCT subject FROM events ORDER BY subject")
        names = [name for (name,) in subjects]
        since = connection.execute("SELECT min(time) FROM events").fetchone()[0]
        wanted = (
            "?1 IS NULL OR subject = ?1 OR instr(' ' || bookmakers || ' ', ?5)"
            " OR (subject = ?2 AND bookmakers = '')"
        )
        sql = f"SELECT {_COLUMNS} FROM events WHERE time < ?3 AND ({wanted})"  # noqa: S608 - constants only
        is_id = about.subject and " " not in about.subject
        given = (about.subject, about.source, before_s, most, f" {about.subject} " if is_id else None)
        rows = connection.execute(f"{sql} ORDER BY time DESC, id DESC LIMIT ?4", given)
        return Kept([_event(row) for row in rows], since, names)
    finally:
        connection.close()


def _row(event: EventReport) -> tuple[object, ...]:
    fields = msgspec.json.encode(event.fields).decode()
    return (event.at, event.level, event.event, event.subject, " ".join(event.bookmakers), fields)


def _event(row: tuple[float, str, str, str, str, str]) -> EventReport:
    at, level, event, subject, bookmakers, fields = row
    why = msgspec.json.decode(fields, type=dict[str, str])
    return EventReport(at, level, event, subject, tuple(bookmakers.split()), why)
