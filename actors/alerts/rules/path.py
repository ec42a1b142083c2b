"""The path of a fixture's fair probabilities: the sum of the changes that prices alone made. Pure.

The consensus of a fixture also changes when a bookmaker comes or goes, or a link is made or ended. The path
leaves those changes out: it moves by the change of the consensus between two commits that have the same
entries in the consensus, and stays where it is at every other commit.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable

from actors.board.snapshot import Entry
from actors.markets.odds import of_all_winners, of_one_winner
from actors.matches.fair import consensus, fair
from actors.matches.model import Fixture, FixtureSettings
from actors.matching.event import Chances

Ended = deque[tuple[float, float]]
"""Former positions, each with the time (monotonic) at which it ended, the oldest first."""


class Path:
    """The positions of each outcome in the last `window_s`, the first of them 0."""

    def __init__(self, window_s: float, count: int) -> None:
        self._window_s = window_s
        self._basis: Hashable = None
        self._chances: Chances | None = None
        self._at = [0.0] * count
        self._high: list[Ended] = [deque() for _ in range(count)]
        self._low: list[Ended] = [deque() for _ in range(count)]

    @property
    def chances(self) -> Chances | None:
        """The consensus now, None if there is none."""
        return self._chances

    def take(self, basis: Hashable, chances: Chances | None, mono: float) -> None:
        """Take the consensus of a commit, and the entries in it."""
        before, is_same = self._chances, basis == self._basis
        self._basis, self._chances = basis, chances
        if before is None or chances is None or not is_same or before == chances:
            return
        for outcome, (old, new) in enumerate(zip(before, chances, strict=True)):
            position = self._at[outcome]
            high, low = self._high[outcome], self._low[outcome]
            while high and high[-1][1] <= position:
                high.pop()
            while low and low[-1][1] >= position:
                low.pop()
            high.append((mono, position))
            low.append((mono, position))
            self._at[outcome] = position + (new - old)

    def moved(self, outcome: int, mono: float) -> float:
        """Return the largest change, up or down, from a position in the window that ends at `mono`."""
        position, begin = self._at[outcome], mono - self._window_s
        high, low = self._high[outcome], self._low[outcome]
        for ended in (high, low):
            while ended and ended[0][0] <= begin:
                ended.popleft()
        down = high[0][1] - position if high else 0.0
        up = position - low[0][1] if low else 0.0
        return up if up >= down else -down


class Consensus:
    """The consensus of one fixture; the chances of unchanged entries are reused."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Entry, Chances]] = {}
        self._found: tuple[Fixture, FixtureSettings, tuple[Hashable, Chances | None]] | None = None

    def of(self, fixture: Fixture, terms: FixtureSettings) -> tuple[Hashable, Chances | None]:
        """Return the ids of the entries that count, and the probability of each outcome, if there is one.

        In a handicap that has begun, bookmakers count different goals: there is no consensus. Several rules
        ask for the consensus of one state.
        """
        if self._found is None or self._found[0] is not fixture or self._found[1] is not terms:
            self._found = fixture, terms, self._of(fixture, terms)
        return self._found[2]

    def _of(self, fixture: Fixture, terms: FixtureSettings) -> tuple[Hashable, Chances | None]:
        live, outdone = terms.roster.live, fixture.superseded(fixture.bookmakers)
        listed = zip(fixture.bookmakers, fixture.listed, strict=True)
        counted = [entry for name, entry in listed if name in live and name not in outdone]
        basis = tuple([entry.id for entry in counted])
        if fixture.has_begun:
            return basis, None
        self._known = {entry.id: self._of_entry(entry, fixture, terms) for entry in counted}
        found = consensus([chances for _, chances in self._known.values()])
        return basis, None if found is None else of_all_winners(fixture.market, found)

    def _of_entry(self, entry: Entry, fixture: Fixture, terms: FixtureSettings) -> tuple[Entry, Chances]:
        known = self._known.get(entry.id)
        if known is not None and known[0] is entry:
            return known
        return entry, fair(terms.method, of_one_winner(fixture.market, entry.match.prices))
