"""The limit of crashes, and the duration of the quarantine above it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from actors.runtime.actor import Actor, ActorState, ActorStatus
from actors.runtime.supervisor import ChildSpec
from tests.actors.runtime.test_restart_window import quarantines
from tests.support.systems.supervision import supervised
from tests.support.time.virtual import WALL_0, VirtualLoop, settle

pytestmark = pytest.mark.anyio


class Mortal:
    """Runs for some seconds, then crashes."""

    def __init__(self, life_s: float) -> None:
        self._life_s = life_s

    async def run(self) -> None:
        """Run, then crash."""
        await anyio.sleep(self._life_s)
        raise ValueError("dead")


class Lives:
    """Makes one actor for each of `lives_s` and immortal ones afterwards; `starts` has the times."""

    def __init__(self, lives_s: Sequence[float] = ()) -> None:
        self.starts: list[float] = []
        self._lives_s = list(lives_s)

    def __call__(self) -> Actor:
        """Make the next actor."""
        self.starts.append(anyio.current_time())
        return Mortal(self._lives_s.pop(0) if self._lives_s else 1e9)


async def test_quarantine_is_recorded_and_logged_once_each_way() -> None:
    """Four crashes, one quarantine and one readmission make as many events, and the record follows."""
    spec = ChildSpec(ActorStatus("a"), Lives([5, 0, 0, 0]))

    with capture_logs() as logs:
        async with supervised(spec):
            await anyio.sleep(30)
            during = (spec.status.state, spec.status.since, spec.status.quarantined_until)
            await anyio.sleep(60)
            after = (spec.status.state, spec.status.since, spec.status.quarantined_until)

    assert (ActorState.QUARANTINED, WALL_0 + 5, WALL_0 + 65) == during
    assert (ActorState.RUNNING, WALL_0 + 65, None) == after
    assert (5, 4, "ValueError: dead") == (spec.status.starts, spec.status.crashes, spec.status.last_error)
    assert {"actor.crashed": 4, "actor.quarantined": 1, "actor.readmitted": 1} == Counter(
        line["event"] for line in logs
    )
    (quarantined,) = [line for line in logs if line["event"] == "actor.quarantined"]
    assert ("a", 60.0, "ValueError: dead") == (
        quarantined["actor"],
        quarantined["for_s"],
        quarantined["last_error"],
    )


async def test_quarantine_from_outside_has_its_reason() -> None:
    """An actor that harms others is stopped once, without a crash, and comes back after 60 s."""
    lives = Lives()
    spec = ChildSpec(ActorStatus("a"), lives)

    with capture_logs() as logs:
        async with supervised(spec) as supervisor:
            await anyio.sleep(10)
            supervisor.quarantine("a", "its batches are poison")
            await settle()
            supervisor.quarantine("a", "said again")
            await settle()
            during = (spec.status.state, spec.status.crashes, spec.status.last_error)
            await anyio.sleep(100)

    assert (ActorState.QUARANTINED, 0, "its batches are poison") == during
    assert [0.0, 70.0] == lives.starts
    assert ["actor.quarantined", "actor.readmitted"] == [line["event"] for line in logs]
    assert "its batches are poison" == logs[0]["last_error"]


async def test_crash_while_ending_does_not_lengthen_a_quarantine() -> None:
    """An actor that crashes while it is being quarantined keeps the duration and the reason."""

    class Sore:
        async def run(self) -> None:
            try:
                await anyio.sleep_forever()
            finally:
                raise ValueError("sore")

    spec = ChildSpec(ActorStatus("a"), Sore)

    async with supervised(spec) as supervisor:
        supervisor.quarantine("a", "poison")
        await settle()

        assert (WALL_0 + 60, "poison") == (spec.status.quarantined_until, spec.status.last_error)


async def test_explained_crash_does_not_count() -> None:
    """If a crash has another known cause, the actor is restarted at once, any number of times."""
    lives = Lives([0] * 20)
    spec = ChildSpec(ActorStatus("a"), lives, is_explained=lambda: True, is_core=True)

    async with supervised(spec):
        await anyio.sleep(1)

        assert ([0.0] * 21, 20) == (lives.starts, spec.status.crashes)
        assert ActorState.RUNNING is spec.status.state


async def test_explained_crash_keeps_the_count_of_others() -> None:
    """Between explained crashes, three unexplained ones are still allowed, and no more."""
    lives = Lives([1] * 20)
    spec = ChildSpec(ActorStatus("a"), lives, is_explained=lambda: len(lives.starts) % 2 == 0)

    async with supervised(spec):
        await anyio.sleep(30)

    assert ([float(second) for second in range(7)], ActorState.STOPPED) == (lives.starts, spec.status.state)


HOUR_S = 3600.0


class Fragile:
    """Runs for the next number of seconds of its script, then raises; forever after the script's end."""

    def __init__(self, script: list[int], born: list[float], died: list[float]) -> None:
        self._script = script
        self._born = born
        self._died = died

    async def run(self) -> None:
        """Run and crash by the script."""
        self._born.append(anyio.current_time())
        if not self._script:
            await anyio.sleep_forever()
        await anyio.sleep(self._script.pop(0))
        self._died.append(anyio.current_time())
        raise RuntimeError("as scripted")


async def _run(scripts: list[list[int]]) -> list[tuple[list[float], list[float], ActorStatus]]:
    records: list[tuple[list[float], list[float], ActorStatus]] = []
    specs = []
    for number, script in enumerate(scripts):
        born: list[float] = []
        died: list[float] = []
        status = ActorStatus(str(number))
        records.append((born, died, status))
        left = list(script)
        specs.append(ChildSpec(status, lambda left=left, born=born, died=died: Fragile(left, born, died)))  # type: ignore[misc]
    async with supervised(*specs):
        await anyio.sleep(HOUR_S)
        for _, _, status in records:
            assert status.state in {ActorState.RUNNING, ActorState.QUARANTINED}
    return records


@given(st.lists(st.lists(st.integers(0, 90), max_size=12), min_size=1, max_size=3))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_rules_hold_for_any_script_of_crashes(scripts: list[list[int]]) -> None:
    """Each instance follows a crash as soon as the model of quarantines says, whatever its siblings do."""
    records = anyio.run(_run, scripts, backend_options={"loop_factory": VirtualLoop})

    alone = [
        anyio.run(_run, [script], backend_options={"loop_factory": VirtualLoop})[0] for script in scripts
    ]
    assert [(born, died) for born, died, _ in alone] == [(born, died) for born, died, _ in records]
    for born, died, status in records:
        due = [at + (pause or 0.0) for at, pause in zip(died, quarantines(died), strict=True)]
        assert [0.0, *(at for at in due if at < HOUR_S)] == born
        assert (len(died), len(born)) == (status.crashes, status.starts)
