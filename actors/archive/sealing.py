"""Seals past days: rewrites a day's file in the order of entries, and replaces it by the result.

It works in slices, so that the same thread can write the present day meanwhile. Each sealed file has a
digest beside it: a file that does not match is damaged, even if SQLite can read it.
"""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from datetime import date
from pathlib import Path

import structlog

from actors.archive.days import links, prices
from actors.archive.days.day import Reached
from actors.archive.days.file import connect, insert, sync
from actors.archive.days.format import BY_ENTRY, COLUMNS, COPIED, FORMAT, TABLES, changes_table
from actors.archive.days.markets import copied, create, has_markets
from actors.archive.days.reading import Reader, UnreadableError, digest_of, digest_path
from actors.archive.folder import Folder
from actors.core.clock import elapsed_s
from actors.core.cooperative import Sliced, advance
from actors.runtime.facts import announce

log = structlog.get_logger()

SEAL_S = 0.1  # seconds of sealing in one step
RETRY_S = 60.0

ROWS = 500
"""Rows copied in a slice: some milliseconds, or a second if the event loop takes a whole core."""


class Sealer:
    """Seals past days of a folder, one after another, in the writer's thread."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._days: deque[date] = deque()
        self._sealing: Sliced[None] | None = None
        self._from_s = 0.0

    def add(self, day: date) -> None:
        """Queue a day for sealing."""
        if day not in self._days:
            self._days.append(day)

    def find(self, live: date | None) -> None:
        """Queue all unsealed days, except the one being written."""
        for day in self._folder.days():
            with suppress(sqlite3.Error, UnreadableError, OSError):  # left to a later look
                if day != live and self._folder.check(day, is_last=False):
                    with Reader.open(self._folder.file(day), is_written=False) as reader:
                        if not reader.is_sealed:
                            self.add(day)

    def step(self) -> bool:
        """Continue with the first queued day; return whether there was one.

        A failure, as while an operator reads the file, is retried after a minute.
        """
        if not self._days or elapsed_s() < self._from_s:
            return False
        sealing, self._sealing = self._sealing or self._sealed(self._days[0]), None
        try:
            if advance(sealing, SEAL_S) is None:
                self._sealing = sealing
            else:
                self._days.popleft()
        except (sqlite3.Error, OSError) as error:
            if not self._from_s:
                announce(log, "archive.not_sealed", day=str(self._days[0]), error=str(error))
            self._from_s = elapsed_s() + RETRY_S
            self._days.rotate(-1)
        return True

    def _sealed(self, day: date) -> Sliced[None]:
        path = self._folder.file(day)
        if not path.exists():  # forgotten, or set aside
            return
        connection = connect(path, "rw")
        try:
            connection.execute("PRAGMA journal_mode = DELETE")
        finally:
            connection.close()
        yield from seal(path, self._folder.reached)
        announce(log, "archive.sealed", file=path.name)


def seal(path: Path, reached: Reached) -> Sliced[None]:
    """Seal a file that is not written. Raises: sqlite3.Error, OSError; the file is then unchanged."""
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    old, made = connect(path, "immutable"), connect(new)
    try:
        made.execute("PRAGMA journal_mode = MEMORY")
        made.execute("BEGIN IMMEDIATE")
        made.execute(f"PRAGMA user_version = {FORMAT}")
        for statement in (*TABLES, changes_table(BY_ENTRY)):
            made.execute(statement)
        if links.has_links(old):
            links.create(made)
        prices.create(made, has_markets=False)
        if has_markets(old):
            create(made, BY_ENTRY)
        yield from _copy(old, made)
        min_ms = made.execute("SELECT min(at) FROM commits").fetchone()[0]
        facts = {"layout": BY_ENTRY, "min_ms": min_ms}
        made.executemany("INSERT OR REPLACE INTO day VALUES (?, ?)", facts.items())
        made.execute("COMMIT")
    finally:
        old.close()
        made.close()
    sync(new)
    reached("sealed file written")
    digest = digest_path(path)
    digest.with_name(f"{digest.name}.new").write_text(digest_of(new), "ascii")
    sync(digest.with_name(f"{digest.name}.new"))
    digest.with_name(f"{digest.name}.new").rename(digest)
    reached("digest renamed")
    new.rename(path)
    sync(path.parent)
    reached("sealed file renamed")


def _copy(old: sqlite3.Connection, made: sqlite3.Connection) -> Iterator[None]:
    for table, rows in _tables(old):
        while some := rows.fetchmany(ROWS):
            insert(made, f"INSERT INTO {table}", some)
            yield


def _tables(connection: sqlite3.Connection) -> Iterator[tuple[str, sqlite3.Cursor]]:
    for table in COPIED:
        yield table, connection.execute(f"SELECT * FROM {table}")  # noqa: S608 - constants only
    yield "changes", connection.execute(f"SELECT {COLUMNS} FROM changes ORDER BY entry, version")  # noqa: S608 - constants only
    yield from copied(connection)
    yield from links.copied(connection)
