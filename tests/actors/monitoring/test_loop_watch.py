"""The watch over the event loop, on a real loop that each test blocks until the watch reports it."""

from __future__ import annotations

import threading
import time
from collections.abc import Sized
from math import inf

import anyio
import anyio.to_thread
import pytest
from structlog.testing import capture_logs

from actors.monitoring.loop_watch import watched
from actors.monitoring.status import LoopStatus
from tests.support.time.waiting import eventually

pytestmark = [pytest.mark.anyio, pytest.mark.real_time]


def _hold_up(logs: Sized, lines: int = 1, secret: str = "s3cr3t") -> None:  # noqa: S107 - invented
    """Block the loop until `lines` lines are logged."""
    del secret
    eventually(lambda: len(logs) >= lines, "the watch has noticed")


async def test_stall_is_logged_while_it_lasts() -> None:
    """One line names the task and its stack with the line but no values; another gives the duration."""
    status = LoopStatus()
    with capture_logs() as logs, watched(status):
        async with anyio.create_task_group() as tasks:

            async def block() -> None:
                _hold_up(logs)
                await anyio.lowlevel.checkpoint()

            tasks.start_soon(block, name="bookmaker:slow")
        await anyio.to_thread.run_sync(eventually, lambda: status.longest_s, "it is over")

    lagged, recovered = logs
    assert ("loop.lagged", "warning", "bookmaker:slow") == (
        lagged["event"],
        lagged["log_level"],
        lagged["task"],
    )
    frames = [line.rpartition("/")[2] for line in lagged["stack"].splitlines()]
    assert [True] == ["test_loop_watch.py" in frame for frame in frames if frame.endswith(" _hold_up")]
    assert "s3cr3t" not in lagged["stack"]
    assert ("loop.recovered", round(status.longest_s, 3)) == (recovered["event"], recovered["lagged_for_s"])
    assert 1 == status.stalls.number


async def test_lag_is_measured_in_the_loop() -> None:
    """Work that is due while the loop is blocked runs late: the longest buckets get most samples."""
    status = LoopStatus()
    with capture_logs() as logs, watched(status):
        _hold_up(logs)
        await anyio.to_thread.run_sync(eventually, lambda: status.longest_s, "it is over")

    places = dict(zip(status.lag.upper_ends, status.lag.counted(), strict=True))
    assert places[inf] > places[0.5]


async def test_a_suspension_is_no_stall(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the process is stopped, the watch is stopped too; afterwards the loop answers at once."""
    status, real, asked = LoopStatus(), time.perf_counter, list[None]()

    def counter() -> float:
        asked.append(None)
        return real() + 40 * (len(asked) // 10)

    monkeypatch.setattr(time, "perf_counter", counter)
    with capture_logs() as logs, watched(status):
        await anyio.to_thread.run_sync(eventually, lambda: len(asked) > 40, "it was stopped four times")

    assert ([], 0, 0.0) == (logs, status.stalls.number, status.longest_s)


@pytest.mark.long
async def test_each_stall_is_counted() -> None:
    """Each stall has its own line, and the longest is kept."""
    status = LoopStatus()
    with capture_logs() as logs, watched(status):
        for ended in (2, 4):
            _hold_up(logs, ended - 1)
            await anyio.to_thread.run_sync(eventually, lambda ended=ended: len(logs) == ended, "it is over")

    assert (2, ["loop.lagged", "loop.recovered"] * 2) == (
        status.stalls.number,
        [line["event"] for line in logs],
    )
    assert round(status.longest_s, 3) == max(line.get("lagged_for_s", 0.0) for line in logs)


async def test_watch_ends_with_its_block() -> None:
    """The thread of the watch ends when the block is left."""
    before = {*threading.enumerate()}  # the thread of another test may still end
    with watched(LoopStatus()):
        begun = [thread for thread in threading.enumerate() if thread not in before]

    await anyio.to_thread.run_sync(
        eventually, lambda: not any(thread.is_alive() for thread in begun), "it has gone"
    )
    assert ["loop watch"] == [thread.name for thread in begun]
