"""A program as a source: lines a second until the last line is on the board, and the cost of a line.

The program is a process of its own, on another core than the service. It prints a list, and then lines that
each change the prices of a match: as fast as it may, or at a steady pace.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scripts.benchmarks.figures import median, spread
from scripts.benchmarks.processes import CLIENT_CORE, Served, configured_service, get, pinned
from scripts.benchmarks.report import Report

MATCHES = 1_000
PACE_A_S, PACE_S = 5_000, 10.0
LAST = 1.77  # a price that no other line has
WITHIN_S = 60.0
PROGRAM = """
import json, os, sys, time
go, lines, pace = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
def item(number, home):
    return {"match": str(number % MATCHES), "home": f"Home {number % MATCHES}", "away": "Away",
            "odds": {"one": home, "draw": 3.4, "two": 3.6}}
def said(kind, **fields):
    return (json.dumps({"type": kind, "list": "all", **fields}) + chr(10)).encode()
def say(line):
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
first = [item(number, 2.0) for number in range(MATCHES)]
changes = [said("upsert", **item(number, 2.0 + number % 49 / 100)) for number in range(lines)]
say(said("list", id="1", matches=first))
while not os.path.exists(go):
    time.sleep(0.005)
    say(said("alive"))
began, step = time.monotonic(), 50 if pace else 500
for at in range(0, lines, step):
    if pace:
        time.sleep(max(began + at / pace - time.monotonic(), 0.0))
    say(b"".join(changes[at : at + step]))
say(said("upsert", **item(0, LAST)))
while True:
    time.sleep(1)
    say(said("alive"))
"""
CONFIG = """
[sources.own]
kind = "program"
command = {command}
[bookmakers.own]
name = "Own"
source = "own"
key = "program"
"""


def run(report: Report) -> None:
    """Print lines a second, and the service's processor time."""
    lines = report.size(300_000, 20_000)
    rows = [
        _row("as fast as it may", [_measured(lines, 0.0) for _ in range(report.size(3, 1))], lines),
        _row("at a steady pace", [_measured(int(PACE_A_S * PACE_S), PACE_A_S)], int(PACE_A_S * PACE_S)),
    ]
    header = ["lines", "lines/s to the commit", "processor, us a line", "processor, % of a core"]
    report.table(f"program: {MATCHES:,} matches, a line changes one", header, rows)


def _row(what: str, found: list[tuple[float, float]], lines: int) -> list[str]:
    rates, costs = [lines / took for took, _ in found], [worked / lines * 1e6 for _, worked in found]
    share = median([100 * worked / took for took, worked in found])
    return [f"{lines:,} {what}", spread(rates), spread(costs), f"{share:.0f}"]


def _measured(lines: int, pace: float) -> tuple[float, float]:
    """Return the seconds until the last line is on the board, and the processor seconds."""
    with tempfile.TemporaryDirectory() as name, _service(Path(name), lines, pace) as served:
        served.settle()
        began, before = time.monotonic(), served.process.cpu_times()
        (Path(name) / "go").touch()
        while f'"1":{LAST}'.encode() not in get(served.url, "/api/v2/odds", {})[2]:
            if time.monotonic() - began > WITHIN_S:
                raise TimeoutError(f"not all lines were on the board within {WITHIN_S:.0f} s")
            time.sleep(0.1)
        took, after = time.monotonic() - began, served.process.cpu_times()
        return took, after.user + after.system - before.user - before.system


@contextmanager
def _service(folder: Path, lines: int, pace: float) -> Iterator[Served]:
    program, config = folder / "program.py", folder / "bench.toml"
    program.write_text(f"MATCHES, LAST = {MATCHES}, {LAST}\n{PROGRAM}", encoding="utf-8")
    arguments = [sys.executable, str(program), str(folder / "go"), str(lines), str(pace)]
    command = [*pinned(CLIENT_CORE, arguments)]
    if command[0] == "taskset":
        command[0] = "/usr/bin/taskset"  # the program has no PATH
    config.write_text(CONFIG.format(command=command), encoding="utf-8")
    with configured_service(config) as served:
        yield served
