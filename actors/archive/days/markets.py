"""The entries of markets other than 1X2 in a day's file: writing and reading their tables.

The first such entry adds the tables to the file and changes its format number. Unlike in `changes` all
numbers are plain: versions of the board, decimal prices in the order of the outcomes, Unix seconds. An
offer is one market of one match at one bookmaker.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from actors.archive.days.commit import EntryRecord
from actors.archive.days.file import insert
from actors.archive.days.format import BY_ENTRY, BY_VERSION, MARKETS_FORMAT
from actors.archive.days.prices import create as create_prices
from actors.archive.days.prices import has_prices
from actors.board.snapshot import Entry
from actors.markets.market import OUTCOMES, Kind, Market, parsed

MARKED = 500_000
"""Changes after which the last change of each offer is recorded again, like `Day.mark`."""
PRICES: Final = max(len(outcomes) for outcomes in OUTCOMES.values())
TABLES: Final = (
    """CREATE TABLE offers (
  offer INTEGER PRIMARY KEY, bookmaker TEXT NOT NULL, id TEXT NOT NULL, market TEXT NOT NULL,
  kind TEXT NOT NULL, line REAL, UNIQUE (id, market)
)""",
    """CREATE TABLE outcomes (
  kind TEXT, place INTEGER, outcome TEXT NOT NULL, PRIMARY KEY (kind, place)
) WITHOUT ROWID""",
)
"""All tables except `market_changes`, which has another order in a sealed file."""
_CHANGES = """
CREATE TABLE market_changes (
  version INTEGER NOT NULL, offer INTEGER NOT NULL, listing INTEGER,
  price_1 REAL, price_2 REAL, price_3 REAL, updated REAL, source_time REAL, reason TEXT,
  PRIMARY KEY ({key})
) WITHOUT ROWID"""
_MARKS = """
CREATE TABLE IF NOT EXISTS market_marks (
  mark INTEGER, offer INTEGER, version INTEGER NOT NULL, PRIMARY KEY (mark, offer)
) WITHOUT ROWID"""
_VIEW = """
CREATE VIEW market_prices AS
SELECT CAST(c.version AS BIGINT) AS version, CAST(m.at AS BIGINT) / 1000.0 AS time, o.bookmaker, o.id,
  l.home, l.away, l.league, CAST(l.start_time AS BIGINT) AS start_time, o.market, o.kind,
  CAST(o.line AS DOUBLE) AS line, CAST(u.place AS BIGINT) AS place, u.outcome,
  CAST(CASE CAST(u.place AS BIGINT) WHEN 1 THEN c.price_1 WHEN 2 THEN c.price_2 ELSE c.price_3 END
    AS DOUBLE) AS odds,
  CAST(c.updated AS DOUBLE) AS updated, CAST(c.source_time AS DOUBLE) AS source_time, c.reason,
  c.version IN (SELECT version FROM keyframes) AS is_state
