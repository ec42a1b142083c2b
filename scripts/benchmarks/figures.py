"""Timing and arithmetic: medians with their spread, quantiles, ratios, as text for tables."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping, Sequence


def seconds(work: Callable[[], object], runs: int) -> list[float]:
    """Time `work` `runs` times after one warm-up. Return seconds."""
    return in_turn({"": work}, runs)[""]


def cpu_now_s() -> float:
    """Return this process's processor time in seconds, which other programs do not affect."""
    return time.process_time()


def in_turn(works: Mapping[str, Callable[[], object]], runs: int) -> dict[str, list[float]]:
    """Time each function that many times in turn, so that a drift affects all alike. Return seconds.

    Each function has one warm-up. Earlier objects are frozen for the garbage collector, as in the service.
    """
    for work in works.values():
        work()
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(runs):
        for name, work in works.items():
            gc.collect()
            gc.freeze()
            began = cpu_now_s()
            work()
            times[name].append(cpu_now_s() - began)
            gc.unfreeze()
    return times


def median(values: Sequence[float]) -> float:
    """Return the median."""
    return statistics.median(values)


def quantile(values: Sequence[float], share: float) -> float:
    """Return the value that this share of all values does not exceed."""
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def milliseconds(values: Sequence[float]) -> list[float]:
    """Return seconds as milliseconds."""
    return [value * 1e3 for value in values]


def spread(values: Sequence[float]) -> str:
    """Return the median and, in brackets, the smallest and the largest, as text."""
    return f"{short(median(values))} ({short(min(values))} to {short(max(values))})"


def short(value: float) -> str:
    """Return a number as text, with three significant digits and no digit before the point left out."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"  # noqa: PLR2004 - three digits are enough


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    widths = [max(len(row[at]) for row in [header, *rows]) for at in range(len(header))]
    lines = [header, ["-" * width for width in widths], *rows]
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |"
        for line in lines
    )
