"""The history of fixtures: the changes that lead from any version of a view to the newest version."""

from __future__ import annotations

from random import Random

import pytest

from actors.board.history import HistoryLimits
from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.messages import BookmakerId, Match, SourceName
from actors.matches.history import FixtureHistory
from actors.matches.leagues import league_of_fixture
from actors.matches.model import (
    OF_EVERY_MARKET,
    BookmakerInfo,
    FixtureRemoval,
    FixtureSettings,
    FixtureState,
    FixtureView,
    ViewKind,
    roster_of,
)
from actors.matching.event import FixtureId
from tests.support.builders.fixtures import ALDER, BIRCH, CEDAR, LinkedBoard
from tests.support.builders.messages import batch, match
from tests.support.simulation.linked import check_entries, check_surebets
from tests.support.time.virtual import WALL_0

ALL = FixtureView(ViewKind.FIXTURES)
LASTS_S = {ALDER: 9.0, BIRCH: 60.0, CEDAR: 45.0}
VIEWS = [FixtureView(kind, name) for kind in OF_EVERY_MARKET for name in (None, ALDER, BIRCH, CEDAR)]
LABELS = {
    ALDER: (None, "Division Nine"),
    BIRCH: ("England - Division Nine", "Italy - Division Nine"),
    CEDAR: ("Division Nine", "England - Division Nine"),
}
LEAGUES = (":", ":Division Nine", "england:divisionnine", "italy:divisionnine")
OF_LEAGUES = [
    FixtureView(kind, name, league)
    for kind, name in ((ViewKind.FIXTURES, None), (ViewKind.FIXTURES, BIRCH), (ViewKind.SUREBETS, None))
    for league in LEAGUES
]

Shown = dict[FixtureId, tuple[object, ...]]


def shown(state: FixtureState, view: FixtureView) -> Shown:
    """Return what a view shows of each fixture."""
    return {
        fixture.id: (
            tuple(fixture.entries.items()),
            fixture.surebet,
            [(each.key, each.rule) for each in fixture.members],
        )
        for fixture in state
        if view.shows(fixture) and view.league in {None, league_of_fixture(fixture).id}
    }


def _reasons(board: LinkedBoard, view: FixtureView, since: int) -> list[str]:
    """Return the reasons for which fixtures left a view."""
    recent = run_now(board.history.since(view, since))
    assert recent is not None
    return [gone.reason for record in recent.gone if (gone := record.gone_from(view)) is not None]


def test_removal_says_why_and_into_what() -> None:
    """The removal of a merged fixture names its new fixture; the removal of an ended fixture does not."""
    board = LinkedBoard()
    board.apply(batch([match("a")], bookmaker=ALDER))
    board.apply(batch([match("b")], bookmaker=BIRCH))
    before = board.snapshot.version
    board.link()
    (stayed,) = board.fixtures()
    merged = run_now(board.history.since(ALL, before))
    board.apply(batch([], bookmaker=ALDER))
    ended = run_now(board.history.since(FixtureView(ViewKind.FIXTURES, ALDER), board.snapshot.version - 1))

    assert merged is not None
    assert ended is not None
    (left,) = merged.gone
    assert left.gone is not None
    assert (FixtureRemoval.MERGED, stayed.id) == (left.gone.reason, left.gone.into)
    assert [(stayed.id, {ALDER: FixtureRemoval.ENDED})] == [
        (record.id, {name: gone.reason for name, gone in record.left.items()}) for record in ended.gone
    ]


def test_fixture_of_another_league_leaves_with_that_reason() -> None:
    """When a source names the league more exactly, the fixture moves to the view of its new league."""
    board = LinkedBoard()
    board.apply(batch([match("a", league="Division Nine")], bookmaker=ALDER))
    before = board.snapshot.version
    board.apply(batch([match("b", league="England - Division Nine")], bookmaker=BIRCH))
    board.link()
    (fixture,) = board.fixtures()
    old, new = (FixtureView(ViewKind.FIXTURES, None, f"{key}") for key in LEAGUES[1:3])
    leads_to = run_now(board.history.since(new, before))

    assert [FixtureRemoval.LEAGUE] == _reasons(board, old, before)
    assert leads_to is not None
    assert [fixture.id] == [record.id for record in leads_to.shown]
    assert board.history.latest(ALL) == leads_to.version == board.history.latest(old)


@pytest.mark.parametrize("others", [[], [match("other", home="C")]])
def test_match_that_leaves_a_fixture_as_that_merges_is_split(others: list[Match]) -> None:
    """For the bookmaker of that match the fixture is split, because the rest merged into another match."""
    c, b, a = names = [BookmakerId(name) for name in ("c", "b", "a")]
    board = LinkedBoard(
        FixtureSettings(roster_of({name: BookmakerInfo(SourceName(name)) for name in names}))
    )
    for name, listed in (
        (c, [match(c, home="C")]),
        (a, [match(a, home="A")]),
        (b, [match(b, home="A"), *others]),
    ):
        board.apply(batch(listed, bookmaker=name))
    board.link()
    before = board.snapshot.version
    board.apply(batch([match(a, home="C")], bookmaker=a, list_id="2"))
    board.link()
    views = [FixtureView(ViewKind.FIXTURES, name) for name in (None, a, b)]

    assert [["merged"], ["merged"], ["split"]] == [_reasons(board, view, before) for view in views]


