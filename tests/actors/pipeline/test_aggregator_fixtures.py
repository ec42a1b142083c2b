"""The aggregator makes fixtures in the same commit, and serves the requests of reads and the linker."""

from __future__ import annotations

import anyio
import pytest

from actors.board.board import Books, Noted
from actors.board.snapshot import Linked, Snapshot
from actors.core.clock import Instant
from actors.core.cooperative import Sliced, run_now
from actors.core.messages import BookmakerId, SourceMatchId
from actors.matches.linking import PORTION, Linking
from actors.matches.model import first_snapshot, fixtures_of
from actors.monitoring.metrics import Counts
from actors.runtime.actor import ActorState
from tests.support.builders.fixtures import ADVANCING, ALDER, BIRCH, CEDAR, ROSTER, TERMS, EqualNames
from tests.support.builders.messages import batch, match
from tests.support.systems.aggregator_stage import AggregatorStage
from tests.support.systems.supervision import supervised
from tests.support.time.virtual import settle

pytestmark = pytest.mark.anyio

HOSTILE = SourceMatchId("hostile")


def _breaking(
    base: Snapshot, books: Books, noted: Noted, links: object, now: Instant, *, version: int
) -> Sliced[Linked | None]:
    states = [state for book in books.values() for state in book.lists.values()]
    is_listed = any(str(listed.list_id) == HOSTILE and not listed.withdrawn for listed in states)
    if is_listed or any(differences.after.get(HOSTILE) is not None for differences in noted.values()):
        raise RuntimeError("no fixture can be made of it")
    return (yield from ADVANCING(base, books, noted, links, now, version=version))


async def test_batch_of_which_no_fixtures_can_be_made_is_dropped() -> None:
    """The list of that batch is withdrawn and its bookmaker is blamed; all other lists stay."""
    stage = AggregatorStage(first=first_snapshot(1000, TERMS), advance=_breaking)
    async with supervised(stage.child):
        stage.intake.put_nowait(batch([match("b")], bookmaker=BIRCH))
        await settle()
        stage.intake.put_nowait(batch([match("a"), match(HOSTILE)]))
        await settle()
        stage.intake.put_nowait(batch([match("b", prices=(2.1, 3.5, 4.0))], bookmaker=BIRCH))
        await settle()

        assert ([ALDER], 1) == (stage.blamed, stage.status.board.dropped.number)
        assert [["birch_b"]] == _shown(stage)
        assert not stage.published.newest.books[ALDER].is_serving
        assert ActorState.RUNNING is stage.status.board.actor.state


async def test_one_of_several_batches_of_which_no_fixtures_can_be_made_is_found_out() -> None:
    """The batches of the commit are applied again one by one; only the bad batch is dropped."""
    stage = AggregatorStage(first=first_snapshot(1000, TERMS), advance=_breaking)
    for change in (
        batch([match("a")], scope="other"),
        batch([match("b")], bookmaker=BIRCH),
        batch([match("c", home="C"), match(HOSTILE)], bookmaker=CEDAR),
    ):
        stage.intake.put_nowait(change)

    async with supervised(stage.child):
        await settle()

        assert ([CEDAR], 1) == (stage.blamed, stage.status.board.dropped.number)
        assert [["alder_a"], ["birch_b"]] == _shown(stage)
        assert 2 == stage.status.board.actor.crashes


async def test_one_of_several_confirmations_that_crash_a_commit_is_found_out() -> None:
    """All other confirmations of the commit, in which no list shows anything new, are applied."""
    stage = AggregatorStage(first=first_snapshot(1000, TERMS), advance=_breaking)
    async with supervised(stage.child):
        for name in ("alder", "birch", "cedar"):
            stage.intake.put_nowait(batch([match(name)], bookmaker=name))
        await settle()
        for name, list_id in (("alder", "list-2"), ("birch", HOSTILE), ("cedar", "list-2")):
            again = batch([match(name)], bookmaker=name, list_id=list_id, received_mono=1.0)
            stage.intake.put_nowait(again)
        await settle()

        assert ([BIRCH], 1) == (stage.blamed, stage.status.board.dropped.number)
        assert [["alder_alder"], ["cedar_cedar"]] == _shown(stage)
        lists = [[*stage.published.newest.books[name].lists.values()] for name in (ALDER, CEDAR)]
        assert [["list-2"], ["list-2"]] == [[state.list_id for state in some] for some in lists]


class _Breaking(Counts):
    """Counts, except for the first call, which raises."""

    is_broken = True

    def add(self, *values: str, number: int = 1) -> None:
        if self.is_broken:
            self.is_broken = False
            raise RuntimeError("the records are broken")
        super().add(*values, number=number)


async def test_crash_after_a_commit_costs_no_list() -> None:
    """No list is withdrawn, and no bookmaker is blamed."""
    stage = AggregatorStage(first=first_snapshot(1000, TERMS), advance=_breaking)
    stage.status.board.verdicts = _Breaking(stage.status.metrics.counts["oddsboard_batches_total"])
    for change in (batch([match("a")]), batch([match("b")], bookmaker=BIRCH)):
        stage.intake.put_nowait(change)

    async with supervised(stage.child):
        await settle()

        assert (1, [], 0) == (
            stage.status.board.actor.crashes,
            stage.blamed,
            stage.status.board.dropped.number,
        )
        assert ([["alder_a"], ["birch_b"]], 1001) == (_shown(stage), stage.published.newest.version)


def _shown(stage: AggregatorStage) -> list[list[str]]:
    return sorted([entry.id for entry in fixture.listed] for fixture in fixtures_of(stage.published.newest))


async def test_read_of_an_overdue_view_asks_for_a_turn() -> None:
    """The read gets the board without overdue prices, although no timer has fired yet."""
    stage = AggregatorStage("alder")
    stage.intake.put_nowait(batch([match()], stale_after_s=0.4))
    async with supervised(stage.child):
        await settle()
        shown = stage.shown()
        await anyio.sleep(0.4)
        snapshot = await stage.published.read()

        assert (["alder_m1"], 0) == (shown, snapshot.books[BookmakerId("alder")].count)


async def test_links_say_when_they_are_applied() -> None:
    """Each commit applies one portion of links, so that prices do not wait for all links."""
    stage = AggregatorStage(first=first_snapshot(1000, TERMS), advance=ADVANCING)
    many = [match(f"{number:03}", home=f"Home {number}") for number in range(PORTION)]
    linking = Linking(EqualNames(), ROSTER)
    async with supervised(stage.child):
        for name in (ALDER, BIRCH):
            stage.intake.put_nowait(batch(many, bookmaker=name))
        await settle()
        for links in run_now(linking.update(fixtures_of(stage.published.newest), None)):
            stage.intake.put_nowait(links)
            await links.applied.wait()

        assert 1003 == stage.published.newest.version
        assert [2] * PORTION == [len(fixture.members) for fixture in fixtures_of(stage.published.newest)]
