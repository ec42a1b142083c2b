"""The fixtures whose prices would be a surebet, and when each is to be looked at again.

Pure, in slices. There may be hundreds, of a source with wrong prices all that it lists. Nearly all commits
concern none of them: what is due is kept, not searched.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

from immutables import Map
from msgspec import Struct, field

from actors.core.clock import Instant
from actors.core.cooperative import SLICE, Sliced
from actors.core.messages import BookmakerId
from actors.matching.event import FixtureId


class Standing(Struct, frozen=True, gc=False):
    """Prices of a fixture that make a surebet, `since` when (Unix seconds), to be looked at again at `due`.

    It is shown from `appears` on (monotonic seconds, as `due`); infinity while it is doubted. `lapses`
    counts how often it was taken off because of that. A confirmation by one of `awaited` may change what it
    is.
    The match begins at `kick_off` (Unix seconds). Once it is in play none is shown, unless the clock was
    wrong.
    """

    due: float
    appears: float
    since: float
    lapses: int
    awaited: frozenset[BookmakerId] = frozenset()
    kick_off: float = inf
    is_in_play: bool = False


class Watchlist(Struct, frozen=True, eq=False):
    """What stands by fixture; the first is `due` at that monotonic second, or begins at `kick_off` (Unix).

    `open` are those that a confirmation may change. Before `begun` (Unix seconds), the latest kick-off of
    those in play, the wall clock must have been set back.
    """

    standing: Map[FixtureId, Standing] = field(default_factory=Map)
    open: frozenset[FixtureId] = frozenset()
    due: float = inf
    kick_off: float = inf
    begun: float = -inf

    def is_due(self, now: Instant) -> bool:
        """Return whether any is to be looked at because of the time."""
        return self.due <= now.mono or self.kick_off <= now.wall or now.wall < self.begun

    def changed(self, changes: Mapping[FixtureId, Standing | None]) -> Sliced[Watchlist]:
        """Return the list with these; None takes one off."""
        if not changes:
            return self
        mutation, is_bound = self.standing.mutate(), False
        for count, (name, one) in enumerate(changes.items(), 1):
            old = mutation.pop(name, None)
            is_bound = is_bound or (old is not None and self._is_bound_by(old))
            if one is not None:
                mutation[name] = one
            if count % SLICE == 0:
                yield
        standing = mutation.finish()
        ones, known = (standing, Watchlist()) if is_bound else (changes, self)
        due, kick_off, begun = known.due, known.kick_off, known.begun
        for count, one in enumerate(ones.values(), 1):
            if one is not None:
                due = min(due, one.due)
                if one.is_in_play:
                    begun = max(begun, one.kick_off)
                else:
                    kick_off = min(kick_off, one.kick_off)
            if count % SLICE == 0:
                yield
        awaiting = {name for name, one in changes.items() if one is not None and one.awaited}
        return Watchlist(standing, self.open.difference(changes) | awaiting, due, kick_off, begun)

    def _is_bound_by(self, one: Standing) -> bool:
        """Return whether a time of the list is this one's."""
        return one.due == self.due or one.kick_off in {self.kick_off, self.begun}
