"""Lists are committed before the fixtures are made of what changed; nobody reads fixtures in between."""

from __future__ import annotations

from math import inf
from random import Random

import msgspec
import pytest

from actors.board.history import HistoryLimits
from actors.board.published import Published
from actors.board.snapshot import Snapshot
from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.messages import Batch, Removal, SourceMatchId
from actors.matches.history import FixtureHistory
from actors.matches.model import FixtureView, Kind, first_snapshot, fixtures_of
from tests.support.builders.fixtures import ADVANCING, ALDER, BIRCH, CEDAR, RULES, TERMS, LinkedBoard
from tests.support.builders.messages import batch, match
from tests.support.time.virtual import WALL_0, ManualClock

ALL = FixtureView(Kind.FIXTURES)
ONE, OTHER = (2.2, 3.9, 3.0), (2.0, 3.0, 4.2)  # together a surebet


class Later(LinkedBoard):
    """A board whose lists are committed first, as the aggregator does."""

    def apply(self, *batches: Batch) -> None:
        """Apply batches and commit the lists alone, if they show anything new."""
        board = self.board(self.advancing)
        for one in batches:
            run_now(board.apply(one, self.now))
        if board.shows_news:
            self.snapshot = msgspec.structs.replace(board.commit(), differences={})
        else:
            self.publish(board)

    def make(self) -> None:
        """Make the fixtures of all that was committed."""
        if self.snapshot.unapplied is not None:
            self.publish(self.board(self.advancing))


def _published() -> Published:
    return Published(first_snapshot(1000, TERMS), RULES, ManualClock(), advance=ADVANCING)


def _commit(published: Published, *batches: Batch) -> Snapshot:
    base = published.newest
    board = published.board(base)
    for one in batches:
        run_now(board.apply(one, Instant(one.received_mono, WALL_0)))
    assert published.replace(base, board.commit())
    return published.newest


@pytest.mark.anyio
async def test_lists_are_read_before_their_fixtures_are_made() -> None:
    """A reader of lists gets the newest ones at once; one of fixtures gets these made, in that version."""
    published = _published()
    _commit(published, batch([match("a")]))

    of_lists = await published.read_lists()
    before = _shown(of_lists)
    of_fixtures = await published.read()

    assert (1001, 1001) == (of_lists.version, of_fixtures.version)
    assert of_lists.books is of_fixtures.books
    assert ([], [["alder_a"]]) == (before, _shown(of_fixtures))
    assert 1001 == fixtures_of(of_fixtures).version(ALL)
    assert of_fixtures is await published.read() is await published.read_lists()


@pytest.mark.anyio
async def test_what_several_commits_changed_is_made_at_once() -> None:
    """Of an entry that changed twice the newest counts, and the views have the newest version."""
    published = _published()
    history = FixtureHistory(published.newest, HistoryLimits())
    published.follow(history.add, history.digest)
    _commit(published, batch([match("a", prices=(2.0, 3.5, 4.0)), match("b", home="Other")]))
    _commit(published, batch([match("a", prices=(2.1, 3.5, 4.0))], received_mono=1.0))

    snapshot = await published.read()
    changes = run_now(history.since(ALL, 1000))

    assert [["alder_a"]] == _shown(snapshot)
    assert [2.1] == [one.match.home_price for one in fixtures_of(snapshot)]
    assert changes is not None
    assert (1002, 1, 0) == (changes.version, len(changes.fixtures), len(changes.removed))


@pytest.mark.anyio
async def test_read_that_withdraws_makes_the_fixtures_too() -> None:
    """What is overdue goes in a version of its own, from lists and fixtures alike, whoever reads."""
    clock = ManualClock()
    published = Published(first_snapshot(1000, TERMS), RULES, clock, advance=ADVANCING)
    _commit(published, batch([match("a")]), batch([match("a")], bookmaker=CEDAR, stale_after_s=90.0))
    clock.pass_(40.0)

    snapshot = await published.read_lists()

    assert (1002, [["cedar_a"]], None) == (snapshot.version, _shown(snapshot), snapshot.unapplied)


