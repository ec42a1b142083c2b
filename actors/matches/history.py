"""The changes of fixtures since a version: the last change of each, back to an oldest version."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from operator import attrgetter

from msgspec import Struct

from actors.board.history import History, HistoryLimits
from actors.board.snapshot import Snapshot
from actors.core.messages import BookmakerId
from actors.markets.market import ONE_X_TWO
from actors.matches.entries import is_other_event
from actors.matches.leagues import league_of_fixture
from actors.matches.model import (
    Fixture,
    FixtureChange,
    FixtureChanges,
    FixtureRemoval,
    FixtureSettings,
    FixtureView,
    Place,
    ViewKind,
    fixtures_of,
)
from actors.matching.event import FixtureId


class Gone(Struct, frozen=True, gc=False):
    """When and why a fixture left a view."""

    version: int
    reason: FixtureRemoval
    into: FixtureId | None = None


class FixtureRecord(Struct, frozen=True, eq=False, gc=False):
    """The last change of a fixture in the views of a kind: its new content, or why it has gone.

    `left` has the bookmakers whose views it left, and `left_leagues` the leagues; `league` is its current
    one. `terms` belong to its version. `was_main` says that it was its match's main line until this change.
    """

    id: FixtureId
    version: int
    fixture: Fixture | None
    gone: Gone | None
    left: Mapping[BookmakerId, Gone]
    terms: FixtureSettings
    league: str | None = None
    left_leagues: Mapping[str, Gone] = {}
    was_main: bool = False

    @property
    def place(self) -> Place | None:
        """Its sort key while it is shown."""
        return None if self.fixture is None else self.fixture.place

    def is_in(self, view: FixtureView) -> bool:
        """Return whether the view shows it."""
        if self.fixture is None or not (view.league is None or view.league == self.league):
            return False
        return view.has_market(self.fixture) and view.shows(self.fixture)

    @property
    def match_id(self) -> FixtureId:
        """The id that the fixtures of all markets of the match share."""
        return FixtureId(self.id.partition(" ")[0])

    def _was_in(self, view: FixtureView) -> bool:
        """Return whether it has the view's market, or was its match's main line when it left."""
        if view.is_of_main_lines:
            return self.was_main
        return view.market is ONE_X_TWO or view.has_every_line or self.id.endswith(f" {view.market}")

    def gone_from(self, view: FixtureView) -> Gone | None:
        """Return when and why a fixture left the view; None if it was not in the view before."""
        if not self._was_in(view):
            return None
        if view.is_of_main_lines and self.fixture is not None:  # now another line is the main line
            is_of_view = view.bookmaker is None or view.bookmaker in self.fixture.bookmakers
            return Gone(self.version, FixtureRemoval.NO_MARKET) if is_of_view else None
        if view.bookmaker is None and view.league is None:
            return self.gone
        shown = () if self.fixture is None else self.fixture.bookmakers
        found = list[Gone | None]()
        if view.bookmaker is not None and view.bookmaker not in shown:
            found.append(self.left.get(view.bookmaker))
        if view.league not in {None, self.league}:
            found.append(self.left_leagues.get(view.league))
        return min(filter(None, found), key=_version, default=None) if all(found) else None

    def left_at(self, view: FixtureView) -> int:
        """Return the version at which it left the view; 0 if it was never there."""
        gone = self.gone_from(view)
        return 0 if gone is None else gone.version


_version = attrgetter("version")
_WHOLE_VIEWS = {kind: FixtureView(kind) for kind in ViewKind}
_NOBODY: Mapping[BookmakerId, Gone] = {}
_NOWHERE: Mapping[str, Gone] = {}


class FixtureHistory(History[FixtureView, FixtureRecord]):
    """The changes of fixtures, for each kind of view; a view has all fixtures or one bookmaker's."""

    def __init__(self, first: Snapshot, limits: HistoryLimits) -> None:
        super().__init__(first, ViewKind, limits)

    def _begin(self, first: Snapshot) -> None:
        super()._begin(first)
        self._newest = fixtures_of(first)
        for kind, versions in self._newest.versions.items():
            self._latest |= {FixtureView(kind, name): version for name, version in versions.items()}
        self._first = self._newest.first_version

    def add(self, snapshot: Snapshot) -> None:
        """Add the newest snapshot, quickly; `digest` processes its changes."""
        super().add(snapshot)
        self._newest = fixtures_of(snapshot)

    def _versioned(self, view: FixtureView) -> FixtureView:
        return view.whole

    def _pending_in(self, view: FixtureView) -> int:
        return self._newest.pending_in(view)

    def _parts(self, view: FixtureView) -> Iterable[ViewKind]:
        return (view.kind,)

    def _views(self, snapshot: Snapshot) -> Collection[FixtureView]:
        changes = snapshot.fixture_changes
        return changes.views if isinstance(changes, FixtureChanges) else ()

    def _records(self, snapshot: Snapshot) -> Iterator[tuple[ViewKind, FixtureRecord]]:
        if isinstance(snapshot.fixture_changes, FixtureChanges):
            for change in snapshot.fixture_changes.changes:
                for kind in _kinds_of(change):
                    yield kind, self._record(kind, change, snapshot)

    def _record(self, kind: ViewKind, change: FixtureChange, snapshot: Snapshot) -> FixtureRecord:
        view, version, terms = _WHOLE_VIEWS[kind], snapshot.version, fixtures_of(snapshot).terms
        before, after = (
            fixture if fixture is not None and view.shows(fixture) else None
            for fixture in (change.before, change.after)
        )
        old = self._kept[kind].get(change.id)
        left = _NOBODY if old is None else old.left
        gone = None
        if before is None or after is None or before.bookmakers != after.bookmakers:
            is_of_surebet = kind is not ViewKind.FIXTURES and change.after is not None and after is None
            gone = Gone(version, change.surebet_reason if is_of_surebet else change.reason, change.into)
            stays = () if after is None else after.bookmakers
            went = () if before is None else before.bookmakers
            split = dict.fromkeys(change.apart.intersection(went), Gone(version, FixtureRemoval.SPLIT))
            every = {**left, **dict.fromkeys(went, gone), **split}
            left = {name: departure for name, departure in every.items() if name not in stays}
        league = None if after is None else _league(after, old)
        departure = gone if league is None and gone is not None else Gone(version, FixtureRemoval.LEAGUE)
        left_leagues = _left_leagues(before, old, league, departure)
        is_gone = gone if after is None else None
        was_main = before is not None and before.is_main and not (after is not None and after.is_main)
        found = (change.id, version, after, is_gone, left, terms, league, left_leagues)
        return FixtureRecord(*found, was_main)


