"""The supervisor: starts actors in order, restarts what crashes, quarantines what will not stop crashing.

One loop around each child keeps its failure from its siblings. Expected trouble never gets here:
actors keep it as state. An exception that does is a bug; a fresh instance takes over at once, and
the restart window (`backoff.py`) decides when that has been tried often enough.
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

log = structlog.get_logger()

P = ParamSpec("P")

MAX_ERROR_CHARS = 1000


class ChildSpec(Struct, frozen=True):
    """How to run one child.

    `start` makes a fresh instance. `is_explained`, asked after a crash, tells that something else
    took the blame, so that the crash does not count. `is_core`: a quarantine of it ends the process.
    """

    status: ActorStatus
    start: Callable[[], Actor]
    is_explained: Callable[[], bool] = lambda: False
    is_core: bool = False
    stop_within_s: float = 2.0


class Supervisor:
    """Runs its children, in the order given, until `stop` or a CoreFailure."""

    def __init__(self, specs: Sequence[ChildSpec], clock: Clock) -> None:
        self._children = {spec.status.name: _Child(spec, clock) for spec in specs}

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Start all children in order and watch them until they have stopped.

        Raises: CoreFailure, alone or in an ExceptionGroup, when a core child crashes too often.
        """
        async with anyio.create_task_group() as tasks:
            for child in self._children.values():
                tasks.start_soon(child.supervise, name=child.spec.status.name)
                await anyio.lowlevel.checkpoint()
            task_status.started()

    async def stop(self) -> None:
        """Stop all children in reverse order, each within its bounded time."""
        for child in reversed(self._children.values()):
            await child.stop()

    def quarantine(self, name: str, reason: str) -> None:
        """Take one actor out of service as if it had crashed too often; `reason` is shown and logged."""
        self._children[name].quarantine(reason)


async def contained(work: Callable[P, Awaitable[None]], *args: P.args, **kwargs: P.kwargs) -> None:
    """Run `work`, one task of an actor, so that nothing it raises can end the event loop.

    asyncio lets SystemExit and KeyboardInterrupt out of the loop as soon as a task raises them, before any
    supervisor sees them; so every task in which the code of a kind runs begins here. None of them can be
    meant for the process: while actors run, signals do not raise.

    Raises: ActorExited for what is no Exception; cancellation and exceptions go through.
    """
    try:
        await work(*args, **kwargs)
    except (Exception, anyio.get_cancelled_exc_class()):
        raise
    except BaseException as error:
        root = error
        while isinstance(root, BaseExceptionGroup):  # of tasks, one of which it left
            root = root.exceptions[0]
        raise ActorExited(f"its code raised {text_of(root)}, which may end nothing but it") from error


def text_of(error: BaseException) -> str:
    """Return type and text, cut; the text of an exception of a kind is code of that kind as well."""
    try:
        text = str(error)
    except BaseException:  # noqa: BLE001 - what it raises is of no interest
        text = "it has no text"
    return f"{type(error).__name__}: {text}"[:MAX_ERROR_CHARS]


class _Child:
    def __init__(self, spec: ChildSpec, clock: Clock) -> None:
        self.spec = spec
        self._clock = clock
        self._window = RestartWindow()
        self._scope = anyio.CancelScope()
        self._is_stopping = False
        self._sentence_s: float | None = None
        self._done = anyio.Event()

    async def supervise(self) -> None:
        try:
            while not self._is_stopping:
                await self._run_once()
                if self._sentence_s is not None and not self._is_stopping:
                    await self._sit_out(self._sentence_s)
        finally:
            self._done.set()
            self.spec.status.become(ActorState.STOPPED, self._clock.now().wall)

    async def stop(self) -> None:
        self._is_stopping = True
        self._scope.cancel()
        with anyio.move_on_after(self.spec.stop_within_s):
            await self._done.wait()
            return
        status = self.spec.status
        status.become(ActorState.ABANDONED, self._clock.now().wall)
        log.error("actor.abandoned", actor=status.name, waited_s=self.spec.stop_within_s)

    def quarantine(self, reason: str) -> None:
        if self.spec.status.state is ActorState.RUNNING:
            self.spec.status.last_error = reason
            self._sentence_s = self._window.quarantined(self._clock.now().mono)
            self._scope.cancel()

    async def _run_once(self) -> None:
        status = self.spec.status
        status.starts += 1
        status.become(ActorState.RUNNING, self._clock.now().wall)
        with anyio.CancelScope() as self._scope:
            try:
                await contained(self._live)
            except Exception as error:  # noqa: BLE001 - one of the two places: the others must live on
                self._crashed(error)
            except anyio.get_cancelled_exc_class():
                if anyio.current_effective_deadline() == -inf:
                    raise
                self._crashed(ActorReturned("it was cancelled, by nobody who may"))
            else:
                self._crashed(ActorReturned("it returned, but must run until it is cancelled"))

    async def _live(self) -> None:
        await self.spec.start().run()

    def _crashed(self, error: Exception) -> None:
        while isinstance(error, ExceptionGroup):  # of an actor's own tasks: what one of them died of
            error = error.exceptions[0]
        is_over = self._is_stopping or self._sentence_s is not None
        if is_over and isinstance(error, ActorReturned):
            return  # it was told to end, and did
        status = self.spec.status
        status.crashes += 1
        explained = self.spec.is_explained()
        log.error("actor.crashed", actor=status.name, crashes=status.crashes, exc_info=error)
        if is_over:
            return  # how it ended does not change why
        status.last_error = text_of(error)
        if explained:
            return
        self._sentence_s = self._window.crashed(self._clock.now().mono)
        if self._sentence_s is not None and self.spec.is_core:
            raise CoreFailure(f"{status.name} crashed too often: {status.last_error}") from error

    async def _sit_out(self, sentence_s: float) -> None:
        status, now = self.spec.status, self._clock.now()
        status.become(ActorState.QUARANTINED, now.wall)
        status.quarantined_until = now.wall + sentence_s
        log.error("actor.quarantined", actor=status.name, for_s=sentence_s, last_error=status.last_error)
        with anyio.CancelScope() as self._scope:
            await anyio.sleep(sentence_s)
        self._sentence_s = None
        status.quarantined_until = None
        if not self._is_stopping:
            log.info("actor.readmitted", actor=status.name)
