"""The times at which a polled source polls: first delay, interval, backoff, Retry-After, fresh lists.

Other tests cover its transport over real sockets; here a scripted one answers at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate

import anyio
import msgspec
import pytest

from actors.core.errors import PayloadError, SourceError, TransportError
from actors.core.messages import Scope
from actors.source_api.options import PolledOptions
from actors.source_api.plan import Plan, Target
from tests.support.systems.scopes import URL, ScopesStage, scripted, verbatim
from tests.support.systems.supervision import supervised
from tests.support.time.virtual import WALL_0

pytestmark = pytest.mark.anyio

REFUSED = TransportError("refused")


def source(script: Iterable[SourceError | None] = (), poll_interval_s: float = 60.0) -> ScopesStage:
    """Return a source whose attempts end as scripted (None for a success), and succeed after that."""
    outcomes = iter(script)

    async def answer(scope: Scope, before: int) -> bytes:
        del scope, before
        if (error := next(outcomes, None)) is not None:
            raise error
        return b"content"

    options = PolledOptions(kind="scripted", url=URL, poll_interval_s=poll_interval_s)
    return ScopesStage(scripted("a", verbatim), answer, options)


@pytest.mark.parametrize(("poll_interval_s", "first"), [(900.0, 0.5), (5.0, 0.5), (2.0, 0.2), (0.5, 0.05)])
async def test_first_poll_comes_soon(poll_interval_s: float, first: float) -> None:
    """The first poll is at most half a second plus a tenth of the interval away; then one per interval."""
    stage = source(poll_interval_s=poll_interval_s)

    async with supervised(stage.child):
        await anyio.sleep(3.5 * poll_interval_s)

    assert [first + poll_interval_s * number for number in range(4)] == pytest.approx(stage.times("a"))


@pytest.mark.parametrize(
    ("poll_interval_s", "delays"),
    [
        (10.0, [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0]),
        (90.0, [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0]),
        (900.0, [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 300.0, 300.0]),
    ],
)
async def test_failures_are_retried_with_increasing_delays(
    poll_interval_s: float, delays: list[float]
) -> None:
    """The longest delay doubles from 0.5 s up to 30 s or a third of the interval."""
    stage = source([REFUSED] * len(delays), poll_interval_s)

    async with supervised(stage.child):
        await anyio.sleep(sum(delays) + 1)

    assert list(accumulate(delays, initial=0.5)) == stage.times("a")


async def test_flapping_does_not_reset_the_delay() -> None:
    """Only 60 s of success reset the delay, not a single success."""
    stage = source([REFUSED, None] * 7 + [None] * 12 + [REFUSED, None], poll_interval_s=5.0)

    async with supervised(stage.child):
        await anyio.sleep(200)

    flapping = [0.5, 5.0, 1.0, 5.0, 2.0, 5.0, 4.0, 5.0, 8.0, 5.0, 16.0, 5.0, 30.0]
    delays = [*flapping, *[5.0] * 13, 0.5]
    assert list(accumulate(delays, initial=0.5)) == stage.times("a")[: len(delays) + 1]


@pytest.mark.parametrize(("retry_after_s", "delay"), [(120.0, 120.0), (0.0, 0.5), (None, 0.5)])
async def test_retry_after_is_a_minimum(retry_after_s: float | None, delay: float) -> None:
    """Retry-After can only lengthen the delay, and a request for a fresh list does not shorten it."""
    stage = source([TransportError("status was 503, must be 200", retry_after_s)])

    async with supervised(stage.child):
        await anyio.sleep(0.6)
        stage.context.refresh.set()
        await anyio.sleep(150)

    assert [0.5, 0.5 + delay] == stage.times("a")[:2]


async def test_request_for_a_fresh_list_shortens_the_wait() -> None:
    """After a success, a request is answered within half a second, once; then the interval goes on."""
    stage = source()

    async with supervised(stage.child):
        await anyio.sleep(20)
        stage.context.refresh.set()
        await anyio.sleep(100)

    assert ([0.5, 20.5, 80.5], False) == (stage.times("a"), stage.context.refresh.is_set())


async def test_wall_clock_does_not_move_the_schedule() -> None:
    """A step of an hour in either direction changes neither interval nor backoff (faults.md, C12)."""
    stage = source([REFUSED, REFUSED, None, None])

    async with supervised(stage.child):
        for shift_s in (3600.0, -3600.0, 0.0, 3600.0):
            stage.clock.wall_shift_s = shift_s
            await anyio.sleep(0.9)
        await anyio.sleep(100)

    assert [0.5, 1.0, 2.0, 62.0] == stage.times("a")


async def test_record_describes_an_outage() -> None:
    """During an outage the record has its begin, the number of failures, the error and the next attempt."""
    stage = source([None, REFUSED, PayloadError("it is HTML"), REFUSED], poll_interval_s=10.0)
    status = stage.context.status

    async with supervised(stage.child):
        await anyio.sleep(12.5)

        assert (4, 3, 3, True) == (
            status.attempts.number,
            status.failures,
            status.failures_total,
            status.is_down,
        )
        assert ("refused", WALL_0 + 10.5) == (status.last_error, status.failing_since)
        assert (WALL_0 + 14, WALL_0 + 0.5) == (status.next_attempt_at, status.last_success_at)


async def test_ever_new_scopes_leave_time_for_others() -> None:
    """A plan that names another scope at each call is called at most a few hundred times a second."""
    looks = 0

    class Renaming(Plan):
        def targets(self) -> tuple[Target, ...]:
            nonlocal looks
            looks += 1
            return (Target(Scope(f"{looks}"), f"{URL}/{looks}"),)

    async def answer(scope: Scope, before: int) -> bytes:
        del scope, before
        return b"content"

    kind = msgspec.structs.replace(scripted("a", verbatim), plan=lambda options, _: Renaming(options, ()))
    stage = ScopesStage(kind, answer)
    async with supervised(stage.child):
        await anyio.sleep(1.5)

    assert 0 < looks < 1000
