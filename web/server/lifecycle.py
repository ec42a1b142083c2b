"""The life of the process: start in order, serve, and stop in order on a signal.

The one place where the supervision tree and the HTTP server meet; it is handed both and knows of
odds nothing.

The life of a process that records: run the tree until a signal, the end of its time, or a failure.

The counterpart of `lifecycle.py` for a service that serves nobody.
"""

from __future__ import annotations

import gc
import logging
import os
import signal
import socket
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Protocol

import anyio
import anyio.lowlevel
import structlog
from anyio.abc import TaskStatus
from quart import Quart

from actors.core.errors import CoreFailure
from actors.monitoring.loop_watch import watched
from actors.monitoring.status import ServiceStatus
from web.feeds.subscribers import FAREWELL_S
from web.server.hypercorn_server import GRACE_S, Serve, serve

log = structlog.get_logger()

HARD_STOP_S = GRACE_S + 5.0
"""Seconds from closing the listener to the end of the process, whatever hangs."""


KEPT = 200_000
"""Objects made and kept until the collector looks at everything: milliseconds, for hardly anything."""


class Exit(IntEnum):
    """Exit codes; but for 0 those of sysexits.h."""

    STOPPED = 0
    CORE = 70
    BIND = 71
    CONFIG = 78


class Tree(Protocol):
    """The supervision tree, as the process sees it."""

    async def run(self, *, task_status: TaskStatus[None]) -> None:
        """Start everything, then watch it. Raises: CoreFailure when it cannot go on."""
        ...

    async def stop(self) -> None:
        """Stop everything, within a bounded time."""
        ...


def end_for_certain(code: Exit) -> None:
    """Whatever hangs from now on, end the process: a thread of its own watches over the stop."""
    deadline = threading.Timer(HARD_STOP_S, _exit, [code])
    deadline.daemon = True
    deadline.start()


def set_up_collector() -> None:
    """Put all that was made so far out of the collector's sight, once everything is imported and built.

    A full collection then looks at little more than what is under way: matches are not tracked at all,
    and what a long computation has made is gone through when it ends (`slices.py`).
    """
    gc.collect()
    gc.freeze()
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, KEPT // (young * middle))


@dataclass(slots=True)
class Life:
    """One life: serve `app` on `sock` over `tree` until a signal or a core failure.

    A first SIGTERM or SIGINT stops in order, readiness answering 503 for `drain_s` seconds before the
    listener closes; a second one ends the process at once. `started` is called once signals are
    heeded; `stopping` is told the exit code when the listener closes: `end_for_certain`, unless
    somebody else bounds the rest. `farewell`, in the last second of the drain, ends within that time
    what never ends by itself: one open stream keeps the server for ever (Hypercorn's issue 308).
    """

    tree: Tree
    app: Quart
    sock: socket.socket
    status: ServiceStatus
    drain_s: float
    started: Callable[[], None]
    stopping: Callable[[Exit], None]
    farewell: Callable[[], Coroutine[Any, Any, None]] = anyio.lowlevel.checkpoint
    serve: Serve = serve
    _stop_server: anyio.Event = field(default_factory=anyio.Event)
    _server_done: anyio.Event = field(default_factory=anyio.Event)

    async def run(self) -> Exit:
        """Live, once; give the exit code."""
        code = Exit.STOPPED
        try:
            with watched(self.status.loop):
                await self._run()
        except* CoreFailure as failures:
            log.critical("service.failed", errors=messages_of(failures))
            code = Exit.CORE
        return code

    async def _run(self) -> None:
        code = Exit.CORE
        async with anyio.create_task_group() as tasks:
            with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
                try:
                    set_up_collector()
                    self.started()
                    tasks.start_soon(self._serve)
                    await tasks.start(self._run_tree)
                    number = await anext(signals)
                    code = Exit.STOPPED
                    tasks.start_soon(end_at_once, signals)
                    await self._drain(number)
                finally:
                    self.stopping(code)
                    with anyio.CancelScope(shield=True):
                        await self.farewell()  # again: after a failure there was no drain
                    # Set here because the server does not heed cancellation.
                    self._stop_server.set()
                await self._stop()
            tasks.cancel_scope.cancel()

    async def _run_tree(self, *, task_status: TaskStatus[None]) -> None:
        await self.tree.run(task_status=task_status)
        if not self._stop_server.is_set():
            raise CoreFailure("the supervisor ended by itself")

    async def _serve(self) -> None:
        await self.serve(self.app.asgi_app, self.sock, self._stop_server)  # Quart would only hand on to it
        self._server_done.set()

    async def _drain(self, number: signal.Signals) -> None:
        log.info("service.stopping", signal=number.name, drain_s=self.drain_s)
        self.status.is_draining = True
        await anyio.sleep(max(self.drain_s - FAREWELL_S, 0.0))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.farewell)
            await anyio.sleep(min(self.drain_s, FAREWELL_S))

    async def _stop(self) -> None:
        with anyio.move_on_after(GRACE_S + 0.4) as patience:
            await self._server_done.wait()
        await self.tree.stop()
        log.info("service.stopped")
        if patience.cancelled_caught:  # Hypercorn does not let go of open connections (its issue 308)
            _exit(Exit.STOPPED)


async def end_at_once(signals: AsyncIterator[signal.Signals]) -> None:
    """Wait for one more signal, and end the process with 128 and its number."""
    number = await anext(signals)
    log.warning("service.killed", signal=number.name)
    _exit(128 + number)


def _exit(code: int) -> None:
    logging.shutdown()
    os._exit(code)


def messages_of(group: BaseExceptionGroup[CoreFailure]) -> list[str]:
    """Return the messages of all failures in a group and in its groups."""
    messages: list[str] = []
    for one in group.exceptions:
        messages.extend(messages_of(one) if isinstance(one, BaseExceptionGroup) else [str(one)])
    return messages


Watch = Callable[[], Coroutine[Any, Any, None]]


async def record_until_told(
    tree: Tree, for_s: float, watch: Watch, stopping: Callable[[Exit], None]
) -> Exit:
    """Run `tree` for so many seconds at most; `watch` raises CoreFailure when that is no longer of use.

    Signals do what they do to a service; `stopping` is told the exit code when it begins to stop.
    """
    code = Exit.STOPPED
    try:
        await _record(tree, for_s, watch, stopping)
    except* CoreFailure as failures:
        log.critical("service.failed", errors=messages_of(failures))
        code = Exit.CORE
    return code


async def _record(tree: Tree, for_s: float, watch: Watch, stopping: Callable[[Exit], None]) -> None:
    code, number = Exit.CORE, None
    async with anyio.create_task_group() as tasks:
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
            try:
                tasks.start_soon(watch)
                await tasks.start(tree.run)
                with anyio.move_on_after(for_s):
                    number = await anext(signals)
                code = Exit.STOPPED
                log.info("service.stopping", signal=None if number is None else number.name)
            finally:
                stopping(code)
            tasks.start_soon(end_at_once, signals)
            await tree.stop()
        tasks.cancel_scope.cancel()
    log.info("service.stopped")
