"""The service with a measured event loop: `python instrumented_service.py FILE serve --config ...`.

Writes JSON into FILE when the service has stopped: each long step of the loop, by the clock and by the
processor (the difference is time of other programs). Only steps of asyncio's own loop can be measured.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from web.__main__ import main

LONG_S = 0.002
EVERY_S = 0.0005  # time between readings of processor time; each is a system call
OURS = tuple(f"{Path.cwd() / folder}/" for folder in ("actors", "web"))


class Recorder:
    """The long steps: begin (monotonic), duration, processor time, and place of each.

    Processor times may be up to `EVERY_S` too long.
    """

    def __init__(self) -> None:
        self.steps: list[tuple[float, float, float, str]] = []
        self._read_at, self._cpu_s = 0.0, 0.0
        self._run: Callable[[Any], None] = asyncio.Handle._run  # noqa: SLF001 - no public hook exists

    def install(self) -> None:
        """Start measuring."""

        def run(handle: Any) -> None:
            self._step(handle)

        asyncio.Handle._run = run  # type: ignore[method-assign,assignment]  # noqa: SLF001

    def _step(self, handle: Any) -> None:
        began = time.monotonic()
        if began - self._read_at > EVERY_S:
            self._read_at, self._cpu_s = began, time.thread_time()
        self._run(handle)
        took = time.monotonic() - began
        if took > LONG_S:
            place = _place(handle._callback)  # noqa: SLF001
            self.steps.append((began, took, time.thread_time() - self._cpu_s, place))


def _place(callback: Any) -> str:
    """Return the project's functions that the running task is in, outermost first."""
    task = getattr(callback, "__self__", None)
    if not isinstance(task, asyncio.Task):
        return str(getattr(callback, "__qualname__", callback))
    names = [code.co_qualname for code in _codes(task.get_coro()) if code.co_filename.startswith(OURS)]
    return " > ".join(names[-3:]) or task.get_name()


def _codes(waiting: Any) -> Iterator[Any]:
    while (code := getattr(waiting, "cr_code", getattr(waiting, "gi_code", None))) is not None:
        yield code
        waiting = getattr(waiting, "cr_await", getattr(waiting, "gi_yieldfrom", None))


if __name__ == "__main__":
    recorder = Recorder()
    recorder.install()
    try:
        main(sys.argv[2:])
    finally:
        Path(sys.argv[1]).write_text(json.dumps(recorder.steps), encoding="utf-8")
