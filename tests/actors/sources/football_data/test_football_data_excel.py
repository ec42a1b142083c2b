"""football-data.co.uk: rows whose blank cells at their end are left out, as Excel writes them."""

from __future__ import annotations

import pytest

from tests.support.builders.football_data import COLUMNS, ROW, csv_bytes, shown

HEADER = (*COLUMNS, "BWH", "BWD", "BWA", "PSH", "PSD", "PSA")
BLANK = ("",) * 6
Cells = tuple[str, ...]


def _row(name: str, *more: str) -> Cells:
    return (*ROW[:3], name, *ROW[4:], *more)


def _homes(*rows: Cells, key: str = "B365") -> list[str]:
    return [match.home for match in shown(csv_bytes(*rows, header=HEADER), key)]


@pytest.mark.parametrize("left_out", [1, 3, 5, 6])
def test_blank_cells_at_the_end_may_be_missing(left_out: int) -> None:
    """A block of short rows is read like one of full rows."""
    whole = [_row(f"Full {number}", *BLANK) for number in range(15)]
    ends = 6 - left_out
    short = [_row(f"Short {number}", *BLANK[:ends]) for number in range(25)]
    filled = [row if row[-1] else (*row[: len(ROW)],) for row in short]

    assert 40 == len(_homes(*whole, *filled))


def test_prices_of_a_short_row_are_in_their_columns() -> None:
    """Those of a bookmaker that is not left out."""
    rows = [_row("Full", *BLANK), _row("Short", "2.05", "3.30", "3.50")]

    assert ["Short"] == _homes(*rows, key="BW")


@pytest.mark.parametrize(
    "torn",
    [
        (*ROW[:5], *ROW[6:]),  # a price is missing
        ROW[:-1],  # cut short
        (*ROW, "2.05", "3.30"),  # cut in another bookmaker's prices
        ROW[:5],  # without any price, and perhaps cut
        (*ROW[:5], "2", *ROW[5:]),  # a price in two
        (*ROW, "2.05", "3.30", "3.50", ""),  # ends with a blank cell, but not of the header's width
    ],
)
def test_torn_row_among_short_ones_is_not_read(torn: Cells) -> None:
    """Its cells may be in wrong columns."""
    rows = [_row("Full", *BLANK), torn, _row("Short")]

    assert ROW[3] not in _homes(*rows)


def test_short_row_above_its_own_rest_is_not_read() -> None:
    """A line that is cut within its last price ends like a short row; what follows tells."""
    rows = [_row("Full", *BLANK), (*ROW[:-1], "3"), (".60", *BLANK), _row("Short")]

    assert ["Full", "Short"] == _homes(*rows)
