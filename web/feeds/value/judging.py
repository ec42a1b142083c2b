"""Judges the fixtures of the newest boards by a reference.

The judgement of a fixture is kept until the fixture, or the age of its prices, changes
(`actors/value/kept.py`).
"""

from __future__ import annotations

from typing import Final

from actors.board.snapshot import Snapshot
from actors.core.clock import Instant
from actors.core.messages import BookmakerId
from actors.markets.market import Kind
from actors.matches.candidates import Books
from actors.matches.model import Fixture, FixtureView, fixtures_of
from actors.value.kept import KeptValues
from actors.value.values import Value, ValueTerms
from web.feeds.subscribers import Live

MAX_KEPT: Final = 24
"""Pairs of a reference and a kind of market whose judgements are kept."""
JUDGED: Final = 4
"""Fixtures judged in a step: with 50 bookmakers two milliseconds if all of them have changed."""


class Judging:
    """The judgements of the fixtures on the boards of `live`, by kind of market and reference."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._kept: dict[tuple[Kind, BookmakerId | None], KeptValues] = {}

    def newest(self, view: FixtureView) -> Snapshot:
        """Return the newest board of a view's kind of market."""
        return self._live.of(view).board.newest

    def kept_of(self, view: FixtureView, snapshot: Snapshot, reference: BookmakerId | None) -> KeptValues:
        """Return the judgements of a kind of market by a reference, with the terms of a board."""
        state, key = fixtures_of(snapshot), (view.market.kind, reference)
        kept = self._kept.pop(key, None)
        if kept is None or kept.terms.fixtures is not state.terms:
            kept = KeptValues(ValueTerms(state.terms, reference))
        self._kept[key] = kept
        kept.fit(state)
        if len(self._kept) > MAX_KEPT:
            del self._kept[next(iter(self._kept))]
        return kept


def confirmed_at(books: Books, fixture: Fixture, value: Value, now: Instant) -> float:
    """Return when the price of a value was confirmed, in Unix seconds, by the books of its judgement."""
    name = value.bookmaker
    return now.wall - (now.mono - books[name].vouched_mono(fixture.entries[name]))
