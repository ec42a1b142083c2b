"""The life of the process: start in order, serve or record, and stop in order on a signal."""

from __future__ import annotations

import logging
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NoReturn, Protocol

import anyio
import anyio.lowlevel
import structlog
from anyio.abc import TaskStatus
from quart import Quart

from actors.core.errors import CoreFailure
from actors.monitoring.loop_watch import watched
from actors.monitoring.status import ServiceStatus
from actors.runtime.facts import announce
from web.feeds.subscribers import FAREWELL_S
from web.server.collector import collect_for_ever
from web.server.notify import Notifier
from web.server.servers import GRACE_S, serve

log = structlog.get_logger()

HARD_STOP_S = GRACE_S + 5.0
"""Seconds from closing the listener to the end of the process, whatever hangs."""

AsyncStep = Callable[[], Coroutine[Any, Any, None]]


class Exit(IntEnum):
    """Exit codes; codes above 2 are from sysexits.h."""

    STOPPED = 0
    UNEXPECTED = 1
    USAGE = 2
    DATA = 65
    UNREACHABLE = 69
    CORE = 70
    BIND = 71
    OUTPUT = 74
    LOCKED = 75
    CONFIG = 78


class Tree(Protocol):
    """A supervision tree."""

    async def run(self, *, task_status: TaskStatus[None]) -> None:
        """Start everything, then watch it. Raises: CoreFailure when it cannot go on."""

    async def stop(self) -> None:
        """Stop everything, within a bounded time."""


def start_exit_deadline(code: Exit) -> None:
    """End the process after `HARD_STOP_S` by a system timer, even if the loop or a thread hangs.

    A timer needs no thread: the system may have none left. The handler sets the exit code; the signal's
    default action would end the process with another code.
    """
    signal.signal(signal.SIGALRM, lambda *_: _exit(code))
    signal.setitimer(signal.ITIMER_REAL, HARD_STOP_S)


def leave(code: int) -> NoReturn:
    """End the process after `start_exit_deadline`, without the interpreter's own shutdown.

    That shutdown removes the handler first; then the timer would end the process with code 142.
    """
    _exit(code)


@dataclass(slots=True)
class Life:
    """Serves `app` on `sock` and runs `tree` until a signal or a core failure; runs once.

    The first SIGTERM or SIGINT stops in order, the second ends the process immediately. `started` is called
    once signals are handled. `stopping` gets the exit code when the listener closes; the callback must set
    a deadline for the rest of the stop. `farewell` runs in the last second of `drain_s` and ends streams:
    one open stream would keep the server running for ever (Hypercorn's issue 308). `reload` is called at
    each SIGHUP; without it SIGHUP ends the process. `manager` is notified when the actors run and the
    server answers, whatever the state of the sources, and when the stop begins. `close` gets the exit code
    once the actors have stopped, even if a client keeps the server running.
    """

    tree: Tree
    app: Quart
    sock: socket.socket
    status: ServiceStatus
    drain_s: float
    started: Callable[[], None]
    stopping: Callable[[Exit], None]
    farewell: AsyncStep = anyio.lowlevel.checkpoint
    reload: AsyncStep | None = None
    manager: Notifier = Notifier()  # noqa: RUF009 - a frozen value
    close: Callable[[Exit], None] = lambda _: None
    _stop_server: anyio.Event = field(default_factory=anyio.Event)
    _server_done: anyio.Event = field(default_factory=anyio.Event)

    async def run(self) -> Exit:
        """Return the exit code, once everything has stopped."""
        with watched(self.status.loop):
            code = await _exit_code(self._run())
        self.close(code)
        return code

    async def _run(self) -> None:
        code = Exit.CORE
        async with anyio.create_task_group() as tasks:
            with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
                try:
                    tasks.start_soon(collect_for_ever)
                    if self.reload is not None:
                        await tasks.start(_at_each_hangup, self.reload)
                    self.started()
                    tasks.start_soon(self._serve)
                    await tasks.start(self._run_tree)
                    self.manager.tell("READY=1")
                    tasks.start_soon(self.manager.watch)
                    number = await anext(signals)
                    code = Exit.STOPPED
                    tasks.start_soon(end_at_once, signals)
                    await self._drain(number)
                finally:
                    try:
                        self.stopping(code)
                        with anyio.CancelScope(shield=True):
                            await self.farewell()  # after a failure there was no drain
                    finally:
                        self._stop_server.set()  # the server ignores cancellation
                await self._stop()
            tasks.cancel_scope.cancel()

    async def _run_tree(self, *, task_status: TaskStatus[None]) -> None:
        await self.tree.run(task_status=task_status)
        if not self._stop_server.is_set():
            raise CoreFailure("the supervisor ended by itself")

    async def _serve(self) -> None:
        await serve(self.app.asgi_app, self.sock, self._stop_server)  # Quart's own call adds nothing
        self._server_done.set()

    async def _drain(self, number: signal.Signals) -> None:
        announce(log, "service.stopping", signal=number.name, drain_s=self.drain_s)
        self.manager.tell("STOPPING=1")
        self.status.is_draining = True
        await anyio.sleep(max(self.drain_s - FAREWELL_S, 0.0))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.farewell)
            await anyio.sleep(min(self.drain_s, FAREWELL_S))

    async def _stop(self) -> None:
        with anyio.move_on_after(GRACE_S + 0.4) as patience:
            await self._server_done.wait()
        await self.tree.stop()
        announce(log, "service.stopped")
        if patience.cancelled_caught:  # Hypercorn waits for open connections (its issue 308)
            self.close(Exit.STOPPED)
            _exit(Exit.STOPPED)


async def _at_each_hangup(step: AsyncStep, *, task_status: TaskStatus[None]) -> None:
    with anyio.open_signal_receiver(signal.SIGHUP) as signals:
        task_status.started()
        async for _ in signals:
            await step()


async def end_at_once(signals: AsyncIterator[signal.Signals]) -> None:
    """Wait for another signal, and end the process with 128 and its number."""
    number = await anext(signals)
    announce(log, "service.killed", signal=number.name)
    _exit(128 + number)


def _exit(code: int) -> NoReturn:
    logging.shutdown()
    os._exit(code)


async def _exit_code(living: Coroutine[Any, Any, None]) -> Exit:
    code = Exit.STOPPED
    try:
        await living
    except* CoreFailure as failures:
        announce(log, "service.failed", errors=_messages(failures))
        code = Exit.CORE
    return code


def _messages(error: BaseException) -> list[str]:
    if isinstance(error, BaseExceptionGroup):
        return [message for part in error.exceptions for message in _messages(part)]
    return [str(error)]


async def record_until_stopped(
    tree: Tree, for_s: float, watch: AsyncStep, stopping: Callable[[Exit], None]
) -> Exit:
    """Run `tree` for `for_s` seconds at most, without a server; signals and `stopping` as for `Life`.

    `watch` raises CoreFailure when recording is no longer possible.
    """
    return await _exit_code(_record(tree, for_s, watch, stopping))


async def _record(tree: Tree, for_s: float, watch: AsyncStep, stopping: Callable[[Exit], None]) -> None:
    code, number = Exit.CORE, None
    async with anyio.create_task_group() as tasks:
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
            try:
                tasks.start_soon(watch)
                await tasks.start(tree.run)
                with anyio.move_on_after(for_s):
                    number = await anext(signals)
                code = Exit.STOPPED
                announce(log, "service.stopping", signal=None if number is None else number.name)
            finally:
                stopping(code)
            tasks.start_soon(end_at_once, signals)
            await tree.stop()
        tasks.cancel_scope.cancel()
    announce(log, "service.stopped")
