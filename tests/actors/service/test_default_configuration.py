"""The default configuration in virtual time: one source per bookmaker, one of them absent at times."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import anyio
import pytest

from actors.monitoring.status import BookmakerState
from tests.support.systems.virtual_service import configured

pytestmark = pytest.mark.anyio

OF_SIZE = ("matches =", "updates_per_s =")
DEFAULT = Path(__file__).parents[3] / "config" / "default.toml"


@pytest.mark.long
async def test_absent_bookmaker_is_withdrawn_and_comes_back(tmp_path: Path) -> None:
    """About every twenty minutes cedar fails for a minute: retries, stale after 30 s, live again."""
    lines = [line for line in DEFAULT.read_text("utf-8").splitlines() if not line.startswith(OF_SIZE)]
    small = 'kind = "simulated"\nmatches = 20\nupdates_per_s = 1.0'
    text = "\n".join(lines).replace('kind = "simulated"', small)
    seen: list[list[BookmakerState]] = []
    async with configured(tmp_path, text) as service:
        for _ in range(400):
            await anyio.sleep(5)
            seen.append(service.states())

    alder, birch, cedar = ([state for state, _ in groupby(states)] for states in zip(*seen, strict=True))
    live, away = BookmakerState.LIVE, [BookmakerState.RETRYING, BookmakerState.STALE]
    assert ([live], [live]) == (alder, birch)
    assert [live, *away, live] == cedar[:4]
    assert {0} == {actor.crashes for actor in service.system.status.actors.values()}
