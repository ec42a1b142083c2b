"""Options of a table, and the checks of their combinations. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated, Final, Literal, TypeAlias
from zoneinfo import ZoneInfo, available_timezones

from msgspec import Meta

from actors.core.messages import Prices
from actors.core.nearest import did_you_mean
from actors.markets.market import Kind
from actors.source_api.options import PolledOptions, Seconds, every_kind

MAX_COLUMNS: Final = 1_000
KEY: Final = "{key}"  # stands for a bookmaker's key in the name of a column
LINE: Final = "line"  # names the column of a market's line, beside its outcomes
ISO, UNIX, UNIX_MS = "iso", "unix", "unix_ms"

Name = Annotated[str, Meta(min_length=1, max_length=128)]
Number = Annotated[int, Meta(ge=1, le=1_000)]
Column: TypeAlias = Number | Name  # a number is at most MAX_COLUMNS
Encoding = Literal[
    "utf-8", "utf-16", "cp1250", "cp1251", "cp1252", "iso-8859-1", "iso-8859-2", "iso-8859-15"
]


_OUTCOMES: Final = {"home_price": "one", "draw_price": "draw", "away_price": "two"}  # as in programs


class TableOptions(PolledOptions, frozen=True, kw_only=True, rename=_OUTCOMES):
    """Options of a table: its place, its format, and its columns.

    A column is a name in the header, a key of JSON objects (`a.b` for a nested one), or a number from 1.
    """

    url: Annotated[str, Meta(description="The address to poll, if there is no `path`.")] = ""
    path: Annotated[
        Name | None, Meta(description="The file, from the working directory of the service.")
    ] = None
    poll_interval_s: Annotated[Seconds, Meta(description="The shortest time between two reads.")] = 10.0
    prices: Annotated[
        Prices,
        Meta(description="Live prices are valid while the file is rewritten, collected ones as old as it."),
    ] = Prices.LIVE
    format: Annotated[
        Literal["csv", "jsonl"], Meta(description="Cells with a delimiter, or a JSON object a line.")
    ] = "csv"
    delimiter: Annotated[
        Literal[",", ";", "\t", "|"],
        Meta(description="The character between the cells of CSV.", title=r'"," or ";" or "\t" or "|"'),
    ] = ","
    encoding: Annotated[Encoding, Meta(description="The encoding of its characters.")] = "utf-8"
    header: Annotated[bool, Meta(description="Whether the first line of CSV names the columns.")] = True
    home: Annotated[Column, Meta(description="The column of the home team.")]
    away: Annotated[Column, Meta(description="The column of the away team.")]
    league: Annotated[Column | None, Meta(description="The column of the league.")] = None
    start: Annotated[Column | None, Meta(description="The column of date and time of the kick-off.")] = None
    date: Annotated[Column | None, Meta(description="The column of the date, without `start`.")] = None
    time: Annotated[Column | None, Meta(description="The column of the time, beside `date`.")] = None
    date_format: Annotated[
        str,
        Meta(description="How `start` or `date` is written: iso, unix, unix_ms, or like %d/%m/%Y %H:%M."),
    ] = ISO
    timezone: Annotated[
        str | None, Meta(description="The IANA name of the zone of times without an offset.")
    ] = None
    id: Annotated[Column | None, Meta(description="The column of an id that a match keeps.")] = None
    updated: Annotated[
        Column | None, Meta(description="The column of the time of the prices, written as `start`.")
    ] = None
    bookmaker: Annotated[
        Column | None, Meta(description="The column that has the key of the row's bookmaker.")
    ] = None
    home_price: Annotated[
        Column | None,
        Meta(description="The column of the home price; {key} stands for a bookmaker's key."),
    ] = None
    draw_price: Annotated[Column | None, Meta(description="The column of the price of the draw.")] = None
    away_price: Annotated[Column | None, Meta(description="The column of the away price.")] = None
    markets: Annotated[
        dict[Name, dict[Name, Column]],
        Meta(description="The columns of other markets, each a table by the name of its market or kind."),
    ] = {}  # noqa: RUF012 - msgspec copies it
    odds_format: Annotated[
        Literal["decimal", "american", "fractional"], Meta(description="How prices are written.")
    ] = "decimal"
    decimal_comma: Annotated[bool, Meta(description="Whether prices are written 2,10 instead of 2.10.")] = (
        False
    )

    @property
    def reads_file(self) -> bool:
        """Whether its address is a file's path instead of a URL."""
        return self.path is not None

    @property
    def is_as_old_as_its_file(self) -> bool:
        """Whether its prices are valid only for a time after the file was written."""
        return self.prices is Prices.LIVE

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of market that have columns, 1X2 first."""
        named = {name.partition(":")[0] for name in self.markets}
        return every_kind(kind for kind in Kind if kind in named)

    @property
    def outcomes(self) -> tuple[Column, ...]:
        """The columns of 1X2: home, draw, away; empty without 1X2."""
        columns = self.home_price, self.draw_price, self.away_price
        return tuple(column for column in columns if column is not None)

    @property
    def price_columns(self) -> tuple[Column, ...]:
        """The columns of all prices."""
        others = (columns.items() for columns in self.markets.values())
        return (*self.outcomes, *(column for each in others for role, column in each if role != LINE))

    @property
    def line_columns(self) -> tuple[Column, ...]:
        """The columns that hold a line: of over/under, or of a handicap."""
        return tuple(columns[LINE] for columns in self.markets.values() if LINE in columns)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that are the same for all bookmakers."""
        named = (self.home, self.away, self.league, self.start, self.date, self.time, self.id, self.updated)
        return tuple(column for column in (*named, self.bookmaker) if column is not None)


