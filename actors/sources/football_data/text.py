"""From the bytes of a football-data.co.uk file to its rows. Pure.

Nearly all files hold no quotation mark: then a row is a line, and its reader splits off the cells that it
needs. From the first block with a mark on `csv.reader` reads.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from io import StringIO
from itertools import chain

from actors.core.cooperative import Sliced
from actors.core.errors import PayloadError

BLOCK_CHARS = 64 * 1024  # what is split into lines at a time: far below a millisecond
COUNTED_BYTES = 1024 * 1024  # searched between two yields, in 2 ms
MAX_LINE_CHARS = 1024 * 1024
CSV_CELL_CHARS = 128 * 1024  # of a longer line `csv.reader` decides whether its cells are short enough

Row = str | list[str]  # a line of cells between commas, perhaps with a CR at its end, or the cells


def read_text(body: bytes) -> Sliced[str]:
    """Decode UTF-8 or cp1252, with LF in place of a CR alone. Raises: PayloadError if it is neither."""
    if b"\0" not in body:
        has_lone_cr = yield from _has_lone_cr(body)
        for encoding in ("utf-8-sig", "cp1252"):
            try:
                text = body.decode(encoding)
            except UnicodeDecodeError:
                continue
            return text.replace("\r\n", "\n").replace("\r", "\n") if has_lone_cr else text
    raise PayloadError("the body is neither UTF-8 nor cp1252 text")


def rows_in(text: str, block_chars: int = BLOCK_CHARS) -> Iterator[Row]:
    """Return the rows in order, as `csv.reader` would in strict mode, with any number of blank rows.

    Raises: PayloadError for an endless line, and for what `csv.reader` cannot read.
    """
    blocks = _blocks(text, block_chars)
    for block in blocks:
        lines = block.split("\n")
        if '"' in block or len(max(lines, key=len)) > CSV_CELL_CHARS:
            yield from _quoted(chain([block], blocks))
            return
        yield from lines


def width_of(row: Row) -> int:
    """Return the number of cells; a cell with several commas counts as many, which two stray marks joined.

    Raises: PayloadError for a row of several lines, which two stray marks made of two rows.
    """
    if isinstance(row, str):
        return row.count(",") + 1
    if any("\n" in cell for cell in row):
        raise PayloadError("a cell goes over several lines, so the marks around it are astray")
    return len(row) + sum(max(cell.count(",") - 1, 0) for cell in row)  # a name may have a comma


def cells_in(row: Row, count: int) -> list[str]:
    """Return the first `count` cells, padded with empty cells, and then the rest; all for -1."""
    cells = row.split(",", count) if isinstance(row, str) else row
    return cells if len(cells) >= count else cells + [""] * (count - len(cells))


def is_blank(row: Row) -> bool:
    """Return whether no cell of a row holds anything."""
    return not (row.replace(",", "") if isinstance(row, str) else "".join(row)).strip()


def _has_lone_cr(body: bytes) -> Sliced[bool]:
    for at in range(0, len(body), COUNTED_BYTES):
        end = at + COUNTED_BYTES
        if body.count(b"\r", at, end) != body.count(b"\r\n", at, end + 1):  # the LF of the last may follow
            return True
        yield
    return False


def _blocks(text: str, block_chars: int) -> Iterator[str]:
    """Cut a text behind line ends, into blocks as long as possible or of a single long line."""
    begin = 0
    while len(text) - begin > block_chars:
        end = text.rfind("\n", begin, begin + block_chars) + 1
        end = end or text.find("\n", begin, begin + MAX_LINE_CHARS) + 1
        if not end:
            break
        yield text[begin:end]
        begin = end
    if len(text) - begin > MAX_LINE_CHARS:
        raise PayloadError(f"the body has a line of more than {MAX_LINE_CHARS} characters")
    yield text[begin:]


def _quoted(blocks: Iterator[str]) -> Iterator[list[str]]:
    lines = chain.from_iterable(StringIO(block, newline="") for block in blocks)
    try:
        yield from csv.reader(lines, strict=True)
    except csv.Error as error:
        raise PayloadError(f"the body is not CSV: {error}") from error
