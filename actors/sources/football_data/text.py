"""From the bytes of a football-data.co.uk file to its rows, in slices and as cheaply as may be.

Pure, below `football_data.py`. Nearly all files hold no quotation mark, and then a row is its line,
split at the commas: that is left to whoever wants cells, who seldom wants more than a few. From the
first mark on `csv.reader` reads, as it alone can tell what a mark means.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import chain, islice

from actors.core.cooperative import Sliced
from actors.core.errors import PayloadError

BLOCK_BYTES = 64 * 1024
"""What is decoded between two yields: far below a millisecond."""
MAX_LINE_BYTES = 1024 * 1024
MAX_LINE_CHARS = 128 * 1024
"""Of a longer line `csv.reader` tells whether it bears its cells."""
_BOM = b"\xef\xbb\xbf"

Row = str | list[str]
"""A line whose cells stand between commas, perhaps with its line end; or the cells themselves."""


def read_text(body: bytes) -> Sliced[list[str]]:
    """Decode as UTF-8, or as cp1252 like 13 of the real files; give blocks that end with a line.

    Raises: PayloadError if it is neither, or has a line longer than any file has.
    """
    if b"\0" not in body:
        for encoding, begin in (("utf-8", len(_BOM) if body.startswith(_BOM) else 0), ("cp1252", 0)):
            try:
                return (yield from _decoded(body, begin, encoding))
            except UnicodeDecodeError:
                continue
    raise PayloadError("the body is neither UTF-8 nor cp1252 text")


def rows_in(blocks: list[str]) -> Iterator[Row]:
    """Return the rows in order, exactly as `csv.reader` would in strict mode; blank ones may be many.

    Raises: PayloadError for what it cannot read, such as a mark that is never closed: a cut file.
    """
    for at, block in enumerate(blocks):
        lines = _lines(block)
        if '"' in block or len(max(lines, key=len)) > MAX_LINE_CHARS:
            yield from _quoted(islice(blocks, at, None))
            return
        yield from lines


def width_of(row: Row) -> int:
    """Return the number of cells of a row. One with several commas is made of as many, by two stray marks.

    Raises: PayloadError for one of several lines, which two stray marks make of the beginning of one
    row and the end of another: if they stand in the same column, it has the right width.
    """
    if isinstance(row, str):
        return row.count(",") + 1
    if any("\n" in cell or "\r" in cell for cell in row):
        raise PayloadError("a cell goes over several lines, so the marks around it are astray")
    return len(row) + sum(max(cell.count(",") - 1, 0) for cell in row)  # a name may have one


def cells_in(row: Row, count: int) -> list[str]:
    """Return at least the first `count` cells of a row, -1 for all; what follows, only of a list are cells.

    Of a line it is what is left of it.
    """
    cells = row.split(",", count) if isinstance(row, str) else row
    return cells if len(cells) >= count else cells + [""] * (count - len(cells))


def is_blank(row: Row) -> bool:
    """Return whether no cell of a row holds anything."""
    return not (row.replace(",", "") if isinstance(row, str) else "".join(row)).strip()


def _decoded(body: bytes, begin: int, encoding: str) -> Sliced[list[str]]:
    blocks: list[str] = []
    while begin < len(body):
        end = _line_end(body, begin)
        blocks.append(body[begin:end].decode(encoding))
        begin = end
        yield
    return blocks


def _line_end(body: bytes, begin: int) -> int:
    """Return where the last line ends that begins in a block, or the first if it is longer."""
    for size in (BLOCK_BYTES, MAX_LINE_BYTES):
        if len(body) <= begin + size:
            return len(body)
        end = max(body.rfind(mark, begin, begin + size) for mark in (b"\n", b"\r")) + 1
        if end:
            return end
    raise PayloadError(f"the body has a line of more than {MAX_LINE_BYTES} bytes")


def _lines(block: str) -> list[str]:
    """Split at each CR, LF or CRLF; a CR before an LF stays at the end of its line, as a blank does."""
    if block.count("\r") != block.count("\r\n"):
        block = block.replace("\r\n", "\n").replace("\r", "\n")
    return block.split("\n")


def _quoted(blocks: Iterator[str]) -> Iterator[list[str]]:
    lines = chain.from_iterable(io.StringIO(block, newline="") for block in blocks)
    try:
        yield from csv.reader(lines, strict=True)
    except csv.Error as error:
        raise PayloadError(f"the body is not CSV: {error}") from error
