"""The aggregator: one commit for all waiting batches, and deadlines that need no batch."""

from __future__ import annotations

import anyio
import pytest
from structlog.testing import capture_logs

from actors.core.messages import BookmakerId, Removal, SourceMatchId
from actors.monitoring.status import BookmakerState
from tests.support.builders.messages import batch, match
from tests.support.systems.aggregator_stage import AggregatorStage
from tests.support.systems.supervision import supervised
from tests.support.time.virtual import WALL_0, settle

pytestmark = pytest.mark.anyio

ALDER = BookmakerId("alder")
AN_HOUR_S = 3600


async def test_waiting_batches_of_a_list_are_merged() -> None:
    """A change that waits behind its list takes nothing of the list away (faults.md, C17).

    All waiting batches make one version, and nothing is left in the mailbox.
    """
    stage = AggregatorStage("alder", "birch")
    stage.intake.put_nowait(batch([match("m1")]))
    stage.intake.put_nowait(batch([match("m1")], bookmaker="birch"))
    stage.intake.put_nowait(batch([match("m2")], complete=False, received_mono=0.1))

    async with supervised(stage.child):
        await settle()

        assert (["alder_m1", "alder_m2", "birch_m1"], 1) == (stage.shown(), stage.version)
        assert (0, ()) == (stage.intake.depth, stage.intake.unacked)


async def test_listeners_are_called_for_each_commit() -> None:
    """Listeners are called at once for batches, staleness and withdrawals by reads, if anything changed."""
    stage, heard = AggregatorStage("alder", "birch"), []
    stage.published.history.subscribe(
        lambda bookmakers: heard.append((anyio.current_time(), sorted(filter(None, bookmakers))))
    )
    stage.intake.put_nowait(batch([match("m1")], stale_after_s=10.0))

    async with supervised(stage.child):
        await anyio.sleep(3)
        stage.intake.put_nowait(batch(complete=False, received_mono=3.0, stale_after_s=10.0))
        await anyio.sleep(1)
        stage.intake.put_nowait(batch([match("m1")], bookmaker="birch", received_mono=4.0))
        await anyio.sleep(20)

    assert [(0.0, ["alder"]), (4.0, ["birch"]), (13.0, ["alder"])] == heard


async def test_latency_of_each_accepted_batch_is_measured() -> None:
    """Latency is measured from receipt to commit, with the number of changes, for batches with changes."""
    stage = AggregatorStage("alder", "birch")
    deliveries = [
        batch([match("m1"), match("m2")], received_at=WALL_0 + 1),
        batch([match("m1")], bookmaker="birch", received_at=WALL_0 + 9),
        batch(complete=False, bookmaker="birch", list_id="unknown"),
        batch([match("m1"), match("m2")], received_at=WALL_0 + 2, received_mono=0.5),
    ]

    async with supervised(stage.child):
        await anyio.sleep(3)
        for delivery in deliveries:
            stage.intake.put_nowait(delivery)
            await settle()

        alder, birch = (bookmaker.meter.summary(3.0) for bookmaker in stage.status.bookmakers.values())
        commits = stage.status.board.commits.summary(3.0)

    assert (2, 2.0) == (alder.count, alder.sizes_per_s)
    assert 0.5 < (alder.p50_s or 0) <= 1.0 < (alder.p99_s or 0) <= 2.5  # edges of buckets
    assert (1, 1.0) == (birch.count, birch.sizes_per_s)
    assert (birch.p50_s or 1) < 0.001
    assert 2 == commits.count


async def test_batch_without_changes_makes_no_version() -> None:
    """An equal list and a confirmation are counted by their verdict, and the version stays."""
    stage = AggregatorStage("alder")
    deliveries = [
        batch([match()], received_mono=0.0),
        batch([match()], list_id="list-2", received_mono=1.0),
        batch(complete=False, list_id="list-2", received_mono=2.0),
    ]

    async with supervised(stage.child):
        for delivery in deliveries:
            stage.intake.put_nowait(delivery)
            await anyio.sleep(1)

        board = stage.status.board
        assert 1 == stage.version
        assert {"accepted": 2, "confirmed": 1} == board.verdicts


async def test_changes_are_counted() -> None:
    """The record counts upserts, removals and matches that were over on arrival."""
    stage = AggregatorStage("alder")
    over = match("over", start_time=int(WALL_0) - 3 * AN_HOUR_S)
    deliveries = [
        batch([match("m1"), match("m2"), over]),
        batch([match("m3")], removals=[Removal(SourceMatchId("m1"), "suspended")], complete=False),
    ]

    async with supervised(stage.child):
        for delivery in deliveries:
            stage.intake.put_nowait(delivery)
            await settle()

        board = stage.status.board
        assert (3, 1, 1) == tuple(board.changes[name] for name in ("upserted", "removed", "finished"))


async def test_stale_list_is_withdrawn_at_its_deadline() -> None:
    """The list is withdrawn exactly at the deadline, between ticks, in one commit, without any read."""
    stage = AggregatorStage("alder", "birch")
    stage.intake.put_nowait(batch([match("m1"), match("m2")], stale_after_s=30.25))
    stage.intake.put_nowait(batch([match("m1")], bookmaker="birch", stale_after_s=1000.0))
    status = stage.status.bookmakers[ALDER]

    async with supervised(stage.child):
        await anyio.sleep(30.2)
        before = (status.state, stage.withdrawn())
        await anyio.sleep(0.05)
        await settle()

        assert (BookmakerState.LIVE, []) == before
        assert (BookmakerState.STALE, [("alder", "league")]) == (status.state, stage.withdrawn())
        assert (["birch_m1"], 2) == (stage.shown(), stage.version)


async def test_withdrawal_is_logged_once() -> None:
    """Each withdrawal and each return is one line; later ticks and a late confirmation add no line."""
    stage = AggregatorStage("alder")
    lines: list[tuple[float, str, list[str], list[str]]] = []

    async with supervised(stage.child):
        for at in (0.0, 50.0):
            stage.intake.put_nowait(batch([match()], received_mono=at))
            for second in range(50):
                with capture_logs() as logs:
                    await anyio.sleep(1)
                    await settle()
                lines += [
                    (at + second + 1, line["event"], line["bookmakers"], line["scopes"])
                    for line in logs
                    if line["event"] in {"bookmaker.withdrawn", "bookmaker.restored"}
                ]
            stage.intake.put_nowait(batch(complete=False, received_mono=at + 50))

    what = ["alder"], ["league"]
    assert [
        (30.0, "bookmaker.withdrawn", *what),
        (51.0, "bookmaker.restored", *what),
        (80.0, "bookmaker.withdrawn", *what),
    ] == lines


async def test_untimed_sleep_is_reported() -> None:
    """Time that no timer measured is reported once, within a second of waking, not while timers tick."""
    stage, told = AggregatorStage("alder"), list[float]()
    stage.resumed = lambda: told.append(anyio.current_time())

    async with supervised(stage.child):
        await anyio.sleep(100.25)
        stage.clock.asleep_s += 28_800.0
        await anyio.sleep(100)
        stage.clock.asleep_s += 30.0
        stage.intake.put_nowait(batch([match()], received_mono=200.0))
        await anyio.sleep(100)

    assert [101.0, 200.25] == told
