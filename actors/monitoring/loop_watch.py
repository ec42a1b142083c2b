"""Watches the event loop from a thread of its own, and logs while it is blocked what blocks it.

A call that holds the interpreter's lock stops the thread as well: it is logged when it has ended, and then
the stack may be that of what came next. No values are logged, and so no secrets.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

import structlog

from actors.core.clock import elapsed_s, worked_s
from actors.monitoring.status import LoopStatus
from actors.runtime.facts import announce

log = structlog.get_logger()

# Between two calls, until the loop is late, and until that is believed: all of it within a second.
PAUSE_S, LAGGED_S, SECOND_CHANCE_S = 0.1, 0.7, 0.1
MAX_FRAMES = 50


@contextmanager
def watched(status: LoopStatus) -> Iterator[None]:
    """Watch the running event loop while the block runs, if a thread is free; stalls count in `status`."""
    watch = _Watch(asyncio.get_running_loop(), threading.get_ident(), status)
    try:
        threading.Thread(target=watch.run, name="loop watch", daemon=True).start()
    except RuntimeError as error:
        announce(log, "loop.unwatched", error=str(error))
    try:
        yield
    finally:
        watch.ended.set()


@dataclass(frozen=True, slots=True)
class _Watch:
    loop: asyncio.AbstractEventLoop
    ident: int
    status: LoopStatus
    ended: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        began, worked = elapsed_s(), worked_s()
        while not self.ended.wait(PAUSE_S):
            try:
                self._ask(began, worked)
            except RuntimeError:  # the loop is closed
                return
            began, worked = elapsed_s(), worked_s()

    def _ask(self, began: float, worked: float) -> None:
        answered = threading.Event()
        self.loop.call_soon_threadsafe(self._answer, answered, elapsed_s())
        answered.wait(LAGGED_S)
        if elapsed_s() - began < LAGGED_S:
            return
        stack = _stack(sys._current_frames().get(self.ident))  # noqa: SLF001 - documented, and the only way
        task = asyncio.current_task(self.loop)
        # A process that was stopped has used no processor time, and its loop answers at once now. A call
        # that holds the interpreter's lock stops this thread too, but uses processor time.
        if answered.wait(SECOND_CHANCE_S) and worked_s() - worked < LAGGED_S:
            return
        self.status.stalls.inc()
        announce(log, "loop.lagged", task=task and task.get_name(), stack=stack)
        while not answered.wait(PAUSE_S):
            if self.ended.is_set():
                return
        took_s = elapsed_s() - began
        self.status.longest_s = max(self.status.longest_s, took_s)
        announce(log, "loop.recovered", lagged_for_s=round(took_s, 3))

    def _answer(self, answered: threading.Event, asked_s: float) -> None:
        """Note in the loop how late it does what is due."""
        self.status.lag.observe(elapsed_s() - asked_s)
        answered.set()


def _stack(frame: FrameType | None) -> str:
    """Return one line a frame, the innermost last."""
    lines: list[str] = []
    while frame is not None and len(lines) < MAX_FRAMES:
        lines.append(f"{frame.f_code.co_filename}:{frame.f_lineno} {frame.f_code.co_qualname}")
        frame = frame.f_back
    return "\n".join(reversed(lines))
