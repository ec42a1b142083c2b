"""The values of a board's fixtures, computed when they are read, and kept as long as nothing changes them.

A fixture is judged anew if it, or the set of its prices that are young enough, differs from before.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from msgspec import Struct
from msgspec.structs import replace

from actors.core.clock import Instant
from actors.core.cooperative import SLICE
from actors.matches.candidates import Books
from actors.matches.entries import start_of
from actors.matches.model import Fixture, FixtureState
from actors.matching.event import FixtureId
from actors.value.values import Counted, Quoted, Value, ValueTerms, counted, judged, quoted


class _Judged(Struct, frozen=True, eq=False):
    """A fixture, its kick-off (Unix seconds; minus infinity once begun), and the values of some prices."""

    fixture: Fixture
    kick_off: float
    quoted: Quoted
    compared: Counted | None = None
    values: Sequence[Value] = ()


class KeptValues:
    """The values by one reference; equal to `values_of` at any time."""

    def __init__(self, terms: ValueTerms) -> None:
        self.terms = terms
        self._kept: dict[FixtureId, _Judged] = {}

    def values(self, fixture: Fixture, books: Books, now: Instant) -> Sequence[Value]:
        """Return the values of a fixture at `now`, the highest first."""
        known, settings = self._kept.get(fixture.id), self.terms.fixtures
        if known is None or known.fixture is not fixture:
            kick_off, has_begun = start_of(fixture, settings.roster.live)
            quotes = quoted(fixture, settings, None if known is None else known.quoted)
            known = _Judged(fixture, -inf if has_begun else kick_off, quotes)
        if known.kick_off > now.wall:
            compared = counted(fixture, books, settings, now)
            if compared != known.compared:
                values = judged(fixture, known.quoted, compared, self.terms)
                known = replace(known, compared=compared, values=values)
        self._kept[fixture.id] = known
        return known.values if known.kick_off > now.wall else ()

    def fit(self, state: FixtureState) -> None:
        """Keep the values of twice as many fixtures as the board has; the oldest are dropped first."""
        while len(self._kept) > 2 * len(state.places) + SLICE:
            del self._kept[next(iter(self._kept))]
