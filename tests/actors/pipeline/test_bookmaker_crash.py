"""A bug in a bookmaker's extraction affects this bookmaker only, and causes no endless loop."""

from __future__ import annotations

import anyio
import anyio.lowlevel
import pytest
from structlog.testing import capture_logs

from tests.support.builders.hostile import Matches, with_matches
from tests.support.builders.messages import batch, match
from tests.support.systems.bookmaker_stage import BookmakerStage, Endless
from tests.support.systems.supervision import supervised
from tests.support.time.virtual import settle

pytestmark = pytest.mark.anyio


async def test_deliveries_that_wait_during_a_crash_are_not_lost() -> None:
    """The inbox outlives the actor. A new instance requests a fresh list in place of the fatal document."""
    stage = BookmakerStage()

    async with supervised(stage.child):
        stage.refresh.clear()
        stage.offer(ValueError("bug"), "fatal")
        stage.offer((match(),), "good", scope="other")
        await settle()

        assert stage.refresh.is_set()
        assert (2, 2) == (stage.status.actor.starts, len(stage.extracted))
    assert ["good"] == [change.list_id for change in stage.published]


async def test_same_document_crashes_at_most_twice() -> None:
    """The document is set aside as an error, logged once, until a new document comes (faults.md, D2)."""
    stage = BookmakerStage()

    with capture_logs() as logs:
        async with supervised(stage.child):
            for _ in range(6):
                stage.offer(ValueError("bug"), "fatal")
                await anyio.sleep(5)
            error = stage.status.error
            stage.offer((match(),), "good")
            await settle()

    assert "set aside: list fatal has crashed this actor twice" == error
    assert (2, 3, None) == (stage.status.actor.crashes, len(stage.extracted), stage.status.error)
    events = [line["event"] for line in logs]
    assert ["actor.crashed", "actor.crashed", "bookmaker.lost", "bookmaker.recovered"] == events


async def test_confirmation_after_a_lost_delta_is_dropped() -> None:
    """Batches that refer to the list of a lost delta are dropped, since they would hide the loss."""
    stage = BookmakerStage()
    hostile = with_matches(batch(complete=False), Matches([match("a")], _bug))

    async with supervised(stage.child):
        stage.inbox.put_nowait(batch([match()]))
        await settle()
        stage.inbox.put_nowait(hostile)
        stage.inbox.put_nowait(batch(complete=False, scope="other"))
        stage.inbox.put_nowait(batch([match("b")], list_id="list-2", scope="fresh"))
        await settle()

    assert [("list-1", True), ("list-2", True)] == [
        (change.list_id, change.complete) for change in stage.published
    ]
    assert 1 == stage.status.actor.crashes


async def test_stop_does_not_set_a_list_aside() -> None:
    """If a quarantine interrupts a delivery, nothing is set aside, however often it happens.

    The interrupted delivery is lost as in a crash: a confirmation that refers to it is dropped.
    """
    stage = BookmakerStage()
    async with supervised(stage.child) as supervisor:
        for _ in range(3):
            stage.offer(Endless(), "slow")
            await anyio.lowlevel.checkpoint()
            await anyio.lowlevel.checkpoint()
            stage.inbox.put_nowait(batch(complete=False, list_id="slow"))
            supervisor.quarantine(stage.status.actor.name, "something else")
            await anyio.sleep(2000)
        assert (3, 0, []) == (len(stage.extracted), stage.inbox.depth, stage.published)
        stage.offer((match(),), "slow")
        await settle()

    assert (["slow"], 0) == ([change.list_id for change in stage.published], stage.status.actor.crashes)


def _bug() -> None:
    raise ValueError("bug")
