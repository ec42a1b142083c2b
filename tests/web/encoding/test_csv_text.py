"""Cells of CSV: a spreadsheet reads each cell as its value, and runs none as a formula."""

from __future__ import annotations

import csv
from datetime import UTC, datetime
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from web.encoding.csv_text import cell, rows, utc

RUN = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, ""),
        ("", ""),
        (True, "true"),
        (1.5, "1.5"),
        (-0.75, "-0.75"),
        (1e-07, "0.0000001"),
        (1.5e17, "150000000000000000"),
        (1795338501510, "1795338501510"),
        ("FC Åbo", "FC Åbo"),
        ("1860 München", "1860 München"),
        ("-", "'-"),
        ('=HYPERLINK("x")', '\'=HYPERLINK("x")'),
        (" @SUM(A1)", "' @SUM(A1)"),
        ("\uff1dcmd", "'\uff1dcmd"),
    ],
)
def test_a_value_is_shown_plainly(value: object, shown: str) -> None:
    """Numbers have no exponent; a text that may be read as a formula has an apostrophe before it."""
    assert shown == cell(value)


@given(st.lists(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0")), min_size=1)))
def test_whatever_a_text_is_it_comes_back_and_is_no_formula(table: list[list[str]]) -> None:
    """Python's own reader gives back each text; only an apostrophe may be added."""
    read = [*csv.reader(StringIO(rows(table).decode(), newline=""), strict=True)]

    assert table == [
        [found.removeprefix("'") if found != text else text for found, text in zip(*pair, strict=True)]
        for pair in zip(read, table, strict=True)
    ]
    assert [] == [text for row in read for text in row if text[:1] in {*RUN} or text.lstrip()[:1] in {*RUN}]


def test_a_time_is_utc_and_never_later_than_the_moment() -> None:
    """A time is cut to whole seconds; an unknown time is an empty cell."""
    assert ("2026-12-05 15:00:00", "1969-12-31 23:59:59", "") == (
        utc(datetime(2026, 12, 5, 15, tzinfo=UTC).timestamp() + 0.999),
        utc(-0.5),
        utc(None),
    )
