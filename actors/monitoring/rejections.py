"""Holds which listed matches of a bookmaker are not shown now, and which were rejected last. Pure.

Counters of rejected matches, unlike this, grow with every list.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping

from msgspec import Struct

from actors.core.messages import Batch, Match, Scope, SourceMatchId
from actors.core.validation import Reason, RefusedMatch, cleaned

MAX_IDS = 5  # shown ids of a reason
MAX_NOTED = 20_000  # remembered ids of a scope; further ones are only counted
MAX_KEPT = 20

FAULTY = frozenset({Reason.UNREADABLE, Reason.TYPE, Reason.MATCH_ID, Reason.START_TIME})
"""Reasons that lie in the source's text, not in its offer: a part of it could not be read."""

OUTSIDE = frozenset({Reason.PAST, Reason.AHEAD, "finished", "closed"})
"""Reasons that lie in the match's time: a source with only such matches has nothing to show now."""

_REASONS = frozenset(Reason)
_GONE = frozenset({"withdrawn", "finished", "closed"})  # in a delta: the match is no longer listed


class RejectedNow(Struct, frozen=True):
    """The matches that are rejected now for a reason: how many, and the source's ids of the first."""

    count: int
    match_ids: tuple[str, ...]


class Rejections:
    """The matches of each scope's newest list, and of its later changes, that are not shown.

    An id that two scopes list, as while a match moves, counts once.
    """

    def __init__(self) -> None:
        self._named: dict[Scope, dict[SourceMatchId, str]] = {}
        self._others: dict[Scope, Counter[str]] = {}
        self._left_out: dict[Scope, Counter[str]] = {}

    def note(self, batch: Batch, rejected: Mapping[str, int]) -> Mapping[str, int]:
        """Take a batch and its `rejected` counts by reason; return these, with unnamed matches added."""
        scope = batch.scope
        if batch.complete or batch.withdrawn:
            for known in (self._named, self._others, self._left_out):
                known.pop(scope, None)
        named, unnamed = self._named.get(scope, {}), 0
        for match in batch.matches:
            if not match.is_named:
                named[match.source_match_id] = Reason.UNNAMED
                unnamed += 1
            elif named:
                named.pop(match.source_match_id, None)
        for removal in batch.removals:
            named.pop(removal.source_match_id, None)
            is_listed = batch.complete or removal.reason not in _GONE
            if is_listed and removal.source_match_id and len(named) < MAX_NOTED:
                named[removal.source_match_id] = removal.reason
        if named:
            self._named[scope] = named
        if batch.complete:
            counts = Counter({reason: count for reason, count in rejected.items() if reason in _REASONS})
            self._others[scope] = counts - Counter(named.values())
        return {**rejected, Reason.UNNAMED: unnamed} if unnamed else rejected

    def note_left_out(self, scope: Scope, left_out: Mapping[str, int]) -> None:
        """Take the numbers of matches of a complete list that the board left out, by reason."""
        self._left_out[scope] = +Counter(left_out)

    def now(self, lists: Container[Scope] | None = None) -> dict[str, RejectedNow]:
        """Return the rejected matches by reason, in no order; only of `lists`, if given."""
        found = self._not_shown(lists).items()
        return {reason: rejected for reason, rejected in found if reason in _REASONS}

    def counts(self, lists: Container[Scope] | None = None) -> dict[str, int]:
        """Return the number of listed matches that are not shown (rejected or not on offer), by reason."""
        return {reason: rejected.count for reason, rejected in sorted(self._not_shown(lists).items())}

    def reason_of(self, match_id: SourceMatchId) -> str | None:
        """Return why a match is rejected now; None if it is accepted, or was only counted (`MAX_NOTED`)."""
        found = (named.get(match_id) for named in self._named.values())
        return next((reason for reason in found if reason in _REASONS), None)

    def markets_of(self, event_id: SourceMatchId) -> dict[SourceMatchId, str]:
        """Return why markets of an event other than 1X2 are rejected now, by their ids."""
        begin = f"{event_id} "
        return {
            match_id: reason
            for named in self._named.values()
            for match_id, reason in named.items()
            if match_id.startswith(begin) and reason in _REASONS
        }

    def is_any_of_now(self, lists: Container[Scope] | None) -> bool:
        """Return whether these lists have matches that are not shown for a reason other than their time."""
        return not OUTSIDE.issuperset(self._not_shown(lists))

    def in_words(
        self, lists: Container[Scope] | None, shown: int, names_error: str | None = None
    ) -> str | None:
        """Return in words why listed matches are not shown; None if that is ordinary, such as a suspension.

        `shown` matches of these lists are on the board; `names_error` is why names are missing.
        """
        counts = self.counts(lists)
        if names_error is not None and (unnamed := counts.get(Reason.UNNAMED)):
            return f"the names of {unnamed} matches are missing: {names_error}"
        if not shown and self.is_any_of_now(lists):
            found = ", ".join(f"{reason} {count}" for reason, count in counts.items())
            return f"its source lists matches, but none of them can be shown: {found}"
        for scope in {**self._named, **self._others}:
            if lists is not None and scope not in lists:
                continue
            of_scope = self.counts({scope})
            if unread := sum(of_scope.get(reason, 0) for reason in FAULTY):
                return f"{scope}: {unread} of its matches cannot be read, the others are shown"
        return None

    def _not_shown(self, lists: Container[Scope] | None) -> dict[str, RejectedNow]:
        by_id: dict[SourceMatchId, str] = {}
        counts = Counter[str]()
        for scope in {**self._named, **self._others, **self._left_out}:
            if lists is None or scope in lists:
                by_id |= self._named.get(scope, {})
                counts += self._others.get(scope, Counter())
                counts += self._left_out.get(scope, Counter())
        ids: dict[str, list[SourceMatchId]] = {}
        for match_id, reason in by_id.items():
            ids.setdefault(reason, []).append(match_id)
        return {
            reason: RejectedNow(counts[reason] + len(found := ids.get(reason, [])), tuple(found[:MAX_IDS]))
            for reason in {**ids, **counts}
        }


class KeptRejected(Struct, frozen=True):
    """A match that was rejected at `at` (Unix seconds); its names are cleaned."""

    at: float
    scope: Scope
    match: Match
    reason: str


class NewestRejected:
    """The newest rejected matches, each once, by its last rejection; it may be accepted since."""

    def __init__(self) -> None:
        self._kept: dict[tuple[Scope, SourceMatchId], KeptRejected] = {}

    def __iter__(self) -> Iterator[KeptRejected]:
        """Iterate over the matches, the newest last."""
        return iter(tuple(self._kept.values()))

    def note(self, scope: Scope, refused: Iterable[RefusedMatch], at: float) -> None:
        """Record matches of a list that were rejected at `at` (Unix seconds)."""
        for found in refused:
            key = scope, found.match.source_match_id
            self._kept.pop(key, None)
            self._kept[key] = KeptRejected(at, scope, cleaned(found.match), found.reason)
        for key in list(self._kept)[:-MAX_KEPT]:
            del self._kept[key]
