"""The supervisor: a crash affects one actor only, and a fresh instance replaces it at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from traceback import extract_tb

import anyio
import pytest
from structlog.testing import capture_logs

from actors.core.errors import CoreFailure
from actors.runtime.actor import Actor, ActorState, ActorStatus
from actors.runtime.supervisor import ChildSpec, Supervisor
from tests.support.systems.supervision import supervised
from tests.support.time.virtual import WALL_0, VirtualClock, settle

pytestmark = pytest.mark.anyio

Failure = Callable[[], None]


class Ticker:
    """Records the time every second."""

    def __init__(self) -> None:
        self.ticks: list[float] = []

    async def run(self) -> None:
        """Tick forever."""
        while True:
            self.ticks.append(anyio.current_time())
            await anyio.sleep(1)


class Failing:
    """Fails after some seconds."""

    def __init__(self, after_s: float, failure: Failure) -> None:
        self._after_s = after_s
        self._failure = failure

    async def run(self) -> None:
        """Run until the failure."""
        await anyio.sleep(self._after_s)
        self._failure()


class Once:
    """Makes a failing actor first and correct ones afterwards; `made` has all of them."""

    def __init__(self, after_s: float, failure: Failure) -> None:
        self.made: list[Actor] = []
        self._first = Failing(after_s, failure)

    def __call__(self) -> Actor:
        """Make the next actor."""
        self.made.append(Ticker() if self.made else self._first)
        return self.made[-1]


def _raise() -> None:
    raise ValueError("broken")


def _return() -> None:
    pass


def _be_cancelled() -> None:
    raise asyncio.CancelledError


async def test_actor_is_waiting_before_its_start() -> None:
    """A record exists from the beginning and shows that the actor has not run yet."""
    spec = ChildSpec(ActorStatus("a"), Ticker)
    Supervisor([spec], VirtualClock())

    assert (ActorState.WAITING, None, 0) == (spec.status.state, spec.status.since, spec.status.starts)


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (_raise, "ValueError: broken"),
        (_return, "ActorReturned: it returned, but must run until it is cancelled"),
        (_be_cancelled, "ActorReturned: it was cancelled, but not by its supervisor"),
    ],
)
async def test_crash_restarts_a_fresh_instance_at_once(failure: Failure, error: str) -> None:
    """Another instance runs at the same moment, and the record has the error; a return is an error too."""
    start = Once(7.0, failure)
    spec = ChildSpec(ActorStatus("a"), start)

    async with supervised(spec):
        await anyio.sleep(7)
        await settle()

        (_, fresh) = start.made
        assert isinstance(fresh, Ticker)
        assert [7.0] == fresh.ticks
        expected = ActorStatus("a", ActorState.RUNNING, WALL_0 + 7, starts=2, crashes=1, last_error=error)
        assert expected == spec.status


async def test_crash_is_logged_once_with_its_stack() -> None:
    """One error line has the actor's name and the exception with its traceback."""
    with capture_logs() as logs:
        async with supervised(ChildSpec(ActorStatus("a"), Once(7.0, _raise))):
            await anyio.sleep(60)

    (crash,) = logs
    expected = ("actor.crashed", "a", 1, "error")
    assert expected == (crash["event"], crash["actor"], crash["crashes"], crash["log_level"])
    assert "_raise" in [frame.name for frame in extract_tb(crash["exc_info"].__traceback__)]


@pytest.mark.parametrize("failure", [_raise, _return, _be_cancelled])
async def test_crash_does_not_affect_siblings(failure: Failure) -> None:
    """The same instances go on and miss no tick, whether they started before or after the failing one.

    A stray cancellation, as from awaiting a cancelled future, is a crash like any other.
    """
    before, behind = Ticker(), Ticker()
    specs = [
        ChildSpec(ActorStatus("before"), lambda: before),
        ChildSpec(ActorStatus("failing"), Once(2.5, failure)),
        ChildSpec(ActorStatus("behind"), lambda: behind),
    ]

    async with supervised(*specs):
        await anyio.sleep(10.5)

        seconds = [float(second) for second in range(11)]
        assert (seconds, seconds) == (before.ticks, behind.ticks)
        assert [1, 2, 1] == [spec.status.starts for spec in specs]


async def test_core_child_that_crashes_too_often_ends_everything() -> None:
    """The fourth crash within a minute raises CoreFailure with its cause, and the other actors stop."""
    core = ChildSpec(ActorStatus("core"), lambda: Failing(10.0, _raise), is_core=True)
    other = ChildSpec(ActorStatus("other"), Ticker)
    message = "core crashed too often: ValueError: broken"

    with pytest.RaisesGroup(pytest.RaisesExc(CoreFailure, match=message)):
        with anyio.fail_after(3600):
            await Supervisor([core, other], VirtualClock()).run()

    assert (40.0, 4) == (anyio.current_time(), core.status.crashes)
    assert (ActorState.STOPPED, WALL_0 + 40) == (other.status.state, other.status.since)
