"""Seals a day that is over: rewrites its file in the order of entries, and puts that in its place.

In slices, so that the thread that writes the present day can do it in between. Beside a sealed file is its
digest: a file that does not have it is damaged, even where SQLite can read it.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from actors.archive.day import Reached, connect, insert, sync
from actors.archive.format import BY_ENTRY, COLUMNS, COPIED, FORMAT, TABLES, changes_table
from actors.archive.reading import UnreadableError
from actors.core.cooperative import Sliced

ROWS = 500
"""Rows copied in a slice: some milliseconds, a second where the event loop takes a whole core."""
NOT_INTACT = "it is not as it was sealed"


def seal(path: Path, reached: Reached) -> Sliced[None]:
    """Seal a file that nobody writes to. Raises: sqlite3.Error, OSError; then the file is as it was."""
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    old, made = connect(path, "immutable"), connect(new)
    try:
        made.execute("PRAGMA journal_mode = MEMORY")
        made.execute("BEGIN IMMEDIATE")
        made.execute(f"PRAGMA user_version = {FORMAT}")
        for statement in (*TABLES, changes_table(BY_ENTRY)):
            made.execute(statement)
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


def digest_path(path: Path) -> Path:
    """Return where the digest of a sealed file is."""
    return path.with_suffix(".sum")


def digest_of(path: Path) -> str:
    """Return the digest of a file, as it is when it is sealed."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def is_intact(path: Path) -> bool:
    """Return whether a sealed file has its digest; one without any, such as a copy, is believed."""
    digest = digest_path(path)
    return not digest.exists() or digest.read_text("ascii") == digest_of(path)


def check_digest(path: Path) -> None:
    """Raise UnreadableError if a sealed file is not intact."""
    if not is_intact(path):
        raise UnreadableError(NOT_INTACT)


def _copy(old: sqlite3.Connection, made: sqlite3.Connection) -> Iterator[None]:
    for table, rows in _tables(old):
        while some := rows.fetchmany(ROWS):
            insert(made, f"INSERT INTO {table}", some)
            yield


def _tables(connection: sqlite3.Connection) -> Iterator[tuple[str, sqlite3.Cursor]]:
    for table in COPIED:
        yield table, connection.execute(f"SELECT * FROM {table}")  # noqa: S608 - a table of ours
    yield "changes", connection.execute(f"SELECT {COLUMNS} FROM changes ORDER BY entry, version")  # noqa: S608 - the same
