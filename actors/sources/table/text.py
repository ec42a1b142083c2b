"""Splits the bytes of a table into rows; an odd line does not affect the others. Pure."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO, TextIOWrapper
from itertools import chain, islice
from typing import Any, Final

from msgspec import Struct

from actors.core.cooperative import SLICE
from actors.core.errors import PayloadError
from actors.sources.table.odds import JsonNumber
from actors.sources.table.options import MAX_COLUMNS, TableOptions

MAX_LINE_CHARS: Final = 64 * 1024  # a line is split in one step
MAX_DEPTH: Final = 3  # nested JSON objects
TWICE: Final = -1  # the place of a column whose name is twice in the header

# Control characters, and the replacement of bytes that the encoding does not have.
_NO_TEXT = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffd]").search

Columns = dict[str | int, int]


class Line(Struct, frozen=True):
    """A line that is not blank: its number, from 1, and its cells or its fault."""

    number: int
    cells: list[str]
    fault: str = ""


def lines_of(body: bytes, options: TableOptions, columns: Columns) -> Iterator[Line]:
    """Yield the lines below the header, and note in `columns` which cell has which column.

    A CSV file has its columns noted before the first line is yielded.

    Raises: PayloadError for a text in another encoding, or an unreadable header.
    """
    if options.encoding not in {"utf-8", "utf-16"} and not body.isascii() and _is_utf_8(body):
        raise PayloadError(
            f"the encoding is utf-8, as it seems, and must not be read as {options.encoding}"
        )
    if options.format == "jsonl":
        yield from _objects(_numbered(body, options.encoding), columns)
        return
    lines = (_split(number, text, options.delimiter) for number, text in _numbered(body, options.encoding))
    if options.header:
        header = next(lines, Line(1, [], "the table has no line"))
        if header.fault:
            raise PayloadError(f"the header cannot be read: {header.fault}")
        yield from _below(header, lines, columns, options)
    else:
        first = [*islice(lines, SLICE)]
        widths = Counter(len(line.cells) for line in first if any(line.cells))
        width = max(widths, key=widths.__getitem__, default=0)
        columns |= {number: number - 1 for number in range(1, width + 1)}
        every = (line for line in chain(first, lines) if any(line.cells) or line.fault)
        yield from (_as_wide(line, width, "most have") for line in every)


def _is_utf_8(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


def _numbered(body: bytes, encoding: str) -> Iterator[tuple[int, str]]:
    codec = "utf-8-sig" if encoding == "utf-8" else encoding
    text = TextIOWrapper(BytesIO(body), codec, errors="replace", newline="")
    return ((number, line) for number, line in enumerate(text, 1) if not line.isspace())


def _fault(text: str) -> str:
    """Return why a line must not be split; a line without a line end may be cut within a price."""
    if len(text) > MAX_LINE_CHARS:
        return f"has {len(text)} characters, at most {MAX_LINE_CHARS} are read"
    if _NO_TEXT(text):
        return "has bytes that are no text in the encoding"
    return ""


def _split(number: int, text: str, delimiter: str) -> Line:
    fault = _fault(text) or ("" if text[-1] in "\r\n" else "has no line end: it may be cut")
    try:
        cells = [] if fault else next(csv.reader([text], delimiter=delimiter, strict=True), [])
    except csv.Error as error:  # also for a cell of several lines
        cells, fault = [], f"is not CSV: {error}"
    if len(cells) > MAX_COLUMNS:
        cells, fault = [], f"has {len(cells)} cells, at most {MAX_COLUMNS} are read"
    return Line(number, [cell.strip() for cell in cells], fault)


def _below(header: Line, lines: Iterable[Line], columns: Columns, options: TableOptions) -> Iterator[Line]:
    counts = Counter(header.cells)
    columns |= {number: number - 1 for number in range(1, len(header.cells) + 1)}
    columns |= {
        name: TWICE if counts[name] > 1 else place for place, name in enumerate(header.cells) if name
    }
    teams = {header.cells[columns[team]] for team in (options.home, options.away) if team in columns}
    for line in lines:
        if len(teams) > 1 and teams <= {*line.cells}:
            if line.cells != header.cells:
                raise PayloadError(f"line {line.number} is a second header, with other columns")
        elif any(line.cells) or line.fault:
            yield _as_wide(line, len(header.cells), "the header has")


def _as_wide(line: Line, width: int, of: str) -> Line:
    """Return a line, or its fault: with more or fewer cells, any cell may be in a wrong column."""
    if line.fault or len(line.cells) == width:
        return line
    return Line(line.number, [], f"has {len(line.cells)} cells, {of} {width}")


def _objects(lines: Iterable[tuple[int, str]], columns: Columns) -> Iterator[Line]:
    for number, text in lines:
        fault, cells = _fault(text), []
        try:
            read = {} if fault else _flat(json.loads(text, object_pairs_hook=_once, **_NUMBERS))
            cells = _placed(read, columns)
        except (ValueError, RecursionError) as error:
            fault = f"is not an object of JSON: {error}"
        yield Line(number, cells, fault)


def _placed(read: Mapping[str, str], columns: Columns) -> list[str]:
    """Return the cells of an object; new keys get columns. Raises: ValueError for too many columns."""
    if len(read.keys() - columns.keys()) + len(columns) > MAX_COLUMNS:
        raise ValueError(f"it has keys beyond the {MAX_COLUMNS} that are read")
    for name in read:
        columns.setdefault(name, len(columns))
    cells = [""] * len(columns)
    for name, value in read.items():
        cells[columns[name]] = value
    return cells


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is there twice")
    return found


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is no number")


_NUMBERS: Final[dict[str, Any]] = {
    "parse_float": JsonNumber,
    "parse_int": JsonNumber,
    "parse_constant": _constant,
}


def _flat(value: Any, prefix: str = "", depth: int = 0) -> dict[str, str]:
    """Return the texts and numbers of an object by key, `a.b` for nested objects; lists are not read."""
    if not isinstance(value, dict):
        raise ValueError("it must be {...}")  # noqa: TRY004 - like every other fault of a line
    flat: dict[str, str] = {}
    for name, inner in value.items():
        if isinstance(inner, str):
            flat[prefix + name] = inner
        elif isinstance(inner, dict) and depth < MAX_DEPTH:
            flat |= _flat(inner, f"{prefix}{name}.", depth + 1)
    return flat
