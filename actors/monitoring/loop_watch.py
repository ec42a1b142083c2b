"""Watches the event loop from its own thread; while the loop is blocked, logs the stack that blocks it.

A call that holds the interpreter's lock stops this thread as well: it is logged after its end, perhaps with
the stack of later code. No values are logged, so no secrets.
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

# Time between checks; lateness that counts as blocked; wait for a late answer. Together below a second.
PAUSE_S, LAGGED_S, SECOND_CHANCE_S = 0.1, 0.7, 0.1
MAX_FRAMES = 50


@contextmanager
def watched(status: LoopStatus) -> Iterator[None]:
    """Watch the running event loop during the block, if a thread can start; count stalls in `status`."""
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
        stack = _stack(sys._current_frames().get(self.ident))  # noqa: SLF001 - documented; no public function exists
        task = asyncio.current_task(self.loop)
        # After SIGSTOP or a suspend the loop answers immediately, and the process used no processor time. A
        # call that holds the interpreter's lock stops this thread too, but uses processor time.
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
        """Record, in the loop, the delay between the request and this call."""
        self.status.lag.observe(elapsed_s() - asked_s)
        answered.set()


def _stack(frame: FrameType | None) -> str:
    """Return a line for each frame, the innermost last."""
    lines: list[str] = []
    while frame is not None and len(lines) < MAX_FRAMES:
        lines.append(f"{frame.f_code.co_filename}:{frame.f_lineno} {frame.f_code.co_qualname}")
        frame = frame.f_back
    return "\n".join(reversed(lines))
