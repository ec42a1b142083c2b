"""Reads a day's file: a view at a version, the changes between two versions, and the gaps."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from errno import ENOTSUP
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from actors.archive.days import markets
from actors.archive.days.commit import list_view
from actors.archive.days.file import connect
from actors.archive.days.format import BY_ENTRY, FORMAT, MARKETS_FORMAT, Gap, day_named, number, time_of
from actors.board.snapshot import Entry, RemovalReason
from actors.core.messages import BookmakerId, Match, Scope, SourceMatchId
from actors.markets.market import Market, parsed

_ROW = (
    "e.id, e.bookmaker, l.home, l.away, l.league, l.start_time,"
    " c.home, c.draw, c.away, c.updated, c.source, c.reason, m.version, m.at"
)
_JOINED = (
    " JOIN commits m ON m.version = c.version + ?4"
    " LEFT JOIN listings l ON l.listing = c.listing WHERE (?3 IS NULL OR e.bookmaker = ?3)"
)
_NO_MARKS = "(SELECT 0 AS mark, 0 AS entry, 0 AS version WHERE 0)"  # for days of an older version
_BY_VERSION = (
    f"SELECT {_ROW} FROM (SELECT entry, max(version) AS version FROM ("  # noqa: S608 - constants only
    "SELECT entry, version FROM {marks} WHERE mark = ?5 AND version >= ?1"
    " UNION ALL SELECT entry, version FROM changes WHERE version BETWEEN max(?1, ?5 + 1) AND ?2)"
    " GROUP BY entry) p CROSS JOIN changes c ON c.version = p.version AND c.entry = p.entry"
    f" JOIN entries e ON e.entry = c.entry{_JOINED}"
)
_BY_ENTRY = (
    f"SELECT {_ROW} FROM entries e CROSS JOIN changes c ON c.entry = e.entry AND c.version ="  # noqa: S608 - constants only
    " (SELECT max(version) FROM changes x WHERE x.entry = e.entry AND x.version BETWEEN ?1 AND ?2)"
    f"{_JOINED}"
)
_ROWS = (
    f"SELECT {_ROW}, k.version FROM changes c JOIN commits m ON m.version = c.version + ?1"  # noqa: S608 - constants only
    " JOIN entries e ON e.entry = c.entry LEFT JOIN keyframes k ON k.version = m.version"
    " LEFT JOIN listings l ON l.listing = c.listing"
    " WHERE c.version > ?2 AND c.version <= ?3 AND (?4 IS NULL OR e.bookmaker = ?4)"
    " ORDER BY c.version, e.id"
)
MAX_LOOKED_AT = 1_000_000
"""Newest changes of the day being written that are searched for an entry's: half a second at most."""
_ENTRY_ROWS = (
    f"SELECT {_ROW}, k.version FROM (SELECT * FROM {{changes}}"  # noqa: S608 - constants only
    " WHERE entry = (SELECT entry FROM entries WHERE id = ?2) ORDER BY version DESC LIMIT ?3) c"
    " JOIN commits m ON m.version = c.version + ?1 JOIN entries e ON e.entry = c.entry"
    " LEFT JOIN keyframes k ON k.version = m.version LEFT JOIN listings l ON l.listing = c.listing"
    " ORDER BY c.version DESC"
)
_NAMED_LIVE = (
    "SELECT e.id FROM {changes} c JOIN entries e ON e.entry = c.entry"
    " WHERE c.listing IN (SELECT listing FROM listings WHERE is_wanted(home, away))"
    " GROUP BY c.entry ORDER BY max(c.version) DESC LIMIT ?"
)
_NAMED_SEALED = (  # avoids scanning all changes, which are in the order of entries
    "SELECT e.id FROM entries e JOIN changes c ON c.entry = e.entry AND c.version ="
    " (SELECT max(version) FROM changes x WHERE x.entry = e.entry AND x.listing IS NOT NULL)"
    " JOIN listings l ON l.listing = c.listing WHERE is_wanted(l.home, l.away)"
    " ORDER BY c.version DESC LIMIT ?"
)
_NEWEST = f"(SELECT * FROM changes ORDER BY version DESC LIMIT {MAX_LOOKED_AT})"  # noqa: S608 - constants only
_ALL = (
    "SELECT max((SELECT max(version) FROM views v WHERE v.view = n.view AND v.version <= ?))"
    " FROM view_names n WHERE n.name = 'odds' OR n.name LIKE 'odds/%'"
)
_ONE = (
    "SELECT max(v.version) FROM view_names n JOIN views v USING (view) WHERE n.name = ? AND v.version <= ?"
)


