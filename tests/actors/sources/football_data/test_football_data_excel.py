"""football-data.co.uk: rows whose blank cells at their end are left out, as Excel does block by block."""

from __future__ import annotations

import pytest

from actors.core.errors import PayloadError
from actors.core.validation import Reason
from tests.support.builders.football_data import COLUMNS, ROW, as_excel, csv_bytes, judged, shown
from tests.support.recordings import football_data

HEADER = (*COLUMNS, "BWH", "BWD", "BWA", "PSH", "PSD", "PSA")
BWIN = ("2.05", "3.30", "3.50")
Cells = tuple[str, ...]


def _row(number: int, *more: str) -> Cells:
    return (*ROW[:3], f"Town {number}", *ROW[4:], *more, *("",) * (6 - len(more)))


def _file(count: int, priced: range = range(0)) -> list[Cells]:
    """Return the rows of a file as Excel writes it; the rows `priced` have bwin's prices too."""
    rows = [_row(number, *(BWIN if number in priced else ())) for number in range(count)]
    lines = as_excel([",".join(row) for row in (HEADER, *rows)])
    return [tuple(line.split(",")) for line in lines[1:]]


def _shown(rows: list[Cells], key: str = "B365", end: str = "\r\n", header: Cells = HEADER) -> list[int]:
    """Return the numbers of the matches that are shown."""
    matches = shown(csv_bytes(*rows, header=header, end=end), key)
    return sorted(int(match.home.removeprefix("Town ")) for match in matches)


@pytest.mark.parametrize("count", [15, 17, 18, 31, 40, 47, 48, 49])
def test_rows_without_the_blank_cells_at_their_end_are_read(count: int) -> None:
    """The last block may have any number of rows."""
    rows = _file(count)

    assert {14, 8} >= {len(row) for row in rows}
    assert [*range(count)] == _shown(rows)


@pytest.mark.parametrize("left_out", range(1, 7))
def test_some_of_the_blank_cells_may_be_left_out(left_out: int) -> None:
    """All rows of a block must lack the same number of cells."""
    rows = [
        row[: len(HEADER) - left_out] if at >= 15 else row for at, row in enumerate(map(_row, range(40)))
    ]

    assert [*range(40)] == _shown(rows)


def test_more_blank_cells_than_the_header_has_are_read() -> None:
    """All rows of a block may end with extra blank cells, but not with an extra cell that is filled."""
    wide = [(*row, "", "") if at >= 15 else row for at, row in enumerate(map(_row, range(40)))]
    filled = [(*row[:-1], "x") if at == 20 else row for at, row in enumerate(wide)]

    assert [*range(40)] == _shown(wide)
    assert sorted({*range(40)} - {20}) == _shown(filled)


@pytest.mark.parametrize("count", [2, 15, 16, 40])
def test_blank_cells_at_the_end_of_the_header_may_be_left_out(count: int) -> None:
    """Those cells name no column; a row that has lost another cell as well is torn."""
    rows = [*map(_row, range(count))]
    torn = [row[:-1] if at == 7 else row for at, row in enumerate(rows)]

    assert [*range(count)] == _shown(rows, header=(*HEADER, "", ""))
    assert sorted({*range(count)} - {7}) == _shown(torn, header=(*HEADER, "", ""))


def test_prices_of_a_short_row_are_in_their_columns() -> None:
    """Each block is as wide as its longest row."""
    rows = _file(48, priced=range(20, 22))

    assert {14, 11, 8} == {len(row) for row in rows}
    assert [20, 21] == _shown(rows, "BW")


TORN = _row(20)[:8]


@pytest.mark.parametrize(
    "torn",
    [
        (*TORN[:5], *TORN[6:]),  # a price is missing
        (*TORN[:6], *TORN[5:]),  # a price is there twice
        TORN[:-1],  # the last price is cut off
        TORN[:5],  # all prices are cut off
        (*TORN[:5], "2", *TORN[5:]),  # a price is split in two
        (*TORN, ""),  # a comma more than in the other rows
        (*TORN[:5], "2", "10", *TORN[6:], "", "", "", "", ""),  # a split price, the header's width
        (*TORN[:5], *TORN[6:], *BWIN, "", "", "", ""),  # a missing price, the header's width
    ],
)
def test_torn_row_among_short_rows_is_not_read(torn: Cells) -> None:
    """The row's cells may be in wrong columns, also if it is as wide as the header; it is counted."""
    rows = _file(40)
    rows[20] = torn

    assert sorted({*range(40)} - {20}) == _shown(rows)
    assert {Reason.UNREADABLE: 1} == dict(judged(csv_bytes(*rows, header=HEADER)).rejected)


def test_lines_above_and_below_a_cut_are_not_read() -> None:
    """The rows below the cut are one line further down; they are read if their block has one width."""
    for at in range(15, 48):
        rows = _file(48, priced=range(20, 22))
        head, tail = (*rows[at][:7], rows[at][7][:1]), (rows[at][7][1:], *rows[at][8:])
        cut = _shown([*rows[:at], head, tail, *rows[at + 1 :]])

        assert at not in cut
        assert len(cut) >= 30


@pytest.mark.parametrize(
    "rows",
    [
        _file(16),  # the last row's block has no other row to compare with
        [row[:8] if at % 2 else row for at, row in enumerate(map(_row, range(40)))],  # no width is certain
    ],
    ids=["a single row", "every second row"],
)
def test_rows_are_not_read_where_nothing_shows_what_was_left_out(rows: list[Cells]) -> None:
    """A row that lost a cell then looks like a row that ends early."""
    whole = [number for number, row in enumerate(rows) if len(row) == len(HEADER)]

    assert len(whole) < len(rows)
    assert whole == _shown(rows)


@pytest.mark.parametrize(
    "rows",
    [
        [row[:8] for row in _file(40)],  # the header may have a name too many
        [(*row, "") for row in map(_row, range(40))],  # the header may lack a name
    ],
    ids=["shorter", "longer"],
)
def test_file_of_which_all_rows_differ_is_not_read(rows: list[Cells]) -> None:
    """If all rows differ from the header, the header may be torn, and all prices in wrong columns."""
    with pytest.raises(PayloadError, match="40 rows do not fit the header, 0 do"):
        _shown(rows)


def test_short_rows_of_a_file_without_its_last_line_end_are_not_read() -> None:
    """Excel ends each line, so a file without the last line end may be cut, even within a price."""
    body = csv_bytes(*_file(40), header=HEADER)

    with pytest.raises(PayloadError, match="25 rows do not fit the header, 15 do"):
        shown(body.removesuffix(b"0\r\n"))


@pytest.mark.recordings
def test_recorded_files_show_the_same_as_excel_writes_them() -> None:
    """A few rows at the end of a file are the exception: no other rows of their block confirm them."""
    counts = {False: 0, True: 0}
    for path in football_data("fixtures", "*.csv")[1:]:  # the first file has no prices
        lines = path.read_bytes().decode("utf-8-sig").splitlines()
        for is_written_anew, text in ((False, lines), (True, as_excel(lines))):
            body = "".join(f"{line}\r\n" for line in text).encode()
            counts[is_written_anew] += len(shown(body))

    assert 0.99 < counts[True] / counts[False] <= 1
