"""The supervisor: starts actors in order, restarts them after a crash, quarantines them after too many.

Actors keep expected failures as state, so an exception that reaches the supervisor is a bug.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from math import inf
from typing import ParamSpec

import anyio
import structlog
from anyio.abc import TaskStatus
from msgspec import Struct

from actors.core.clock import Clock
from actors.core.errors import ActorExited, ActorReturned, CoreFailure
from actors.runtime.actor import Actor, ActorState, ActorStatus
from actors.runtime.backoff import RestartWindow
from actors.runtime.facts import announce

log = structlog.get_logger()

P = ParamSpec("P")

MAX_ERROR_CHARS = 1000


class ChildSpec(Struct, frozen=True):
    """How to run a child; `start` makes a new instance.

    A crash does not count if `is_explained` then returns true: something else caused it. The quarantine of
    a child with `is_core` ends the process. No other child depends on a child with `is_leaf`.
    """

    status: ActorStatus
    start: Callable[[], Actor]
    is_explained: Callable[[], bool] = lambda: False
    is_core: bool = False
    is_leaf: bool = False
    stop_within_s: float = 2.0


class Supervisor:
    """Runs its children, in the order given, until `stop` or a CoreFailure."""

    def __init__(self, specs: Sequence[ChildSpec], clock: Clock) -> None:
        self._children = {spec.status.name: _Child(spec, clock) for spec in specs}

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Run all children, started in order, until they stop. Raises: CoreFailure, alone or in a group."""
        async with anyio.create_task_group() as tasks:
            for child in self._children.values():
                tasks.start_soon(child.supervise, name=child.spec.status.name)
                await anyio.lowlevel.checkpoint()
            task_status.started()

    async def stop(self) -> None:
        """Stop all leaves together, then the other actors in reverse order, each within its time limit."""
        async with anyio.create_task_group() as tasks:
            for child in self._children.values():
                if child.spec.is_leaf:
                    tasks.start_soon(child.stop)
        for child in reversed(self._children.values()):
            if not child.spec.is_leaf:
                await child.stop()

    def quarantine(self, name: str, reason: str) -> None:
        """Quarantine an actor as if it had crashed too often; `reason` is shown and logged."""
        self._children[name].quarantine(reason)


async def contained(work: Callable[P, Awaitable[None]], *args: P.args, **kwargs: P.kwargs) -> None:
    """Run `work`, a task of an actor, so that nothing it raises can end the event loop.

    asyncio ends the loop as soon as a task raises SystemExit or KeyboardInterrupt. Signals do not raise
    while actors run, so only a kind's code can raise these: every task that runs such code begins here.

    Raises: ActorExited in place of SystemExit and the like; cancellation and exceptions pass unchanged.
    """
    try:
        await work(*args, **kwargs)
    except (Exception, anyio.get_cancelled_exc_class()):
        raise
    except BaseException as error:
        root = error
        while isinstance(root, BaseExceptionGroup):  # raised by the actor's own task groups
            root = root.exceptions[0]
        raise ActorExited(f"its code raised {error_text(root)}, which may end only this actor") from error


def error_text(error: BaseException) -> str:
    """Return type and text, cut to `MAX_ERROR_CHARS`. A plug-in's code may make the text, and may fail."""
    try:
        text = str(error)
    except BaseException:  # noqa: BLE001 - a plug-in's __str__ may raise anything
        text = "it has no text"
    return f"{type(error).__name__}: {text}"[:MAX_ERROR_CHARS]


class _Child:
    def __init__(self, spec: ChildSpec, clock: Clock) -> None:
        self.spec = spec
        self._clock = clock
        self._window = RestartWindow()
        self._scope = anyio.CancelScope()
        self._is_stopping = False
        self._quarantine_s: float | None = None
        self._stopped = anyio.Event()

    async def supervise(self) -> None:
        try:
            while not self._is_stopping:
                await self._run_once()
                if self._quarantine_s is not None and not self._is_stopping:
                    await self._wait_in_quarantine(self._quarantine_s)
        finally:
            self._stopped.set()
            self.spec.status.become(ActorState.STOPPED, self._clock.now().wall)

    async def stop(self) -> None:
        self._is_stopping = True
        self._scope.cancel()
        with anyio.move_on_after(self.spec.stop_within_s):
            await self._stopped.wait()
            return
        self.spec.status.become(ActorState.ABANDONED, self._clock.now().wall)
        announce(log, "actor.abandoned", actor=self.spec.status.name, waited_s=self.spec.stop_within_s)

    def quarantine(self, reason: str) -> None:
        if self.spec.status.state is ActorState.RUNNING:
            self.spec.status.last_error = reason
            self._quarantine_s = self._window.quarantined(self._clock.now().mono)
            self._scope.cancel()

    async def _run_once(self) -> None:
        status = self.spec.status
        status.starts += 1
        status.become(ActorState.RUNNING, self._clock.now().wall)
        with anyio.CancelScope() as self._scope:
            try:
                await contained(lambda: self.spec.start().run())
            except Exception as error:  # noqa: BLE001 - the other children must continue
                self._crashed(error)
            except anyio.get_cancelled_exc_class():
                if anyio.current_effective_deadline() == -inf:
                    raise
                self._crashed(ActorReturned("it was cancelled, but not by its supervisor"))
            else:
                self._crashed(ActorReturned("it returned, but must run until it is cancelled"))

    def _crashed(self, error: Exception) -> None:
        while isinstance(error, ExceptionGroup):  # raised by the actor's own task groups
            error = error.exceptions[0]
        was_ended = self._is_stopping or self._quarantine_s is not None
        if was_ended and isinstance(error, ActorReturned):
            return
        status = self.spec.status
        status.crashes += 1
        announce(log, "actor.crashed", actor=status.name, crashes=status.crashes, exc_info=error)
        if was_ended:
            return  # keeps the reason that `quarantine` gave
        status.last_error = error_text(error)
        if self.spec.is_explained():
            return
        self._quarantine_s = self._window.crashed(self._clock.now().mono)
        if self._quarantine_s is not None and self.spec.is_core:
            raise CoreFailure(f"{status.name} crashed too often: {status.last_error}") from error

    async def _wait_in_quarantine(self, quarantine_s: float) -> None:
        status, now = self.spec.status, self._clock.now()
        status.become(ActorState.QUARANTINED, now.wall)
        status.quarantined_until = now.wall + quarantine_s
        announce(
            log, "actor.quarantined", actor=status.name, for_s=quarantine_s, last_error=status.last_error
        )
        with anyio.CancelScope() as self._scope:
            await anyio.sleep(quarantine_s)
        self._quarantine_s = None
        status.quarantined_until = None
        if not self._is_stopping:
            announce(log, "actor.readmitted", actor=status.name)
