"""The newest statement about each match, from any list. Pure.

Lists are read at different intervals: an older list may still have a match as future that a newer list has
in play, at another time, or not on offer. The older list does not count for this match until it is read
again.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from math import inf

from msgspec import Struct

from actors.core.messages import SourceMatchId
from actors.sources.five_dollar_football.wire import Fixture, Row

NEVER = 0  # stands for the kick-off of a match that a list has with two kick-offs or states


class Statement(Struct, frozen=True):
    """The kick-off (Unix seconds) and state of a match in a list requested at `since_mono`."""

    since_mono: float
    start: int
    status: str


class Newest:
    """The newest statement on each match."""

    def __init__(self) -> None:
        self._said: dict[SourceMatchId, Statement] = {}

    def take(self, rows: Iterable[Row], since_mono: float) -> None:
        """Take the matches of a list that was requested at `since_mono` (monotonic seconds)."""
        for row in rows:
            if row.fixture is None:
                continue
            name, start = id_of(row.fixture), int(row.fixture.kickoff_ts)
            said = self._said.get(name)
            if said is not None and said.since_mono == since_mono and not self.has(row.fixture):
                start = NEVER
            if said is None or said.since_mono <= since_mono:
                self._said[name] = Statement(since_mono, start, row.fixture.status)

    def keep(self, names: Container[SourceMatchId]) -> None:
        """Forget all matches except these."""
        self._said = {name: said for name, said in self._said.items() if name in names}

    def has(self, fixture: Fixture) -> bool:
        """Return whether `fixture` is the newest statement on its match."""
        return self.is_so(id_of(fixture), int(fixture.kickoff_ts), fixture.status)

    def is_so(self, name: SourceMatchId, start: int, status: str, since_mono: float = -inf) -> bool:
        """Return whether the newest statement on a match says this, and was requested then or later."""
        said = self._said.get(name)
        return said is None or (
            said.since_mono >= since_mono and (said.start, said.status) == (start, status)
        )


def id_of(fixture: Fixture) -> SourceMatchId:
    """Return the id of a match."""
    return SourceMatchId(str(int(fixture.id)))
