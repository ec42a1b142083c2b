"""Timing and printing: medians with their spread, as Markdown tables."""

from __future__ import annotations

import gc
import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path


def machine() -> str:
    """Name what the figures were measured on."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    model = models[0] if models else platform.processor() or platform.machine()
    return f"{model}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"


def seconds(work: Callable[[], object], runs: int) -> list[float]:
    """Time `work` that many times after one warm-up; seconds, sorted."""
    work()
    times = []
    for _ in range(runs):
        gc.collect()
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return sorted(times)


def spread(values: Sequence[float], unit: str = "") -> str:
    """Show the median and, in brackets, the least and the greatest."""
    return f"{_short(statistics.median(values))}{unit} ({_short(min(values))} to {_short(max(values))})"


def table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a Markdown table."""
    print(f"\n### {title}\n")
    widths = [max(len(row[at]) for row in [header, *rows]) for at in range(len(header))]
    for row in [header, ["-" * width for width in widths], *rows]:
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |")


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"  # noqa: PLR2004 - three digits are enough
