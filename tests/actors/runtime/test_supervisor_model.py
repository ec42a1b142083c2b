"""The supervisor under any script of crashes: rules for every child and its siblings."""

from __future__ import annotations

import anyio
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.runtime.actor import ActorState, ActorStatus
from actors.runtime.supervisor import ChildSpec
from tests.support.systems.supervision import supervised
from tests.support.time.virtual import VirtualLoop

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
    """Every instance but the first follows a crash, at once or after a quarantine; none is missing.

    No child has more than four crashes in a minute, and each completes its script or is still in
    quarantine, whatever its siblings do.
    """
    records = anyio.run(_run, scripts, backend_options={"loop_factory": VirtualLoop})

    alone = [
        anyio.run(_run, [script], backend_options={"loop_factory": VirtualLoop})[0] for script in scripts
    ]
    assert [(born, died) for born, died, _ in alone] == [(born, died) for born, died, _ in records]
    for born, died, status in records:
        pauses = [after - before for before, after in zip(died, born[1:], strict=False)]
        assert {0.0, 60.0, 120.0, 240.0, 480.0, 900.0} >= set(pauses)
        assert all(sum(one <= other < one + 60 for other in died) <= 4 for one in died)
        assert (len(died), len(born)) == (status.crashes, status.starts)
