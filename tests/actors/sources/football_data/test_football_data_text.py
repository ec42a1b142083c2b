"""football-data.co.uk: splitting a file's text gives what `csv.reader` gives, and in slices."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from actors.core.cooperative import run_now
from actors.core.errors import PayloadError
from actors.sources.football_data.text import (
    BLOCK_BYTES,
    MAX_LINE_BYTES,
    cells_in,
    is_blank,
    read_text,
    rows_in,
)

ALPHABET = 'ab ,,,\r\n\r\n"\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029\xa0é\t;\x1a\ufeff'
"""What tells cells and lines apart, and what only some readers take for the end of a line."""


def _ours(blocks: list[str]) -> list[list[str]] | None:
    """Return the cells of all rows that hold any, blanks around them taken off; None for an error."""
    try:
        rows = [cells_in(row, -1) for row in rows_in(blocks) if not is_blank(row)]
    except PayloadError:
        return None
    return [[cell.strip() for cell in row] for row in rows]


def _theirs(text: str) -> list[list[str]] | None:
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error:
        return None
    return [[cell.strip() for cell in row] for row in rows if any(map(str.strip, row))]


@given(st.lists(st.text(ALPHABET, max_size=30), max_size=4))
@example(["a,b\r", "\nc,d"])
@example(["a,b\r\n", '"c\n', 'd",e\r\n'])
@example(['a"b,c"\n', "d,e"])
@example(["a\rb\r\nc\nd"])
@example(["a" * 131_072 + "\n", "b," * 131_072])
@example(["a" * 131_073 + ",b\n"])
def test_rows_are_those_of_the_csv_module(lines: list[str]) -> None:
    """Whatever a text holds: the same cells, or an error in both; a block ends where a line does."""
    blocks = [f"{line}\n" for line in lines[:-1]] + lines[-1:]

    assert _theirs("".join(blocks)) == _ours(blocks)


@given(st.text("ab,\r\n\x85\u2028é", max_size=200), st.integers(0, 30))
def test_a_text_without_quotes_is_split_alike_wherever_it_is_cut(text: str, cut: int) -> None:
    """A line end of two characters may be cut in two: that makes a blank row, and nothing else."""
    places = [at + 1 for at, character in enumerate(text) if character in "\r\n"]
    place = places[cut % len(places)] if places else 0

    assert _theirs(text) == _ours([text[:place], text[place:]])


@pytest.mark.parametrize("code", ["utf-8", "utf-8-sig", "cp1252"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_long_text_is_decoded_in_slices(code: str, end: str) -> None:
    """Block by block, each of whole lines and below a few dozen kilobytes, in whatever encoding."""
    text = f"Älmhult,Peña Œuvre{end}" * (4 * BLOCK_BYTES // 20)
    steps = read_text(text.encode(code))
    count = sum(1 for _ in steps)
    blocks = run_now(read_text(text.encode(code)))

    assert (text, True) == ("".join(blocks), count >= 4)
    assert max(len(block.encode(code)) for block in blocks) <= BLOCK_BYTES
    assert {True} == {block.endswith(("\n", "\r")) for block in blocks}


def test_one_bad_byte_changes_how_the_whole_text_is_read() -> None:
    """A file is in one encoding from its first byte to its last."""
    body = "Älmhult\n".encode() * 20_000
    read = ["".join(run_now(read_text(body + end)))[:8] for end in (b"", b"\xff")]

    assert ["Älmhult\n", "Ã\u201elmhult"] == read


@pytest.mark.parametrize(
    "body", [b"a" * (MAX_LINE_BYTES + 1), b"a,b\n" + b"," * 2 * MAX_LINE_BYTES + b"\n"]
)
def test_a_line_without_an_end_is_refused(body: bytes) -> None:
    """It cannot be read in slices, and no file has one."""
    with pytest.raises(PayloadError, match="a line of more than"):
        run_now(read_text(body))


def test_only_the_cells_that_are_asked_for_are_split() -> None:
    """What follows stays one piece, and a row that is too short is filled up."""
    assert ["a", "b", "c,d"] == cells_in("a,b,c,d", 2)
    assert ["a", "", ""] == cells_in("a", 3)
    assert ["a", "b,c", ""] == cells_in(["a", "b,c"], 3)
