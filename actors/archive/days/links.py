"""The tables for a past consensus in a day's file: bookmakers with their sources, and links.

Days begun by an earlier release lack these tables. There `fixtures` has the members without their
certainty, and no table says which prices were live.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

import msgspec

from actors.archive.days.commit import MembersRecord
from actors.archive.days.file import insert
from actors.board.snapshot import Snapshot
from actors.core.messages import BookmakerId, Prices, SourceMatchId, SourceName
from actors.lines.links import Link, LinkRow, RosterRow, bookmakers_of
from actors.matches.model import FixtureState, Roster
from actors.matching.rules import Certainty

TABLES: Final = (
    """CREATE TABLE links (
  version INTEGER, fixture TEXT, members TEXT NOT NULL, PRIMARY KEY (version, fixture)
) WITHOUT ROWID""",
    """CREATE TABLE rosters (
  version INTEGER, place INTEGER, bookmaker TEXT NOT NULL, source TEXT NOT NULL, prices TEXT NOT NULL,
  PRIMARY KEY (version, place)
) WITHOUT ROWID""",
)
COPIED: Final = tuple(re.findall(r"CREATE TABLE (\w+)", " ".join(TABLES)))

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(list[list[str]]).decode


class LinkTables:
    """The tables in the file of the day being written; `note` does nothing if the file lacks them."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._are_there = has_links(connection)
        self._roster: Roster | None = None

    def note(self, version: int, records: Iterable[MembersRecord]) -> None:
        """Add the members of fixtures in a version."""
        if self._are_there:
            rows = [(version, record.fixture, _json(record)) for record in records if record.members]
            insert(self._connection, "INSERT OR REPLACE INTO links", rows)

    def note_roster(self, version: int, whole: Snapshot) -> None:
        """Add the bookmakers of a version if they differ from the last stored ones."""
        state = whole.fixtures
        if not self._are_there or not isinstance(state, FixtureState):
            return
        roster = state.terms.roster
        if roster is not self._roster:
            self._roster = roster
            rows = [
                (version, place, name, info.source, str(info.prices))
                for place, (name, info) in enumerate(roster.items())
            ]
            insert(self._connection, "INSERT OR REPLACE INTO rosters", rows)


def create(connection: sqlite3.Connection) -> None:
    """Make the tables, in the caller's transaction."""
    for statement in TABLES:
        connection.execute(statement)


def has_links(connection: sqlite3.Connection) -> bool:
    """Return whether a file has the tables."""
    sql = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ('links', 'rosters')"
    return int(connection.execute(sql).fetchone()[0]) == len(TABLES)


def copied(connection: sqlite3.Connection) -> Iterator[tuple[str, sqlite3.Cursor]]:
    """Yield each table and its rows; nothing for a file without them."""
    if has_links(connection):
        for table in COPIED:
            yield table, connection.execute(f"SELECT * FROM {table}")  # noqa: S608 - constants only


def rosters(connection: sqlite3.Connection) -> list[RosterRow]:
    """Return the bookmakers from each version on that changed them; none from an older file.

    Raises: ValueError.
    """
    if not has_links(connection):
        return []
    found: dict[tuple[int, int], list[tuple[BookmakerId, SourceName, Prices | None]]] = {}
    sql = (
        "SELECT r.version, m.at, r.bookmaker, r.source, r.prices FROM rosters r"
        " JOIN commits m ON m.version = r.version ORDER BY r.version, r.place"
    )
    for version, at_ms, name, source, prices in connection.execute(sql):
        found.setdefault((version, at_ms), []).append((name, source, Prices(prices)))
    return [RosterRow(version, at_ms, bookmakers_of(rows)) for (version, at_ms), rows in found.items()]


def links(connection: sqlite3.Connection, fixture: str | None = None) -> list[LinkRow]:
    """Return the members of a fixture, or (None) of all, by version. Raises: ValueError, MsgspecError."""
    members, more = "f.members", ""
    if has_links(connection):
        members = "ifnull(l.members, f.members)"
        more = " LEFT JOIN links l ON l.version = f.version AND l.fixture = f.fixture"
    sql = (
        f"SELECT f.version, m.at, f.fixture, {members}, f.into_fixture FROM fixtures f"  # noqa: S608 - constants only
        f" JOIN commits m ON m.version = f.version{more}"
        " WHERE ?1 IS NULL OR f.fixture = ?1 ORDER BY f.version"
    )
    return [
        LinkRow(version, at_ms, of_fixture, () if members is None else _links_of(members), into)
        for version, at_ms, of_fixture, members, into in connection.execute(sql, (fixture,))
    ]


@lru_cache(maxsize=4096)  # each day begins with the values at the end of the day before
def _links_of(members: str) -> tuple[Link, ...]:
    return tuple(
        [
            Link(SourceName(source), SourceMatchId(match_id), rule, Certainty(more[0]) if more else None)
            for source, match_id, rule, *more in _decode(members)
        ]
    )


def _json(record: MembersRecord) -> str:
    """Return each member's source, id there, rule and certainty."""
    keys = [
        (member.key.source, member.key.source_match_id, member.rule, member.certainty)
        for member in record.members
    ]
    return _encode(keys).decode()
