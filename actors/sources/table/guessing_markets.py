"""Finds columns of markets other than 1X2 by plain words in the header. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from anyascii import anyascii

from actors.markets.market import OUTCOMES, Kind, market_of
from actors.sources.table.options import KEY, LINE

_OVER: Final = r"(?P<over>over|ueber|uber|o|>)|(?P<under>under|unter|u|<)"
_GOALS: Final = r"(?P<line>[0-9]{1,2}[.,][0-9]{1,2})"
# The lower-case part of a name behind the bookmaker; the group is the outcome.
_FORMS: Final[Mapping[Kind, tuple[str, ...]]] = {
    Kind.OVER_UNDER: (
        rf"(?:(?:totals?|goals|ou|odds)[ _-]*)?(?:{_OVER})[ _-]*{_GOALS}(?:[ _-]*(?:goals|odds))?",
        rf"{_GOALS}[ _-]*(?:goals[ _-]*)?(?:{_OVER})",
    ),
    Kind.BTTS: (r"(?:btts|both[ _-]?teams?[ _-]?to[ _-]?score)[ _.-]*(?:(?P<yes>yes|ja)|(?P<no>no|nein))",),
    Kind.DOUBLE_CHANCE: (
        r"(?:(?:dc|double[ _-]?chance|odds)[ _-]*)?(?:(?P<_1X>1x)|(?P<_12>12)|(?P<_X2>x2))",
    ),
}
# Names reduced to letters and digits, of markets whose line has its own column.
_WITH_LINE: Final[Mapping[Kind, Mapping[str, str]]] = {
    Kind.OVER_UNDER: {
        LINE: "totalline totalsline goalline goalsline ouline overunderline",
        "over": "over overodds oddsover overprice",
        "under": "under underodds oddsunder underprice",
    },
    Kind.ASIAN_HANDICAP: {
        LINE: "handicapline ahline asianhandicapline handicap asianhandicap",
        "home": "handicaphome ahhome asianhandicaphome",
        "away": "handicapaway ahaway asianhandicapaway",
    },
}

Found = dict[str, dict[str, str]]
"""The columns of each market, by outcome or `line`."""


def guessed_markets(
    priced: Sequence[str], values: Mapping[str, Sequence[str]], keys: Sequence[str]
) -> Found:
    """Return the columns of markets, found by their names.

    `priced` are the columns that contain only prices, `values` the values of every column. `keys` are the
    bookmakers' keys if each bookmaker has its own columns; then {key} replaces them in the names.
    """
    found: Found = {}
    for column in priced:
        for market, outcome, name in _said(column, keys):
            found.setdefault(market, {}).setdefault(outcome, name)
    if not keys:
        for kind, roles in _WITH_LINE.items():
            columns = {
                role: _named(names, values if role == LINE else priced) for role, names in roles.items()
            }
            if all(columns.values()) and all(_market(kind, cell) for cell in values[columns[LINE]]):
                found[kind] = columns
    return {
        market: columns
        for market, columns in found.items()
        if {*columns} >= {*OUTCOMES[Kind(market.partition(":")[0])]}
    }


def _said(column: str, keys: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield (market, outcome, name) for a column; `{key}` stands in the name for the bookmaker's key."""
    for key in keys or ("",):
        rest = column[len(key) :]
        if not column.startswith(key):
            continue
        text = anyascii(rest).lower().strip(" _-.:")
        for kind, forms in _FORMS.items():
            for hit in filter(None, (re.fullmatch(form, text) for form in forms)):
                outcome = next(name for name in OUTCOMES[kind] if hit.groupdict().get(_group(name)))
                market = _market(kind, hit["line"]) if kind is Kind.OVER_UNDER else str(kind)
                if market:
                    yield market, outcome, KEY + rest if key else column


def _group(outcome: str) -> str:
    return outcome if outcome.islower() else f"_{outcome}"


def _named(names: str, columns: Iterable[str]) -> str:
    plain = {re.sub("[^a-z0-9]", "", anyascii(column).lower()): column for column in columns}
    return next((plain[name] for name in names.split() if name in plain), "")


def _market(kind: Kind, line: str) -> str:
    """Return the name of the market with a line; "" for an invalid line."""
    try:
        return str(market_of(kind, float(line.replace(",", "."))))
    except ValueError:
        return ""