FROM market_changes c JOIN offers o ON o.offer = c.offer JOIN commits m ON m.version = c.version
  JOIN outcomes u ON u.kind = o.kind LEFT JOIN listings l ON l.listing = c.listing"""
COPIED: Final = tuple(re.findall(r"CREATE TABLE (\w+)", " ".join(TABLES)))
_COLUMNS: Final = "version, offer, listing, price_1, price_2, price_3, updated, source_time, reason"
_CHANGE = f"INSERT OR REPLACE INTO market_changes ({_COLUMNS})"

_ROW = (
    "SELECT o.id, o.market, o.bookmaker, l.home, l.away, l.league, l.start_time, c.price_1, c.price_2,"
    " c.price_3, c.updated, c.source_time, c.reason, c.version, m.at"
)
_JOINED = (
    " JOIN commits m ON m.version = c.version LEFT JOIN listings l ON l.listing = c.listing"
    " WHERE (?3 IS NULL OR o.bookmaker = ?3)"
)
_LATEST_BY_VERSION = (
    f"{_ROW} FROM (SELECT offer, max(version) AS version FROM ("  # noqa: S608 - constants only
    "SELECT offer, version FROM market_marks WHERE mark = ?4 AND version >= ?1"
    " UNION ALL SELECT offer, version FROM market_changes WHERE version BETWEEN max(?1, ?4 + 1) AND ?2)"
    " GROUP BY offer) p CROSS JOIN market_changes c ON c.version = p.version AND c.offer = p.offer"
    f" JOIN offers o ON o.offer = c.offer{_JOINED}"
)
_LATEST_BY_OFFER = (
    f"{_ROW} FROM offers o CROSS JOIN market_changes c ON c.offer = o.offer AND c.version ="  # noqa: S608 - constants only
    " (SELECT max(version) FROM market_changes x WHERE x.offer = o.offer AND x.version BETWEEN ?1 AND ?2)"
    f"{_JOINED}"
)
_ROWS = (
    f"{_ROW}, k.version FROM market_changes c JOIN offers o ON o.offer = c.offer"
    f" LEFT JOIN keyframes k ON k.version = c.version{_JOINED}"
    " AND c.version > ?1 AND c.version <= ?2 ORDER BY c.version, o.id, o.kind, o.line"
)
_MATCH_ROWS = (
    f"{_ROW}, k.version FROM (SELECT *, row_number() OVER (PARTITION BY offer ORDER BY version DESC)"  # noqa: S608 - constants only
    " AS place FROM {changes} WHERE offer IN (SELECT offer FROM offers WHERE id = ?1)) c"
    " JOIN offers o ON o.offer = c.offer JOIN commits m ON m.version = c.version"
    " LEFT JOIN keyframes k ON k.version = c.version LEFT JOIN listings l ON l.listing = c.listing"
    " WHERE c.place <= ?2 ORDER BY c.version DESC, o.offer"
)
_MARK = (
    "INSERT OR REPLACE INTO market_marks SELECT ?1, offer, max(version) FROM ("
    "SELECT offer, version FROM market_marks WHERE mark = ?2"
    " UNION ALL SELECT offer, version FROM market_changes WHERE version > ?2) GROUP BY offer"
)


class MarketTables:
    """The tables in the file of the day being written, made together with their first row."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._offers: dict[str, int] = {}
        self._mark, self._unmarked = -1, 0
        self._are_there = has_markets(connection)
        if not self._are_there:
            return
        connection.execute(_MARKS)
        self._offers = {
            f"{match_id} {market}": offer
            for offer, match_id, market in connection.execute("SELECT offer, id, market FROM offers")
        }
        self._mark = newest_mark(connection)
        newer = "SELECT count(*) FROM (SELECT 1 FROM market_changes WHERE version > ? LIMIT ?)"
        self._unmarked = connection.execute(newer, (self._mark, self._most_unmarked)).fetchone()[0]

    def note(
        self, version: int, records: Iterable[EntryRecord], listing_of: Callable[[Entry], int]
    ) -> None:
        """Add the changes of a version; `listing_of` returns the number of an entry in `listings`."""
        new: list[tuple[object, ...]] = []
        rows = [
            (version, self._offer(record, new), *_shown(record.entry, listing_of), record.reason)
            for record in records
        ]
        if rows and not self._are_there:
            create(self._connection, BY_VERSION)
            self._connection.execute(_MARKS)
            self._are_there = True
        insert(self._connection, "INSERT INTO offers", new)
        insert(self._connection, _CHANGE, rows)
        self._unmarked += len(rows)

    def mark(self, version: int, after: int | None) -> None:
        """Record the last change of each offer up to a version, like `Day.mark`."""
        if self._are_there and self._unmarked >= (self._most_unmarked if after is None else after):
            self._connection.execute(_MARK, (version, self._mark))
            self._mark, self._unmarked = version, 0

    @property
    def _most_unmarked(self) -> int:
        return max(MARKED, 8 * len(self._offers))

    def _offer(self, record: EntryRecord, new: list[tuple[object, ...]]) -> int:
        found = self._offers.get(record.id)
        if found is None:
            found = self._offers[record.id] = len(self._offers) + 1
            match_id, _, name = record.id.partition(" ")
            market = parsed(name)
            new.append((found, record.bookmaker, match_id, name, market.kind, market.line))
        return found


