"""Rows of docs/faults.md that no single module can show, in virtual time."""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from random import Random

import anyio
import pytest

from actors.board.validity import BoardRules
from actors.core.errors import TransportError
from tests.support.builders.the_odds_api import API_KEY
from tests.support.systems.schedule_stage import Stage
from tests.support.systems.virtual_service import ScriptedService, events, offered, pass_to, running

pytestmark = pytest.mark.anyio

Figure = Callable[[str], None]


async def test_a16_the_retries_of_200_sources_are_spread(figure: Figure) -> None:
    """After an outage that hits all sources, only few come back in the same tenth of a second."""
    random, outage_s = Random(1), 600.0
    returns = list[float]()
    for _ in range(200):
        stage = Stage("a", random)
        while stage.mono < outage_s:
            stage.mono += stage.due_s("a")
            stage.begin()
            stage.end("a", TransportError("refused", reason="connection", is_sent=False))
        returns.append(stage.mono + stage.due_s("a"))

    most = _most_in(0.1, returns)
    figure(f"schedules alone: at most {most} of 200 first retries in any 100 ms after {outage_s:g} s")
    assert most <= 10


def _most_in(span_s: float, times: Sequence[float]) -> int:
    return max(sum(start <= time < start + span_s for time in times) for start in times)


async def test_c14_finished_matches_that_stay_listed(figure: Figure) -> None:
    """For five days a source lists two new matches every hour and removes none."""
    rules = BoardRules(expire_after_kickoff_s=1800.0)
    service = ScriptedService(
        "alder", api_key=API_KEY, rules=rules, tick_s=600.0, poll_interval_s=3600.0, stale_after_s=1e5
    )
    rows, sizes, blocks = list[bytes](), list[int](), list[int]()
    async with running(service):
        await pass_to(anyio.current_time() + 5)
        for step in range(5 * 24):
            start = datetime.fromtimestamp(service.clock.now().wall + 4800, UTC)  # a poll is in an hour
            rows += [_row(f"m{step}-{number}", start) for number in range(2)]
            await service.polled("alder", events(*rows))
            sizes.append(len(service.entries("alder")))
            service.webs["alder"].requests.clear()  # memory that the test itself would keep
            service.published.clear()
            if step in {40, 119}:
                gc.collect()
                blocks.append(sys.getallocatedblocks() - len(rows))
        await anyio.sleep(3600.0)
        left = len(service.entries("alder"))
    grown = (blocks[1] - blocks[0]) / blocks[0]

    figure(
        f"5 days, {len(rows)} matches listed, at most {max(sizes)} on the board, {left} at the end;"
        f" memory {grown:+.1%} in the last 80 hours"
    )
    assert ({2}, 0) == (set(sizes), left)
    assert grown < 0.05


def _row(name: str, start: datetime) -> bytes:
    return json.dumps(offered(name, kick_off=start.strftime("%Y-%m-%dT%H:%M:%SZ"))).encode()
