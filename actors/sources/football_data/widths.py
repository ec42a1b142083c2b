"""Which rows of a file are whole: as wide as its header, or as Excel writes them. Pure.

Excel writes 16 lines at a time, the header being the first, and leaves out in all of them the blank cells
behind the last column that any of them fills:

    Div,...,B365A,PSH,PSD,PSA        line 1: as wide as the lines up to 16
    E0,...,3.60,,,                   line 16
    E1,...,3.50                      lines 17 to 32: no price behind B365A

A row alone cannot tell that from a cut, or from a cell lost further left that has moved the others; the
lines that were written with it can.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from actors.sources.football_data.text import Row, is_blank, width_of

BLOCK_LINES: Final = 16
MIN_ALIKE: Final = 2  # rows of one width, at least
MIN_SHARE: Final = 3 / 4  # of a block's rows

NO_WIDTH: Final = 0  # of rows of which none is certain to be whole


def with_widths(header: Row, rows: Iterator[Row], *, is_ended: bool) -> Iterator[tuple[Row, int]]:
    """Yield each row, and the number of cells that it has if it is whole: filled up like the header.

    A header may end in blank cells, which name no column and which its rows may lack. Excel ends each line:
    if the last `is_ended` not, that may be cut. Raises: PayloadError as `width_of`.
    """
    width = above = width_of(header)
    first = [*islice(rows, BLOCK_LINES - 1)]
    found = _width_of(first, width)
    if found is not None and found < width and is_blank(header[found:]):
        width = above = found
    fits = width if found in {None, width} else NO_WIDTH  # else the header itself is torn
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
    """Return the width of a block's rows, None if it is not certain; a single row needs that `above`."""
    widths = Counter(width_of(row) for row in block if not is_blank(row))
    width, alike = next(iter(widths.most_common(1)), (None, 0))
    if alike >= MIN_ALIKE and alike >= MIN_SHARE * widths.total():
        return width
    return width if width == above and len(widths) == 1 else None


def _fitted(row: Row, found: int, width: int) -> tuple[Row, int]:
    """Return a row of a block of the width that was `found` as one of the header's, if it is whole."""
    if width_of(row) != found or not is_blank(row[width:]):
        return row, NO_WIDTH
    missing = width - found
    return ([*row, *[""] * missing] if missing > 0 else row[: len(row) + missing]), width
