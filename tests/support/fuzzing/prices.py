"""What may be shown, said a second time and without the code of the integrity gate."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from math import isfinite

from actors.core.cooperative import run_now
from actors.core.messages import Extract, Match
from actors.core.validation import Bounds, admit
from tests.support.builders.messages import batch

PRICES = 3
_ID = re.compile(r"[A-Za-z0-9._~-]{1,128}").fullmatch
_FORBIDDEN = {"Cc", "Cf", "Cs"}
_JOINERS = "\u200c\u200d"


class InvalidPriceError(AssertionError):
    """A match passed the gate that may not be shown."""


def admitted(*extracts: Extract | None) -> int:
    """Pass what was read through the gate; return how many prices came out.

    Raises: InvalidPriceError for a match that may not be shown.
    """
    total = 0
    for extract in extracts:
        if extract is not None:
            passed = run_now(admit(batch(extract.matches, removals=extract.removals), Bounds()))
            total += valid(passed.batch.matches)
    return total


def valid(matches: Iterable[Match]) -> int:
    """Return the number of prices. Raises: InvalidPriceError for a match that may not be shown."""
    listed = tuple(matches)
    for match in listed:
        if fault := _fault(match):
            raise InvalidPriceError(f"{fault}: {match}")
    if len({match.source_match_id for match in listed}) < len(listed):
        raise InvalidPriceError("an id is there twice")
    return PRICES * len(listed)


def _fault(match: Match) -> str:
    prices = (match.home_price, match.draw_price, match.away_price)
    if not all(isfinite(price) and price > 1.0 for price in prices):
        return "price"
    if not 0.95 <= sum(1 / price for price in prices) <= 1.40:
        return "book sum"
    if _ID(match.source_match_id) is None:
        return "id"
    if not all(map(_is_clean, (match.home, match.away, match.league or "-"))):
        return "name"
    if match.start_time is not None and not 0 < match.start_time <= 4_102_444_800:
        return "start"
    is_timed = match.source_time is None or isfinite(match.source_time)
    return "" if is_timed else "source time"


def _is_clean(name: str) -> bool:
    if name.isascii() and name.isprintable():
        return " ".join(name.split()) == name and len(name) <= 128
    return (
        name == unicodedata.normalize("NFC", " ".join(name.split()))
        and len(name) <= 128
        and all(text in _JOINERS or unicodedata.category(text) not in _FORBIDDEN for text in name)
    )
