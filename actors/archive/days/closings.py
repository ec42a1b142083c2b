"""Reads many entries of a day: first and last prices up to a version, and how the entries ended.

Each entry is wanted at one version. In a sealed day each entry is looked up; in the day being written all
changes are scanned once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from actors.archive.days.format import numbers_of
from actors.archive.days.reading import Reader
from actors.lines.line import Moment
from actors.markets.market import ONE_X_TWO, Market
from actors.markets.odds import Odds

_LOOKED_UP = (
    "SELECT w.entry, w.version,"
    " (SELECT min(version) FROM {changes} c WHERE c.{key} = w.entry AND c.listing IS NOT NULL"
    " AND c.version <= w.version) AS first,"
    " (SELECT max(version) FROM {changes} c WHERE c.{key} = w.entry AND c.listing IS NOT NULL"
    " AND c.version <= w.version) AS price,"
    " (SELECT max(version) FROM {changes} c WHERE c.{key} = w.entry AND c.version <= w.version) AS last"
    " FROM temp.wanted w LIMIT -1"  # so that the result is used, not searched again for each column
)
_SCANNED = (
    "SELECT w.entry, w.version, min(CASE WHEN c.listing IS NOT NULL THEN c.version END) AS first,"
    " max(CASE WHEN c.listing IS NOT NULL THEN c.version END) AS price, max(c.version) AS last"
    " FROM {changes} c CROSS JOIN temp.wanted w ON w.entry = c.{key} AND c.version <= w.version"
    " GROUP BY w.entry, w.version"
)
_SHOWN = (
    "SELECT f.entry, f.version, f.first, pm.version, pm.at, p.listing, lm.version, lm.at, l.reason,"
    " {prices} FROM ({found}) f CROSS JOIN {changes} p ON p.{key} = f.entry AND p.version = f.price"
    " CROSS JOIN commits pm ON pm.version = p.version + ?"
    " CROSS JOIN {changes} l ON l.{key} = f.entry AND l.version = f.last"
    " CROSS JOIN commits lm ON lm.version = l.version + ?"
)
_FIRSTS = "SELECT entry, version, first FROM ({found}) WHERE first IS NOT NULL"
_TABLES_OF_1X2 = {"changes": "changes", "key": "entry", "prices": "p.home, p.draw, p.away"}
_OTHER_TABLES = {"changes": "market_changes", "key": "offer", "prices": "p.price_1, p.price_2, p.price_3"}


class Cell(NamedTuple):
    """A row of an entry: its prices and the number of its names, or (None) the reason why it left."""

    at: Moment
    listing: int | None
    reason: str | None
    odds: Odds


class Shown(NamedTuple):
    """An entry up to a version: the version of its first price, its last price, and its last row."""

    first: int
    price: Cell
    last: Cell


class Numbers:
    """The numbers by which a day's tables refer to the entries of a market."""

    def __init__(self, reader: Reader, market: Market) -> None:
        self.market = market
        if market == ONE_X_TWO:
            rows = reader.connection.execute("SELECT id, entry FROM entries")
        elif reader.has_markets:
            sql = "SELECT id, offer FROM offers WHERE market = ?"
            rows = reader.connection.execute(sql, (str(market),))
        else:
            self.by_id: dict[str, int] = {}
            return
        self.by_id = dict(rows.fetchall())


Asked = tuple[str, int]
"""An entry at a version of the board."""


def firsts(reader: Reader, numbers: Numbers, wanted: Collection[Asked]) -> dict[Asked, int]:
    """Return the version of each entry's first price, for entries with a price up to the wanted version."""
    base, ids = _base(reader, numbers), _want(reader, numbers, wanted)
    if not ids:
        return {}  # the day may lack the tables of the market
    rows = reader.connection.execute(_sql(reader, numbers, _FIRSTS))
    return {(ids[entry], version + base): first + base for entry, version, first in rows}


def shown_at(reader: Reader, numbers: Numbers, wanted: Collection[Asked]) -> dict[Asked, Shown]:
    """Return each entry up to its wanted version, without entries that had no price in the day by then.

    Raises: sqlite3.Error, ValueError.
    """
    base, ids = _base(reader, numbers), _want(reader, numbers, wanted)
    if not ids:
        return {}
    outcomes, found = len(numbers.market.outcomes), dict[Asked, Shown]()
    rows = reader.connection.execute(_sql(reader, numbers, _SHOWN), (base, base))
    for entry, version, first, shown, at_ms, listing, left, left_ms, reason, *cells in rows:
        price = last = Cell(Moment(shown, at_ms), listing, None, numbers_of(cells[:outcomes]))
        if left != shown:
            last = Cell(Moment(left, left_ms), None, reason, ())
        found[ids[entry], version + base] = Shown(first + base, price, last)
    return found


def listings(reader: Reader, wanted: Iterable[int]) -> dict[int, tuple[str, str, str | None, int | None]]:
    """Return names, league and kick-off by the listings' numbers."""
    marks = ", ".join(map(str, wanted))
    sql = f"SELECT listing, home, away, league, start_time FROM listings WHERE listing IN ({marks})"  # noqa: S608 - numbers only
    return {row[0]: row[1:] for row in reader.connection.execute(sql)}


def _sql(reader: Reader, numbers: Numbers, form: str) -> str:
    tables = _TABLES_OF_1X2 if numbers.market == ONE_X_TWO else _OTHER_TABLES
    found = _LOOKED_UP if reader.is_sealed else _SCANNED
    return form.format(found=found.format(**tables), **tables)


def _base(reader: Reader, numbers: Numbers) -> int:
    return reader.base if numbers.market == ONE_X_TWO else 0


def _want(reader: Reader, numbers: Numbers, wanted: Collection[Asked]) -> dict[int, str]:
    """Store the wanted entries that the day has in a temporary table; return their ids by number."""
    execute, by_id, base = reader.connection.execute, numbers.by_id, _base(reader, numbers)
    execute("DROP TABLE IF EXISTS temp.wanted")
    execute(
        "CREATE TEMP TABLE wanted (entry INTEGER, version INTEGER, PRIMARY KEY (entry, version))"
        " WITHOUT ROWID"
    )
    known = [(by_id[entry_id], version, entry_id) for entry_id, version in wanted if entry_id in by_id]
    rows = [(entry, version - base) for entry, version, _ in known]
    reader.connection.executemany("INSERT OR IGNORE INTO temp.wanted VALUES (?, ?)", rows)
    return {entry: entry_id for entry, _, entry_id in known}
