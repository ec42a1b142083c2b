"""Linking: events of many sources into fixtures, from nothing and one by one."""

from __future__ import annotations

import gc
from random import Random

import psutil

from actors.core.cooperative import Sliced, run_now
from actors.fixtures.event import Event
from actors.fixtures.linker import Changes, Linker
from actors.fixtures.memory import Memory
from actors.fixtures.overrides import Overrides
from scripts.benchmarks.data.fixtures import events
from scripts.benchmarks.figures import cpu_now_s
from scripts.benchmarks.report import Report

SOURCES = 50
ONE_BY_ONE = 1000


def run(report: Report) -> None:
    """Print processor time from nothing, of one new event, of the longest slice, and memory."""
    report.paragraph(
        "Events of 50 sources that list the same matches, in several spellings. *Slice*: the longest time"
        " between two moments at which other tasks may run, garbage collection included. *New*: an event"
        " that was not there. *Memory*: of the process, the events not counted."
    )
    header = ("events", "from nothing", "slice", "new: median", "p99", "max", "memory an event")
    rows = [_row(SOURCES, matches) for matches in report.size((1000, 5000), (100,))]
    report.table("Linking", header, rows)


def _row(sources: int, matches: int) -> tuple[str, ...]:
    listed = events(sources, matches)
    linker = Linker(Memory(), Overrides())
    gc.collect()
    gc.freeze()
    before = psutil.Process().memory_info().rss
    took, longest = _timed(linker.update(listed))
    gc.collect()
    more = psutil.Process().memory_info().rss - before
    singles = sorted(_again(linker, one) for one in Random(0).sample(listed, ONE_BY_ONE))
    gc.unfreeze()
    return (
        f"{len(listed):,}",
        f"{took:.1f} s",
        f"{longest * 1e3:.1f} ms",
        *(f"{singles[int(len(singles) * share)] * 1e3:.2f} ms" for share in (0.5, 0.99)),
        f"{singles[-1] * 1e3:.2f} ms",
        f"{more / len(listed):.0f} B",
    )


def _timed(steps: Sliced[Changes]) -> tuple[float, float]:
    """Return the processor seconds of a computation, and of its longest slice."""
    began = last = cpu_now_s()
    longest = 0.0
    for _ in steps:
        now = cpu_now_s()
        longest, last = max(longest, now - last), now
    now = cpu_now_s()
    return now - began, max(longest, now - last)


def _again(linker: Linker, event: Event) -> float:
    """Return the processor seconds of linking an event that was not there."""
    run_now(linker.update((), (event.key,)))
    took, _ = _timed(linker.update((event,)))
    return took
