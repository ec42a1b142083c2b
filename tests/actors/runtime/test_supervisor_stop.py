"""The supervisor starts its children in order and stops them in reverse, each within a time limit."""

from __future__ import annotations

from functools import partial

import anyio
import msgspec
import pytest
from structlog.testing import capture_logs

from actors.runtime.actor import ActorState, ActorStatus
from actors.runtime.supervisor import ChildSpec, Supervisor
from tests.support.systems.supervision import supervised
from tests.support.time.virtual import WALL_0, VirtualClock, settle

pytestmark = pytest.mark.anyio

Journal = list[tuple[str, float]]


class Orderly:
    """Records its start and the end of its stop, which takes some seconds."""

    def __init__(self, name: str, journal: Journal, cleanup_s: float) -> None:
        self._name = name
        self._journal = journal
        self._cleanup_s = cleanup_s

    async def run(self) -> None:
        """Wait forever, and take some time to end."""
        self._journal.append((f"{self._name} started", anyio.current_time()))
        try:
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(self._cleanup_s)
            self._journal.append((f"{self._name} stopped", anyio.current_time()))


class Deaf:
    """Ignores its cancellation until it is released."""

    def __init__(self, released: anyio.Event) -> None:
        self._released = released

    async def run(self) -> None:
        """Wait behind a shield."""
        with anyio.CancelScope(shield=True):
            await self._released.wait()
        await anyio.sleep_forever()


class Failing:
    """Crashes at its start, or when it is cancelled."""

    def __init__(self, *, at_once: bool) -> None:
        self._at_once = at_once

    async def run(self) -> None:
        """Fail at once or on cancellation."""
        try:
            await anyio.sleep(0.0 if self._at_once else 1e6)
        finally:
            raise ValueError("broken")


def _orderly(name: str, journal: Journal, cleanup_s: float = 0.0) -> ChildSpec:
    return ChildSpec(ActorStatus(name), partial(Orderly, name, journal, cleanup_s))


async def test_children_start_in_order_and_stop_in_reverse() -> None:
    """Children start in the order given and stop in reverse, each after the one before."""
    journal: Journal = []

    async with supervised(*(_orderly(name, journal, 0.5) for name in "abc")) as supervisor:
        await settle()
        await supervisor.stop()

    starts = [("a started", 0.0), ("b started", 0.0), ("c started", 0.0)]
    stops = [("c stopped", 0.5), ("b stopped", 1.0), ("a stopped", 1.5)]
    assert starts + stops == journal


async def test_leaves_stop_together_and_first() -> None:
    """Children on which no other child depends stop together; then the others stop in reverse."""
    journal: Journal = []
    leaves = [msgspec.structs.replace(_orderly(name, journal, 1.5), is_leaf=True) for name in "cd"]

    async with supervised(*(_orderly(name, journal, 0.5) for name in "ab"), *leaves) as supervisor:
        await settle()
        await supervisor.stop()

    stops = [("c stopped", 1.5), ("d stopped", 1.5), ("b stopped", 2.0), ("a stopped", 2.5)]
    assert stops == journal[4:]


async def test_run_ends_when_all_children_have_stopped() -> None:
    """`run` returns after `stop`, and a stop is no crash."""
    spec = _orderly("a", [])
    supervisor = Supervisor([spec], VirtualClock())

    async with anyio.create_task_group() as tasks:
        await tasks.start(supervisor.run)
        await anyio.sleep(5)
        await supervisor.stop()

    assert ActorStatus("a", ActorState.STOPPED, WALL_0 + 5, starts=1) == spec.status


async def test_actor_that_ignores_cancellation_is_abandoned() -> None:
    """After its time limit the actor is logged once and abandoned, and the others are stopped (D7)."""
    journal: Journal = []
    released = anyio.Event()
    deaf = ChildSpec(ActorStatus("deaf"), lambda: Deaf(released), stop_within_s=0.5)
    deafer = ChildSpec(ActorStatus("deafer"), lambda: Deaf(released), stop_within_s=3.0)

    with capture_logs() as logs:
        async with supervised(_orderly("first", journal), deaf, deafer) as supervisor:
            await supervisor.stop()
            states = [deaf.status.state, deafer.status.state]
            released.set()

    abandoned = [("actor.abandoned", "deafer", 3.0), ("actor.abandoned", "deaf", 0.5)]
    assert abandoned == [(line["event"], line["actor"], line["waited_s"]) for line in logs]
    assert [ActorState.ABANDONED, ActorState.ABANDONED] == states
    assert [("first started", 0.0), ("first stopped", 3.5)] == journal


async def test_actor_within_its_time_limit_is_not_abandoned() -> None:
    """An actor that ends within the time limit, two seconds by default, counts as stopped."""
    spec = _orderly("slow", [], 1.9)

    with capture_logs() as logs:
        async with supervised(spec) as supervisor:
            await supervisor.stop()

    assert (ActorState.STOPPED, []) == (spec.status.state, logs)


async def test_crash_during_a_stop_does_not_count() -> None:
    """A core child that crashed three times and again during its stop causes no CoreFailure."""
    lives = iter([True, True, True, False])
    spec = ChildSpec(ActorStatus("core"), lambda: Failing(at_once=next(lives)), is_core=True)

    async with supervised(spec) as supervisor:
        await settle()
        await supervisor.stop()

    assert (ActorState.STOPPED, 4, 4) == (spec.status.state, spec.status.starts, spec.status.crashes)


async def test_stop_ends_a_quarantine_at_once() -> None:
    """A stop does not wait for the end of a quarantine and is not logged as a readmission."""
    spec = ChildSpec(ActorStatus("bad"), lambda: Failing(at_once=True))

    with capture_logs() as logs:
        async with supervised(spec) as supervisor:
            await anyio.sleep(10)
            await supervisor.stop()

            assert 10.0 == anyio.current_time()

    assert (ActorState.STOPPED, 4) == (spec.status.state, spec.status.starts)
    assert "actor.readmitted" not in [line["event"] for line in logs]
