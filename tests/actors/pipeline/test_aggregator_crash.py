"""A crash of the aggregator loses the batch that caused it, and nothing else."""

from __future__ import annotations

from functools import partial

import anyio
import anyio.lowlevel
import pytest
from structlog.testing import capture_logs

from actors.core.messages import BookmakerId
from actors.runtime.actor import ActorState
from tests.support.builders.hostile import Matches, poison, with_matches
from tests.support.builders.messages import SCOPE, batch, match
from tests.support.systems.aggregator_stage import AggregatorStage
from tests.support.systems.supervision import supervised
from tests.support.time.virtual import jump, settle

pytestmark = pytest.mark.anyio

NAMES = ("alder", "birch", "cedar")


async def test_poison_batch_loses_no_other_batch() -> None:
    """Batches applied before the poison batch but not committed, and batches behind it, are shown.

    Only the (bookmaker, scope) of the batch loses its entries, and that is logged once.
    """
    stage = AggregatorStage(*NAMES)
    for scope in (SCOPE, "other"):
        stage.intake.put_nowait(batch([match(scope)], bookmaker="birch", scope=scope))

    with capture_logs() as logs:
        async with supervised(stage.child):
            await settle()
            stage.intake.put_nowait(batch([match("applied")], bookmaker="alder"))
            stage.intake.put_nowait(poison("birch", SCOPE))
            stage.intake.put_nowait(batch([match("waiting")], bookmaker="cedar"))
            await settle()

            assert ["alder_applied", "birch_other", "cedar_waiting"] == stage.shown()
            assert (["birch"], 1) == (stage.blamed, stage.status.board.dropped.number)
            assert (1, ActorState.RUNNING) == (
                stage.status.board.actor.crashes,
                stage.status.board.actor.state,
            )

    dropped = [line for line in logs if line["event"] == "batch.dropped"]
    assert [("birch", SCOPE)] == [(line["bookmaker"], line["scope"]) for line in dropped]


async def test_requeued_batch_does_not_replace_a_newer_one() -> None:
    """A newer list of the same bookmaker that arrived meanwhile takes precedence over a requeued list."""
    stage = AggregatorStage(*NAMES)
    old, new = batch([match("old")]), batch([match("new")], list_id="list-2", received_mono=1.0)
    hostile = batch([match()], bookmaker="birch")

    def overtake_and_crash() -> None:
        stage.intake.put_nowait(new)
        raise RuntimeError("poison")

    stage.intake.put_nowait(old)
    stage.intake.put_nowait(with_matches(hostile, Matches([match()], overtake_and_crash)))

    async with supervised(stage.child):
        await settle()

        assert ["alder_new"] == stage.shown()


async def test_reads_do_not_fail_during_crashes() -> None:
    """A read between any two steps returns a whole snapshot with a version not below the last one."""
    stage = AggregatorStage(*NAMES)
    versions: list[int] = []

    async with supervised(stage.child):
        for number in range(40):
            good = batch([match(f"m{number}")], list_id=f"list-{number}", received_mono=0.0)
            stage.intake.put_nowait(good)
            stage.intake.put_nowait(poison("birch", f"scope-{number}"))
            for _ in range(20):
                await anyio.lowlevel.checkpoint()
                versions.append(stage.version)

        assert sorted(versions) == versions
        assert ([f"alder_m{number}"], 40) == (stage.shown(), stage.status.board.dropped.number)


async def test_restarted_aggregator_continues_from_the_published_snapshot() -> None:
    """After three crashes the snapshot is the same object, and the next batch is applied to it."""
    stage = AggregatorStage(*NAMES)
    stage.intake.put_nowait(batch([match()], bookmaker="alder"))

    async with supervised(stage.child):
        await settle()
        before = stage.published.newest
        stage.clock.breaks = 3
        await anyio.sleep(2)
        after = stage.published.newest
        stage.intake.put_nowait(batch([match()], bookmaker="birch", received_mono=2.0))
        await settle()

        alder = BookmakerId("alder")
        assert (3, before) == (stage.status.board.actor.crashes, after)
        assert before.books[alder] is stage.published.newest.books[alder]
        assert (["alder_m1", "birch_m1"], 2) == (stage.shown(), stage.version)


async def test_list_that_falls_due_during_a_turn_goes_in_its_commit() -> None:
    """Deadlines are checked once more directly before the swap, and no batch of the turn is lost."""
    stage = AggregatorStage(*NAMES)
    stage.intake.put_nowait(batch([match()], bookmaker="alder", stale_after_s=30.0))

    async with supervised(stage.child):
        await anyio.sleep(10)
        kept = batch([match()], bookmaker="birch", received_mono=10.0, stale_after_s=100.0)
        hit = batch(bookmaker="cedar", received_mono=10.0, stale_after_s=100.0)
        stage.intake.put_nowait(kept)
        stage.intake.put_nowait(with_matches(hit, Matches([match()], partial(jump, 25))))
        await settle()

        assert (["birch_m1", "cedar_m1"], 2) == (stage.shown(), stage.version)
        assert (0, 0) == (stage.status.board.actor.crashes, stage.status.board.dropped.number)
