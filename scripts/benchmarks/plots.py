"""Plots as SVG files that are equal whenever the figures are equal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")
mpl.rcParams.update({"svg.hashsalt": "oddsboard", "svg.fonttype": "none", "font.size": 9})

from matplotlib import pyplot as plt  # noqa: E402 - after the choice of what it draws with


def lines(
    file: Path, title: str, axes: tuple[str, str], series: Mapping[str, Sequence[tuple[float, float]]]
) -> None:
    """Draw cost against size, with two logarithmic axes."""
    figure, plot = plt.subplots(figsize=(6.4, 4.0))
    for name, points in series.items():
        plot.plot(*zip(*points, strict=True), marker="o", label=name)
    plot.set(title=title, xlabel=axes[0], ylabel=axes[1], xscale="log", yscale="log")
    plot.grid(visible=True, which="major", alpha=0.4)
    plot.legend()
    _save(figure, file)


def bars(file: Path, title: str, groups: Sequence[str], series: Mapping[str, Sequence[float]]) -> None:
    """Draw a bar for each name in each group on a logarithmic axis, with the first name on top."""
    figure, plot = plt.subplots(figsize=(7.2, 0.9 + 0.16 * len(groups) * (len(series) + 1)))
    height = 0.9 / len(series)
    for row, (name, values) in enumerate(series.items()):
        places = [place + row * height for place in range(len(groups))]
        shown = plot.barh(places, values, height, label=name)
        plot.bar_label(shown, [f" {value:,.0f}" for value in values], fontsize=7)
    plot.set(title=title, xscale="log")
    plot.set_yticks([place + 0.45 - height / 2 for place in range(len(groups))], groups)
    plot.invert_yaxis()
    plot.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.02, 0.5))
    _save(figure, file)


def _save(figure: Any, file: Path) -> None:
    figure.savefig(file, metadata={"Date": None}, bbox_inches="tight")
    plt.close(figure)
