"""The linker actor: it links after commits and never delays them, whatever happens to it."""

from __future__ import annotations

from collections.abc import Iterable

import anyio
import pytest

from actors.core.cooperative import Sliced
from actors.core.messages import Batch
from actors.market_fixtures.model import markets_of
from actors.markets.market import Kind
from actors.matches.linking import Partition, Waiting
from actors.matches.model import FixtureView, ViewKind, first_snapshot, fixtures_of
from actors.matching.event import Event, EventKey
from actors.matching.matcher import GroupChanges
from actors.pipeline.linker import LOOK_AGAIN_S, LinkerActor
from actors.review.review import Review
from actors.runtime.actor import ActorState, ActorStatus
from actors.runtime.supervisor import ChildSpec
from tests.support.builders.fixtures import ADVANCING, ALDER, BIRCH, ROSTER, TERMS, EqualNames
from tests.support.builders.markets import OU25, listed, of_markets
from tests.support.builders.messages import batch, match
from tests.support.systems.aggregator_stage import AggregatorStage, markets_beside
from tests.support.systems.supervision import supervised
from tests.support.time.virtual import VirtualClock, settle

pytestmark = pytest.mark.anyio

ALL = FixtureView(ViewKind.FIXTURES)


class Breaking(EqualNames):
    """A linker that raises while `is_broken` is set."""

    is_broken = False

    def update(self, changed: Iterable[Event], gone: Iterable[EventKey] = ()) -> Sliced[GroupChanges]:
        """Link, or raise."""
        if Breaking.is_broken:
            raise RuntimeError("the linker is broken")
        return super().update(changed, gone)


class Stage(AggregatorStage):
    """An aggregator and a linker on one board, and on the boards of other markets."""

    def __init__(self) -> None:
        super().__init__(first=first_snapshot(1000, TERMS), advance=ADVANCING, markets=markets_beside)
        waiting = Waiting()
        self.published.follow(waiting.add)
        start: type[Partition] = Breaking
        parts = (self.published, waiting, ROSTER, start, self.intake.put_nowait)
        to_sides = self.markets, self.intake.put_nowait
        self.linker = ChildSpec(
            ActorStatus("linker"), lambda: LinkerActor(*parts, Review(), VirtualClock(), *to_sides)
        )

    async def put(self, *batches: Batch) -> None:
        """Commit batches, and let everything run."""
        for change in batches:
            self.intake.put_nowait(change)
        await settle()

    async def linked(self) -> list[list[str]]:
        """Return the bookmakers of each fixture."""
        return [[*fixture.entries] for fixture in fixtures_of(await self.published.read())]


@pytest.fixture(autouse=True)
def _whole() -> Iterable[None]:
    yield
    Breaking.is_broken = False


ON_BOTH = (batch([match("a")], bookmaker=ALDER), batch([match("b")], bookmaker=BIRCH))


async def test_links_follow_a_commit_in_one_of_their_own() -> None:
    """The events of a commit are linked at once, in the next version."""
    stage = Stage()
    async with supervised(stage.child, stage.linker):
        await stage.put(*ON_BOTH)
        snapshot = await stage.published.read()

        assert [[ALDER, BIRCH]] == await stage.linked()
        assert 1002 == snapshot.version == fixtures_of(snapshot).version(ALL)
        assert [1001, 1001, 1000] == [book.v2_version for book in snapshot.books.values()]


async def test_lists_go_on_while_the_linker_is_in_quarantine() -> None:
    """While a broken linker is in quarantine, lists change; fixtures keep their links and lose entries."""
    stage = Stage()
    async with supervised(stage.child, stage.linker):
        await stage.put(*ON_BOTH)
        Breaking.is_broken = True
        await stage.put(batch([match("a"), match("c")], bookmaker=ALDER, list_id="2"))
        await anyio.sleep(5)
        await stage.put(batch([match("b"), match("c")], bookmaker=BIRCH, list_id="2", received_mono=5.0))
        broken = stage.linker.status.state
        unlinked = await stage.linked()
        Breaking.is_broken = False
        await anyio.sleep(20)
        await stage.put(batch(complete=False, list_id="2", received_mono=25.0))

        assert ActorState.QUARANTINED is broken
        assert [[ALDER], [ALDER, BIRCH], [BIRCH]] == sorted(unlinked)
        assert (1, 0) == (stage.status.board.actor.starts, stage.status.board.actor.crashes)


async def test_linker_links_everything_after_its_quarantine() -> None:
    """The instance after the quarantine links the events of the meantime, and events without links."""
    stage = Stage()
    Breaking.is_broken = True
    async with supervised(stage.child, stage.linker):
        await stage.put(*(change for change in ON_BOTH))
        before = await stage.linked()
        Breaking.is_broken = False
        for second in range(10, 600, 10):
            await anyio.sleep(10)
            await stage.put(
                batch(complete=False, received_mono=float(second)),
                batch(complete=False, bookmaker=BIRCH, received_mono=float(second)),
            )

        assert [[ALDER], [BIRCH]] == sorted(before)
        assert [[ALDER, BIRCH]] == await stage.linked()
        assert ActorState.RUNNING is stage.linker.status.state


async def test_prices_that_agree_later_link_within_seconds() -> None:
    """Nothing else has to change, although the prices were far apart when the events came."""
    stage = Stage()
    async with supervised(stage.child, stage.linker):
        await stage.put(
            batch([match("a")], bookmaker=ALDER),
            batch([match("b", prices=(30.0, 9.0, 1.05))], bookmaker=BIRCH),
        )
        apart = await stage.linked()
        await stage.put(batch([match("b")], bookmaker=BIRCH, complete=False))
        await anyio.sleep(LOOK_AGAIN_S)
        await settle()

        assert ([[ALDER], [BIRCH]], [[ALDER, BIRCH]]) == (sorted(apart), await stage.linked())


async def test_fixtures_say_how_many_events_are_still_to_be_linked() -> None:
    """The number is 0 once the linker has looked at all events, in a new version of the views concerned."""
    stage = Stage()
    async with supervised(stage.child):
        await stage.put(batch([match("a"), match("c", home="Else")], bookmaker=ALDER))
        waiting = fixtures_of(stage.published.newest)
        async with supervised(stage.linker):
            await settle()
            linked = fixtures_of(stage.published.newest)

    views = (ALL, FixtureView(ViewKind.FIXTURES, ALDER), FixtureView(ViewKind.FIXTURES, BIRCH))
    assert [2, 2, 0] == [waiting.pending_in(view) for view in views]
    assert [0, 0, 0] == [linked.pending_in(view) for view in views]
    assert [1, 1, 0] == [linked.version(view) - waiting.version(view) for view in views]


async def test_events_without_1x2_prices_are_linked_within_seconds() -> None:
    """Only the boards of the events' markets get a commit; later nothing more is sent for these events."""
    stage, first, second = Stage(), match("a"), match("b")
    async with supervised(stage.child, stage.linker):
        await stage.put(listed(first, *of_markets(first, OU25), bookmaker=ALDER))
        before = stage.version
        await stage.put(listed(*of_markets(second, OU25), bookmaker=BIRCH))
        totals = stage.markets.published[Kind.OVER_UNDER]
        alone = len([*markets_of(totals.newest)])
        await anyio.sleep(LOOK_AGAIN_S + 1)
        linked, received = [*markets_of(totals.newest)], stage.intake.received
        await anyio.sleep(3 * LOOK_AGAIN_S)

        assert (2, [(ALDER, BIRCH)]) == (alone, [fixture.bookmakers for fixture in linked])
        assert (before, received) == (stage.version, stage.intake.received)