def create(connection: sqlite3.Connection, layout: str) -> None:
    """Make the tables in a file that has the other tables, in the caller's transaction."""
    key = "version, offer" if layout == BY_VERSION else "offer, version"
    for statement in (*TABLES, _CHANGES.format(key=key), _VIEW, f"PRAGMA user_version = {MARKETS_FORMAT}"):
        connection.execute(statement)
    if has_prices(connection):
        create_prices(connection, has_markets=True)
    if layout == BY_VERSION:
        places = ((kind, names) for kind, names in OUTCOMES.items() if kind is not Kind.ONE_X_TWO)
        rows = [(kind, *placed) for kind, names in places for placed in enumerate(names, 1)]
        insert(connection, "INSERT INTO outcomes", rows)


def has_markets(connection: sqlite3.Connection) -> bool:
    """Return whether a file has the tables."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0]) == MARKETS_FORMAT


def copied(connection: sqlite3.Connection) -> Iterator[tuple[str, sqlite3.Cursor]]:
    """Yield each table with its rows in the order of a sealed file; nothing for a file without them."""
    if has_markets(connection):
        for table in COPIED:
            yield table, connection.execute(f"SELECT * FROM {table}")  # noqa: S608 - constants only
        yield (
            "market_changes",
            connection.execute(f"SELECT {_COLUMNS} FROM market_changes ORDER BY offer, version"),  # noqa: S608 - constants only
        )


def newest_mark(connection: sqlite3.Connection, until: int = 2**62) -> int:
    """Return the newest marked version up to `until`; -1 if there is none."""
    sql = "SELECT ifnull(max(mark), -1) FROM market_marks WHERE mark <= ?"
    return int(connection.execute(sql, (until,)).fetchone()[0])


def latest(
    connection: sqlite3.Connection, layout: str, low: int, high: int, bookmaker: str | None
) -> sqlite3.Cursor:
    """Return the last row of each offer between two versions, in no order."""
    if layout == BY_ENTRY:
        return connection.execute(_LATEST_BY_OFFER, (low, high, bookmaker))
    mark = newest_mark(connection, high)
    return connection.execute(_LATEST_BY_VERSION, (low, high, bookmaker, mark))


def rows(connection: sqlite3.Connection, after: int, until: int, bookmaker: str | None) -> sqlite3.Cursor:
    """Return the rows after a version, up to another, by version, match and market.

    Each row ends with the version again if it is part of a whole state, otherwise with None.
    """
    return connection.execute(_ROWS, (after, until, bookmaker))


def rows_of_match(
    connection: sqlite3.Connection, layout: str, match_id: str, most: int, looked_at: int
) -> sqlite3.Cursor:
    """Return the `most` newest rows of each market of a match, newest first, in the form of `rows`.

    In the day being written only the newest `looked_at` rows of all matches are searched.
    """
    newest = f"(SELECT * FROM market_changes ORDER BY version DESC LIMIT {looked_at})"  # noqa: S608 - numbers only
    changes = "market_changes" if layout == BY_ENTRY else newest
    return connection.execute(_MATCH_ROWS.format(changes=changes), (match_id, most))


def prices_of(market: Market, cells: Iterable[Any]) -> tuple[float, ...]:
    """Return the prices of a row. Raises: ValueError if their number differs from the market's outcomes."""
    found = tuple([float(cell) for cell in cells if cell is not None])
    if len(found) != len(market.outcomes):
        raise ValueError(f"{market} had {len(found)} prices, must have {len(market.outcomes)}")
    return found


def _shown(entry: Entry | None, listing_of: Callable[[Entry], int]) -> tuple[float | None, ...]:
    if entry is None:
        return (None,) * (PRICES + 3)
    prices = entry.match.prices
    missing = (None,) * (PRICES - len(prices))
    return listing_of(entry), *prices, *missing, entry.updated, entry.match.source_time
