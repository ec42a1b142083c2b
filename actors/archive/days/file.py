"""An SQLite file: opened, written in few statements, and synced to the disk."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from urllib.parse import quote

BUSY_S = 1.0
ROWS_AT_ONCE = 100
"""Rows of up to nine values in a statement: every SQLite allows 999 values."""


def connect(path: Path, how: str = "rwc") -> sqlite3.Connection:
    """Open an SQLite file; `how` is its mode, or `immutable`. The caller begins transactions."""
    mode = "immutable=1" if how == "immutable" else f"mode={how}"
    connection = sqlite3.connect(
        f"file:{quote(str(path))}?{mode}",
        uri=True,
        timeout=BUSY_S,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        connection.execute("PRAGMA synchronous = NORMAL")
    except sqlite3.Error:  # not a database: the caller never gets the connection to close it
        connection.close()
        raise
    return connection


def insert(connection: sqlite3.Connection, into: str, rows: Sequence[tuple[object, ...]]) -> None:
    """Insert many rows in one statement.

    Each statement releases the interpreter, and gets it back milliseconds later while the loop is busy.
    """
    for at in range(0, len(rows), ROWS_AT_ONCE):
        some = rows[at : at + ROWS_AT_ONCE]
        marks = ", ".join([f"({', '.join('?' * len(some[0]))})"] * len(some))
        connection.execute(f"{into} VALUES {marks}", [*chain.from_iterable(some)])


def sync(path: Path) -> None:
    """Have the system write a file, or the names in a folder, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
