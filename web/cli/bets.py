"""Reads a user's own bets from a CSV file, and reports the fault of each unreadable row.

The file is hostile: each row becomes a bet or an error, whatever it has.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from io import StringIO
from typing import Final, TypeVar

from msgspec import Struct

from actors.core.errors import OddsboardError
from actors.core.messages import BookmakerId
from actors.lines.clv import Bet
from actors.markets.market import ONE_X_TWO, Market, parsed

MAX_BYTES: Final = 64_000_000
MAX_LINE: Final = 100_000
MAX_ROWS: Final = 100_000
MAX_NAME: Final = 128
MAX_ODDS: Final = 10_000.0
NEEDED: Final = ("time", "outcome", "odds")
MATCH: Final = ("match", "home", "away")
KNOWN: Final = (*NEEDED, *MATCH, "market", "bookmaker", "league", "kick_off")
"""The columns that are read; other columns are kept unchanged."""
_BETWEEN = re.compile(r"\s+(?:[-\u2013\u2014]|vs?\.?)\s+", re.IGNORECASE)
_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?"
    r"([Zz]|[+-][0-9]{2}:[0-9]{2})",
    re.ASCII,
)
_UNIX = re.compile(r"[0-9]{9,10}(\.[0-9]{1,9})?", re.ASCII)
_ODDS = re.compile(r"[0-9]{1,5}(\.[0-9]{1,9}|,[0-9]{1,2})?", re.ASCII)  # 1,500 could mean 1.5 or 1500
_BOOKMAKER = re.compile(r"[a-z0-9-]{1,32}", re.ASCII)
_THEN = "must be a time of RFC 3339 with its offset, such as 2026-12-05T15:00:00Z, or Unix seconds"
T = TypeVar("T")


class UnusableError(OddsboardError):
    """The file has no bets that can be read; the message says why."""


class Row(Struct, frozen=True):
    """A row of the file: its number (the head is row 1), its cells, and the bet or the error."""

    number: int
    cells: tuple[str, ...]
    bet: Bet | str


class Bets(Struct, frozen=True):
    """The content of a file of bets."""

    separator: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def read_bets(content: bytes) -> Bets:
    """Return the rows of a file. Raises: UnusableError if its head cannot be read, or it is too large."""
    if len(content) > MAX_BYTES:
        raise UnusableError(f"has {len(content):,} bytes, may have {MAX_BYTES:,}")
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UnusableError("is UTF-16, must be UTF-8: save it as CSV UTF-8")
    text = content.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    first = next((line for line in StringIO(text, newline="") if line.strip()), "")
    separator = max(",;\t", key=first[:MAX_LINE].count)
    rows = _rows(text, separator)
    head = next(rows, None)
    if head is None:
        raise UnusableError("is empty, must have a head with the names of the columns")
    if isinstance(head[1], str):
        raise UnusableError(f"the head: {head[1]}")
    columns = tuple(map(_clean, head[1]))
    places = _places(columns)
    found = list[Row]()
    for number, cells in rows:
        if len(found) == MAX_ROWS:
            raise UnusableError(f"has more than {MAX_ROWS:,} rows; divide it")
        found.append(_row(number, cells, columns, places))
    return Bets(separator, columns, tuple(found))


class _Lines(Iterator[str]):
    """The lines of a text; raises csv.Error for a line that is too long, and goes on with the next."""

    def __init__(self, text: str) -> None:
        self._text = StringIO(text, newline="")

    def __next__(self) -> str:
        line = self._text.readline(MAX_LINE + 1)
        if not line:
            raise StopIteration
        if len(line) <= MAX_LINE:
            return line
        while line and not line.endswith(("\n", "\r")):
            line = self._text.readline(MAX_LINE)
        raise csv.Error(f"the line has more than {MAX_LINE:,} characters")


def _rows(text: str, separator: str) -> Iterator[tuple[int, list[str] | str]]:
    """Yield the number and the cells of each row that is not blank; a message instead of wrong cells."""
    reader, number = csv.reader(_Lines(text), delimiter=separator, strict=True), 0
    while True:
        try:
            cells: list[str] | str = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            cells = f"is no CSV: {error}"
        number += 1  # blank rows count, as in a spreadsheet
        if any(map(str.strip, cells)):
            yield number, cells


def _places(columns: Sequence[str]) -> Mapping[str, int]:
    """Return the index of each known column. Raises: UnusableError if one is missing or occurs twice."""
    names = [column.strip().casefold() for column in columns]
    twice = [name for name in KNOWN if names.count(name) > 1]
    if twice:
        raise UnusableError(f"has the column {twice[0]} {names.count(twice[0])} times, must have it once")
    taken = [name for name in names if name == "clv" or name.startswith("clv_")]
    if taken:
        raise UnusableError(f"has a column {_shown(taken[0])}, as this command adds; rename it")
    missing = [name for name in NEEDED if name not in names]
    if "match" not in names and not {"home", "away"} <= {*names}:
        missing.append("match (or home and away)")
    if "match" in names and {"home", "away"} & {*names}:
        raise UnusableError("has the columns match and home or away, must have either")
    if missing:
        found = ", ".join(_shown(name) for name in names[:20])
        raise UnusableError(f"has the columns {found}, must also have: {', '.join(missing)}")
    return {name: names.index(name) for name in KNOWN if name in names}


def _row(number: int, cells: list[str] | str, columns: Sequence[str], places: Mapping[str, int]) -> Row:
    if isinstance(cells, str):
        return Row(number, ("",) * len(columns), cells)
    kept = tuple([*map(_clean, cells), *[""] * len(columns)][: len(columns)])
    if len(cells) != len(columns):
        return Row(number, kept, f"has {len(cells)} cells, must have {len(columns)} as the head")
    if any("\0" in cell for cell in cells):
        return Row(number, kept, "has a NUL character, must have text alone")
    if _clean("".join(cells)) != "".join(cells):
        return Row(number, kept, "is not UTF-8")
    given = {name: cells[place].strip() for name, place in places.items()}
    try:
        return Row(number, kept, _bet(number, given))
    except ValueError as error:
        return Row(number, kept, str(error))


def _clean(cell: str) -> str:
    """Return a cell that can be written: NUL and bytes that are no UTF-8 are replaced."""
    return cell.encode("utf-8", "surrogateescape").decode("utf-8", "replace").replace("\0", "\ufffd")


def _bet(number: int, given: Mapping[str, str]) -> Bet:
    """Return the bet of a row. Raises: ValueError whose message names the column."""
    home, away = _teams(given)
    market = _of("market", given, _market) if given.get("market") else ONE_X_TWO
    kick_off = _of("kick_off", given, _at_ms) // 1000 if given.get("kick_off") else None
    return Bet(
        number,
        _of("time", given, _at_ms),
        home,
        away,
        market,
        _of("outcome", given, lambda text: _outcome(text, market)),
        _of("odds", given, _odds),
        _of("league", given, _name) if given.get("league") else None,
        kick_off,
        _of("bookmaker", given, _bookmaker) if given.get("bookmaker") else None,
    )


def _of(column: str, given: Mapping[str, str], read: Callable[[str], T]) -> T:
    try:
        return read(given[column])
    except ValueError as error:
        raise ValueError(f"{column}: {error}") from error


def _teams(given: Mapping[str, str]) -> tuple[str, str]:
    if "match" not in given:
        return _of("home", given, _name), _of("away", given, _name)
    teams = _BETWEEN.split(given["match"][: 4 * MAX_NAME])
    if len(teams) != 2:  # noqa: PLR2004 - two teams
        how = "must be two teams such as Home - Away; or use the columns home and away"
        raise ValueError(f"match: was {_shown(given['match'])}, {how}")
    return _of("match", {"match": teams[0]}, _name), _of("match", {"match": teams[1]}, _name)


def _name(text: str) -> str:
    if not any(map(str.isalnum, text)) or not text.isprintable() or len(text) > MAX_NAME:
        raise ValueError(f"was {_shown(text)}, must be a name of at most {MAX_NAME} characters")
    return text


def _market(text: str) -> Market:
    return parsed(text.casefold())


def _outcome(text: str, market: Market) -> str:
    found = next((name for name in market.outcomes if name.casefold() == text.casefold()), None)
    if found is None:
        raise ValueError(f"was {_shown(text)}, must be of {market}: {', '.join(market.outcomes)}")
    return found


def _odds(text: str) -> float:
    """Return decimal odds, written with a point or a comma."""
    odds = float(text.replace(",", ".")) if _ODDS.fullmatch(text) else 0.0
    if not 1.0 < odds <= MAX_ODDS:
        raise ValueError(f"was {_shown(text)}, must be decimal odds above 1, at most {MAX_ODDS:g}")
    return odds


def _bookmaker(text: str) -> BookmakerId:
    found = text.casefold()
    if not _BOOKMAKER.fullmatch(found):
        raise ValueError(f"was {_shown(text)}, must be the id of a bookmaker: a to z, 0 to 9 and -")
    return BookmakerId(found)


def _at_ms(text: str) -> int:
    """Return a time in Unix milliseconds."""
    if _UNIX.fullmatch(text):
        return round(float(text) * 1000)
    try:
        if _TIME.fullmatch(text):
            return round(datetime.fromisoformat(text.upper()).timestamp() * 1000)
    except (ValueError, OverflowError):
        pass
    raise ValueError(f"was {_shown(text)}, {_THEN}")


def _shown(text: str) -> str:
    return repr(_clean(text)[:64])
