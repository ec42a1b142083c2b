"""Tables for tests: options, payloads, and the matches that are shown from a table."""

from __future__ import annotations

from typing import Any

from msgspec import convert

from actors.core.cooperative import run_now
from actors.core.messages import Extract, ListId, Match, Payload, Scope, SourceName
from actors.core.validation import Bounds, admit
from actors.sources.table.kind import KIND, Table
from actors.sources.table.options import TableOptions
from tests.support.builders.messages import batch

COLUMNS = {"home": "Home", "away": "Away", "league": "League", "date": "Date", "time": "Time"}
ONE_BOOK = {"one": "1", "draw": "X", "two": "2"}
BOOKS = {"one": "{key} 1", "draw": "{key} X", "two": "{key} 2"}
ZONE = {"timezone": "Europe/Berlin"}
MARKETS = {
    "over_under:2.5": {"over": "O2.5", "under": "U2.5"},
    "asian_handicap": {"line": "Line", "home": "AH 1", "away": "AH 2"},
}
MORE = "O2.5,U2.5,Line,AH 1,AH 2"  # columns behind the columns of HEADER
HEADER = "League,Date,Time,Home,Away,1,X,2"
ROW = "Liga,2026-12-05,15:30,Alder Town,Birch United,2.10,3.40,3.60"


def options_of(**some: Any) -> TableOptions:
    """Return options of a table as in `HEADER`; `some` replaces options, and None leaves an option out."""
    given = {"kind": "table", "path": "odds.csv", **COLUMNS, **ONE_BOOK, **ZONE, **some}
    return convert({name: value for name, value in given.items() if value is not None}, TableOptions)


def payload(body: bytes | str, source_time: float | None = None, answered_at: float = 2e9) -> Payload:
    """Return a payload with `body`."""
    body = body.encode() if isinstance(body, str) else body
    named = SourceName("own"), Scope("odds.csv"), ListId("list-1")
    return Payload(*named, body, 0.0, 0.0, source_time, answered_at=answered_at)


def table(*rows: str, header: str = HEADER) -> str:
    """Return a table of these rows."""
    return "".join(f"{line}\n" for line in (header, *rows))


def decoded(body: bytes | str, options: TableOptions, source_time: float | None = None) -> Table:
    """Decode a body. Raises: PayloadError."""
    read = run_now(KIND.decode(payload(body, source_time), options))
    assert isinstance(read, Table)
    return read


def extracted(
    body: bytes | str, key: str = "own", source_time: float | None = None, **some: Any
) -> Extract:
    """Decode a body, and return a bookmaker's part of it. Raises: PayloadError."""
    options = options_of(**some)
    return run_now(KIND.extract(decoded(body, options, source_time), key, options))


def shown(body: bytes | str, key: str = "own", **some: Any) -> tuple[Match, ...]:
    """Return the matches of a body that pass the integrity gate. Raises: PayloadError."""
    read = extracted(body, key, **some)
    bounds = Bounds(kinds=options_of(**some).kinds)
    return run_now(admit(batch(read.matches, removals=read.removals, kinds=()), bounds)).batch.matches
