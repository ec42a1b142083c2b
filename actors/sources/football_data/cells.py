"""What a cell of a football-data.co.uk file says: a price, or the line of a handicap. Pure."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from actors.markets.market import Kind, Market, market_of

MAX_CELL_CHARS: Final = 256  # a longer cell is cut: it must not fill the caches below

# A price. A leading zero is refused: it may be what a decimal comma has cut off.
_PRICE = re.compile(r"(0|[1-9][0-9]{0,5})(\.[0-9]{1,20})?").fullmatch
_LINE = re.compile(r"[+-]?(0|[1-9][0-9]?)(\.[0-9]{1,4})?", re.ASCII).fullmatch


@lru_cache(maxsize=8192)
def price_in(cell: str) -> float | None:
    """Read a price: None for a blank, 0.0, which is never accepted, for what is no plain number."""
    cell = cell.strip()
    if not cell:
        return None
    return float(cell) if _PRICE(cell) else 0.0


@lru_cache(maxsize=1024)
def handicap_in(cell: str) -> Market | None:
    """Read the home team's line of an Asian handicap; None if no handicap has such a line."""
    cell = cell.strip()
    if not _LINE(cell):
        return None
    try:
        return market_of(Kind.ASIAN_HANDICAP, float(cell))
    except ValueError:
        return None
