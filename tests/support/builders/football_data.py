"""football-data.co.uk files for tests: functions that write and read them, and a second, simple parser.

`offers` follows the description of the source alone and shares no code with our parser, so that the
two can be compared, price by price, over real files.
"""

from __future__ import annotations

import calendar
import csv
import io
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from actors.core.cooperative import run_now
from actors.core.messages import BookmakerId, Extract, ListId, Match, Payload, Scope, SourceName
from actors.core.validation import Admission, admit
from actors.markets.market import Kind
from actors.source_api.kinds import bounds_of
from actors.sources.football_data.kind import KIND, FootballDataOptions, Sheet
from tests.support.builders.messages import batch

URL = "https://feed.example/fixtures.csv"
OPTIONS = FootballDataOptions(kind="football_data", url=URL)
ALL_MARKETS = FootballDataOptions(
    kind="football_data", url=URL, markets=(Kind.ONE_X_TWO, Kind.OVER_UNDER, Kind.ASIAN_HANDICAP)
)
"""Options that have every kind of market of the files read."""
COLUMNS = ("Div", "Date", "Time", "HomeTeam", "AwayTeam", "B365H", "B365D", "B365A")
ROW = ("XX", "14/02/2026", "15:00", "Alder Town", "Birch United", "2.10", "3.40", "3.60")

Odds = tuple[float, float, float]
SITE, FILE = "site", Scope("fixtures.csv")
BOOKMAKERS = {
    BookmakerId("bet365"): "B365",
    BookmakerId("bwin"): "BW",
    BookmakerId("betfair-exchange"): "BFE",
}
"""The bookmakers of `config`, and their keys."""


def config(**options: float) -> str:
    """Return a configuration of the source `SITE` and the three bookmakers; matches never expire."""
    options = {"poll_interval_s": 10.0, "timeout_s": 5.0, "stale_after_s": 30.0, **options}
    lines = ["[board]", "expire_after_kickoff_s = 1_000_000_000", "in_play_max_age_s = 1_000_000_000"]
    lines += [f"[sources.{SITE}]", 'kind = "football_data"', 'url = "http://site.example/fixtures.csv"']
    lines += [f"{name} = {value!r}" for name, value in options.items()]
    for bookmaker, key in BOOKMAKERS.items():
        lines += [f"[bookmakers.{bookmaker}]", f'name = "{bookmaker}"', f'source = "{SITE}"']
        lines.append(f'key = "{key}"')
    return "\n".join(lines)


def file_of(count: int, *keys: str) -> bytes:
    """Return a file of `count` matches at equal prices, of the bookmakers with these keys or of all."""
    triples = [tuple(key + side for side in "HDA") for key in keys or BOOKMAKERS.values()]
    rows = [(*changed(HomeTeam=f"Team {number}")[:5], *ROW[5:] * len(triples)) for number in range(count)]
    return csv_bytes(*rows, header=(*COLUMNS[:5], *(name for triple in triples for name in triple)))


def sheet(key: str, *prices: Odds) -> bytes:
    """Return a CSV file with one match for each triple of prices, all in 2099."""
    head = f"Div,Date,Time,HomeTeam,AwayTeam,{key}H,{key}D,{key}A"
    rows = (
        f"E0,02/05/2099,15:00,Home {number},Away {number},{home},{draw},{away}"
        for number, (home, draw, away) in enumerate(prices, 1)
    )
    return "\n".join([head, *rows, ""]).encode()


def one_match(over: str = "1.90", prices: Sequence[str] = ("2.10", "3.40", "3.60")) -> bytes:
    """Return a CSV file of a match in 2099 with prices of 1X2, a total of 2.5 and a handicap of -0.25."""
    head = (*COLUMNS, "B365>2.5", "B365<2.5", "AHh", "B365AHH", "B365AHA")
    names = ("E0", "02/05/2099", "15:00", "Alder Town", "Birch United")
    return csv_bytes((*names, *prices, over, "1.95", "-0.25", "1.88", "2.02"), header=head)


def csv_bytes(*rows: tuple[str, ...], header: tuple[str, ...] = COLUMNS, end: str = "\r\n") -> bytes:
    """Return a file as the site writes it: no quotes, UTF-8, CRLF."""
    return "".join(",".join(row) + end for row in (header, *rows)).encode()


def as_excel(lines: Sequence[str]) -> list[str]:
    """Return a file's lines as Excel writes them: in blocks of 16, each up to its last filled column."""
    written: list[str] = []
    for at in range(0, len(lines), 16):
        rows = [line.split(",") for line in lines[at : at + 16]]
        width = max(
            len(row) - next((n for n, cell in enumerate(row[::-1]) if cell), len(row)) for row in rows
        )
        written += [",".join(row[:width]) for row in rows]
    return written


