"""The life of a process that records: run the tree until a signal, the end of its time, or a failure.

The counterpart of `lifecycle.py` for a service that serves nobody.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Coroutine
from typing import Any

import anyio
import structlog

from actors.core.errors import CoreFailure
from web.server.lifecycle import Exit, Tree, end_at_once, messages_of

log = structlog.get_logger()

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
