"""Reads written prices: decimal, American or fractional. Pure."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

MAX_CELL_CHARS: Final = 256  # a longer cell is not a price, and must not fill the cache
MIN_AMERICAN: Final = 100

# A leading zero is refused: a decimal comma may have split a number there.
_POINT = re.compile(r"(0|[1-9][0-9]{0,5})(\.[0-9]{1,20})?").fullmatch
_COMMA = re.compile(r"(0|[1-9][0-9]{0,5})(,[0-9]{1,20})?").fullmatch
_AMERICAN = re.compile(r"([+-]?)([1-9][0-9]{2,5})").fullmatch
_FRACTION = re.compile(r"([0-9]{1,4})/([1-9][0-9]{0,3})").fullmatch
_EVENS: Final = frozenset({"even", "evens", "evs"})

ALLOWED: Final = {
    "decimal": "a decimal number above 1, like 2.10",
    "american": "American odds, like +150 or -200",
    "fractional": "a fraction, like 5/2",
}


class JsonNumber(str):
    """A JSON number as written: it has a decimal point, even if texts have a comma."""

    __slots__ = ()


def price(cell: str, odds_format: str, *, comma: bool) -> float:
    """Return a decimal price; a cell in another format gives 0.0, which is never accepted."""
    return _price(cell.strip(), odds_format, comma and not isinstance(cell, JsonNumber))


def is_of_two_formats(cell: str) -> bool:
    """Return whether a cell can be decimal or American odds, like 150."""
    found = _AMERICAN(cell.strip())
    return found is not None and not found[1]


@lru_cache(maxsize=8192)
def _price(cell: str, odds_format: str, comma: bool) -> float:  # noqa: FBT001 - the cache needs positions
    if len(cell) > MAX_CELL_CHARS:
        return 0.0
    match odds_format:
        case "decimal":
            return float(cell.replace(",", ".")) if (_COMMA if comma else _POINT)(cell) else 0.0
        case "american":
            return 2.0 if cell.lower() in _EVENS else _of_american(cell.replace("\u2212", "-"))
        case _:
            found = _FRACTION(cell)
            return 2.0 if cell.lower() in _EVENS else 1 + int(found[1]) / int(found[2]) if found else 0.0


def _of_american(cell: str) -> float:
    """Return decimal odds: +150 wins 150 on a stake of 100, and -200 wins 100 on 200."""
    if (found := _AMERICAN(cell)) is None:
        return 0.0
    amount = int(found[2])
    return 1 + MIN_AMERICAN / amount if found[1] == "-" else 1 + amount / MIN_AMERICAN