_DAMAGE_CODES = {
    *(sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT),
    sqlite3.SQLITE_ERROR,  # also raised for a missing table
}
NOT_INTACT = "it is not as it was sealed"


class UnreadableError(Exception):
    """A file is not a day's file of this format."""


def may_be_damage(error: sqlite3.Error | UnreadableError) -> bool:
    """Return whether an error may come from damaged data, not from the disk, locks or resources.

    A single failed read is no proof of damage, because reads can fail for a moment: `Folder.settle` looks
    again.
    """
    if isinstance(error, UnreadableError):
        return True
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return code & 0xFF in _DAMAGE_CODES


class PastChange(Struct, frozen=True, gc=False):
    """The last change of an entry within some versions: the entry, or (None) why it left.

    The id of an entry in another market than 1X2 ends with the market, after a blank.
    """

    bookmaker: BookmakerId
    id: str
    version: int
    entry: Entry | None
    reason: RemovalReason | None


class Row(Struct, frozen=True, gc=False):
    """A change, and the time of its commit (Unix milliseconds); `is_state` if from a whole state."""

    past: PastChange
    at_ms: int
    is_state: bool


class NewerFormatError(OSError):
    """A file of a newer release: it is refused, and left unchanged."""


class Reader:
    """A day's file, open for reading. Every method raises sqlite3.Error if the file cannot be read."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._execute, self._define = connection.execute, connection.create_function
        self.connection = connection
        found = self._execute("PRAGMA user_version").fetchone()[0]
        if found > MARKETS_FORMAT and is_intact(path):
            why = f"its format is {found}, of a newer release; this one reads {FORMAT} and {MARKETS_FORMAT}"
            raise NewerFormatError(ENOTSUP, why, str(path))
        if found not in {FORMAT, MARKETS_FORMAT}:
            raise UnreadableError(f"format was {found}, must be {FORMAT} or {MARKETS_FORMAT}")
        self.has_markets = found == MARKETS_FORMAT
        facts = dict(self._execute("SELECT key, value FROM day"))
        if not {"day", "layout", "base", "seen_ms"} <= facts.keys():
            raise UnreadableError("its day is missing")
        self.day = date.fromisoformat(facts["day"])
        self._layout: str = facts["layout"]
        self.is_sealed = self._layout == BY_ENTRY
        self.base: int = facts["base"]
        self.seen_ms: int = facts["seen_ms"]
        self.min_ms: int = facts.get("min_ms") or self._one("SELECT min(at) FROM commits")
        self.first_ms: int = self._one("SELECT at FROM commits WHERE version = ?", self.base)
        self.last: int = self._one("SELECT max(version) FROM commits")
        self.last_ms: int = self._one("SELECT at FROM commits WHERE version = ?", self.last)

    @classmethod
    @contextmanager
    def open(cls, path: Path, *, is_written: bool) -> Iterator[Reader]:
        """Open a file while the block runs; `is_written` says that it may be appended to meanwhile.

        Files that a killed process left beside it count too: an SQLite log is read with it, and a hot
        journal is rolled back, for which the file must be writable. Raises: sqlite3.Error, UnreadableError.
        """
        how = "ro" if is_written or Path(f"{path}-wal").exists() else "immutable"
        connection = connect(path, "rw" if Path(f"{path}-journal").exists() else how)
        try:
            connection.execute("BEGIN")  # all reads see the same moment
            yield cls(path, connection)
        except (ValueError, TypeError, KeyError) as error:  # cells of a wrong type or value
            raise UnreadableError(f"its content cannot be read: {error}") from error
        finally:
            connection.close()

    def check_day(self, day: date | None) -> None:
        """Raise UnreadableError if the file is not that day's."""
        if self.day != day:
            raise UnreadableError(f"its day is {self.day}")

    def pages_fault(self) -> str | None:
        """Return the result of SQLite's own check of all pages; None if nothing is wrong."""
        answer = str(self._execute("PRAGMA integrity_check").fetchone()[0])
        return None if answer == "ok" else answer

    def gaps(self) -> list[Gap]:
        """Return its gaps, oldest first."""
        return [Gap(*row) for row in self._execute("SELECT * FROM gaps ORDER BY after")]

    def epoch(self, version: int) -> str:
        """Return the epoch of a version."""
        sql = "SELECT epoch FROM lives WHERE version <= ? ORDER BY version DESC LIMIT 1"
        found = self._execute(sql, (version,)).fetchone()
        return str((found or self._execute("SELECT epoch FROM lives ORDER BY version").fetchone())[0])

    def version_at(self, at_ms: int) -> int | None:
        """Return the largest version with a time at or before `at_ms`; None if there is none."""
        sql = "SELECT version FROM commits WHERE at <= ? ORDER BY version DESC LIMIT 1"
        found = self._execute(sql, (at_ms,)).fetchone()
        return None if found is None else int(found[0])

    def view_version(self, view: str, version: int) -> int | None:
        """Return the version of a view at a version of the board; None if the view did not exist."""
        if view == list_view(None):
            found: int | None = self._one(_ALL, version)
        else:
            found = self._one(_ONE, view, version)
        return found

    def names(self, version: int) -> dict[BookmakerId, str]:
        """Return the display names at a version, in the order of the configuration."""
        sql = (
            "SELECT id, name FROM bookmakers"
            " WHERE version = (SELECT max(version) FROM bookmakers WHERE version <= ?) ORDER BY place"
        )
        return {BookmakerId(bookmaker): name for bookmaker, name in self._execute(sql, (version,))}

    def entries(self, version: int, bookmaker: BookmakerId | None = None) -> list[PastChange]:
        """Return the entries of a list at a version, in the list's order."""
        keyframe = self._one("SELECT max(version) FROM keyframes WHERE version <= ?", version)
        found = [
            change for change in self._latest(keyframe, version, bookmaker) if change.entry is not None
        ]
        places = {name: place for place, name in enumerate(self.names(version))}
        return sorted(found, key=lambda change: (places[change.bookmaker], change.id))

    def changes(self, after: int, until: int, bookmaker: BookmakerId | None = None) -> list[PastChange]:
        """Return the last change of each entry after `after`, up to `until`, in no order."""
        return self._latest(max(after, self.base) + 1, until, bookmaker)

    def rows(self, after: int, until: int, bookmaker: BookmakerId | None) -> Iterator[Row]:
        """Yield the changes after a version, up to another, by version and id."""
        for row in self._execute(_ROWS, (self.base, after - self.base, until - self.base, bookmaker)):
            *change, keyframe = row
            yield Row(change_of(change), change[-1], keyframe is not None)

    def state(self, version: int, bookmaker: BookmakerId | None) -> list[Row]:
        """Return the list at a version as rows of that version, by id."""
        at_ms = self.time(version)
        shown = sorted(self.entries(version, bookmaker), key=lambda change: change.id)
        return [Row(replace(change, version=version), at_ms, is_state=True) for change in shown]

    def market_entries(self, version: int, bookmaker: BookmakerId | None = None) -> list[PastChange]:
        """Return the entries of markets other than 1X2 at a version, by match and market."""
        if not self.has_markets:
            return []
        keyframe = self._one("SELECT max(version) FROM keyframes WHERE version <= ?", version)
        found = markets.latest(self.connection, self._layout, keyframe, version, bookmaker)
        shown = [change for row in found if (change := market_change_of(row)).entry is not None]
        return sorted(shown, key=lambda change: market_place(change.id))

    def market_rows(self, after: int, until: int, bookmaker: BookmakerId | None) -> Iterator[Row]:
        """Yield the changes of other markets after a version, up to another, by version, match, market."""
        if self.has_markets:
            for *change, keyframe in markets.rows(self.connection, after, until, bookmaker):
                yield Row(market_change_of(change), change[-1], keyframe is not None)

    def market_state(self, version: int, bookmaker: BookmakerId | None) -> list[Row]:
        """Return the entries of other markets at a version as rows of that version."""
        at_ms = self.time(version)
        return [
            Row(replace(change, version=version), at_ms, is_state=True)
            for change in self.market_entries(version, bookmaker)
        ]

    def keyframes(self, after: int, until: int) -> list[int]:
        """Return the versions after `after`, up to `until`, that have the whole state."""
        sql = "SELECT version FROM keyframes WHERE version > ? AND version <= ? ORDER BY version"
        return [version for (version,) in self._execute(sql, (after, until))]

    def time(self, version: int) -> int:
        """Return the time of a version (Unix milliseconds)."""
        return self._one("SELECT at FROM commits WHERE version = ?", version)

    def rows_of(self, entry_id: str, most: int) -> list[Row]:
        """Return an entry's last changes, newest first; in the day being written only recent ones."""
        sql = _ENTRY_ROWS.format(changes="changes" if self.is_sealed else _NEWEST)
        rows = self._execute(sql, (self.base, entry_id, most))
        return [Row(change_of(change), change[-1], keyframe is not None) for *change, keyframe in rows]

    def market_rows_of(self, match_id: str, most: int) -> list[Row]:
        """Return the newest changes of each other market of a match, like `rows_of`."""
        if not self.has_markets:
            return []
        found = markets.rows_of_match(self.connection, self._layout, match_id, most, MAX_LOOKED_AT)
        return [Row(market_change_of(row), row[-1], keyframe is not None) for *row, keyframe in found]

    def named(self, is_wanted: Callable[[str, str], bool], most: int) -> list[str]:
        """Return the ids of entries whose teams are wanted, those shown last first, `most` at most."""
        self._define("is_wanted", 2, is_wanted)
        sql = _NAMED_SEALED if self.is_sealed else _NAMED_LIVE.format(changes=_NEWEST)
        return [entry_id for (entry_id,) in self._execute(sql, (most,))]

    def members(self, version: int) -> list[tuple[str, str]]:
        """Return the fixtures at a version by id, each with its members as JSON."""
        sql = (
            "SELECT fixture, members, max(version) FROM fixtures"
            " WHERE version BETWEEN (SELECT max(version) FROM keyframes WHERE version <= ?1) AND ?1"
            " GROUP BY fixture ORDER BY fixture"
        )
        return [(fixture, members) for fixture, members, _ in self._execute(sql, (version,)) if members]

    def _latest(self, low: int, high: int, bookmaker: BookmakerId | None) -> list[PastChange]:
        bounds = (low - self.base, high - self.base, bookmaker, self.base)
        if self.is_sealed:
            rows = self._execute(_BY_ENTRY, bounds)
        else:
            has_marks = self._one("SELECT count(*) FROM sqlite_master WHERE name = 'marks'") > 0
            marks = "marks" if has_marks else _NO_MARKS
            mark = self._one(f"SELECT ifnull(max(mark), -1) FROM {marks} WHERE mark <= ?", bounds[1])  # noqa: S608
            rows = self._execute(_BY_VERSION.format(marks=marks), (*bounds, mark))
        return [change_of(row) for row in rows]

    def _one(self, sql: str, *values: object) -> int:
        found = self._execute(sql, values).fetchone()
        return found[0]  # type: ignore[no-any-return]  # NULL where the caller expects it


