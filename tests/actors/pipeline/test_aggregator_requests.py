"""What reads and the linker ask of the aggregator by its mailbox."""

from __future__ import annotations

import anyio
import pytest

from actors.board.published import Rejection
from actors.core.cooperative import run_now
from actors.core.messages import BookmakerId
from actors.matches.linking import PORTION, Linking
from actors.matches.model import first_snapshot, fixtures_of
from tests.support.builders.fixtures import ADVANCING, ALDER, BIRCH, ROSTER, TERMS, EqualNames
from tests.support.builders.messages import SCOPE, batch, match
from tests.support.systems.aggregator_stage import AggregatorStage
from tests.support.systems.supervision import supervised
from tests.support.time.virtual import settle

pytestmark = pytest.mark.anyio


async def test_read_of_an_overdue_view_asks_for_a_turn() -> None:
    """It gets the board without what is overdue, although no timer has fired yet."""
    stage = AggregatorStage("alder")
    stage.intake.put_nowait(batch([match()], stale_after_s=0.4))
    async with supervised(stage.child):
        await settle()
        shown = stage.shown()
        await anyio.sleep(0.4)
        snapshot = await stage.published.read()

        assert (["alder_m1"], 0) == (shown, snapshot.books[BookmakerId("alder")].count)


async def test_list_that_cannot_be_shown_is_withdrawn_in_a_turn() -> None:
    """Once: when it is asked for again the entry has gone."""
    stage = AggregatorStage("alder")
    stage.intake.put_nowait(batch([match("a"), match("b")]))
    async with supervised(stage.child):
        await settle()
        (entry, _) = stage.published.newest.books[BookmakerId("alder")].chunks[0].entries
        for _ in range(2):
            await stage.published.reject(BookmakerId("alder"), entry, "it has no JSON")

        assert ([], 2) == (stage.shown(), stage.version)
        assert [(BookmakerId("alder"), SCOPE, "it has no JSON")] == stage.rejected
        assert not stage.intake.depth


async def test_links_are_applied_some_with_each_commit() -> None:
    """The rest of many links stays in the mailbox, behind newer batches."""
    stage = AggregatorStage(first=first_snapshot(1000, TERMS), advance=ADVANCING)
    many = [match(f"{number:03}", home=f"Home {number}") for number in range(PORTION)]
    linking = Linking(EqualNames(), ROSTER)
    async with supervised(stage.child):
        for name in (ALDER, BIRCH):
            stage.intake.put_nowait(batch(many, bookmaker=name))
        await settle()
        links = run_now(linking.update(fixtures_of(stage.published.newest), None))
        assert links is not None
        stage.intake.put_nowait(links)
        await settle()

        assert 1003 == stage.published.newest.version
        assert [2] * PORTION == [len(one.members) for one in fixtures_of(stage.published.newest)]


async def test_rejection_is_of_a_list() -> None:
    """Two entries of one list are one request."""
    stage = AggregatorStage("alder")
    stage.intake.put_nowait(batch([match("a"), match("b")]))
    async with supervised(stage.child):
        await settle()
        entries = stage.published.newest.books[BookmakerId("alder")].chunks[0].entries
        for entry in entries:
            stage.intake.put_nowait(Rejection(BookmakerId("alder"), entry, "it has no JSON"))

        assert 1 == stage.intake.depth
