"""Compares this clone with a clone of another commit: each part runs for both in turn, many times.

Two processes of the same code differ by several per cent, so each run has its own processes, and a ratio
is the median over pairs of runs. A part that measures the running service uses this clone's scripts for
both, and starts the other clone's service. A part that calls the packages is run by each clone's own
`scripts/bench`, because names in the code change. Both print Markdown tables, which are read here.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from scripts.benchmarks.figures import median, short
from scripts.benchmarks.processes import ROOT, SERVER_CORE, pinned
from scripts.benchmarks.report import Report

NUMBER = r"[0-9][0-9,]*(\.[0-9]+)?(e-[0-9]+)?"
BYTES = r", [0-9,]+ bytes$"
HEADER_ROWS = 2
HEADER = ("figure", "before", "new", "new / before", "lowest to highest", "speed")


class Figure(Struct, frozen=True):
    """One cell of a table: its table, row and column as printed, and the first number in it."""

    label: tuple[str, str, str]
    value: float


Figures = dict[tuple[str, int, str, int, str], Figure]
"""Figures by names of table, row and column; numbers distinguish tables and rows of the same name."""


class Part(Struct, frozen=True):
    """How a benchmark is compared: expressions for columns and tables, and the number of pairs of runs."""

    columns: str
    pairs: int
    tables: str = ""
    runs_in_process: bool = False
    more_is_better: bool = False


PARTS: Mapping[str, Part] = {
    "reads": Part(r"identity|gzip|304", 6, more_is_better=True),
    "publish": Part(r".*, ms", 4, "One changed match", runs_in_process=True),
    "intake": Part(r"ms", 4, runs_in_process=True),
    "stream": Part(r"ms", 4, runs_in_process=True),
    "streams": Part(r"median, ms|p99, ms|CPU a client and event, us|memory a client, kB", 3),
    "scale": Part(r"cost", 3),
}


def run(report: Report, name: str, other: Path) -> None:
    """Run one part in both clones in turn, and print the ratios. Raises: RuntimeError if a run fails."""
    part = PARTS[name]
    pairs = [
        (_measured(name, part, other), _measured(name, part, ROOT))
        for _ in range(report.size(part.pairs, (part.pairs + 1) // 3))
    ]
    rows = list(_rows(pairs, more_is_better=part.more_is_better))
    report.table(f"{commit_of(other)}, then this clone, {len(pairs)} runs of each in turn", HEADER, rows)
    before, new = pairs[0]
    if alone := [": ".join((before.get(key) or new[key]).label) for key in before.keys() ^ new.keys()]:
        report.paragraph(f"Only one of the two has {'; '.join(sorted(alone))}.")


def commit_of(clone: Path) -> str:
    """Return the commit that is checked out in a clone."""
    command = ["git", "-C", str(clone), "log", "-1", "--format=%h %s"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def figures(text: str, part: Part) -> Figures:
    """Read the figures of a part from Markdown tables: the first number of each cell."""
    found: Figures = {}
    titles: Counter[str] = Counter()
    title, rows = "", [[""]]
    for line in text.splitlines():
        if line.startswith("### "):
            title, rows = line.removeprefix("### "), []
            titles[_name(title)] += 1
        elif line.startswith("| ") and re.match(part.tables, title):
            cells = [cell.strip() for cell in line.strip("| ").split(" | ")]
            rows.append(cells)
            if len(rows) > HEADER_ROWS:
                for column, cell in zip(rows[0][1:], cells[1:], strict=True):
                    number = re.match(NUMBER, cell)
                    if number and re.fullmatch(part.columns, re.sub(BYTES, "", column)):
                        key = _name(title), titles[_name(title)], _name(cells[0]), len(rows), _name(column)
                        label = title, cells[0], column
                        found[key] = Figure(label, float(number[0].replace(",", "")))
    return found


def _name(text: str) -> str:
    """Remove digits, because numbers of bytes or matches differ a little between runs."""
    return re.sub("[0-9]", "", text)


def _measured(name: str, part: Part, clone: Path) -> Figures:
    command = [str(clone / "scripts" / "bench"), "--short", name]
    environment = dict(os.environ)
    if part.runs_in_process:
        command = pinned(SERVER_CORE, command)
    else:
        command = [sys.executable, "-m", "scripts.benchmarks", "--short", "--without-peers", name]
        environment["ODDSBOARD_BENCH_SERVICE"] = str(clone)
        clone = ROOT
    done = subprocess.run(command, check=False, cwd=clone, env=environment, capture_output=True, text=True)
    found = figures(done.stdout, part)
    if done.returncode or not found:
        last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-3:]
        raise RuntimeError(f"{command} ended with {done.returncode}: {' '.join(last)}")
    return found


def _rows(pairs: Sequence[tuple[Figures, Figures]], *, more_is_better: bool) -> Iterator[list[str]]:
    title = ""
    for key, first in pairs[0][0].items():
        both = [
            (before[key].value, new[key].value) for before, new in pairs if key in before and key in new
        ]
        ratios = [new / before for before, new in both if before and new]
        if not ratios:
            continue
        if first.label[0] != title:
            title = first.label[0]
            yield [f"*{title}*", *[""] * (len(HEADER) - 1)]
        yield [
            ": ".join(first.label[1:]),
            *(short(median(values)) for values in zip(*both, strict=True)),
            f"{median(ratios):.2f}",
            f"{min(ratios):.2f} to {max(ratios):.2f}",
            f"{median(ratios) if more_is_better else 1 / median(ratios):.2f}",
        ]
