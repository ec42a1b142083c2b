"""The fields of `Match`, listed once: their types, and which of them readers of lists see.

Pure. Formats and comparisons take them from here, so that a new field is in all of them.
"""

from __future__ import annotations

from operator import attrgetter, contains
from typing import Any, Final, get_args

from msgspec.structs import astuple, fields

from actors.core.messages import Match

FIELDS: Final[dict[str, Any]] = {field.name: field.type for field in fields(Match)}
"""The type of each field, in their order: that of `astuple` and of the constructor."""

_UNLISTED: Final = ("latest_start", "in_play", "url")  # what lists do not show
# Fee and stake are public in surebets alone, whose legs are entries.
_CONTENT: Final = tuple(
    [name for name in FIELDS if name not in {"source_match_id", "source_time", *_UNLISTED}]
)
_content, _unlisted = attrgetter(*_CONTENT), attrgetter(*_UNLISTED)
_EXACT: Final = [
    frozenset(get_args(hint) or {getattr(hint, "__supertype__", hint)}) for hint in FIELDS.values()
]


def is_same(a: Match, b: Match) -> bool:
    """Return whether all that is public is the same, but for the time that the source gives for it."""
    return a is b or a == b or bool(_content(a) == _content(b))


def is_same_unlisted(a: Match, b: Match) -> bool:
    """Return whether what lists do not show is the same."""
    return bool(_unlisted(a) == _unlisted(b))


def is_exact(match: Match) -> bool:
    """Return whether each value is of exactly a type of its field, not of a subclass."""
    return all(map(contains, _EXACT, map(type, astuple(match))))
