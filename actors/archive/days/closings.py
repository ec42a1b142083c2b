"""Reads many entries of a day: the first and the last price of each up to a version, and its end.

Each entry is wanted at one version. In a sealed day each entry is looked up; in the day being written all
changes are scanned once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from actors.archive.days.format import number
from actors.archive.days.reading import Reader
from actors.lines.line import Moment
from actors.markets.market import ONE_X_TWO, Market
from actors.markets.odds import Odds

_LOOKED_UP = (
    "SELECT w.entry, w.version,"
    " (SELECT min(version) FROM {changes} c WHERE c.{key} = w.entry AND c.listing IS NOT NULL"
    " AND c.version <= w.version),"
    " (SELECT max(version) FROM {changes} c WHERE c.{key} = w.entry AND c.listing IS NOT NULL"
    " AND c.version <= w.version),"
    " (SELECT max(version) FROM {changes} c WHERE c.{key} = w.entry AND c.version <= w.version)"
    " FROM temp.wanted w"
)
_SCANNED = (
    "SELECT w.entry, w.version, min(CASE WHEN c.listing IS NOT NULL THEN c.version END),"
    " max(CASE WHEN c.listing IS NOT NULL THEN c.version END), max(c.version)"
    " FROM {changes} c CROSS JOIN temp.wanted w ON w.entry = c.{key} AND c.version <= w.version"
    " GROUP BY w.entry, w.version"
)
_CELLS = (
    "SELECT w.entry, c.version, m.at, c.listing, c.reason, {prices} FROM temp.wanted w"
    " CROSS JOIN {changes} c ON c.{key} = w.entry AND c.version = w.version"
    " CROSS JOIN commits m ON m.version = c.version + ?"
)
_TABLES_OF_1X2 = {"changes": "changes", "key": "entry", "prices": "c.home, c.draw, c.away"}
_OTHER_TABLES = {"changes": "market_changes", "key": "offer", "prices": "c.price_1, c.price_2, c.price_3"}


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
    return {asked: found[0] for asked, found in _found(reader, numbers, wanted).items()}


def shown_at(reader: Reader, numbers: Numbers, wanted: Collection[Asked]) -> dict[Asked, Shown]:
    """Return each entry up to its wanted version, without entries that had no price in the day by then.

    Raises: sqlite3.Error, ValueError.
    """
    found = _found(reader, numbers, wanted)
    rows = {(asked[0], version) for asked, versions in found.items() for version in versions[1:]}
    cells = _cells(reader, numbers, rows)
    return {
        (entry_id, version): Shown(versions[0], cells[entry_id, versions[1]], cells[entry_id, versions[2]])
        for (entry_id, version), versions in found.items()
    }


def _found(
    reader: Reader, numbers: Numbers, wanted: Collection[Asked]
) -> dict[Asked, tuple[int, int, int]]:
    """Return the versions of the first price, of the last price, and of the last row of each entry."""
    base, ids = _base(reader, numbers), _want(reader, numbers, wanted)
    sql = (_LOOKED_UP if reader.is_sealed else _SCANNED).format(**_tables(numbers))
    return {
        (ids[entry], version + base): (first + base, price + base, last + base)
        for entry, version, first, price, last in reader.connection.execute(sql).fetchall()
        if price is not None
    }


def _cells(reader: Reader, numbers: Numbers, wanted: Collection[Asked]) -> dict[Asked, Cell]:
    """Return the rows of entries at exactly these versions."""
    base, ids = _base(reader, numbers), _want(reader, numbers, wanted)
    sql, outcomes = _CELLS.format(**_tables(numbers)), len(numbers.market.outcomes)
    return {
        (ids[entry], version + base): Cell(
            Moment(version + base, at_ms),
            listing,
            reason,
            () if listing is None else tuple([number(cell) for cell in cells[:outcomes]]),
        )
        for entry, version, at_ms, listing, reason, *cells in reader.connection.execute(sql, (base,))
    }


def listings(reader: Reader, wanted: Iterable[int]) -> dict[int, tuple[str, str, str | None, int | None]]:
    """Return names, league and kick-off by the listings' numbers."""
    marks = ", ".join(map(str, wanted))
    sql = f"SELECT listing, home, away, league, start_time FROM listings WHERE listing IN ({marks})"  # noqa: S608 - numbers only
    return {row[0]: row[1:] for row in reader.connection.execute(sql)}


def _tables(numbers: Numbers) -> Mapping[str, str]:
    return _TABLES_OF_1X2 if numbers.market == ONE_X_TWO else _OTHER_TABLES


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
