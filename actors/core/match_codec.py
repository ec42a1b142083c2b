"""The fields of `Match`, listed once: their types, and which fields readers of lists see.

Pure. Formats and comparisons take the fields from here, so that a new field is in all of them.
"""

from __future__ import annotations

from operator import attrgetter, contains
from typing import Any, Final, get_args

from msgspec.structs import astuple, fields

from actors.core.messages import Match
from actors.markets.market import ONE_X_TWO, Market

_MARKET_FIELDS: Final = ("market", "odds")
FIELDS: Final[dict[str, Any]] = {
    field.name: field.type for field in fields(Match) if field.name not in _MARKET_FIELDS
}
"""The type of each field of a 1X2 match, in the constructor's order."""

_UNLISTED: Final = ("latest_start", "in_play", "url")  # fields that lists do not show
# Only surebets publish fee and stake, and their legs are entries.
_CONTENT: Final = tuple(
    [name for name in FIELDS if name not in {"source_match_id", "source_time", *_UNLISTED}] + ["odds"]
)
_content, _unlisted = attrgetter(*_CONTENT), attrgetter(*_UNLISTED)
_EXACT: Final = [
    frozenset(get_args(hint) or {getattr(hint, "__supertype__", hint)}) for hint in FIELDS.values()
]


def is_same(a: Match, b: Match) -> bool:
    """Return whether all public fields are equal, apart from the source's time."""
    return a is b or a == b or bool(_content(a) == _content(b))


def is_same_unlisted(a: Match, b: Match) -> bool:
    """Return whether the fields that lists do not show are equal."""
    return bool(_unlisted(a) == _unlisted(b))


def values_of(match: Match) -> tuple[Any, ...]:
    """Return the values of `FIELDS`, in their order."""
    return astuple(match)[: len(FIELDS)]


def is_exact(match: Match) -> bool:
    """Return whether each value is of exactly a type of its field, not of a subclass."""
    return _is_exact_market(match.market, match.odds) and all(
        map(contains, _EXACT, map(type, values_of(match)))
    )


def _is_exact_market(market: object, odds: object) -> bool:
    if type(odds) is not tuple:
        return False
    if market is ONE_X_TWO:
        return not odds
    return type(market) is Market and all(type(price) is float for price in odds)
