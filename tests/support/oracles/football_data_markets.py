"""Totals and handicaps of football-data.co.uk files, read a second time: with `csv` and decimals alone.

An independent reading: it shares nothing with the source, and follows the description of the columns.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import NamedTuple

MOST = {"BFE": Decimal("1.12")}
LEAST_SUM, MOST_SUM = Decimal("0.97"), Decimal("1.20")
PREFIX = {"PS": "P"}

Key = tuple[str, str, str]
"""Home, away, and the market as it is spelled."""


class Reading(NamedTuple):
    """The other markets of a bookmaker that may be shown, and how many are refused, by reason."""

    shown: dict[Key, tuple[float, float]]
    refused: Counter[str]


def reading(body: bytes, code: str) -> Reading:
    """Read the other markets of a bookmaker, over/under before the handicap of each row."""
    prefix = PREFIX.get(code, code)
    header, rows = _rows(body)
    found = Reading({}, Counter())
    for row in rows:
        if not row.get("Date") or row.get("FTHG") or row.get("HG"):
            continue
        home, away = (" ".join(row[name].split()) for name in _teams(header))
        for market, names in (
            ("over_under:2.5", (f"{prefix}>2.5", f"{prefix}<2.5")),
            (_handicap(row, prefix), (f"{prefix}AHH", f"{prefix}AHA")),
        ):
            prices = [_number(row.get(name, "")) for name in names]
            if header.issuperset(names) and any(row.get(name) for name in names):
                _add(found, (home, away, market or ""), prices, MOST.get(code, MOST_SUM))
        closing = (f"{prefix}C>2.5", f"{prefix}C<2.5", f"{prefix}CAHH", f"{prefix}CAHA")
        if any(row.get(name) for name in closing):
            found.refused["market"] += 1
    return found


@lru_cache(maxsize=1)
def _rows(body: bytes) -> tuple[frozenset[str], list[dict[str, str]]]:
    """Return the names of the columns, and the rows by column name."""
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = body.decode("cp1252")
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    named = [{name: cell.strip() for name, cell in zip(header, row, strict=False)} for row in rows]
    return frozenset(header), named


def _add(found: Reading, key: Key, prices: list[Decimal | None], most: Decimal) -> None:
    first, second = prices
    if not key[2]:
        found.refused["line"] += 1
    elif first is None or second is None:
        found.refused["incomplete"] += 1
    elif min(first, second) <= 1:
        found.refused["price"] += 1
    elif not LEAST_SUM <= 1 / first + 1 / second <= most:
        found.refused["book_sum"] += 1
    else:
        found.shown[key] = (float(first), float(second))


def _teams(header: frozenset[str]) -> tuple[str, str]:
    pairs = (("HomeTeam", "AwayTeam"), ("Home", "Away"), ("HT", "AT"))
    return next(pair for pair in pairs if pair[0] in header)


def _handicap(row: dict[str, str], prefix: str) -> str | None:
    """Return the handicap in the spelling of the home team's line; None without a possible line."""
    line = _number(row.get(f"{prefix}AH", row.get("AHh", "")))
    if line is None or line % Decimal("0.25") or abs(line) > 10:
        return None
    return f"asian_handicap:{line.normalize() + 0:f}"


def _number(cell: str) -> Decimal | None:
    try:
        return Decimal(cell)
    except InvalidOperation:
        return None