def changed(row: tuple[str, ...] = ROW, /, **cells: str) -> tuple[str, ...]:
    """Return `row` with other cells, given by column name."""
    assert set(cells) <= set(COLUMNS)
    return tuple(cells.get(name, cell) for name, cell in zip(COLUMNS, row, strict=True))


def payload(body: bytes, source_time: float | None = None) -> Payload:
    """Return a payload with `body`."""
    return Payload(SourceName("site"), Scope("fixtures.csv"), ListId("list-1"), body, 0.0, 0.0, source_time)


@lru_cache(maxsize=1)  # as in the service, a file is decoded once for all bookmakers
def decoded(body: bytes, source_time: float | None = None) -> Sheet:
    """Decode a body with our parser. Raises: PayloadError."""
    sheet = run_now(KIND.decode(payload(body, source_time), OPTIONS))
    assert isinstance(sheet, Sheet)
    return sheet


def extracted(
    body: bytes,
    key: str = "B365",
    source_time: float | None = None,
    options: FootballDataOptions = OPTIONS,
) -> Extract:
    """Read one bookmaker's part of a body with our parser. Raises: PayloadError."""
    return run_now(KIND.extract(decoded(body, source_time), key, options))


def judged(body: bytes, key: str = "B365", options: FootballDataOptions = OPTIONS) -> Admission:
    """Return the result of the integrity gate for an extract, with the default bounds."""
    extract = extracted(body, key, options=options)
    bounds = bounds_of(KIND, key, options)
    return run_now(admit(batch(extract.matches, removals=extract.removals, kinds=()), bounds))


def shown(body: bytes, key: str = "B365") -> tuple[Match, ...]:
    """Return the matches that the board would show."""
    return judged(body, key).batch.matches


Content = tuple[str, str, int | None, tuple[float, float, float]]
"""Home, away, start (Unix seconds), prices: the values in which both parsers must agree."""


def content(match: Match) -> Content:
    """Return the values of a match that the simple parser must give as well."""
    prices = (match.home_price, match.draw_price, match.away_price)
    return match.home, match.away, match.start_time, prices


class Offer(NamedTuple):
    """The prices of one bookmaker in one row; `start` is Unix seconds, None where the file has no time."""

    division: str
    date: str
    home: str
    away: str
    start: int | None
    prices: tuple[float, float, float]

    @property
    def content(self) -> Content:
        """Return the values that a match of our parser must have."""
        return self.home, self.away, self.start, self.prices


def offers(body: bytes, code: str) -> list[Offer] | None:
    """Read the acceptable offers of one bookmaker simply, in file order; None without its columns."""
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = body.decode("cp1252")
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    triple = [code + side for side in "HDA"]
    if not set(triple) <= set(header):
        return None
    result = []
    for row in rows:
        cells = dict(zip(header, row, strict=False))
        prices = [_price(cells.get(name, "")) for name in triple]
        is_over = cells.get("FTHG") or cells.get("HG")
        most = 1.12 if code == "BFE" else 1.4  # an exchange: above this sum some are unmatched bids
        if is_over or not cells.get("Date") or min(prices) <= 1 or not 0.95 <= _book_sum(prices) <= most:
            continue
        home = cells.get("HomeTeam") or cells.get("Home") or cells.get("HT") or ""
        away = cells.get("AwayTeam") or cells.get("Away") or cells.get("AT") or ""
        start = kick_off(cells["Date"], cells.get("Time", ""))
        division = cells.get("Div") or f"{cells['Country']} {cells['League']}"
        names = (" ".join(home.split()), " ".join(away.split()))
        result.append(Offer(division, cells["Date"], *names, start, (prices[0], prices[1], prices[2])))
    return result


def kick_off(date: str, time: str) -> int | None:
    """Convert London wall time into Unix seconds by rule: one hour less from March to October."""
    if not time:
        return None
    day, month, year = (int(part) for part in date.split("/"))
    hour, minute = (int(part) for part in time.split(":"))
    year += 2000 if year < 100 else 0
    winter = calendar.timegm((year, month, day, hour, minute, 0))
    begin, end = (_last_sunday(year, month) + 3600 for month in (3, 10))
    return winter - 3600 if begin <= winter - 3600 < end else winter


def _last_sunday(year: int, month: int) -> int:
    last = max(week[calendar.SUNDAY] for week in calendar.monthcalendar(year, month))
    return calendar.timegm((year, month, last, 0, 0, 0))


def _price(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return 0.0


def _book_sum(prices: list[float]) -> float:
    return sum(1 / price for price in prices)
