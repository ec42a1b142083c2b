"""The service with a measured event loop: `python instrumented_service.py FILE serve --config ...`.

Writes JSON into FILE when the service has stopped: each long step of the loop, by the clock and by the
processor (the difference is time of other programs), with the garbage collections in it; how late a timer
of one millisecond is; each garbage collection. Only steps of asyncio's own loop can be measured.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from web.__main__ import main

LONG_S = 0.0005
PROBE_S = 0.001


class Recorder:
    """The measurements; times are of the monotonic clock, in seconds."""

    def __init__(self) -> None:
        self.steps: list[tuple[float, float, float, float, str]] = []
        self._lags = array("d")  # no objects of their own, which the collector would count
        self.pauses: list[tuple[float, float, int]] = []
        self._run: Callable[[Any], None] = asyncio.Handle._run  # noqa: SLF001 - there is no public place
        self._gc_began = self._gc_s = 0.0
        self._is_probing = False

    @property
    def lags(self) -> list[tuple[float, float]]:
        """The times of the timer, and how late it was each time."""
        return list(zip(self._lags[::2], self._lags[1::2], strict=True))

    def install(self) -> None:
        """Start measuring."""
        asyncio.Handle._run = _unbound(self._step)  # type: ignore[method-assign,assignment]  # noqa: SLF001
        gc.callbacks.append(self._collected)

    def _step(self, handle: Any) -> None:
        if not self._is_probing:
            self._is_probing = True
            self._probe(handle._loop, handle._loop.time())  # noqa: SLF001
        self._gc_s = 0.0
        began, cpu_began = time.monotonic(), time.thread_time()
        self._run(handle)
        took = time.monotonic() - began
        if took > LONG_S:
            cpu_s, place = time.thread_time() - cpu_began, _place(handle._callback)  # noqa: SLF001
            self.steps.append((began, took, cpu_s, self._gc_s, place))

    def _probe(self, loop: asyncio.AbstractEventLoop, due: float) -> None:
        now = loop.time()
        self._lags.extend((now, now - due))
        loop.call_at(now + PROBE_S, self._probe, loop, now + PROBE_S)

    def _collected(self, phase: str, info: dict[str, int]) -> None:
        now = time.monotonic()
        if phase == "start":
            self._gc_began = now
        else:
            self._gc_s += now - self._gc_began
            self.pauses.append((now, now - self._gc_began, info["generation"]))


def _unbound(step: Callable[[Any], None]) -> Callable[[Any], None]:
    def run(handle: Any) -> None:
        step(handle)

    return run


def _place(callback: Any) -> str:
    """Return the project's functions that the running task is in, outermost first."""
    task = getattr(callback, "__self__", None)
    if not isinstance(task, asyncio.Task):
        return str(getattr(callback, "__qualname__", callback))
    names = [code.co_qualname for code in _codes(task.get_coro()) if _is_of_the_project(code.co_filename)]
    return " > ".join(names[-3:]) or task.get_name()


def _codes(waiting: Any) -> Iterator[Any]:
    while (code := getattr(waiting, "cr_code", getattr(waiting, "gi_code", None))) is not None:
        yield code
        waiting = getattr(waiting, "cr_await", getattr(waiting, "gi_yieldfrom", None))


def _is_of_the_project(file: str) -> bool:
    return Path(file).is_relative_to(Path.cwd() / "actors") or Path(file).is_relative_to(Path.cwd() / "web")


if __name__ == "__main__":
    recorder = Recorder()
    recorder.install()
    try:
        main(sys.argv[2:])
    finally:
        found = {"steps": recorder.steps, "lags": recorder.lags, "pauses": recorder.pauses}
        Path(sys.argv[1]).write_text(json.dumps(found), encoding="utf-8")
