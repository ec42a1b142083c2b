"""The rules of what may be shown, written a second time, without the code of the integrity gate."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from math import isfinite

from actors.core.cooperative import run_now
from actors.core.messages import Extract, Match
from actors.core.validation import Bounds, admit
from actors.markets.market import Kind
from tests.support.builders.messages import batch

BOOK_SUMS = {
    "1x2": (0.95, 1.40),
    "over_under": (0.97, 1.20),
    "asian_handicap": (0.97, 1.20),
    "btts": (0.97, 1.20),
    "double_chance": (1.94, 2.60),
}
LINES = {"over_under": (0.25, 20), "asian_handicap": (-10, 10)}
_ID = re.compile(r"[A-Za-z0-9._~-]{1,128}").fullmatch
_FORBIDDEN = {"Cc", "Cf", "Cs"}
_JOINERS = "\u200c\u200d"


class InvalidPriceError(AssertionError):
    """A match passed the gate that may not be shown."""


def admitted(*extracts: Extract | None) -> int:
    """Pass an extract through the gate; return how many prices passed.

    Raises: InvalidPriceError for a match that may not be shown.
    """
    total = 0
    for extract in extracts:
        if extract is not None:
            bounds = Bounds(kinds=tuple(Kind))
            passed = run_now(admit(batch(extract.matches, removals=extract.removals, kinds=()), bounds))
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
    return sum(len(match.prices) for match in listed)


def _fault(match: Match) -> str:
    if not all(isfinite(price) and price > 1.0 for price in match.prices):
        return "price"
    if fault := _fault_of_market(match):
        return fault
    if not all(map(_is_clean, (match.home, match.away, match.league or "-"))):
        return "name"
    if match.start_time is not None and not 0 < match.start_time <= 4_102_444_800:
        return "start"
    is_timed = match.source_time is None or isfinite(match.source_time)
    return "" if is_timed else "source time"


def _fault_of_market(match: Match) -> str:
    kind, _, line = str(match.market).partition(":")
    least, most = BOOK_SUMS[kind]
    lowest, highest = LINES.get(kind, (0, 0))
    event_id, _, market = match.source_match_id.partition(" ")
    if not least <= sum(1 / price for price in match.prices) <= most:
        return "book sum"
    if not lowest <= float(line or 0) <= highest or float(line or 0) % 0.25:
        return "line"
    is_ours = market == ("" if kind == "1x2" else str(match.market))
    return "" if is_ours and _ID(event_id) is not None else "id"


def _is_clean(name: str) -> bool:
    if name.isascii() and name.isprintable():
        return " ".join(name.split()) == name and len(name) <= 128
    return (
        name == unicodedata.normalize("NFC", " ".join(name.split()))
        and len(name) <= 128
        and all(text in _JOINERS or unicodedata.category(text) not in _FORBIDDEN for text in name)
    )
