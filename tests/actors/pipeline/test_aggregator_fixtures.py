"""The aggregator publishes lists first, then the fixtures of what changed; a crash there is a batch's."""

from __future__ import annotations

from collections import Counter

import pytest

from actors.board.board import Books, Noted
from actors.board.published import Published
from actors.board.snapshot import Linked, Snapshot
from actors.core.clock import Instant
from actors.core.cooperative import Sliced, run_now
from actors.core.messages import BookmakerId, SourceMatchId
from actors.matches.model import first_snapshot, fixtures_of
from actors.monitoring.status import BookmakerState
from actors.pipeline.aggregator import AggregatorActor
from actors.runtime.actor import ActorState
from actors.runtime.conflation import Intake, merged_batches
from actors.runtime.mailbox import Mailbox
from actors.runtime.supervisor import ChildSpec
from tests.support.builders.fixtures import ADVANCING, ALDER, BIRCH, CEDAR, ROSTER, RULES, TERMS
from tests.support.builders.messages import batch, match
from tests.support.systems.supervision import service_record, supervised
from tests.support.time.virtual import WALL_0, VirtualClock, settle

pytestmark = pytest.mark.anyio

HOSTILE = SourceMatchId("hostile")


class Stage:
    """An aggregator on a board that links, whose fixtures cannot be made of a match of that id."""

    def __init__(self) -> None:
        clock = VirtualClock()
        self.intake: Intake = Mailbox(lambda one: (one.bookmaker, one.scope), merged_batches)
        self.published = Published(first_snapshot(1000, TERMS), RULES, clock, advance=_breaking)
        self.status = service_record(*ROSTER)
        self.blamed: list[BookmakerId] = []
        self.child = ChildSpec(
            self.status.board.actor,
            lambda: AggregatorActor(
                self.intake, self.published, self.status, self.blamed.append, clock, resumed=lambda: None
            ),
            is_explained=lambda: self.intake.in_flight is not None,
            is_core=True,
        )


def _breaking(base: Snapshot, books: Books, noted: Noted, now: Instant) -> Sliced[Linked | None]:
    states = [state for book in books.values() for state in book.lists.values()]
    is_listed = any(str(one.list_id) == HOSTILE and not one.withdrawn for one in states)
    if is_listed or any(one.after.get(HOSTILE) is not None for one in noted.values()):
        raise RuntimeError("no fixture can be made of it")
    return (yield from ADVANCING(base, books, noted, now))


async def test_followers_of_lists_come_first() -> None:
    """When they are called the bookmaker is live, and the fixtures are not made yet; then they are."""
    stage, seen = Stage(), list[tuple[bool, BookmakerState]]()
    status = stage.status.bookmakers[ALDER]
    stage.published.history.subscribe(
        lambda _: seen.append((stage.published.newest.unapplied is not None, status.state))
    )
    stage.intake.put_nowait(batch([match("a")]))

    async with supervised(stage.child):
        await settle()

        assert [(True, BookmakerState.LIVE)] == seen
        assert [["alder_a"]] == _shown(stage)
        assert (1, 1) == (
            stage.status.board.commits.summary(0.0).count,
            stage.status.board.fixtures.summary(0.0).count,
        )


async def test_batch_of_which_no_fixtures_can_be_made_is_dropped() -> None:
    """Its list is withdrawn and its bookmaker blamed, although it was committed; all others stay."""
    stage = Stage()
    async with supervised(stage.child):
        stage.intake.put_nowait(batch([match("b")], bookmaker=BIRCH))
        await settle()
        stage.intake.put_nowait(batch([match("a"), match(HOSTILE)]))
        await settle()
        stage.intake.put_nowait(batch([match("b", prices=(2.1, 3.5, 4.0))], bookmaker=BIRCH))
        await settle()

        assert ([ALDER], 1) == (stage.blamed, stage.status.board.dropped)
        assert ([["birch_b"]], None) == (_shown(stage), stage.published.newest.unapplied)
        assert not stage.published.newest.books[ALDER].is_serving
        assert ActorState.RUNNING is stage.status.board.actor.state


async def test_one_of_several_batches_of_which_no_fixtures_can_be_made_is_found_out() -> None:
    """Those of its commit are applied again one by one; it alone is dropped, and the process goes on."""
    stage = Stage()
    for one in (
        batch([match("a")], scope="other"),
        batch([match("b")], bookmaker=BIRCH),
        batch([match("c", home="C"), match(HOSTILE)], bookmaker=CEDAR),
    ):
        stage.intake.put_nowait(one)

    async with supervised(stage.child):
        await settle()

        assert ([CEDAR], 1) == (stage.blamed, stage.status.board.dropped)
        assert ([["alder_a"], ["birch_b"]], None) == (_shown(stage), stage.published.newest.unapplied)
        assert 2 == stage.status.board.actor.crashes


async def test_one_of_several_confirmations_that_crash_a_commit_is_found_out() -> None:
    """So is one of a commit in which no list shows anything new; all others are confirmed."""
    stage = Stage()
    async with supervised(stage.child):
        for name in ("alder", "birch", "cedar"):
            stage.intake.put_nowait(batch([match(name)], bookmaker=name))
        await settle()
        for name, list_id in (("alder", "list-2"), ("birch", HOSTILE), ("cedar", "list-2")):
            again = batch([match(name)], bookmaker=name, list_id=list_id, received_mono=1.0)
            stage.intake.put_nowait(again)
        await settle()

        assert ([BIRCH], 1) == (stage.blamed, stage.status.board.dropped)
        assert [["alder_alder"], ["cedar_cedar"]] == _shown(stage)
        lists = [[*stage.published.newest.books[name].lists.values()] for name in (ALDER, CEDAR)]
        assert [["list-2"], ["list-2"]] == [[one.list_id for one in some] for some in lists]


class _Breaking(Counter[str]):
    """Counts, but for the first time."""

    is_broken = True

    def __setitem__(self, key: str, value: int) -> None:
        if self.is_broken:
            self.is_broken = False
            raise RuntimeError("the records are broken")
        super().__setitem__(key, value)


async def test_crash_between_lists_and_fixtures_costs_no_list() -> None:
    """Nothing is withdrawn and nobody blamed: the next instance makes the fixtures."""
    stage = Stage()
    stage.status.board.verdicts = _Breaking()
    for one in (batch([match("a")]), batch([match("b")], bookmaker=BIRCH)):
        stage.intake.put_nowait(one)

    async with supervised(stage.child):
        await settle()

        assert (1, [], 0) == (
            stage.status.board.actor.crashes,
            stage.blamed,
            stage.status.board.dropped,
        )
        assert ([["alder_a"], ["birch_b"]], 1001) == (_shown(stage), stage.published.newest.version)


async def test_reader_of_lists_is_served_whatever_becomes_of_the_fixtures() -> None:
    """While no fixtures can be made a reader of them fails, one of lists does not."""
    stage = Stage()
    base = stage.published.newest
    board = stage.published.board(base)
    run_now(board.apply(batch([match(HOSTILE)]), Instant(0.0, WALL_0)))
    stage.published.replace(base, board.commit())

    assert 1001 == (await stage.published.read_lists()).version
    with pytest.raises(RuntimeError, match="no fixture can be made"):
        await stage.published.read()


def _shown(stage: Stage) -> list[list[str]]:
    return sorted([one.id for one in fixture.listed] for fixture in fixtures_of(stage.published.newest))