def with_key(column: Column, key: str) -> Column:
    """Return a column with a bookmaker's key in its name."""
    return column.replace(KEY, key) if isinstance(column, str) else column


def check_key(key: str) -> None:
    """Raise ValueError unless `key` can name a bookmaker in a column's name or a cell."""
    if not (key.isprintable() and key == key.strip() and 0 < len(key) <= 64):  # noqa: PLR2004
        raise ValueError(f"key was {key!r}, must be 1 to 64 visible characters: as the table has it")


def check(options: TableOptions, keys: tuple[str, ...]) -> None:
    """Raise ValueError, naming options that do not fit each other."""
    if fault := next(_faults(options, keys), None):
        raise ValueError(fault)


def _faults(options: TableOptions, keys: tuple[str, ...]) -> Iterator[str]:
    if (options.path is None) == (not options.url):
        yield "path or url must be set, and not both"
    if (options.start is None) == (options.date is None):
        yield "start or date must be the column of the kick-off, and not both"
    if options.time is not None and options.date is None:
        yield "time was set without date; a column that has both is start"
    every = (*options.columns, *options.price_columns, *options.line_columns)
    if not (options.header or options.format == "jsonl") and any(isinstance(it, str) for it in every):
        yield "header was false: columns then must be numbers, from 1"
    if options.format == "jsonl" and any(isinstance(column, int) for column in every):
        yield 'format was "jsonl": columns then must be names of keys'
    if len({*options.outcomes}) < len(options.outcomes):
        yield "one, draw and two must be three columns"
    prices = (*options.price_columns, *{*options.line_columns})
    if twice := [column for column, count in Counter(prices).items() if count > 1]:
        yield f"column {twice[0]!r} is that of several prices or lines: each must have its own"
    yield from _faults_of_keys(options, keys)
    yield from _faults_of_times(options)


def _faults_of_keys(options: TableOptions, keys: tuple[str, ...]) -> Iterator[str]:
    count = sum(KEY in str(column) for column in options.outcomes)
    if count not in {0, len(options.outcomes)}:
        yield f"one, draw and two must all have {KEY} in them, or none"
    count = sum(KEY in str(column) for column in options.price_columns)
    if count not in {0, len(options.price_columns)}:
        yield f"all columns of prices must have {KEY} in them, or none"
    if not count and any(KEY in str(column) for column in options.line_columns):
        yield f"the column of a line has {KEY} in it: then all columns of prices must have it"
    if count and options.bookmaker is not None:
        yield f"bookmaker was set, and {KEY} is in one, draw and two: must be one or the other"
    if not count and options.bookmaker is None and len(keys) > 1:
        yield f"one, draw and two must have {KEY} in them, or bookmaker be set: there are {len(keys)} keys"


def _faults_of_times(options: TableOptions) -> Iterator[str]:
    name, pattern = options.timezone, options.date_format
    if name is not None and zone_named(name) is None:
        near = did_you_mean(name, available_timezones())
        yield f"timezone was {name!r}, must be an IANA name like 'Europe/Berlin'{near}"
    if pattern in {UNIX, UNIX_MS}:
        if options.time is not None:
            yield f"date_format was {pattern!r}, which has the time: must be start, not date and time"
        return
    if pattern != ISO and (fault := _fault_of_pattern(pattern, has_clock=options.time is not None)):
        yield f"date_format was {pattern!r}, {fault}"
    if name is None and (options.date is not None or (pattern != ISO and "%z" not in pattern)):
        yield "timezone is missing, must be the IANA name of the zone of its times, like 'Europe/Berlin'"


def _fault_of_pattern(pattern: str, *, has_clock: bool) -> str:
    """Return the fault of a pattern: a written moment must be read again as itself, or as its day."""
    moment = datetime(2026, 12, 31, 13, 45, tzinfo=UTC)
    try:
        read = datetime.strptime(moment.strftime(pattern), pattern).replace(tzinfo=UTC)
    except (ValueError, re.error):
        read = None
    if read == moment and has_clock:
        return "must be the pattern of the date alone, as there is a column time"
    if read in {moment, moment.replace(hour=0, minute=0)}:
        return ""
    patterns = '"%d/%m/%Y", "%d/%m/%Y %H:%M" or "%m/%d/%Y %I:%M %p"'
    return f'must be "iso", "unix", "unix_ms" or a pattern like {patterns}'


@lru_cache(maxsize=16)
def zone_named(name: str) -> ZoneInfo | None:
    """Return the time zone with this name, None if there is none."""
    try:
        zone = ZoneInfo(name)
        datetime(2026, 1, 1, tzinfo=zone).utcoffset()
    except (KeyError, ValueError, OSError):  # an unknown zone, an impossible name, or a folder of zones
        return None
    return zone
