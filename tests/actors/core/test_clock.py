"""The real clock: which clocks of the machine it reads, and that it includes the time of a sleep."""

from __future__ import annotations

import asyncio
import time

import anyio
import pytest

from actors.core.clock import SystemClock, seconds_asleep

pytestmark = pytest.mark.anyio
COUNTS_SLEEP = hasattr(time, "CLOCK_BOOTTIME")


async def test_mono_follows_the_loop_and_wall_the_machine() -> None:
    """In virtual time an hour of the loop adds an hour to `mono` and nothing to `wall`."""
    clock, loop = SystemClock(), asyncio.get_running_loop()
    before, first = time.time(), clock.now()
    await anyio.sleep(3600)
    second, after = clock.now(), time.time()

    expected = loop.time() - 3600, loop.time()
    assert pytest.approx(expected, abs=10) == (first.mono, second.mono)
    assert sorted([before, first.wall, second.wall, after]) == [before, first.wall, second.wall, after]


async def test_time_goes_on_while_the_machine_sleeps() -> None:
    """The clock includes sleep after its first reading, and not the sleep before it."""
    asleep = [100.0]
    clock = SystemClock(lambda: asleep[0])
    first = clock.now().mono
    asleep[0] += 28_800.0
    await anyio.sleep(1)

    assert first + 28_801.0 == clock.now().mono


async def test_time_never_goes_back() -> None:
    """The clock never goes back, whatever the machine's clocks show after a sleep."""
    asleep = [0.0]
    clock = SystemClock(lambda: asleep[0])
    seen = []
    for said in (0.0, 50.0, 20.0, -1e9, 50.5):
        asleep[0] = said
        await anyio.sleep(1)
        seen.append(clock.now().mono)

    assert [1.0, 52.0, 53.0, 54.0, 55.5] == seen


@pytest.mark.skipif(not COUNTS_SLEEP, reason="this system has no CLOCK_BOOTTIME")
def test_sleep_is_what_the_monotonic_clock_did_not_count() -> None:
    """The sleep is never overestimated, although the two clocks are read one after the other."""
    mono = time.monotonic()
    asleep_s = seconds_asleep()
    most_s = time.clock_gettime(time.CLOCK_BOOTTIME) - mono

    assert most_s >= asleep_s
    assert pytest.approx(most_s, abs=60) == asleep_s
