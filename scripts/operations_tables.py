"""Rewrites the tables of log events and metrics in docs/operations.md; `scripts/operations` runs it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from actors.monitoring.metrics import METRICS
from actors.runtime.facts import FACTS

FILE = Path(__file__).resolve().parent.parent / "docs/operations.md"


def written(text: str) -> str:
    """Return the document with new tables."""
    text = _with(text, ("metrics", "labels"), _metrics())
    return _with(text, ("`event`", "level", "what to do"), _events())


def _metrics() -> Iterator[Sequence[str]]:
    """Return a row for each set of labels."""
    shared: dict[str, list[str]] = {}
    for row in METRICS.values():
        shared.setdefault(row.labels, []).append(f"`{row.name}`")
    for labels, names in shared.items():
        yield ", ".join(names), ", ".join(f"`{label}`" for label in labels.split())


def _events() -> Iterator[Sequence[str]]:
    """Return a row for each level and text; events that share both share the row."""
    shared: dict[tuple[str, str], list[str]] = {}
    for fact in FACTS.values():
        shared.setdefault((fact.level, fact.what_to_do), []).append(f"`{fact.kind}`")
    for (level, what_to_do), kinds in shared.items():
        yield ", ".join(kinds), level, what_to_do


def _with(text: str, head: Sequence[str], rows: Iterator[Sequence[str]]) -> str:
    """Return `text` with these rows in the table with this head."""
    first = f"{_line(head)}\n|{'---|' * len(head)}\n"
    before, found, rest = text.partition(first)
    if not found:
        raise ValueError(f"no table begins with {_line(head)}")
    return before + first + "".join(f"{_line(row)}\n" for row in rows) + re.sub(r"\A(\|.*\n)+", "", rest)


def _line(cells: Sequence[str]) -> str:
    return "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|"


if __name__ == "__main__":
    FILE.write_text(written(FILE.read_text("utf-8")), "utf-8")