def test_bookmaker_that_leaves_a_surebet_that_stays_has_ended() -> None:
    """The fixture still has its surebet; only that bookmaker has left the surebet."""
    board = LinkedBoard()
    board.apply(batch([match("a", prices=(2.2, 3.9, 3.0))], bookmaker=ALDER))
    board.apply(batch([match("b", prices=(2.0, 3.0, 4.2))], bookmaker=BIRCH))
    board.apply(batch([match("a", prices=(2.0, 3.0, 4.0))], bookmaker=CEDAR))
    board.link()
    board.now = Instant(2.0, WALL_0 + 2.0)
    board.expire()
    before = board.snapshot.version
    board.apply(batch([], bookmaker=CEDAR, received_mono=2.0))
    views = [FixtureView(kind, name) for kind in OF_EVERY_MARKET for name in (CEDAR, ALDER)]

    assert all(fixture.surebet is not None for fixture in board.fixtures())
    assert [["ended"], [], ["ended"], []] == [_reasons(board, view, before) for view in views]


def test_listeners_get_the_views_that_changed() -> None:
    """A change of one fixture changes the whole view and the views of its bookmakers."""
    board, heard = LinkedBoard(), set[FixtureView]()
    board.history.subscribe(heard.update)
    board.apply(batch([match("a")], bookmaker=ALDER))
    run_now(board.history.digest())

    assert {ALL, FixtureView(ViewKind.FIXTURES, ALDER)} == heard


def test_newest_version_of_a_view_is_known_whatever_was_dropped() -> None:
    """A client with the newest list of a view missed nothing, although other changes fill the history."""
    board, view = LinkedBoard(), FixtureView(ViewKind.FIXTURES, ALDER)
    board.history = FixtureHistory(board.snapshot, HistoryLimits(max_changes=1))
    board.apply(batch([match("a")], bookmaker=ALDER))
    newest = board.history.latest(view)
    board.apply(batch([match("b", home="Other")], bookmaker=BIRCH))
    board.apply(batch([match("c", home="Another")], bookmaker=BIRCH))
    recent = run_now(board.history.since(view, newest))

    assert recent is not None
    assert (newest, [], []) == (recent.version, recent.shown, recent.gone)
    assert run_now(board.history.since(view, newest - 1)) is None


class Life:
    """Random lists, prices, confirmations, waits, links and restarts of the linker."""

    def __init__(self, seed: int) -> None:
        self.board = LinkedBoard()
        self.random = Random(seed)

    def step(self) -> None:
        """Do one random thing."""
        draw = self.random.random()
        if draw < 0.45:
            self._list()
        elif draw < 0.7:
            self.board.link()
        elif draw < 0.75:
            self.board.restart()
        elif draw < 0.85:
            self.board.propose()
            self.board.publish_links()
        else:
            self._wait()

    def _list(self) -> None:
        board, random = self.board, self.random
        name = random.choice((ALDER, BIRCH, CEDAR))
        prices = [(2.0, 3.4, 4.0), (2.2, 3.9, 3.0), (2.0, 3.0, 4.4), (12.0, 6.0, 1.2)]
        homes = ("Home", "Other", "Else", "")
        matches = [
            match(
                f"{at}",
                home=random.choice(homes[: 2 + (random.random() < 0.3) * 2]),
                league=random.choice(LABELS[name]),
                prices=random.choice(prices[: 3 + (random.random() < 0.2)]),
                start_time=int(WALL_0) + 3600 * random.choice((1, 1, 2)),
            )
            for at in range(3)
            if random.random() < 0.8
        ]
        is_complete = random.random() < 0.5
        mono, lasts_s = board.now.mono, LASTS_S[name]
        change = batch(
            matches, bookmaker=name, complete=is_complete, received_mono=mono, stale_after_s=lasts_s
        )
        board.apply(change)

    def _wait(self) -> None:
        board = self.board
        second = board.now.mono + self.random.choice((1.0, 2.5, 4.0, 4.0, 20.0))
        while board.snapshot.valid_until <= second:
            at = board.snapshot.valid_until
            board.now = Instant(at, WALL_0 + at)
            board.expire()
        board.now = Instant(second, WALL_0 + second)
        for name, lasts_s in LASTS_S.items():
            if self.random.random() < 0.7:
                change = batch(complete=False, bookmaker=name, received_mono=second, stale_after_s=lasts_s)
                board.apply(change)


@pytest.mark.parametrize("seed", range(12))
def test_changes_lead_from_every_version_to_the_newest(seed: int) -> None:
    """For each view, one version always shows the same, and changes to an older one give the newest.

    Every entry of the board is in exactly one fixture, and no surebet has a leg that is not on the board.
    """
    life = Life(seed)
    board = life.board
    seen: dict[FixtureView, dict[int, Shown]] = {view: {1000: {}} for view in (*VIEWS, *OF_LEAGUES)}
    for _ in range(150):
        life.step()
        state = board.state
        for view, versions in seen.items():
            now = shown(state, view)
            assert now == versions.setdefault(state.version(view), now)
            since = life.random.choice(list(versions))
            recent = run_now(board.history.since(view, since))
            assert recent is not None
            patched = {**versions[since]}
            for gone in recent.gone:
                patched.pop(gone.id, None)
            for record in recent.shown:
                patched[record.id] = shown(state, view)[record.id]
            assert (now, max(state.version(view), since)) == (patched, recent.version)
        check_entries(board.snapshot)
        check_surebets(board.snapshot, board.now)


def test_a_history_that_begins_in_the_middle_has_the_versions_of_the_views() -> None:
    """If another process built the board before, a view that nothing changed keeps its old version."""
    board = LinkedBoard()
    board.apply(batch([match("a")], bookmaker=ALDER))
    board.apply(batch([match("b")], bookmaker=BIRCH))
    anew = FixtureHistory(board.snapshot, HistoryLimits())

    assert [board.history.latest(view) for view in VIEWS] == [anew.latest(view) for view in VIEWS]
    assert 1 < len({anew.latest(view) for view in VIEWS})
