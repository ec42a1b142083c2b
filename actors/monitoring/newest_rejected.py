"""The matches of a bookmaker that were rejected last, as they were then: where a price is missed. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from actors.core.messages import Match, Scope, SourceMatchId
from actors.core.validation import RefusedMatch, cleaned

MAX_KEPT = 20


class KeptRejected(Struct, frozen=True):
    """A match as it was when it was rejected, at `at` (Unix seconds); its names can be shown."""

    at: float
    scope: Scope
    match: Match
    reason: str


class NewestRejected:
    """The newest of them, rejected still or not; of each match the last time counts."""

    def __init__(self) -> None:
        self._kept: dict[tuple[Scope, SourceMatchId], KeptRejected] = {}

    def __iter__(self) -> Iterator[KeptRejected]:
        """Iterate over them, the newest last."""
        return iter(tuple(self._kept.values()))

    def note(self, scope: Scope, refused: Iterable[RefusedMatch], at: float) -> None:
        """Take matches of a list that were rejected at `at` (Unix seconds)."""
        for found in refused:
            key = scope, found.match.source_match_id
            self._kept.pop(key, None)
            self._kept[key] = KeptRejected(at, scope, cleaned(found.match), found.reason)
        for key in list(self._kept)[:-MAX_KEPT]:
            del self._kept[key]
