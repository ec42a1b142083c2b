"""Commits with linking and without: the service below HTTP at the scale of scale.toml, twice at once."""

from __future__ import annotations

import logging
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random

import anyio
import msgspec
import structlog
from msgspec import Struct

from actors.core.clock import SystemClock
from actors.monitoring.meter import Meter
from actors.service.settings import load
from actors.service.system import System
from scripts.benchmarks.figures import milliseconds, quantile, short
from scripts.benchmarks.processes import CLIENT_CORE, ROOT, SERVER_CORE, pinned
from scripts.benchmarks.report import Report
from web.server.lifecycle import set_up_collector

CONFIG = Path(__file__).resolve().parents[1] / "scale.toml"
WARM_UP_S, SHORT_WARM_UP_S = 100.0, 15.0
"""Seconds until all that came at the start is linked, and of a short run, in which it is not."""
MEASURED_S, SHORT_S = 60.0, 8.0
SHARES = (0.5, 0.95, 0.99)
WITH, WITHOUT = "with linking", "without"


class Figures(Struct, frozen=True):
    """Seconds of each commit, from a batch to the lists that have it, and until fixtures have it too."""

    commits: list[float]
    ages: list[float]
    fixtures: list[float]
    busy: float
    changes_per_s: float


def run(report: Report) -> None:
    """Print how long commits take, and how old prices are when they are shown, with and without linking."""
    report.paragraph(
        f"`{CONFIG.relative_to(ROOT)}` without HTTP, in two processes at once, each on a core of its own,"
        f" then on that of the other: {report.size(MEASURED_S, SHORT_S):.0f} s after"
        f" {report.size(WARM_UP_S, SHORT_WARM_UP_S):.0f} s. *Commit*: from the first batch of a turn to the"
        " lists that have it. *Price*: from its receipt to these lists. *Fixtures*: from the commit to"
        " those that have it."
    )
    cores = {WITH: SERVER_CORE, WITHOUT: CLIENT_CORE}
    for number in range(report.size(2, 1)):
        found = _measured(report, cores)
        rows = [_row("commit", [found[mode].commits for mode in (WITH, WITHOUT)])]
        rows.append(_row("price", [found[mode].ages for mode in (WITH, WITHOUT)]))
        rows.append(_row("fixtures", [found[WITH].fixtures]))
        header = ["ms"]
        for share in SHARES:
            header += [f"p{share * 100:.0f} {WITH}", WITHOUT, "ratio"]
        both = "; ".join(
            f"{mode} {one.changes_per_s:,.0f} changes/s, {one.busy:.0%} of a core"
            for mode, one in found.items()
        )
        report.table(f"Run {number + 1}: {both}", header, rows)
        cores = dict(zip(cores, reversed(cores.values()), strict=True))


def _measured(report: Report, cores: dict[str, int]) -> dict[str, Figures]:
    seconds = report.size((WARM_UP_S, MEASURED_S), (SHORT_WARM_UP_S, SHORT_S))
    running = {
        mode: subprocess.Popen(
            pinned(core, [sys.executable, "-m", __name__, mode, *map(str, seconds)]),
            cwd=ROOT,
            stdout=subprocess.PIPE,
        )
        for mode, core in cores.items()
    }
    printed = {mode: process.communicate()[0] for mode, process in running.items()}
    if any(process.returncode for process in running.values()):
        raise RuntimeError("a process ended with an error")
    return {mode: msgspec.json.decode(text, type=Figures) for mode, text in printed.items()}


def _row(name: str, each: Sequence[Sequence[float]]) -> list[str]:
    cells = [name]
    for share in SHARES:
        found = [quantile(milliseconds(one), share) for one in each]
        cells += [short(found[0])]
        cells += [short(found[1]), f"{found[0] / found[1]:.2f}"] if len(found) > 1 else ["", ""]
    return cells


class _Samples(Meter):
    """Keeps each duration, which the service's own meter counts to within a fifth."""

    def __init__(self, took: list[float]) -> None:
        super().__init__()
        self._took = took

    def add(self, took_s: float, size: int, now: float) -> None:
        """Keep a duration, in seconds."""
        self._took.append(took_s)
        super().add(took_s, size, now)


async def main(mode: str, warm_up_s: float, measured_s: float) -> Figures:
    """Run the service and measure it, in this process."""
    system = System(load(CONFIG), SystemClock(), Random(1))
    if mode == WITHOUT:
        system.published._advance = None  # noqa: SLF001 - there is no such setting
    set_up_collector()
    commits, ages, fixtures = list[float](), list[float](), list[float]()
    board = system.status.board
    board.commits, board.fixtures = _Samples(commits), _Samples(fixtures)
    for bookmaker in system.status.bookmakers.values():
        bookmaker.meter = _Samples(ages)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(system.supervisor.run)
        await anyio.sleep(warm_up_s)
        for one in (commits, ages, fixtures):
            one.clear()
        changed, cpu_s, began = board.upserted + board.removed, time.process_time(), time.monotonic()
        await anyio.sleep(measured_s)
        took_s = time.monotonic() - began
        busy, changed = (time.process_time() - cpu_s) / took_s, board.upserted + board.removed - changed
        tasks.cancel_scope.cancel()
    return Figures(commits, ages, fixtures, busy, changed / took_s)


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    figures = anyio.run(main, sys.argv[1], float(sys.argv[2]), float(sys.argv[3]))
    sys.stdout.buffer.write(msgspec.json.encode(figures))
