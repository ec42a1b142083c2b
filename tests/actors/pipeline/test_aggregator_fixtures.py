"""The aggregator publishes lists first, then the fixtures of what changed; a crash there is a batch's."""

from __future__ import annotations

import pytest

from actors.board.board import Books, Noted
from actors.board.published import Published
from actors.board.snapshot import Linked, Snapshot
from actors.core.clock import Instant
from actors.core.cooperative import Sliced, run_now
from actors.core.messages import BookmakerId, SourceMatchId
from actors.fixtures.state import first_snapshot, fixtures_of
from actors.pipeline.aggregator import AggregatorActor
from actors.runtime.actor import ActorState
from actors.runtime.conflation import Intake, merged_batches
from actors.runtime.mailbox import Mailbox
from actors.runtime.supervisor import ChildSpec
from tests.support.builders.fixtures import ADVANCING, ALDER, BIRCH, ROSTER, RULES, TERMS
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
    if any(one.after.get(HOSTILE) is not None for one in noted.values()):
        raise RuntimeError("no fixture can be made of it")
    return (yield from ADVANCING(base, books, noted, now))


async def test_followers_of_lists_come_first() -> None:
    """When a follower of the lists is called, their fixtures are not made yet; then they are."""
    stage, seen = Stage(), list[bool]()
    stage.published.history.subscribe(lambda _: seen.append(stage.published.newest.unapplied is not None))
    stage.intake.put_nowait(batch([match("a")]))

    async with supervised(stage.child):
        await settle()

        assert [True] == seen
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
    return [[one.id for one in fixture.listed] for fixture in fixtures_of(stage.published.newest)]