def test_confirmation_in_a_commit_before_the_fixtures_counts_for_them() -> None:
    """A surebet that was gone for its age comes back, though prices of another match came with that."""
    board = Later()
    for name, prices, lasts in ((ALDER, ONE, 30.0), (BIRCH, OTHER, 300.0)):
        board.apply(batch([match(name, prices=prices)], bookmaker=name, stale_after_s=lasts))
    board.make()
    board.link()
    _pass_to(board, 20.0)
    board.apply(_confirmation(ALDER, 20.0, 30.0))
    _pass_to(board, 40.0)
    gone = [one.appears for one in board.state.watched.standing.values()]

    other = batch([match("c", home="Other")], bookmaker=CEDAR, received_mono=40.0)
    board.apply(_confirmation(BIRCH, 40.0, 300.0), other)
    is_late = board.snapshot.unapplied is not None
    board.make()

    assert ([inf], True) == (gone, is_late)
    assert [44.0] == [one.appears for one in board.state.watched.standing.values()]


def _confirmation(bookmaker: str, mono: float, lasts_s: float) -> Batch:
    return batch(complete=False, bookmaker=bookmaker, received_mono=mono, stale_after_s=lasts_s)


def _pass_to(board: LinkedBoard, second: float) -> None:
    """Let the time pass, with a commit at every moment at which the board changes by itself."""
    while (due := min(board.snapshot.valid_until, second)) > board.now.mono:
        board.now = Instant(due, WALL_0 + due)
        board.expire()


@pytest.mark.parametrize("seed", range(20))
def test_fixtures_made_later_are_those_made_at_once(seed: int) -> None:
    """After the same batches they have the same entries; if made after each commit, all is the same."""
    random, at_once, later = Random(seed), LinkedBoard(), Later()
    most = random.choice([1, 4])
    for step in range(60):
        for _ in range(random.randint(1, most)):
            some = _random_batch(random, step)
            at_once.apply(some)
            later.apply(some)
        later.make()
        if most == 1:
            assert _whole(at_once) == _whole(later)
        at_once.link()
        later.link()
        assert _entries(at_once) == _entries(later)
        second = at_once.now.mono + random.choice([0.0, 0.5, 5.0])
        at_once.now = later.now = Instant(second, WALL_0 + second)
        at_once.expire()
        later.expire()


def _random_batch(random: Random, step: int) -> Batch:
    """Return a change of one bookmaker's list, or the list anew."""
    name, ids = random.choice([ALDER, BIRCH, CEDAR]), random.sample("abc", random.randint(0, 3))
    matches = [match(one, home=f"Home {one}", prices=random.choice([ONE, OTHER])) for one in ids]
    gone = [Removal(SourceMatchId(one), "suspended") for one in "abc" if one not in ids]
    is_complete = step < 5 or random.random() < 0.2
    return batch(
        matches,
        removals=() if is_complete else gone,
        bookmaker=name,
        complete=is_complete,
        received_mono=step * 0.01,
        stale_after_s=1000.0,
    )


def _whole(board: LinkedBoard) -> object:
    versions = [
        board.state.version(FixtureView(kind, name)) for kind in Kind for name in (None, *TERMS.roster)
    ]
    fixtures = [(one.id, one.members, one.listed, one.highest, one.surebet) for one in board.state]
    return board.snapshot.version, versions, fixtures


def _entries(board: LinkedBoard) -> list[list[tuple[str, float]]]:
    return sorted([(entry.id, entry.match.home_price) for entry in one.listed] for one in board.state)


def _shown(snapshot: Snapshot) -> list[list[str]]:
    return [[one.id for one in fixture.listed] for fixture in fixtures_of(snapshot)]
