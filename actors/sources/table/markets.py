"""Reads the columns of markets other than 1X2. Pure.

[sources.own.markets."over_under:2.5"]      [sources.own.markets.asian_handicap]
over = "O2.5"                               line = "Line"      # goals added to the home team
under = "U2.5"                              home = "AH 1"
                                            away = "AH 2"
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from msgspec import Struct

from actors.core.messages import Match, Removal, SourceMatchId, market_id
from actors.core.validation import Reason
from actors.markets.market import FORMS, OUTCOMES, Kind, Market, market_of, parsed
from actors.sources.table.odds import ALLOWED, JsonNumber, is_of_two_formats, price
from actors.sources.table.options import LINE, Column, TableOptions, with_key

MAX_NOTES: Final = 20  # notes in a bookmaker's list

# A leading zero is refused: a decimal comma may have split a number there.
_NUMBER = re.compile(r"[+-]?(0|[1-9][0-9]?)(\.[0-9]{1,4})?").fullmatch
_SHOWN_CHARS = 40


class MarketColumns(Struct, frozen=True):
    """The place of a market: columns of its outcomes in order, and its line or the line's column."""

    kind: Kind
    outcomes: tuple[Column, ...]
    market: Market | None = None
    line: Column | None = None

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns of the market."""
        return self.outcomes if self.line is None else (self.line, *self.outcomes)


class Found:
    """The matches, removals and notes read from a bookmaker's rows."""

    def __init__(self, options: TableOptions) -> None:
        self.matches: list[Match] = []
        self.removals: list[Removal] = []
        self.passed_over = Counter[str]()
        self.notes: list[str] = []
        self._options = options

    def note(self, texts: Iterable[str]) -> None:
        """Add notes while there is room."""
        if (room := MAX_NOTES - len(self.notes)) > 0:
            self.notes += islice(texts, room)

    def odds(self, written: Iterable[str]) -> list[float]:
        """Return prices; 0.0 for an invalid price."""
        return [
            price(text, self._options.odds_format, comma=self._options.decimal_comma) for text in written
        ]

    def add_markets(
        self, event: Match, number: int, places: Sequence[MarketColumns], cell: Callable[[Column], str]
    ) -> bool:
        """Add the other markets of line `number`; return whether it has any of their prices.

        Only a bad market itself is left out; if two places of a line give one market, both are rejected.
        """
        seen, has_any = set[SourceMatchId](), False
        for place in places:
            written = {str(column): cell(column) for column in place.outcomes}
            blank = [not text.strip() for text in written.values()]
            if all(blank):
                continue
            has_any = True
            try:
                market = place.market or market_of(place.kind, _line(cell(place.line or ""), self._options))
            except ValueError as error:
                self.note([f"line {number}: {place.line}: {error}"])
                self.passed_over[Reason.UNREADABLE] += 1
                continue
            self.note(notes_of(number, written, self._options))
            match_id, odds = market_id(event.event_id, market), self.odds(written.values())
            if match_id in seen:
                self.removals.append(Removal(match_id, Reason.DUPLICATE))
            elif any(blank):
                self.removals.append(Removal(match_id, Reason.INCOMPLETE))
            elif min(odds) <= 1.0:
                self.removals.append(Removal(match_id, Reason.PRICE))
            else:
                self.matches.append(event.of_market(market, tuple(odds)))
            seen.add(match_id)
        return has_any


def columns_of(name: str, columns: Mapping[str, Column], key: str | None = None) -> MarketColumns:
    """Return the place of a configured market, for the bookmaker of a key.

    Raises: ValueError with the fault and the allowed values.
    """
    has_line = name in {*Kind} and FORMS[Kind(name)].lines is not None
    market = None if has_line else parsed(name)
    kind = Kind(name) if market is None else market.kind
    if kind is Kind.ONE_X_TWO:
        raise ValueError("was '1x2', whose columns are one, draw and two")
    needed = (*([LINE] if has_line else []), *OUTCOMES[kind])
    if {*needed} != columns.keys():
        found = ", ".join(columns) or "nothing"
        raise ValueError(f"{name} has {found}, must have {', '.join(needed)}")
    placed = {role: column if key is None else with_key(column, key) for role, column in columns.items()}
    return MarketColumns(kind, tuple(placed[each] for each in OUTCOMES[kind]), market, placed.get(LINE))


def faults_of_markets(options: TableOptions) -> Iterator[str]:
    """Yield the faults of the columns of markets."""
    if (options.home_price, options.draw_price, options.away_price).count(None) not in {0, 3}:
        yield "one, draw and two must all be set, or none"
    elif not options.price_columns:
        yield "one, draw and two must be set, or a table markets"
    for name, columns in options.markets.items():
        try:
            columns_of(name, columns)
        except ValueError as error:
            yield f"markets: {error}"


def notes_of(number: int, written: Mapping[str, str], options: TableOptions) -> Iterator[str]:
    """Yield notes on a line's prices: invalid prices, and prices that fit two formats."""
    if not any(map(str.strip, written.values())):
        return
    for column, cell in written.items():
        told, written_as = f"line {number}: {column} was {cell[:_SHOWN_CHARS]!r}", options.odds_format
        if price(cell, written_as, comma=options.decimal_comma) <= 1.0:
            allowed = ALLOWED[written_as]
            yield f"{told}, must be {allowed.replace('.', ',') if options.decimal_comma else allowed}"
        elif written_as != "fractional" and is_of_two_formats(cell):
            yield f"{told}, read as {written_as}: decimal and American odds may be written so"


def _line(cell: str, options: TableOptions) -> float:
    """Read a line in goals. Raises: ValueError."""
    text = cell.strip().replace("\u2212", "-")
    if options.decimal_comma and not isinstance(cell, JsonNumber):
        text = text.replace(".", "x").replace(",", ".")
    if not _NUMBER(text):
        like = "2,5" if options.decimal_comma else "2.5"
        raise ValueError(f"the line was {cell[:_SHOWN_CHARS]!r}, must be a number like {like}")
    return float(text)