def _kinds_of(change: FixtureChange) -> Iterator[ViewKind]:
    """Return the kinds of view that show a change."""
    seen = [fixture for fixture in (change.before, change.after) if fixture is not None]
    if not change.is_of_weak:
        yield ViewKind.FIXTURES
        if any(fixture.surebet is not None for fixture in seen):
            yield ViewKind.SUREBETS
    if any(fixture.market.quarters is not None and fixture.standing is not None for fixture in seen):
        yield ViewKind.WEAK


def _left_leagues(
    before: Fixture | None, old: FixtureRecord | None, league: str | None, departure: Gone
) -> Mapping[str, Gone]:
    """Return the leagues that a fixture left, given its current `league`."""
    left = _NOWHERE if old is None else old.left_leagues
    if before is not None and (was := _league(before, old)) != league:
        left = {**left, was: departure}
    return {name: gone for name, gone in left.items() if name != league} if league in left else left


def _league(fixture: Fixture, known: FixtureRecord | None) -> str:
    """Return the league of a fixture, from the record of its last change if only prices have changed."""
    if known is not None and known.league is not None and _is_named_as(fixture, known.fixture):
        return known.league
    return league_of_fixture(fixture).id


def _is_named_as(fixture: Fixture, known: Fixture | None) -> bool:
    if fixture is known or known is None:
        return known is not None
    if (fixture.lead, fixture.bookmakers, fixture.head) != (known.lead, known.bookmakers, known.head):
        return False
    listed = zip(fixture.listed, known.listed, strict=True)
    return not any(is_other_event(old, new) for new, old in listed if new is not old)