def change_of(row: Sequence[Any]) -> PastChange:
    """Return the change from a joined row. Raises: UnreadableError, TypeError."""
    (
        entry_id,
        bookmaker,
        home,
        away,
        league,
        start_time,
        *prices,
        updated,
        source,
        reason,
        version,
        at_ms,
    ) = row
    name = BookmakerId(bookmaker)
    if reason is not None:
        return PastChange(name, entry_id, version, None, RemovalReason(reason))
    if home is None or None in prices:
        raise UnreadableError(f"{entry_id} of version {version} is not an entry")
    if isinstance(source, int) and isinstance(updated, int):
        source = updated - source
    source_time = None if source is None else time_of(source, at_ms)
    match_id = SourceMatchId(entry_id.partition("_")[2])
    match = Match(*(match_id, home, away, league, *map(number, prices), start_time, source_time))
    return PastChange(
        name, entry_id, version, Entry(entry_id, Scope(""), match, time_of(updated, at_ms)), None
    )


def market_change_of(row: Sequence[Any]) -> PastChange:
    """Return the change from a row of `markets.py`. Raises: ValueError, TypeError."""
    match_id, name, bookmaker, home, away, league, start_time, *cells = row
    *prices, updated, source_time, reason, version, _ = cells
    market_id, named = f"{match_id} {name}", BookmakerId(bookmaker)
    if reason is not None:
        return PastChange(named, market_id, version, None, RemovalReason(reason))
    if home is None:
        raise ValueError(f"{market_id} of version {version} is not an entry")
    market, event_id = parsed(name), SourceMatchId(match_id.partition("_")[2])
    listed = Match(event_id, home, away, league, 0.0, 0.0, 0.0, start_time, source_time)
    match = listed.of_market(market, markets.prices_of(market, prices))
    return PastChange(named, market_id, version, Entry(market_id, Scope(""), match, float(updated)), None)


