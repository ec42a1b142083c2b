"""What URLs of fixtures show: a view, or some of its fixtures."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

from msgspec import Struct

from actors.board.snapshot import Book, Deadlines, Snapshot
from actors.core.messages import BookmakerId
from actors.matches.model import Fixture, FixtureView, ViewKind, fixtures_of
from web.encoding.fixture_forms import USUAL, Form


class FixturesOf(Struct, frozen=True):
    """A view of fixtures as a list in a form; it is serving while its bookmaker, or any, is."""

    view: FixtureView
    form: Form = USUAL

    @property
    def bookmaker(self) -> BookmakerId | None:
        """The only bookmaker, None for all."""
        return self.view.bookmaker

    def books(self, snapshot: Snapshot) -> Mapping[BookmakerId, Book]:
        """Return the books of which one must be serving."""
        if self.bookmaker is None:
            return snapshot.books
        return {self.bookmaker: snapshot.books[self.bookmaker]}

    def version(self, snapshot: Snapshot) -> int:
        """Return its version: the last commit that changed what it shows."""
        return fixtures_of(snapshot).version(self.view)

    def deadlines(self, snapshot: Snapshot) -> Deadlines:
        """Return when what it may show no longer holds: fixtures are shown whole."""
        return snapshot.deadlines

    @property
    def mark(self) -> str:
        """What its tags have besides the version, because the bytes depend on it."""
        return self.form.mark

    @property
    def link(self) -> Mapping[str, str]:
        """No other list replaces it."""
        return {}


class Choice(Struct, frozen=True):
    """Which fixtures of a view are shown: of a league, from and before a kick-off, with so much profit."""

    league: str | None = None
    begins_at: float = -inf
    ends_at: float = inf
    min_profit: float | None = None

    def has(self, fixture: Fixture) -> bool:
        """Return whether it is shown; one of an unknown kick-off is in no range of times."""
        start = fixture.place.start
        is_timed = self.begins_at > -inf or self.ends_at < inf
        if is_timed and not (self.begins_at <= start < self.ends_at and start < inf):
            return False
        if self.league is not None and (fixture.match.league or "Unknown") != self.league:
            return False
        surebet = fixture.surebet
        return self.min_profit is None or (surebet is not None and surebet.profit >= self.min_profit)


ALL = FixturesOf(FixtureView(ViewKind.FIXTURES))
EVERYTHING = Choice()
