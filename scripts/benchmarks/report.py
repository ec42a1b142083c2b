"""The results of a run: printed at once and, on request, written to docs/benchmarks.md with plots."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar

from scripts.benchmarks.figures import markdown
from scripts.benchmarks.processes import ROOT

T = TypeVar("T")

DOCS = ROOT / "docs"
FILE = DOCS / "benchmarks.md"
LIBRARIES = ("quart", "hypercorn", "msgspec", "uvicorn", "fastapi", "pydantic", "flask", "gunicorn")
INTRODUCTION = """# Benchmarks

What `scripts/bench --write` measured: it writes this file and the plots beside it, and nothing else does.
Each section names the machine and the day. All that a table compares was measured in the same run, in turn,
on the same data, servers on one core and their clients on the other. Figures are medians, with the
least and the greatest in brackets; work inside one process is timed by its processor's time.
"""


class Report:
    """The results of one run; a short run is only for trying, and is marked so.

    Without peers only the service itself is measured.
    """

    def __init__(self, *, is_short: bool, has_peers: bool = True) -> None:
        self.is_short = is_short
        self.has_peers = has_peers
        self._texts: dict[str, list[str]] = {}
        self._plots: dict[str, Callable[[Path], None]] = {}
        self._current: list[str] = []

    def section(self, name: str, title: str) -> None:
        """Begin the section of a benchmark."""
        tried = "; a SHORT run, for trying only" if self.is_short else ""
        self._current = self._texts[name] = []
        self.paragraph(f"## {title}")
        self.paragraph(f"{machine()}; {time.strftime('%Y-%m-%d', time.gmtime())}{tried}.")

    def size(self, usual: T, short: T) -> T:
        """Return the usual amount of work, or that of a short run."""
        return short if self.is_short else usual

    def paragraph(self, text: str) -> None:
        """Add a paragraph."""
        print(f"\n{text}", flush=True)
        self._current.append(text)

    def table(self, title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Add a table."""
        self.paragraph(f"### {title}")
        self.paragraph(markdown(header, rows))

    def plot(self, name: str, title: str, draw: Callable[[Path], None]) -> None:
        """Add a plot; `draw` draws it into a file when the report is written."""
        self._plots[f"benchmarks-{name}.svg"] = draw
        self._current.append(f"![{title}](benchmarks-{name}.svg)")

    def write(self, order: Sequence[str]) -> None:
        """Write the sections of this run to docs/benchmarks.md, and keep the others."""
        sections = _sections(FILE.read_text(encoding="utf-8") if FILE.exists() else "")
        sections |= {name: "\n\n".join(texts) for name, texts in self._texts.items()}
        kept = [f"<!-- {name} -->\n{sections[name]}\n" for name in order if name in sections]
        FILE.write_text("\n".join([INTRODUCTION, *kept]), encoding="utf-8")
        for file, draw in self._plots.items():
            draw(DOCS / file)
        print(f"\nwritten: {FILE}")


def machine() -> str:
    """Return processor, system and Python version of this machine."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    model = models[0] if models else platform.processor() or platform.machine()
    system = f"{platform.system()} {platform.release()}"
    return f"{model}, {os.cpu_count()} cores, {system}, Python {platform.python_version()}"


def versions() -> str:
    """Return the versions of the measured libraries and of the measuring tools."""
    libraries = [f"{name} {version(name)}" for name in LIBRARIES]
    return ", ".join([*libraries, _version_of(["nginx", "-v"]), _version_of(["wrk", "-v"])])


def _version_of(command: list[str]) -> str:
    if shutil.which(command[0]) is None:
        return f"no {command[0]}"
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    found = re.search(r"[0-9]+\.[0-9]+(\.[0-9]+)?", done.stdout + done.stderr)
    return f"{command[0]} {found[0] if found else '?'}"


def _sections(text: str) -> dict[str, str]:
    parts = re.split(r"^<!-- ([a-z]+) -->\n", text, flags=re.MULTILINE)
    return {name: body.rstrip("\n") for name, body in zip(parts[1::2], parts[2::2], strict=True)}
