"""The shipped tables, as rows of text; README.md in this folder describes them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

_FOLDER = Path(__file__).parent


def rows(name: str) -> Iterator[list[str]]:
    """Yield the columns of each row of a table, without its heading."""
    with (_FOLDER / name).open(encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            yield line.rstrip("\n").split("\t")
