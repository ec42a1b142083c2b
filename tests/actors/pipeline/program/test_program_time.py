"""The actor of a program in virtual time: restarts, silence, sleep, and stale lists."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import accumulate
from typing import Any

import anyio
import pytest

from actors.core.errors import TransportError
from actors.pipeline.program.source import ProgramSourceActor
from actors.runtime.supervisor import ChildSpec
from actors.sources.program.kind import KIND
from tests.support.builders.programs import item, line, listed
from tests.support.systems.program_stage import ProgramStage
from tests.support.systems.scopes import Longest
from tests.support.systems.supervision import supervised
from tests.support.time.virtual import VirtualClock, settle

pytestmark = pytest.mark.anyio


class Script(ProgramStage):
    """A program whose processes send the same lines, each after a delay, and then end or stay silent."""

    def __init__(self, *said: tuple[float, bytes], ends: bool = False, **options: Any) -> None:
        super().__init__(VirtualClock(), Longest(), **options)
        self.started: list[float] = []
        self._said = said
        self._ends = ends

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Process]:
        """Start a process."""
        self.started.append(self.clock.now().mono)
        yield Process(list(self._said), ends=self._ends)

    def actor(self) -> ProgramSourceActor:
        """Return an instance of the actor."""
        return ProgramSourceActor(KIND, self.context, self.open)

    def ids(self) -> set[str]:
        """Return the matches that a reader sees."""
        return {*self.shown()}


class Process:
    """A process of a script."""

    def __init__(self, said: list[tuple[float, bytes]], *, ends: bool) -> None:
        self._said = said
        self._ends = ends
        self._due = asyncio.get_running_loop().time()

    async def receive(self) -> bytes:
        """Wait for the next lines."""
        if not self._said:
            if self._ends:
                raise TransportError("it ended with code 0", reason="exited")
            await anyio.sleep_forever()
        delay_s, lines = self._said[0]
        due = self._due + delay_s
        await anyio.sleep(due - asyncio.get_running_loop().time())
        self._said.pop(0)
        self._due = due
        return lines

    async def remark(self) -> str | None:
        """Return no line of standard error."""

    def has_exited(self) -> bool:
        """Return False; `receive` reports an exit."""
        return False

    def ending(self) -> TransportError:
        """Return the error for the end of the process."""
        return TransportError("it ended with code 0", reason="exited")


@asynccontextmanager
async def _running(script: Script) -> AsyncIterator[None]:
    child = ChildSpec(script.context.status.actor, script.actor)
    async with supervised(child):
        await settle()
        yield


async def _sleep(seconds: float) -> None:
    await anyio.sleep(seconds)
    await settle()


@pytest.mark.parametrize(("ends", "life_s"), [(True, 0.0), (False, 15.0)], ids=["exit", "silence"])
async def test_restarts_come_later_and_later(*, ends: bool, life_s: float) -> None:
    """After exit or silence the delay is a second, then two, up to a minute (faults.md, A19)."""
    script = Script((0.0, listed(item())), ends=ends)
    async with _running(script):
        await _sleep(450.0)

    delays = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0]
    assert [*accumulate((life_s + delay for delay in delays), initial=0.0)] == script.started[:10]


async def test_a_minute_of_health_makes_the_next_restart_early_again() -> None:
    """A process that sent lines for a minute is restarted after a second, whatever happened before."""
    alive = [(10.0, line("alive"))] * 7
    script = Script((0.0, listed(item())), *alive, ends=True)
    async with _running(script):
        await _sleep(250.0)

    assert [0.0, 71.0, 142.0, 213.0] == script.started


async def test_a_minute_without_a_whole_list_is_no_health() -> None:
    """If processes only begin a list, the delays of their restarts grow."""
    script = Script(*[(10.0, line("begin", id="1"))] * 7, ends=True)
    async with _running(script):
        await _sleep(250.0)

    assert [0.0, 71.0, 143.0, 217.0] == script.started
    assert 3 == script.context.status.failures


async def test_silence_ends_a_process() -> None:
    """A process ends after half of the staleness without a line; its prices stay until they are stale."""
    script = Script((0.0, listed(item())), (20.0, line("alive")))
    async with _running(script):
        await _sleep(15.5)

        assert (["silence"], {"1"}) == (list(script.context.status.failed_by), script.ids())


async def test_lines_from_before_a_sleep_of_the_machine_are_not_believed() -> None:
    """Such lines are as old as the sleep was long, so the process is replaced."""
    script = Script((0.0, listed(item("1"))), (5.0, listed(item("2"))))
    async with _running(script):
        assert isinstance(script.clock, VirtualClock)
        script.clock.asleep_s = 3600.0
        await _sleep(5.5)

        assert (["silence"], False) == (list(script.context.status.failed_by), "2" in script.ids())


async def test_a_list_that_is_not_confirmed_is_withdrawn() -> None:
    """The list is withdrawn although its process confirms another list."""
    script = Script((0.0, listed(item("1"))), *[(10.0, listed(item("2"), name="other"))] * 4)
    async with _running(script):
        await _sleep(29.0)
        before = script.ids()
        await _sleep(2.0)

        assert ({"1", "2"}, {"2"}) == (before, script.ids())
