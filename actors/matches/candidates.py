"""The fixtures whose highest prices would be a surebet, and when all of them are evaluated again.

Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

from msgspec import Struct

from actors.core.clock import Instant
from actors.matching.event import FixtureId

EVERY_S = 1.0


class Candidate(Struct, frozen=True, gc=False):
    """A surebet that is believed `since` then (Unix seconds), and may be shown from `appears` on.

    While it is shown it ends by itself `until` then, or at `kick_off` (Unix seconds). All other times are
    monotonic seconds; infinity for never.
    """

    since: float = 0.0
    appears: float = inf
    until: float = inf
    kick_off: float = inf


class Candidates(Struct, frozen=True, eq=False):
    """All candidates by fixture: evaluated again at `due`, or when the first that is shown ends."""

    by_fixture: Mapping[FixtureId, Candidate] = {}
    due: float = inf
    until: float = inf
    kick_off: float = inf

    def is_due(self, now: Instant) -> bool:
        """Return whether all are to be evaluated."""
        return min(self.due, self.until) <= now.mono or self.kick_off <= now.wall

    def changed(self, changes: Mapping[FixtureId, Candidate | None], due: float) -> Candidates:
        """Return these candidates with changes; None removes a candidate."""
        merged = {**self.by_fixture, **changes}
        every = {name: candidate for name, candidate in merged.items() if candidate is not None}
        return Candidates(
            every,
            due if every else inf,
            min([candidate.until for candidate in every.values()], default=inf),
            min([candidate.kick_off for candidate in every.values()], default=inf),
        )
