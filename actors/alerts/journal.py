"""Keeps the waiting messages on disk, in a thread of its own: one SQLite file for one process.

`add` and `drop` say what must be kept; each step of the thread brings the file to that in one transaction,
and then releases the messages that it has added, to be sent. While writing fails they are released all the
same: it is better to lose a message in a crash than to hold back all of them.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NewType

import msgspec
import structlog

from actors.alerts.alert import Alert
from actors.alerts.message import Message
from actors.core.errors import UNREADABLE, ConfigError, QueueLockedError
from actors.runtime.facts import announce

log = structlog.get_logger()

Reached = Callable[[str], None]
Row = NewType("Row", int)

RETRY_S = 1.0
_FORMAT = 1
_TABLE = """
CREATE TABLE messages (
    row INTEGER PRIMARY KEY, receiver TEXT NOT NULL, id TEXT NOT NULL, at REAL NOT NULL,
    alerts BLOB NOT NULL
) STRICT
"""
_read = msgspec.json.Decoder(tuple[Alert, ...]).decode


class Journal:
    """The file and its thread. `open` comes before `start`; only the thread calls `step`.

    `released` gets the numbers that may be sent, and what hinders writing, if anything; it is called in the
    thread, and must not wait. `reached` is called at each crash point.
    """

    def __init__(
        self,
        path: Path,
        released: Callable[[Sequence[int], str | None], None] = lambda *_: None,
        reached: Reached = lambda _: None,
    ) -> None:
        self.released = released
        self._path, self._reached = path, reached
        self._lock, self._wake, self._ends = threading.Lock(), threading.Event(), False
        self._kept: dict[int, Message] = {}
        self._new: dict[int, Message] = {}
        self._gone: set[int] = set()
        self._rows: dict[int, Row] = {}
        self._connection: sqlite3.Connection | None = None
        self._inode: tuple[int, int] | None = None
        self._error: str | None = None
        self._thread: threading.Thread | None = None

    def open(self, first: int) -> list[Message]:
        """Return the messages that wait on disk, oldest first, numbered from `first`.

        A damaged file gets another name. Raises: QueueLockedError, ConfigError.
        """
        try:
            found = self._connect(first)
        except (sqlite3.OperationalError, OSError) as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY:
                raise QueueLockedError(f"alerts.path {self._path}: another process uses it") from error
            raise self._unusable(error) from error
        except sqlite3.DatabaseError as error:
            found = self._after_damage(error, first)
        self._kept = {message.number: message for message in found}
        return found

    def _after_damage(self, damage: Exception, first: int) -> list[Message]:
        self._close()
        aside = self._path.with_name(f"{self._path.name}.damaged")
        try:
            self._path.replace(aside)
            found = self._connect(first)
        except (OSError, sqlite3.Error) as error:
            raise self._unusable(error) from damage
        announce(log, "alerts.set_aside", file=aside.name, error=str(damage))
        return found

    def _unusable(self, error: Exception) -> ConfigError:
        return ConfigError(f"alerts.path was {str(self._path)!r}, cannot be used: {error}")

    def start(self) -> None:
        """Start the thread. Raises: RuntimeError if the system allows none."""
        self._thread = threading.Thread(target=self._run, name="alerts", daemon=True)
        self._thread.start()

    def add(self, messages: Iterable[Message]) -> None:
        """Keep these messages; never waits for the disk."""
        with self._lock:
            for message in messages:
                self._kept[message.number] = self._new[message.number] = message
        self._wake.set()

    def drop(self, number: int) -> None:
        """Keep a message no longer; never waits for the disk."""
        with self._lock:
            self._kept.pop(number, None)
            if self._new.pop(number, None) is None:
                self._gone.add(number)
        self._wake.set()

    def stop(self, within_s: float) -> None:
        """Write the rest and close the file; return after `within_s` seconds at the latest."""
        self._ends = True
        self._wake.set()
        if self._thread is None:
            self._run()
        else:
            self._thread.join(within_s)

    def _run(self) -> None:
        while not self._ends:
            self._wake.wait(None if self._error is None else RETRY_S)
            self._wake.clear()
            self.step()
        self.step()
        self._close()

    def step(self) -> None:
        """Write what changed, and release what was added."""
        with self._lock:
            new, gone, self._new, self._gone = self._new, self._gone, {}, set()
        try:
            self._write(new, gone)
        except (sqlite3.Error, OSError) as error:
            with self._lock:
                self._new = {number: new[number] for number in new if number in self._kept} | self._new
                self._gone |= gone
            if self._error is None:
                announce(log, "alerts.stalled", error=str(error))
            self._error = str(error)
        else:
            if self._error is not None:
                announce(log, "alerts.resumed")
            self._error = None
        self.released([*new], self._error)

    def _write(self, new: dict[int, Message], gone: set[int]) -> None:
        connection = self._own_file(new)
        rows = [(self._rows[number],) for number in gone if number in self._rows]
        if not new and not rows:
            return
        self._reached("before write")
        added: dict[int, Row] = {}
        connection.execute("BEGIN")
        try:
            connection.executemany("DELETE FROM messages WHERE row = ?", rows)
            for number, told in new.items():
                values = told.receiver, told.id, told.at, msgspec.json.encode(told.alerts)
                cursor = connection.execute("INSERT INTO messages VALUES (NULL, ?, ?, ?, ?)", values)
                added[number] = Row(cursor.lastrowid or 0)
            self._reached("before commit")
            connection.execute("COMMIT")
        except (sqlite3.Error, OSError):
            with suppress(sqlite3.Error):  # SQLite may have rolled back by itself
                connection.execute("ROLLBACK")
            raise
        self._rows |= added
        for number in gone:
            self._rows.pop(number, None)
        self._reached("after commit")

    def _own_file(self, new: dict[int, Message]) -> sqlite3.Connection:
        """Return the connection; if the file was removed or replaced, begin anew with all that is kept."""
        if self._connection is not None and _inode(self._path) == self._inode:
            return self._connection
        self._close()
        self._connect(0)
        assert self._connection is not None  # noqa: S101 - it was just opened
        self._connection.execute("DELETE FROM messages")  # rows of another file that was put in its place
        self._rows = {}
        with self._lock:
            new |= {number: told for number, told in self._kept.items() if number not in self._new}
        return self._connection

    def _connect(self, first: int) -> list[Message]:
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
        self._rows = {}
        self._connection = connection = sqlite3.connect(
            self._path, timeout=0, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("BEGIN EXCLUSIVE")
        (found,) = connection.execute("PRAGMA user_version").fetchone()
        if not found:
            connection.execute(_TABLE)
            connection.execute(f"PRAGMA user_version = {_FORMAT}")
        elif found != _FORMAT:
            raise sqlite3.OperationalError(f"its format is {found}, must be {_FORMAT}")
        connection.execute("COMMIT")
        self._inode = _inode(self._path)
        return [*self._messages(connection, first)]

    def _messages(self, connection: sqlite3.Connection, number: int) -> Iterable[Message]:
        asked = "SELECT row, receiver, id, at, alerts FROM messages ORDER BY row"
        for row, receiver, message_id, at, alerts in connection.execute(asked).fetchall():
            try:
                message = Message(number, receiver, message_id, at, _read(alerts))
            except UNREADABLE as error:
                raise sqlite3.DatabaseError(f"row {row} cannot be read: {error}") from error
            self._rows[number] = Row(row)
            yield message
            number += 1

    def _close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()


def _inode(path: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116 - one call for both numbers
    except OSError:
        return None
    return found.st_dev, found.st_ino
