"""football-data.co.uk: splitting a file's text equals `csv.reader`, and runs in slices."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from actors.core.cooperative import run_now
from actors.core.errors import PayloadError
from actors.sources.football_data.text import (
    BLOCK_CHARS,
    COUNTED_BYTES,
    MAX_LINE_CHARS,
    cells_in,
    is_blank,
    read_text,
    rows_in,
)

ALPHABET = 'ab ,,,\r\n\r\n"\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029\xa0é\t;\x1a\ufeff'
"""The characters that separate cells and lines, and those that only some parsers take for a line end."""


def _ours(text: str, block_chars: int) -> list[list[str]] | None:
    """Return the cells of all rows with content, without blanks around them; None for an error."""
    try:
        rows = [cells_in(row, -1) for row in rows_in(text, block_chars) if not is_blank(row)]
    except PayloadError:
        return None
    return [[_plain(cell) for cell in row] for row in rows]


def _theirs(text: str) -> list[list[str]] | None:
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error:
        return None
    return [[_plain(cell) for cell in row] for row in rows if any(map(str.strip, row))]


def _plain(cell: str) -> str:
    """Return a cell with LF for each of its line ends; a row with one in a cell is rejected anyway."""
    return cell.replace("\r\n", "\n").replace("\r", "\n").strip()


@given(st.text(ALPHABET, max_size=120), st.integers(1, 40))
@example('a,b\n"c\n\nd",e\n', 4)
@example('a"b,c"\n\nd,e', 8)
@example("a" * 131_072 + "\n" + "b," * 131_072, BLOCK_CHARS)
@example("a" * 131_073 + ",b\n", BLOCK_CHARS)
def test_rows_equal_those_of_the_csv_module(text: str, block_chars: int) -> None:
    """For any text and any blocks, both give the same cells, or both an error."""
    text = f"first,row\n{text}"  # without a byte order mark

    assert _theirs(text) == _ours(run_now(read_text(text.encode())), block_chars)


@pytest.mark.parametrize("code", ["utf-8", "utf-8-sig", "cp1252"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_long_text_is_equal_in_any_encoding(code: str, end: str) -> None:
    """For any encoding and line ends, its rows are its lines, whatever the number of blocks."""
    count = 4 * BLOCK_CHARS // 20
    text = run_now(read_text((f"Älmhult,Peña Œuvre{end}" * count).encode(code)))

    rows = [cells_in(row, -1) for row in rows_in(text) if not is_blank(row)]

    assert [["Älmhult", "Peña Œuvre"]] * count == [[cell.strip() for cell in row] for row in rows]


@pytest.mark.parametrize("before", [COUNTED_BYTES - 1, COUNTED_BYTES, COUNTED_BYTES + 1])
def test_line_end_between_two_slices_is_one(before: int) -> None:
    """A CR whose LF comes with the next slice is none by itself, and one without LF is found anywhere."""
    line, rest = b"a" * before, b"\r\n" * COUNTED_BYTES

    assert (line + rest).decode() == run_now(read_text(line + rest))
    assert (line + b"\n\n").decode() == run_now(read_text(line + b"\r\r"))


def test_one_invalid_byte_changes_the_encoding_of_the_whole_text() -> None:
    """A file has one encoding from its first byte to its last."""
    body = "Älmhult\n".encode() * 20_000
    read = [run_now(read_text(body + end))[:8] for end in (b"", b"\xff")]

    assert ["Älmhult\n", "Ã\u201elmhult"] == read


def test_line_without_an_end_is_refused() -> None:
    """A line without an end cannot be read in slices, and no real file has one."""
    for body in [b"a" * (MAX_LINE_CHARS + 1), b"a,b\n" + b"," * 2 * MAX_LINE_CHARS + b"\n"]:
        with pytest.raises(PayloadError, match="a line of more than"):
            list(rows_in(run_now(read_text(body))))


def test_only_the_requested_cells_are_split() -> None:
    """The cells after them stay one text, and a short row is padded."""
    assert ["a", "b", "c,d"] == cells_in("a,b,c,d", 2)
    assert ["a", "", ""] == cells_in("a", 3)
    assert ["a", "b,c", ""] == cells_in(["a", "b,c"], 3)
