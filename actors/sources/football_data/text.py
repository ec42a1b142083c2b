"""Splits the bytes of a football-data.co.uk file into rows. Pure."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from io import BytesIO, TextIOWrapper

from actors.core.errors import PayloadError

MAX_LINE_CHARS = 1024 * 1024
MAX_CELLS = 1_000  # cells of a line, which is split in one step; real lines have up to 140

Row = list[str]


def rows_in(body: bytes) -> Iterator[Row]:
    """Return the rows in order, also blank ones.

    Raises: PayloadError for text that is neither UTF-8 nor cp1252, an endless line, or invalid CSV.
    """
    try:
        yield from csv.reader(_lines(body), strict=True)
    except csv.Error as error:
        raise PayloadError(f"the body is not CSV: {error}") from error


def width_of(row: Row) -> int:
    """Return the number of cells; a cell with several commas counts as several, joined by stray quotes.

    Raises: PayloadError for a row of several lines, which two stray quotation marks joined.
    """
    text = "".join(row)
    if "\n" in text or "\r" in text:
        raise PayloadError("a cell spans several lines, so its quotation marks are stray")
    if "," not in text:
        return len(row)
    return len(row) + sum(max(cell.count(",") - 1, 0) for cell in row)  # a name may have a comma


def is_blank(row: Row) -> bool:
    """Return whether all cells of a row are blank."""
    return not "".join(row).strip()


def _lines(body: bytes) -> Iterator[str]:
    for line in TextIOWrapper(BytesIO(body), _encoding_of(body), newline=""):
        if len(line) > MAX_LINE_CHARS or line.count(",") >= MAX_CELLS:
            limits = f"{MAX_LINE_CHARS} characters or {MAX_CELLS} cells"
            raise PayloadError(f"the body has a line of more than {limits}")
        yield line


def _encoding_of(body: bytes) -> str:
    if b"\0" not in body:
        for encoding in ("utf-8-sig", "cp1252"):
            try:
                body.decode(encoding)
            except UnicodeDecodeError:
                continue
            return encoding
    raise PayloadError("the body is neither UTF-8 nor cp1252 text")
