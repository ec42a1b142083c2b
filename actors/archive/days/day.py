"""The file of the day being written: one connection, used by one thread.

All writes between `begin` and `end` are one transaction. After an error the object must be discarded.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from pathlib import Path

import msgspec

from actors.archive.days import links, prices
from actors.archive.days.commit import (
    Commit,
    EntryRecord,
    MembersRecord,
    view_versions,
    whole_entries,
    whole_market_entries,
    whole_members,
)
from actors.archive.days.file import connect, insert, sync
from actors.archive.days.format import (
    BY_VERSION,
    COLUMNS,
    FORMAT,
    MARKS,
    TABLES,
    Gap,
    changes_table,
    exact,
    exact_time,
    milliseconds,
    name_of,
    text,
)
from actors.archive.days.markets import MarketTables
from actors.board.snapshot import Entry, Snapshot
from actors.board.validity import ListState
from actors.core.messages import BookmakerId, Scope

Reached = Callable[[str], None]
"""Called at each crash point, where a write becomes durable; tests end the process there."""
MARKED = 500_000
"""Changes after which the last change of each entry is recorded again: the most that a list has to read."""

_CHANGE = f"INSERT OR REPLACE INTO changes ({COLUMNS})"


class Day:
    """A day's file, open for appending."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._execute = connection.execute
        facts = dict(self._execute("SELECT key, value FROM day"))
        self.day = date.fromisoformat(facts["day"])
        self._base: int = facts["base"]
        self.seen_ms: int = facts["seen_ms"]
        self._min_ms: int | None = facts.get("min_ms")
        self._entries = dict(self._execute("SELECT id, entry FROM entries"))
        self._mark: int = self._execute("SELECT ifnull(max(mark), -1) FROM marks").fetchone()[0]
        newer = "SELECT count(*) FROM (SELECT 1 FROM changes WHERE version > ? LIMIT ?)"
        self._unmarked: int = self._execute(newer, (self._mark, self._most_unmarked)).fetchone()[0]
        self._markets = MarketTables(connection)
        self._links = links.LinkTables(connection)
        self._new_entries: list[tuple[object, ...]] = []
        self._new_listings: list[tuple[object, ...]] = []
        self._views = dict(self._execute("SELECT name, view FROM view_names"))
        self._listings: dict[tuple[object, ...], int] = {
            row[1:]: row[0]
            for row in self._execute("SELECT listing, home, away, league, start_time FROM listings")
        }
        names = (
            "SELECT id, name FROM bookmakers WHERE version = (SELECT max(version) FROM bookmakers)"
            " ORDER BY place"
        )
        self._names: list[tuple[str, str]] = [*self._execute(names)]
        self.epoch: str = self._execute("SELECT epoch FROM lives ORDER BY version DESC").fetchone()[0]
        self.version, self.at_ms = self._execute(
            "SELECT version, at FROM commits ORDER BY version DESC LIMIT 1"
        ).fetchone()
        in_use = path, Path(f"{path}-wal")
        self.inodes = {file: file.stat().st_ino for file in in_use if file.exists()}

    @classmethod
    def create(cls, folder: Path, day: date, commit: Commit, reached: Reached) -> Day:
        """Make the file of a day, beginning with the whole state after a commit.

        Raises: sqlite3.Error, OSError.
        """
        path, new = folder / name_of(day), folder / f"{name_of(day)}.new"
        new.unlink(missing_ok=True)
        connection = connect(new)
        try:
            connection.execute("PRAGMA journal_mode = MEMORY")
            connection.execute("BEGIN IMMEDIATE")
            _begin_file(connection, day, commit)
            created = cls(new, connection)
            created.keyframe(commit)
            created.end()
        finally:
            connection.close()
        reached("day written")
        sync(new)
        new.rename(path)
        sync(folder)
        reached("day begun")
        return cls.open(path)

    @classmethod
    def open(cls, path: Path) -> Day:
        """Open a file to append to it; a sealed file becomes unsealed. Raises: sqlite3.Error, OSError."""
        connection, opened = connect(path, "rw"), None
        try:
            connection.execute("SELECT * FROM day").fetchall()  # fails early on a damaged file
            path.with_suffix(".sum").unlink(missing_ok=True)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(MARKS)
            opened = cls(path, connection)
        finally:
            if opened is None:
                connection.close()
        return opened

    def begin(self) -> None:
        """Begin a transaction."""
        self._execute("BEGIN IMMEDIATE")

    def end(self) -> None:
        """Commit the transaction; it survives the death of the process."""
        self._execute("COMMIT")

    def close(self, *, is_over: bool = False) -> None:
        """Close the file; after a day that `is_over` no log stays beside it. Raises: sqlite3.Error."""
        mode = "journal_mode = DELETE" if is_over else "wal_checkpoint"  # even without a log file
        try:
            self._execute(f"PRAGMA {mode}")
        finally:
            self._connection.close()

    def append(self, commit: Commit) -> None:
        """Add the next commit."""
        version, at = commit.version, milliseconds(commit.at)
        self._note_time(version, at)
        self._note_life(commit)
        self._note_names(commit)
        self._note_entries(version, at, commit.entries())
        self._note_markets(version, commit.market_entries())
        self._note_members(version, commit.members(), commit.whole)
        self._note_views(dict.fromkeys(commit.views(), version))
        self.version, self.at_ms = version, at

    def keyframe(self, commit: Commit, gap: Gap | None = None) -> None:
        """Add the whole state after a commit, and the gap before it if there is one."""
        version, at = commit.version, milliseconds(commit.at)
        self._note_time(version, at)
        self._execute("INSERT OR REPLACE INTO keyframes VALUES (?)", (version,))
        if gap is not None:
            self.note_gap(gap)
        self._note_life(commit)
        self._note_names(commit)
        self._note_entries(version, at, whole_entries(commit.whole))
        self._note_markets(version, whole_market_entries(commit.markets.values()))
        self._note_members(version, whole_members(commit.whole), commit.whole)
        self._note_views(view_versions(commit.whole))
        self.version, self.at_ms = version, at

    @property
    def _most_unmarked(self) -> int:
        return max(MARKED, 8 * len(self._entries))

    def mark(self, after: int | None) -> None:
        """Store a mark, the newest change of each entry, once `after` changes have no mark.

        With None, once a mark is small compared with these changes.
        """
        self._markets.mark(self.version, after)
        if self._unmarked < (self._most_unmarked if after is None else after):
            return
        mark = self.version - self._base
        self._execute(
            "INSERT OR REPLACE INTO marks SELECT ?1, entry, max(version) FROM ("
            "SELECT entry, version FROM marks WHERE mark = ?2"
            " UNION ALL SELECT entry, version FROM changes WHERE version > ?2) GROUP BY entry",
            (mark, self._mark),
        )
        self._mark, self._unmarked = mark, 0

    def note_gap(self, gap: Gap) -> None:
        """Add a gap."""
        self._execute("INSERT OR REPLACE INTO gaps VALUES (?, ?, ?, ?, ?)", msgspec.structs.astuple(gap))

    def note_lists(
        self, lists: Mapping[BookmakerId, Mapping[Scope, ListState]], wall_less_mono: float
    ) -> None:
        """Replace the stored confirmations of lists and their validity; a withdrawn list has none."""
        rows = [
            (
                bookmaker,
                text(scope),
                text(state.list_id),
                milliseconds(state.confirmed_mono + wall_less_mono),
                None if state.withdrawn else state.stale_after_s,
            )
            for bookmaker, states in lists.items()
            for scope, state in states.items()
        ]
        insert(self._connection, "INSERT OR REPLACE INTO lists", rows)

    def note_seen(self, at_ms: int) -> None:
        """Record the time up to which the newest version was the newest."""
        self._execute("INSERT OR REPLACE INTO day VALUES ('seen_ms', ?)", (at_ms,))

    def _note_time(self, version: int, at_ms: int) -> None:
        self._execute("INSERT OR REPLACE INTO commits VALUES (?, ?)", (version, at_ms))
        if self._min_ms is not None and at_ms < self._min_ms:
            self._min_ms = at_ms
            self._execute("INSERT OR REPLACE INTO day VALUES ('min_ms', ?)", (at_ms,))

    def _note_life(self, commit: Commit) -> None:
        if commit.epoch != self.epoch:
            self._execute("INSERT OR REPLACE INTO lives VALUES (?, ?)", (commit.version, commit.epoch))
            self.epoch = commit.epoch

    def _note_names(self, commit: Commit) -> None:
        names = [(str(bookmaker), text(name)) for bookmaker, name in commit.names.items()]
        if names != self._names:
            rows = [(commit.version, place, *name) for place, name in enumerate(names)]
            self._connection.executemany("INSERT OR REPLACE INTO bookmakers VALUES (?, ?, ?, ?)", rows)
            self._names = names

    def _note_entries(self, version: int, at_ms: int, records: Iterable[EntryRecord]) -> None:
        since = version - self._base
        rows = [
            (since, self._entry(record), *self._shown(record.entry, at_ms), None)
            if record.entry is not None
            else (since, self._entry(record), None, None, None, None, None, None, record.reason)
            for record in records
        ]
        insert(self._connection, "INSERT INTO entries", self._new_entries)
        self._new_entries = []
        self._add_listings()
        insert(self._connection, _CHANGE, rows)
        self._unmarked += len(rows)

    def _note_markets(self, version: int, records: Iterable[EntryRecord]) -> None:
        self._markets.note(version, records, self._listing)
        self._add_listings()

    def _add_listings(self) -> None:
        insert(self._connection, "INSERT INTO listings", self._new_listings)
        self._new_listings = []

    def _shown(self, entry: Entry, at_ms: int) -> tuple[float | None, ...]:
        match, source = entry.match, entry.match.source_time
        updated = exact_time(entry.updated, at_ms)
        if source is not None:
            source = exact_time(source, at_ms)
            if isinstance(source, int) and isinstance(updated, int):
                source = updated - source
        return self._listing(entry), *map(exact, match.prices), updated, source

    def _entry(self, record: EntryRecord) -> int:
        found = self._entries.get(record.id)
        if found is None:
            found = self._entries[record.id] = len(self._entries) + 1
            self._new_entries.append((found, record.id, record.bookmaker))
        return found

    def _listing(self, entry: Entry) -> int:
        home, away, league, start_time = entry.match.listing
        key = (text(home), text(away), None if league is None else text(league), start_time)
        found = self._listings.get(key)
        if found is None:
            found = self._listings[key] = len(self._listings) + 1
            self._new_listings.append((found, *key))
        return found

    def _note_members(self, version: int, records: Iterable[MembersRecord], whole: Snapshot) -> None:
        members = [*records]
        rows = [(version, record.fixture, record.json, record.reason, record.into) for record in members]
        insert(self._connection, "INSERT OR REPLACE INTO fixtures", rows)
        self._links.note(version, members)
        self._links.note_roster(version, whole)

    def _note_views(self, versions: Mapping[str, int]) -> None:
        for name in versions:
            if name not in self._views:
                self._views[name] = len(self._views)
                self._execute("INSERT INTO view_names VALUES (?, ?)", (self._views[name], name))
        rows = [(self._views[name], version) for name, version in versions.items()]
        insert(self._connection, "INSERT OR IGNORE INTO views", rows)


def _begin_file(connection: sqlite3.Connection, day: date, commit: Commit) -> None:
    connection.execute(f"PRAGMA user_version = {FORMAT}")
    for statement in (*TABLES, MARKS, changes_table(BY_VERSION)):
        connection.execute(statement)
    links.create(connection)
    prices.create(connection, has_markets=False)
    facts = {
        "day": day.isoformat(),
        "layout": BY_VERSION,
        "base": commit.version,
        "seen_ms": milliseconds(commit.at),
        "min_ms": milliseconds(commit.at),
    }
    connection.executemany("INSERT INTO day VALUES (?, ?)", facts.items())
    connection.execute("INSERT INTO lives VALUES (?, ?)", (commit.version, commit.epoch))
    connection.execute("INSERT INTO commits VALUES (?, ?)", (commit.version, milliseconds(commit.at)))
    connection.execute("INSERT INTO keyframes VALUES (?)", (commit.version,))
