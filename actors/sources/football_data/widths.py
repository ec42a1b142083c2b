"""Finds the complete rows of a file: as wide as its header, or as Excel writes them. Pure.

Excel writes 16 lines at a time (the very first line is the header), and drops from all 16 lines the blank
cells behind the last column that any of these lines fills:

    Div,...,B365A,PSH,PSD,PSA        line 1: as wide as the lines up to 16
    E0,...,3.60,,,                   line 16
    E1,...,3.50                      lines 17 to 32: no price behind B365A

A single short row may also have been cut, or have lost a cell further left, so that later cells moved. The
other lines of the same 16 decide.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from actors.sources.football_data.text import Row, is_blank, width_of

BLOCK_LINES: Final = 16
MIN_ALIKE: Final = 2  # least number of rows with one width
MIN_SHARE: Final = 3 / 4  # least share of a block's rows with one width

NO_WIDTH: Final = 0  # the width of a block without certainly complete rows


def with_widths(header: Row, rows: Iterator[Row], *, is_ended: bool) -> Iterator[tuple[Row, int]]:
    """Yield each row, and its number of cells; complete rows are filled up to the header's width.

    A header may end in blank cells, which name no column, and rows may lack these cells. Excel ends each
    line, so without `is_ended` the last line may be cut. Raises: PayloadError like `width_of`.
    """
    width = above = width_of(header)
    first = [*islice(rows, BLOCK_LINES - 1)]
    found = _width_of(first, width)
    if found is not None and found < width and is_blank(header[found:]):
        width = above = found
    fits = width if found in {None, width} else NO_WIDTH  # otherwise the header itself is torn
    yield from ((row, fits) for row in first)
    may_be_short, is_short = is_ended and found == width, False
    while block := [*islice(rows, BLOCK_LINES)]:
        found = _width_of(block, above)
        is_short |= may_be_short and found not in {None, width}
        if not is_short:
            yield from ((row, fits) for row in block)
        elif found is None:
            yield from ((row, NO_WIDTH) for row in block)
        else:
            yield from (_fitted(row, found, width) for row in block)
        above = found or above


def _width_of(block: Sequence[Row], above: int) -> int | None:
    """Return the width of a block's rows, None if uncertain; a single row must be as wide as `above`."""
    widths = Counter(width_of(row) for row in block if not is_blank(row))
    width, alike = next(iter(widths.most_common(1)), (None, 0))
    if alike >= MIN_ALIKE and alike >= MIN_SHARE * widths.total():
        return width
    return width if width == above and len(widths) == 1 else None


def _fitted(row: Row, found: int, width: int) -> tuple[Row, int]:
    """Fill up a complete row of a block of width `found` to the header's `width`."""
    if width_of(row) != found or not is_blank(row[width:]):
        return row, NO_WIDTH
    missing = width - found
    return ([*row, *[""] * missing] if missing > 0 else row[: len(row) + missing]), width
