"""The supervisor: exceptions that would end the loop or the process are a crash of one actor only."""

from __future__ import annotations

import anyio
import pytest
from structlog.testing import capture_logs

from actors.runtime.actor import Actor, ActorState, ActorStatus
from actors.runtime.supervisor import ChildSpec, contained
from tests.support.systems.supervision import supervised
from tests.support.time.virtual import settle

pytestmark = pytest.mark.anyio


class Panic(BaseException):
    """An exception that is not derived from Exception, such as a panic of a library written in Rust."""


EXITS = [SystemExit(0), KeyboardInterrupt(), GeneratorExit(), Panic("index out of bounds")]


class Leaving:
    """Raises after two seconds: directly, beside a task of its own, or in a task of its own."""

    def __init__(self, error: BaseException, where: str) -> None:
        self._error = error
        self._where = where

    async def run(self) -> None:
        """Run until the exception."""
        if self._where == "itself":
            await self._leave()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(contained, self._leave if self._where == "task" else anyio.sleep_forever)
            await (self._leave() if self._where == "beside" else anyio.sleep_forever())

    async def _leave(self) -> None:
        await anyio.sleep(2)
        raise self._error


class Staying:
    """Runs forever."""

    async def run(self) -> None:
        """Wait forever."""
        await anyio.sleep_forever()


@pytest.mark.parametrize("where", ["start", "itself", "beside", "task"])
@pytest.mark.parametrize("error", EXITS, ids=lambda error: type(error).__name__)
async def test_exit_is_a_crash_of_one_actor(error: BaseException, where: str) -> None:
    """A fresh instance replaces the actor, the log names the exception, other actors are not affected.

    This holds also if the exception is raised while the instance is made.
    """
    other = ChildSpec(ActorStatus("other"), Staying)
    leaving = ActorStatus("leaving")

    def start() -> Actor:
        if where == "start" and not leaving.crashes:
            raise error
        return Staying() if leaving.crashes else Leaving(error, where)

    with capture_logs() as logs:
        async with supervised(ChildSpec(leaving, start), other):
            await anyio.sleep(2)
            await settle()

            assert (ActorState.RUNNING, 2, 1) == (leaving.state, leaving.starts, leaving.crashes)
            told = f"{type(error).__name__}: {error}"
            assert (
                f"ActorExited: its code raised {told}, which may end only this actor" == leaving.last_error
            )
            assert (ActorState.RUNNING, 1) == (other.status.state, other.status.starts)
    assert [("actor.crashed", "leaving")] == [(line["event"], line["actor"]) for line in logs]


async def test_contained_task_can_be_cancelled() -> None:
    """Cancellation and ordinary exceptions pass through unchanged."""
    with anyio.move_on_after(1) as scope:
        await contained(anyio.sleep_forever)
    broken = ValueError("broken")

    async def fail() -> None:
        raise broken

    assert scope.cancelled_caught
    with pytest.raises(ValueError, match="broken") as caught:
        await contained(fail)
    assert broken is caught.value


class Mute(Exception):
    """An exception whose text cannot be made."""

    def __str__(self) -> str:
        """Raise."""
        raise SystemExit(0)

    __repr__ = __str__


@pytest.mark.parametrize("error", [Mute(), ValueError("x" * 10_000)], ids=["mute", "long"])
async def test_crash_with_any_text_is_recorded(error: Exception) -> None:
    """An exception whose text fails is recorded without it, and a long text is cut."""
    status = ActorStatus("leaving")

    def start() -> Actor:
        return Staying() if status.crashes else Leaving(error, "task")

    async with supervised(ChildSpec(status, start)):
        await anyio.sleep(2)
        await settle()

        assert (ActorState.RUNNING, 2, 1) == (status.state, status.starts, status.crashes)
        told = str(status.last_error)
        assert (True, True) == (told.startswith(type(error).__name__), len(told) <= 1000)