def market_place(market_id: str) -> tuple[str, Market]:
    """Return the sort key of an entry in another market: the match's id, then the market."""
    match_id, _, name = market_id.partition(" ")
    return match_id, parsed(name)


def digest_path(path: Path) -> Path:
    """Return the path of a sealed file's digest."""
    return path.with_suffix(".sum")


def digest_of(path: Path) -> str:
    """Return the current digest of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def is_intact(path: Path) -> bool:
    """Return whether a sealed file matches its digest; a file without one, such as a copy, is trusted."""
    digest = digest_path(path)
    return not digest.exists() or digest.read_text("ascii") == digest_of(path)


def check_digest(path: Path) -> None:
    """Raise UnreadableError if a sealed file does not match its digest."""
    if not is_intact(path):
        raise UnreadableError(NOT_INTACT)


def fault_of(path: Path) -> str | None:
    """Return the damage in any part of a file; None if it is whole.

    A file that matches its digest is whole, whatever SQLite says. The digest beside an unsealed file is
    ignored: it belongs to the sealed file that a killed process did not put there. Raises: OSError,
    sqlite3.Error if unreadable.
    """
    has_digest = digest_path(path).exists()
    is_whole = has_digest and is_intact(path)
    try:
        with Reader.open(path, is_written=False) as reader:
            reader.check_day(day_named(path.name))
            if has_digest and not is_whole and reader.is_sealed:
                return NOT_INTACT
            return None if is_whole else reader.pages_fault()
    except UnreadableError as error:
        return str(error)
    except sqlite3.DatabaseError as error:
        if not may_be_damage(error):
            raise
        return None if is_whole else NOT_INTACT if has_digest else str(error)
