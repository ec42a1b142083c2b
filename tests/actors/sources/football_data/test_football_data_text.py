"""football-data.co.uk: the rows of a file, whatever its encoding and its line ends."""

from __future__ import annotations

import pytest

from actors.core.errors import PayloadError
from actors.sources.football_data.text import MAX_CELLS, MAX_LINE_CHARS, rows_in


@pytest.mark.parametrize("code", ["utf-8", "utf-8-sig", "cp1252"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_long_text_is_equal_in_any_encoding(code: str, end: str) -> None:
    """For any encoding and line ends, its rows are its lines."""
    count = 10_000
    body = (f"Älmhult,Peña Œuvre{end}" * count).encode(code)

    assert [["Älmhult", "Peña Œuvre"]] * count == list(rows_in(body))


def test_one_invalid_byte_changes_the_encoding_of_the_whole_text() -> None:
    """A file has one encoding from its first byte to its last."""
    body = "Älmhult\n".encode() * 20_000
    first = [next(rows_in(body + end)) for end in (b"", b"\xff")]

    assert [["Älmhult"], ["Ã\u201elmhult"]] == first


def test_line_without_an_end_is_refused() -> None:
    """A line without an end would be read in a single step, and no real file has one."""
    for body in [b"a" * (MAX_LINE_CHARS + 1), b"a,b\n" + b"," * MAX_CELLS + b"\n"]:
        with pytest.raises(PayloadError, match="a line of more than"):
            list(rows_in(body))
