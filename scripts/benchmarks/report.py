"""The results of a run, printed as Markdown immediately."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar

from scripts.benchmarks.figures import markdown

T = TypeVar("T")

LIBRARIES = (
    "quart",
    "hypercorn",
    "msgspec",
    "uvicorn",
    "uvloop",
    "fastapi",
    "pydantic",
    "aiohttp",
    "flask",
    "gunicorn",
    "granian",
)


class Report:
    """The results of one run; a short run is only for trying, and is marked so.

    Without peers only the service itself is measured, with `has_servers` also Granian and nginx;
    `scale_file` is what `scale` measures.
    """

    def __init__(
        self,
        *,
        is_short: bool,
        has_peers: bool = True,
        has_servers: bool = False,
        scale_file: Path | None = None,
    ) -> None:
        self.is_short = is_short
        self.has_peers = has_peers
        self.has_servers = has_servers
        self.scale_file = scale_file

    def section(self, title: str) -> None:
        """Begin the section of a benchmark."""
        tried = "; a SHORT run, for trying only" if self.is_short else ""
        self.paragraph(f"## {title}")
        self.paragraph(f"{machine()}; {time.strftime('%Y-%m-%d', time.gmtime())}{tried}.")

    def size(self, usual: T, short: T) -> T:
        """Return the amount of work for this run: `usual`, or `short` for a short run."""
        return short if self.is_short else usual

    def paragraph(self, text: str) -> None:
        """Print a paragraph."""
        print(f"\n{text}", flush=True)

    def table(self, title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Print a table."""
        self.paragraph(f"### {title}")
        self.paragraph(markdown(header, rows))


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
