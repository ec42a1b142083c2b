"""Which matches of a bookmaker are rejected now, and which were last, at what prices. Pure.

Unlike the counters, which grow with every list.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from actors.core.messages import Batch, Match, Scope, SourceMatchId
from actors.core.validation import Reason, RefusedMatch, cleaned

MAX_IDS = 5  # that are shown of a reason
MAX_NOTED = 20_000  # of a scope; of a list with more the rest is only counted
MAX_KEPT = 20

FAULTY = frozenset({Reason.UNREADABLE, Reason.TYPE, Reason.MATCH_ID, Reason.START_TIME})
"""Reasons of which the source's text is the cause, and no offer: a part of it could not be read."""

_REASONS = frozenset(Reason)


class Rejected(Struct, frozen=True):
    """How many matches are rejected now for a reason, and the source's ids of the first."""

    count: int
    match_ids: tuple[SourceMatchId, ...]


class Rejections:
    """What is rejected of each scope's newest list, and of its changes since."""

    def __init__(self) -> None:
        self._named: dict[Scope, dict[SourceMatchId, str]] = {}
        self._others: dict[Scope, Counter[str]] = {}

    def note(self, batch: Batch, rejected: Mapping[str, int]) -> None:
        """Take a batch that was judged, with what was `rejected` of it, by reason."""
        scope = batch.scope
        if batch.complete or batch.withdrawn:
            self._named.pop(scope, None)
            self._others.pop(scope, None)
        named = self._named.get(scope, {})
        for match in batch.matches if named else ():
            named.pop(match.source_match_id, None)
        for removal in batch.removals:
            named.pop(removal.source_match_id, None)
            if removal.reason in _REASONS and removal.source_match_id and len(named) < MAX_NOTED:
                named[removal.source_match_id] = removal.reason
        if named:
            self._named[scope] = named
        if batch.complete:
            known = Counter({reason: count for reason, count in rejected.items() if reason in _REASONS})
            self._others[scope] = known - Counter(named.values())

    def now(self) -> dict[str, Rejected]:
        """Return them by reason, in no order."""
        counts = sum(self._others.values(), Counter[str]())
        ids: dict[str, list[SourceMatchId]] = {}
        for named in self._named.values():
            for match_id, reason in named.items():
                ids.setdefault(reason, []).append(match_id)
        return {
            reason: Rejected(counts[reason] + len(found := ids.get(reason, [])), tuple(found[:MAX_IDS]))
            for reason in {**ids, **counts}
        }

    def reason_of(self, match_id: SourceMatchId) -> str | None:
        """Return why a match is rejected now, None if it is not, or if its list has too many such."""
        found = (named.get(match_id) for named in self._named.values())
        return next((reason for reason in found if reason is not None), None)

    def in_words(self) -> str | None:
        """Return how many parts of which list could not be read, None if all could."""
        for scope in {**self._named, **self._others}:
            counts = self._others.get(scope, Counter()) + Counter(self._named.get(scope, {}).values())
            if unread := sum(counts[reason] for reason in FAULTY):
                return f"{scope}: {unread} of its matches cannot be read, the others are shown"
        return None


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
