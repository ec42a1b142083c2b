"""Reads a cell of a football-data.co.uk file: a price, or the line of a handicap. Pure."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from actors.markets.market import Kind, Market, market_of

MAX_CELL_CHARS: Final = 256  # a longer cell is cut, so that it does not fill the caches below

# A price. A leading zero is refused: a decimal comma may have split a number there.
_PRICE = re.compile(r"(0|[1-9][0-9]{0,5})(\.[0-9]{1,20})?").fullmatch
_LINE = re.compile(r"[+-]?(0|[1-9][0-9]?)(\.[0-9]{1,4})?", re.ASCII).fullmatch


@lru_cache(maxsize=8192)
def price_in(cell: str) -> float | None:
    """Read a price: None for a blank; 0.0, which is never accepted, for anything but a plain number."""
    cell = cell.strip()
    if not cell:
        return None
    return float(cell) if _PRICE(cell) else 0.0


@lru_cache(maxsize=1024)
def handicap_in(cell: str) -> Market | None:
    """Read the home team's line of an Asian handicap; None if it is not a valid line."""
    cell = cell.strip()
    if not _LINE(cell):
        return None
    try:
        return market_of(Kind.ASIAN_HANDICAP, float(cell))
    except ValueError:
        return None
