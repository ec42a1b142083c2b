"""The actor of a source runs only while the lease of the source is held."""

from __future__ import annotations

from dataclasses import dataclass, field

import anyio
import pytest

from actors.cluster.gate import Gate, GatedActor

pytestmark = pytest.mark.anyio


@dataclass
class _Source:
    """Notes what its runs do; `fails` and `returns` say how the next run ends by itself."""

    seen: list[str] = field(default_factory=list)
    fails: Exception | None = None
    returns: bool = False

    async def run(self) -> None:
        self.seen.append("began")
        if self.fails is not None:
            raise self.fails
        if self.returns:
            return
        try:
            await anyio.sleep_forever()
        finally:
            self.seen.append("ended")


async def test_an_actor_runs_while_its_gate_is_open() -> None:
    """The actor is started anew at each opening; while the gate is closed, nothing runs."""
    gate, source = Gate(), _Source()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(GatedActor(gate, lambda: source).run)
        for _ in range(2):
            await anyio.sleep(1.0)
            before = list(source.seen)
            gate.open()
            await anyio.sleep(1.0)
            gate.close()
            await anyio.sleep(1.0)
        tasks.cancel_scope.cancel()

    assert ["began", "ended"] == before
    assert ["began", "ended"] * 2 == source.seen


async def test_a_crash_goes_on_to_the_supervisor() -> None:
    """If the actor returns, the gated actor returns too, which counts as a crash."""
    gate = Gate()
    gate.open()

    with pytest.raises(RuntimeError, match="a bug"):
        await GatedActor(gate, lambda: _Source(fails=RuntimeError("a bug"))).run()
    with anyio.fail_after(1.0):
        await GatedActor(gate, lambda: _Source(returns=True)).run()
