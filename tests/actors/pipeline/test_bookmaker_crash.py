"""A bug in a bookmaker's extraction is this bookmaker's trouble alone, and no endless one."""

from __future__ import annotations

import anyio
import anyio.lowlevel
import pytest
from structlog.testing import capture_logs

from actors.runtime.actor import ActorState
from tests.support.builders.hostile import Matches, with_matches
from tests.support.builders.messages import batch, match
from tests.support.systems.bookmaker_stage import BookmakerStage, Endless
from tests.support.systems.supervision import supervised
from tests.support.time.virtual import settle

pytestmark = pytest.mark.anyio


async def test_a_crash_asks_for_a_fresh_list() -> None:
    """A new instance does not finish what killed the last one: it asks its source for a fresh list."""
    stage = BookmakerStage()

    async with supervised(stage.child):
        assert stage.refresh.is_set()
        stage.refresh.clear()
        stage.offer(ValueError("bug"))
        await settle()

        assert stage.refresh.is_set()
        assert (2, 1, []) == (stage.status.actor.starts, len(stage.extracted), stage.published)


async def test_what_waited_during_a_crash_is_not_lost() -> None:
    """The inbox outlives the actor: the deliveries behind the fatal one are still taken up."""
    stage = BookmakerStage()

    async with supervised(stage.child):
        stage.offer(ValueError("bug"), "fatal")
        stage.offer((match(),), "good", scope="other")
        await settle()

    assert ["good"] == [one.list_id for one in stage.published]


async def test_the_same_document_crashes_it_at_most_twice() -> None:
    """Then it is set aside as an error, logged once, until another document comes (faults.md, D2)."""
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


async def test_two_fatal_documents_in_turn_are_both_set_aside() -> None:
    """Each may crash it twice, however they alternate: two scopes with the same trouble are no loop."""
    stage = BookmakerStage()

    async with supervised(stage.child):
        for _ in range(6):
            stage.offer(ValueError("bug"), "fatal-1", scope="one")
            stage.offer(ValueError("bug"), "fatal-2", scope="two")
            await anyio.sleep(70)

        assert (4, ActorState.RUNNING) == (stage.status.actor.crashes, stage.status.actor.state)


async def test_a_quarantine_is_not_held_against_a_list() -> None:
    """What was delivered before its actor was taken out of service did no harm and is taken up again."""
    stage = BookmakerStage()

    async with supervised(stage.child) as supervisor:
        for _ in range(4):
            stage.offer((match(),))
            await settle()
            supervisor.quarantine(stage.status.actor.name, "poison")
            await anyio.sleep(1000)

    assert (4, None) == (len(stage.published), stage.status.error)


async def test_siblings_are_untouched() -> None:
    """While one bookmaker crashes into quarantine, another one's every document is published."""
    bad, good = BookmakerStage("bad"), BookmakerStage("good")

    async with supervised(bad.child, good.child):
        for second in range(30):
            bad.offer(ValueError("bug"), f"fatal-{second}")
            good.offer((match(f"m{second}"),), f"list-{second}")
            await anyio.sleep(1)

        assert (ActorState.QUARANTINED, 4) == (bad.status.actor.state, bad.status.actor.crashes)

    assert [f"list-{second}" for second in range(30)] == [one.list_id for one in good.published]
    assert (1, 0) == (good.status.actor.starts, good.status.actor.crashes)


async def test_a_lost_change_is_not_vouched_for() -> None:
    """What builds on the list that the lost change belonged to is thrown away: it would hide the loss."""
    stage = BookmakerStage()
    hostile = with_matches(batch(complete=False), Matches([match("a")], _bug))

    async with supervised(stage.child):
        stage.inbox.put_nowait(batch([match()]))
        await settle()
        stage.inbox.put_nowait(hostile)
        stage.inbox.put_nowait(batch(complete=False, scope="other"))
        stage.inbox.put_nowait(batch([match("b")], list_id="list-2", scope="fresh"))
        await settle()

    assert [("list-1", True), ("list-2", True)] == [(one.list_id, one.complete) for one in stage.published]
    assert 1 == stage.status.actor.crashes


async def test_being_stopped_is_not_the_lists_fault() -> None:
    """A quarantine in the middle of a delivery sets nothing aside, however often it happens."""
    stage = BookmakerStage()
    async with supervised(stage.child) as supervisor:
        for _ in range(3):
            stage.offer(Endless(), "slow")
            await anyio.lowlevel.checkpoint()
            await anyio.lowlevel.checkpoint()
            supervisor.quarantine(stage.status.actor.name, "something else")
            await anyio.sleep(2000)
        stage.offer((match(),), "slow")
        await settle()

    assert (["slow"], 0) == ([one.list_id for one in stage.published], stage.status.actor.crashes)


def _bug() -> None:
    raise ValueError("bug")


async def test_a_change_lost_in_a_stop_is_not_vouched_for_either() -> None:
    """Taken out of service in the middle of a delivery, it has lost it as in a crash."""
    stage = BookmakerStage()
    async with supervised(stage.child) as supervisor:
        stage.offer(Endless(), "list-1")
        await anyio.lowlevel.checkpoint()
        await anyio.lowlevel.checkpoint()
        stage.inbox.put_nowait(batch(complete=False))
        supervisor.quarantine(stage.status.actor.name, "something else")
        await anyio.sleep(100)

    assert (1, 0, []) == (len(stage.extracted), stage.inbox.depth, stage.published)
