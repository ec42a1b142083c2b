"""The view `prices` of a day's file: every price as a plain number, for all markets in the file.

It works in any program with SQL, such as sqlite3, Datasette and DuckDB, because it does not depend on the
types of single cells, which differ within a column.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from actors.markets.market import ONE_X_TWO

COLUMNS: Final = (
    "version, time, bookmaker, id, home, away, league, start_time, market, kind, line, place, outcome,"
    " odds, updated, source_time, reason, is_state"
)
"""The columns of `prices` and of `market_prices` (`markets.py`)."""
_PLACES: Final = tuple(enumerate(ONE_X_TWO.outcomes, 1))


def _plain(cell: str) -> str:
    """Return the SQL for a stored number: as it is if its text has a point, otherwise in thousandths."""
    text = f"CAST({cell} AS TEXT)"
    plain, thousandths = f"CAST({cell} AS DOUBLE)", f"CAST({cell} AS DOUBLE) / 1000.0"
    return f"CASE WHEN {text} LIKE '%.%' THEN {plain} ELSE {thousandths} END"


_UPDATED = (
    "CASE WHEN CAST(c.updated AS TEXT) LIKE '%.%' THEN CAST(c.updated AS DOUBLE)"
    " ELSE (CAST(m.at AS BIGINT) + CAST(c.updated AS BIGINT)) / 1000.0 END"
)
_SOURCE_TIME = (
    "CASE WHEN CAST(c.source AS TEXT) LIKE '%.%' THEN CAST(c.source AS DOUBLE)"
    " WHEN CAST(c.updated AS TEXT) LIKE '%.%' THEN"
    " (CAST(m.at AS BIGINT) + CAST(c.source AS BIGINT)) / 1000.0"
    " ELSE (CAST(m.at AS BIGINT) + CAST(c.updated AS BIGINT) - CAST(c.source AS BIGINT)) / 1000.0 END"
)
_OUTCOMES = " UNION ALL ".join(
    f"SELECT {place} AS place, '{outcome}' AS outcome" for place, outcome in _PLACES
)
_ODDS = " ".join(
    f"WHEN {place} THEN {_plain(f'c.{cell}')}" for place, cell in enumerate(("home", "draw", "away"), 1)
)
_VERSION = "CAST(d.value AS BIGINT) + CAST(c.version AS BIGINT)"
_ONE_X_TWO = (
    f"SELECT {_VERSION} AS version, CAST(m.at AS BIGINT) / 1000.0 AS time, e.bookmaker, e.id,"  # noqa: S608 - constants only
    " l.home, l.away, l.league, CAST(l.start_time AS BIGINT) AS start_time, '1x2' AS market, '1x2' AS kind,"
    f" CAST(NULL AS DOUBLE) AS line, u.place, u.outcome, CASE u.place {_ODDS} END AS odds,"
    f" {_UPDATED} AS updated, {_SOURCE_TIME} AS source_time, c.reason,"
    " m.version IN (SELECT version FROM keyframes) AS is_state"
    " FROM changes c JOIN day d ON d.key = 'base'"
    # Cast to text: DuckDB reads all cells as text, and SQLite converts it to a number for the look-up.
    f" JOIN commits m ON m.version = CAST({_VERSION} AS TEXT) JOIN entries e ON e.entry = c.entry"
    f" CROSS JOIN ({_OUTCOMES}) u LEFT JOIN listings l ON l.listing = c.listing"
)


def create(connection: sqlite3.Connection, *, has_markets: bool) -> None:
    """Make or replace the view; `has_markets` includes the tables of other markets."""
    others = f" UNION ALL SELECT {COLUMNS} FROM market_prices" if has_markets else ""  # noqa: S608 - constants only
    connection.execute("DROP VIEW IF EXISTS prices")
    connection.execute(f"CREATE VIEW prices AS {_ONE_X_TWO}{others}")


def has_prices(connection: sqlite3.Connection) -> bool:
    """Return whether a file has the view."""
    sql = "SELECT count(*) FROM sqlite_master WHERE type = 'view' AND name = 'prices'"
    return int(connection.execute(sql).fetchone()[0]) > 0
