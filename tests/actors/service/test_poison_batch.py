"""Poison batches in the whole system: which list is requested again, and which actor is quarantined."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from structlog.testing import capture_logs

from actors.core.messages import BookmakerId
from actors.runtime.actor import ActorState
from tests.support.builders.hostile import poison
from tests.support.systems.virtual_service import (
    THREE,
    ScriptedService,
    VirtualService,
    pass_to,
    running,
    simulated,
)
from tests.support.time.virtual import settle

pytestmark = pytest.mark.anyio

ALL, ALDER, BIRCH = {*THREE}, BookmakerId("alder"), BookmakerId("birch")
RUNNING = dict.fromkeys(THREE, ActorState.RUNNING)


def _poisoned(service: VirtualService, *names: str, scope: str = "simulated") -> None:
    for name in names:
        service.system.bus.publish(poison(name, scope, service.clock.now().mono))


def _shown(service: VirtualService) -> set[str]:
    return {name for name in THREE if service.entries(name)}


def _states(service: VirtualService) -> dict[BookmakerId, ActorState]:
    return {name: record.actor.state for name, record in service.system.status.bookmakers.items()}


async def test_one_poison_of_each_bookmaker_quarantines_none(tmp_path: Path) -> None:
    """The poisoned lists leave at once, and the source's next tick restores them."""
    async with simulated(tmp_path) as service:
        await pass_to(10.5)
        _poisoned(service, BIRCH)
        await settle()
        without = _shown(service)
        _poisoned(service, "alder", "cedar")
        await settle()
        at_once = _shown(service)
        await pass_to(12)

        assert (ALL - {BIRCH}, set(), ALL) == (without, at_once, _shown(service))
        assert (RUNNING, 3) == (_states(service), service.system.status.board.dropped.number)


async def test_poisoned_list_is_requested_again() -> None:
    """The list's entries are removed at once, and its source is asked again long before the next poll."""
    service = ScriptedService("alder", "birch", poll_interval_s=3600.0, stale_after_s=7200.0)
    async with running(service):
        await pass_to(5)
        (scope,) = service.snapshot.books[ALDER].lists
        _poisoned(service, ALDER, scope=scope)
        await settle()
        at_once = [bool(service.entries(name)) for name in (ALDER, BIRCH)]
        await pass_to(7)

        assert ([False, True], True) == (at_once, bool(service.entries(ALDER)))
        assert [2, 1] == [len(service.webs[name].requests) for name in (ALDER, BIRCH)]
        assert 1 == service.system.status.board.dropped.number


async def test_second_poison_within_a_minute_quarantines_that_bookmaker(tmp_path: Path) -> None:
    """Only that bookmaker is quarantined for 60 s, with a reason, and is readmitted after that."""
    async with simulated(tmp_path) as service:
        with capture_logs() as logs:
            _poisoned(service, BIRCH)
            await anyio.sleep(59)
            _poisoned(service, BIRCH, scope="another")
            await settle()
            during = _states(service)
            await anyio.sleep(59)
            still = _states(service)
            await anyio.sleep(2)

        assert {**RUNNING, BIRCH: ActorState.QUARANTINED} == during == still
        assert (RUNNING, ALL) == (_states(service), _shown(service))
        (quarantined,) = [line for line in logs if line["event"] == "actor.quarantined"]
        assert ("bookmaker:birch", 60.0) == (quarantined["actor"], quarantined["for_s"])
        assert "two of its batches crashed the aggregator" == quarantined["last_error"]


async def test_second_poison_after_a_minute_does_not_quarantine(tmp_path: Path) -> None:
    """Each time the list is requested again, and the bookmaker goes on."""
    async with simulated(tmp_path) as service:
        states = []
        for _ in range(4):
            _poisoned(service, BIRCH)
            await settle()
            states.append(_states(service))
            await anyio.sleep(61)

        assert [RUNNING] * 4 == states
        assert (ALL, 4) == (_shown(service), service.system.status.board.dropped.number)
