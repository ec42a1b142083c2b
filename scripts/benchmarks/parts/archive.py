"""The archive: its cost for reads and commits at the scale of one process, and whether it loses anything.

Two services have the same sources; one has an archive. They run on the same core in turn: while one is
measured, the other is suspended, so that a drift of the machine affects both alike.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from scripts.benchmarks.archive_figures import steady
from scripts.benchmarks.clients import wrk
from scripts.benchmarks.figures import median, short, spread
from scripts.benchmarks.processes import CLIENT_CORE, Served, configured_service, get, on_core
from scripts.benchmarks.report import Report

SCALE = Path(__file__).resolve().parents[1] / "scale.toml"
FEWER = ("matches = 1_000", "matches = 100"), ("updates_per_s = 28.0", "updates_per_s = 2.8")
ROUNDS, RUN_S, AWAKE_S, WITHIN_S = 8, 4, 2.0, 600.0
FULL, STABLE_S = 0.9, 5.0
MUCH, A_MINUTE_S = 10_000, 60.0
READ = "/api/v2/odds?bookmaker={}"
AIM = "0.95"


class Costs(Struct):
    """Figures of one service, one per round: processor seconds, changes and reads, each per second."""

    idle: list[float]
    changes: list[float]
    reads: list[float]
    a_read_us: list[float]


def run(report: Report) -> None:
    """Print the cost of an archive, and whether it loses anything."""
    if not wrk.is_there():
        report.paragraph("Not measured: wrk is missing (Debian: `apt-get install wrk`).")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with _two(folder, is_small=report.is_short) as services, on_core(CLIENT_CORE):
            rounds = report.size(ROUNDS, 2)
            costs = _in_turn(services, rounds)
            services["with"].process.resume()
            kept = _asked(services["with"], "/health")["archive"]
        rows = [
            ["changes a second", *(spread(each.changes) for each in costs.values()), "", "1,000"],
            _row("core used without reads", costs, "idle", 100.0, " %"),
            _row("reads a second, while it changes", costs, "reads", 1.0, ""),
            _row("a read, us of the processor", costs, "a_read_us", 1.0, ""),
            ["gaps; seconds behind the board", "", f"{kept['gaps']}; {kept['lag_s']:.2f}", "", "0; 10"],
        ]
        a_minute = steady(folder / "steady", MUCH, report.size(A_MINUTE_S, 6.0))
    rows += [[what, "", figure, "", aim] for what, figure, aim in a_minute]
    report.table("An archive", ["what", "without", "with", "with / without", "aim"], rows)
    report.paragraph(
        f"Of {rounds} rounds of {RUN_S} s the median, the least and the greatest. A read is of the list of"
        " a bookmaker, gzipped, by wrk; its processor time is what reads add to that of the service."
        " Changes of the last rows are of lists alone, without fixtures, by the archive's own code."
    )


@contextlib.contextmanager
def _two(folder: Path, *, is_small: bool) -> Iterator[dict[str, Served]]:
    """Run a service without an archive and one with an archive, full of linked entries; suspend both."""
    text = SCALE.read_text(encoding="utf-8")
    for old, new in FEWER if is_small else ():
        text = text.replace(old, new)
    archive = f"\n[archive]\npath = {str(folder / 'kept')!r}\n"
    with contextlib.ExitStack() as running:
        services = {}
        for name, more in (("without", ""), ("with", archive)):
            config = folder / f"{name}.toml"
            config.write_text(text + more, encoding="utf-8")
            services[name] = running.enter_context(configured_service(config))
            _wait_for_links(services[name])
            services[name].process.suspend()
        try:
            yield services
        finally:
            for served in services.values():
                served.process.resume()


def _wait_for_links(served: Served) -> None:
    """Wait until most entries are linked, and their number is stable. Raises: TimeoutError."""
    began = since = time.monotonic()
    before = 0
    while (now := time.monotonic()) - since < STABLE_S:
        if now - began > WITHIN_S:
            raise TimeoutError(f"not all was linked within {WITHIN_S:.0f} s")
        monitor = _asked(served, "/monitor")
        count = monitor["fixtures"]["fixtures"]
        entries = sum(bookmaker["matches"] for bookmaker in monitor["bookmakers"])
        if count > entries * (1 - FULL) or abs(count - before) > before * 0.02:
            before, since = count, now
        time.sleep(0.25)


def _in_turn(services: dict[str, Served], rounds: int) -> dict[str, Costs]:
    costs = {name: Costs([], [], [], []) for name in services}
    for _ in range(rounds):
        for name, served in services.items():
            served.process.resume()
            time.sleep(AWAKE_S)  # to do the work of the suspended time
            _measure(served, costs[name])
            served.process.suspend()
    return costs


def _measure(served: Served, costs: Costs) -> None:
    bookmaker = _asked(served, "/api/capabilities")["supported_bookmakers"][0]
    before, cpu_s, began = _changed(served), served.cpu_s(), time.monotonic()
    time.sleep(RUN_S)
    took_s = time.monotonic() - began
    idle = (served.cpu_s() - cpu_s) / took_s
    costs.changes.append((_changed(served) - before) / took_s)
    cpu_s, began = served.cpu_s(), time.monotonic()
    rate = wrk.rate(served.url + READ.format(bookmaker), {"Accept-Encoding": "gzip"}, RUN_S)
    took_s = time.monotonic() - began
    costs.idle.append(idle)
    costs.reads.append(rate)
    costs.a_read_us.append(((served.cpu_s() - cpu_s) / took_s - idle) / (rate * RUN_S / took_s) * 1e6)


def _row(what: str, costs: dict[str, Costs], field: str, scale: float, unit: str) -> list[str]:
    without, kept = (getattr(costs[name], field) for name in ("without", "with"))
    ratio = median([more / less for less, more in zip(without, kept, strict=True)])
    shown = [f"{spread([value * scale for value in values])}{unit}" for values in (without, kept)]
    return [what, *shown, short(ratio), AIM if field == "reads" else ""]


def _changed(served: Served) -> int:
    return int(_asked(served, "/api/stats")["data"]["matches_upserted"])


def _asked(served: Served, path: str) -> Any:
    return json.loads(get(served.url, path, {})[2])
