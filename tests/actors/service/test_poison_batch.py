"""Poison batches in the whole system: which list is requested again, and which actor is quarantined."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import anyio
import pytest
from structlog.testing import capture_logs

from actors.board.validity import BoardRules
from actors.core.clock import Instant
from actors.core.cooperative import Sliced
from actors.core.messages import Batch, BookmakerId, Extract, Scope, SourceName
from actors.runtime.actor import ActorState
from actors.service.settings import (
    BookmakerSettings,
    ServerSettings,
    Settings,
    SourceSettings,
)
from actors.service.system import System
from actors.source_api.kinds import TickingKind
from actors.source_api.options import SourceOptions
from tests.support.builders.hostile import poison
from tests.support.builders.messages import match
from tests.support.systems.virtual_service import ScriptedService, VirtualService, pass_to, running
from tests.support.time.virtual import VirtualClock, settle

pytestmark = pytest.mark.anyio

ALDER, BIRCH, CEDAR = NAMES = (BookmakerId("alder"), BookmakerId("birch"), BookmakerId("cedar"))
SCOPE = Scope("hand-made")


class Still:
    """A machine with one match that never changes, and three ticks a second."""

    def __init__(self, keys: tuple[str, ...]) -> None:
        self.scope = SCOPE
        self.interval_s = 1 / 3
        self._keys = keys

    def image(self) -> Mapping[str, Extract]:
        """Return the only match."""
        return dict.fromkeys(self._keys, Extract((match("own"),)))

    def advance(self, now: Instant) -> Sliced[Mapping[str, Extract]]:
        """Return no changes."""
        del now
        yield
        return dict.fromkeys(self._keys, Extract(()))


def _start(options: SourceOptions, keys: tuple[str, ...], now: Instant) -> Still:
    del options, now
    return Still(keys)


def _any_key(key: str) -> None:
    del key


def _settings() -> Settings:
    kind = TickingKind("still", SourceOptions, _any_key, _start)
    source = SourceName("hand")
    return Settings(
        ServerSettings(),
        BoardRules(),
        {source: SourceSettings(kind, SourceOptions(kind="still"))},
        {name: BookmakerSettings(source, name, name) for name in NAMES},
    )


@asynccontextmanager
async def _running() -> AsyncIterator[System]:
    service = VirtualService(_settings())
    async with running(service):
        await anyio.sleep(0.5)
        yield service.system


def _poison(bookmaker: str, scope: str = SCOPE) -> Batch:
    return poison(bookmaker, scope, VirtualClock().now().mono)


def _shown(system: System) -> list[str]:
    books = system.published.newest.books.values()
    return [entry.id for book in books for chunk in book.chunks for entry in chunk.entries]


def _states(system: System) -> dict[BookmakerId, ActorState]:
    return {name: bookmaker.actor.state for name, bookmaker in system.status.bookmakers.items()}


ALL_SHOWN = ["alder_own", "birch_own", "cedar_own"]
ALL_RUNNING = dict.fromkeys(NAMES, ActorState.RUNNING)


async def test_poisoned_list_is_requested_again() -> None:
    """Its entries are removed at once, and its source is asked again long before the next poll."""
    service = ScriptedService("alder", "birch", poll_interval_s=3600.0, stale_after_s=7200.0)
    async with running(service):
        await pass_to(5)
        shown = _shown(service.system)
        (scope,) = service.snapshot.books[ALDER].lists
        service.system.bus.publish(_poison(ALDER, scope))
        await settle()
        at_once = _shown(service.system)
        await pass_to(7)

        assert [entry for entry in shown if entry.startswith("birch")] == at_once
        assert shown == _shown(service.system)
        assert [2, 1] == [len(service.webs[name].requests) for name in (ALDER, BIRCH)]
        assert 1 == service.system.status.board.dropped.number


async def test_second_poison_within_a_minute_quarantines_that_bookmaker() -> None:
    """Only that bookmaker is quarantined for 60 s, with a reason, and readmitted after that."""
    async with _running() as system:
        with capture_logs() as logs:
            system.bus.publish(_poison(BIRCH))
            await anyio.sleep(59)
            system.bus.publish(_poison(BIRCH, "another"))
            await settle()
            during = _states(system)
            await anyio.sleep(59)
            still = _states(system)
            await anyio.sleep(2)

        assert {**ALL_RUNNING, BIRCH: ActorState.QUARANTINED} == during == still
        assert (ALL_RUNNING, ALL_SHOWN) == (_states(system), _shown(system))
        (quarantined,) = [line for line in logs if line["event"] == "actor.quarantined"]
        assert ("bookmaker:birch", 60.0) == (quarantined["actor"], quarantined["for_s"])
        assert "two of its batches crashed the aggregator" == quarantined["last_error"]


async def test_second_poison_after_a_minute_does_not_quarantine() -> None:
    """Each time the list is requested again, and the bookmaker goes on."""
    async with _running() as system:
        states = []
        for _ in range(4):
            system.bus.publish(_poison(BIRCH))
            await settle()
            states.append(_states(system))
            await anyio.sleep(61)

        assert [ALL_RUNNING] * 4 == states
        assert (ALL_SHOWN, 4) == (_shown(system), system.status.board.dropped.number)


async def test_one_poison_of_each_bookmaker_quarantines_none() -> None:
    """Poison batches are counted by bookmaker."""
    async with _running() as system:
        for name in NAMES:
            system.bus.publish(_poison(name))
        await settle()
        at_once = _shown(system)
        await anyio.sleep(0.5)

        assert ([], ALL_SHOWN) == (at_once, _shown(system))
        assert (ALL_RUNNING, 3) == (_states(system), system.status.board.dropped.number)
