"""The default configuration in virtual time: one source per bookmaker, one of them absent at times."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from random import Random

import anyio
import pytest

from actors.core.messages import BookmakerId
from actors.monitoring.status import BookmakerState
from actors.service.settings import load
from actors.service.system import System
from tests.support.time.virtual import VirtualClock

pytestmark = pytest.mark.anyio

OF_SIZE = ("matches =", "updates_per_s =")
DEFAULT = Path(__file__).parents[3] / "config" / "default.toml"


@pytest.mark.long
async def test_absent_bookmaker_is_withdrawn_and_comes_back(tmp_path: Path) -> None:
    """About every twenty minutes cedar fails for a minute: retries, stale after 30 s, live again."""
    config = tmp_path / "small.toml"
    lines = [line for line in DEFAULT.read_text("utf-8").splitlines() if not line.startswith(OF_SIZE)]
    small = 'kind = "simulated"\nmatches = 20\nupdates_per_s = 1.0'
    config.write_text("\n".join(lines).replace('kind = "simulated"', small), "utf-8")
    system = System(load(config, {}), VirtualClock(), Random(1))
    seen: dict[BookmakerId, list[BookmakerState]] = {name: [] for name in system.status.bookmakers}
    async with anyio.create_task_group() as tasks:
        await tasks.start(system.supervisor.run)
        for _ in range(400):
            await anyio.sleep(5)
            snapshot = system.published.newest
            for name, state in system.status.observe(snapshot, VirtualClock().now()).items():
                seen[name].append(state)
        tasks.cancel_scope.cancel()

    alder, birch, cedar = ([state for state, _ in groupby(states)] for states in seen.values())
    live, away = BookmakerState.LIVE, [BookmakerState.RETRYING, BookmakerState.STALE]
    assert ([live], [live]) == (alder, birch)
    assert [live, *away, live] == cedar[:4]
    assert {0} == {actor.crashes for actor in system.status.actors.values()}
