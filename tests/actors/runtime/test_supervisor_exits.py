"""The supervisor: what would end the event loop or the process is a crash of that actor alone."""

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
    """Derived from no Exception, as a panic of a library written in Rust is."""


EXITS = [SystemExit(0), KeyboardInterrupt(), GeneratorExit(), Panic("index out of bounds")]


class Leaving:
    """Raises after two seconds: itself, beside a task of its own, or in a task of its own."""

    def __init__(self, error: BaseException, where: str) -> None:
        self._error = error
        self._where = where

    async def run(self) -> None:
        """Live until then."""
        if self._where == "itself":
            await self._leave()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(contained, self._leave if self._where == "task" else anyio.sleep_forever)
            await (self._leave() if self._where == "beside" else anyio.sleep_forever())

    async def _leave(self) -> None:
        await anyio.sleep(2)
        raise self._error


class Staying:
    """Runs for ever."""

    async def run(self) -> None:
        """Wait."""
        await anyio.sleep_forever()


@pytest.mark.parametrize("where", ["itself", "beside", "task"])
@pytest.mark.parametrize("error", EXITS, ids=lambda error: type(error).__name__)
async def test_an_exit_is_one_actor_s_crash(error: BaseException, where: str) -> None:
    """A fresh instance takes over, the log names the actor and what it raised, others notice nothing."""
    other = ChildSpec(ActorStatus("other"), Staying)
    leaving = ActorStatus("leaving")

    def start() -> Actor:
        return Staying() if leaving.crashes else Leaving(error, where)

    with capture_logs() as logs:
        async with supervised(ChildSpec(leaving, start), other):
            await anyio.sleep(2)
            await settle()

            assert (ActorState.RUNNING, 2, 1) == (leaving.state, leaving.starts, leaving.crashes)
            told = f"{type(error).__name__}: {error}"
            assert (
                f"ActorExited: its code raised {told}, which may end nothing but it" == leaving.last_error
            )
            assert (ActorState.RUNNING, 1) == (other.status.state, other.status.starts)
    assert [("actor.crashed", "leaving")] == [(line["event"], line["actor"]) for line in logs]


@pytest.mark.parametrize("error", EXITS, ids=lambda error: type(error).__name__)
async def test_an_actor_that_cannot_be_made_may_end_nothing_either(error: BaseException) -> None:
    """What is raised while an instance is made counts like what it raises itself."""
    status = ActorStatus("leaving")

    def start() -> Actor:
        if not status.crashes:
            raise error
        return Staying()

    async with supervised(ChildSpec(status, start)):
        await settle()

        assert (ActorState.RUNNING, 2, 1) == (status.state, status.starts, status.crashes)


async def test_exit_after_exit_is_quarantined() -> None:
    """The fourth within a minute is one too many, as with any other crash."""
    status = ActorStatus("leaving")
    spec = ChildSpec(status, lambda: Leaving(SystemExit(0), "task"))

    async with supervised(spec):
        await anyio.sleep(8.5)

        assert (ActorState.QUARANTINED, 4) == (status.state, status.crashes)


async def test_a_task_that_is_contained_can_be_cancelled() -> None:
    """Cancellation goes through, and so does an ordinary exception as it is."""
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
    """Fails again when its text is wanted."""

    def __str__(self) -> str:
        """Return none."""
        raise SystemExit(0)

    __repr__ = __str__


@pytest.mark.parametrize("error", [Mute(), ValueError("x" * 10_000)], ids=["mute", "long"])
async def test_a_crash_is_one_whatever_its_text_is(error: Exception) -> None:
    """An exception whose text fails is noted without it, a long one cut."""
    status = ActorStatus("leaving")

    def start() -> Actor:
        return Staying() if status.crashes else Leaving(error, "task")

    async with supervised(ChildSpec(status, start)):
        await anyio.sleep(2)
        await settle()

        assert (ActorState.RUNNING, 2, 1) == (status.state, status.starts, status.crashes)
        told = str(status.last_error)
        assert (True, True) == (told.startswith(type(error).__name__), len(told) <= 1000)
