"""Runs a function for many seeds on all processors, within a limit of minutes."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from typing import TypeVar

import structlog

T = TypeVar("T")
_CRITICAL = 50


def run_seeds(
    of: Callable[[int], T], seeds: range, minutes: float, begin: Callable[[], None] | None = None
) -> Iterator[tuple[int, Future[T]]]:
    """Yield each seed with its finished result, in order; start no new seed after `minutes` minutes.

    `begin` is called once in each process.
    """
    began, processes = time.monotonic(), os.cpu_count() or 1
    waiting, running = deque(seeds), deque[tuple[int, Future[T]]]()
    with ProcessPoolExecutor(processes, initializer=begin) as pool:
        while True:
            is_late = time.monotonic() - began > 60 * minutes
            while len(running) < processes and waiting and not is_late:
                seed = waiting.popleft()
                running.append((seed, pool.submit(of, seed)))
            if not running:
                return
            seed, result = running.popleft()
            result.exception()  # waits for the result
            yield seed, result


def without_log() -> None:
    """Write no events to the log; this is a function for `begin`."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(_CRITICAL))
