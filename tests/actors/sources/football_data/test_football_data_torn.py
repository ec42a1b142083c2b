"""football-data.co.uk: torn rows. A price that may be in a wrong column is not shown."""

from __future__ import annotations

import pytest

from actors.core.errors import PayloadError
from actors.core.messages import Extract
from actors.core.validation import Reason
from tests.support.builders.football_data import (
    COLUMNS,
    ROW,
    changed,
    csv_bytes,
    decoded,
    extracted,
    judged,
    shown,
)

HEADER = (*COLUMNS[:5], "Referee", *COLUMNS[5:], "BWH", "BWD", "BWA", "Note", "Note2")
WIDE = (*ROW[:5], "M Oliver", *ROW[5:], "2.05", "3.30", "3.50", "", "")
OTHER = ("XX", "15/02/2026", "15:00", "Cedar City", "Dogwood", "", *WIDE[6:])
(LISTED,) = shown(csv_bytes(ROW))
TORN = {
    "a comma that nobody quoted": (*WIDE[:5], "Oliver", " M", *WIDE[6:]),
    "a cell that is missing": (*WIDE[:6], *WIDE[7:]),
    "decimal commas": (*WIDE[:6], "2", "05", "3", "40", "3", "60", *WIDE[9:]),
    "a cell twice": (*WIDE[:7], *WIDE[6:]),
    "a cell in two": (*WIDE[:6], "2", "10", *WIDE[7:]),
    "a comma at the end": (*WIDE, ""),
    "blank cells left out": WIDE[:-2],
    "cut short": WIDE[:8],
    "joined with the next line": (*WIDE[:-1], *OTHER),
}


def test_row_of_another_width_than_the_header_is_rejected() -> None:
    """The cells of such a row may be in wrong columns, so its match becomes a removal with its own id."""
    for row in TORN.values():
        for key in ["B365", "BW"]:
            admission = judged(csv_bytes(row, OTHER, header=HEADER), key)

            assert ["Cedar City"] == [match.home for match in admission.batch.matches], (row, key)
            assert {Reason.UNREADABLE: 1} == dict(admission.rejected), (row, key)
            assert [(LISTED.source_match_id, Reason.UNREADABLE)] == [
                (removal.source_match_id, removal.reason) for removal in admission.batch.removals
            ], (row, key)


def _of_one_row(row: tuple[str, ...], key: str = "BW") -> Extract:
    return extracted(csv_bytes(row, header=HEADER), key)


def test_row_without_two_teams_is_counted() -> None:
    """If cells of other columns are in place of the teams, its match is unknown, so it is only counted."""
    for row in [
        (*WIDE[:2], *WIDE[3:]),
        (*WIDE[:4], *WIDE[5:]),
        (*WIDE[:2], "", *WIDE[2:]),
        (*WIDE[:3], "", *WIDE[4:]),
        (*WIDE[:4], "2.10", *WIDE[5:]),
        (*WIDE[:4], WIDE[3], *WIDE[5:]),
        (*WIDE[:3], *WIDE[2:5], *WIDE[6:]),
        (*WIDE[:4], *WIDE[5:7], *WIDE[6:]),
        (*WIDE[:3], 'Alder "Town', *WIDE[4:]),
        ('X"X', *WIDE[1:]),
    ]:
        extract = _of_one_row(row)

        assert ((), ()) == (extract.matches, extract.removals), row
        assert {Reason.UNREADABLE: 1} == extract.passed_over, row


def test_quotes_in_joined_lines_make_no_row() -> None:
    """Two stray quotes can join the start of one match and the end of the next to a row of full width."""
    row = (*WIDE[:6], '"2.10', *WIDE[7:-1], "".join((WIDE[-1], OTHER[0])), *OTHER[1:6], '2.10"', *OTHER[7:])
    extract = _of_one_row(row)

    assert [(LISTED.source_match_id, Reason.UNREADABLE)] == [
        (removal.source_match_id, removal.reason) for removal in extract.removals
    ]
    assert () == extract.matches


def test_torn_row_removes_its_match() -> None:
    """Of a valid and a torn row of a match neither counts; one with a result is over, and no error."""
    row, header = (*ROW[:5], "2", *ROW[5:7]), (*COLUMNS[:5], "FTHG", *COLUMNS[5:])
    over = judged(csv_bytes(row, header=header))

    assert ["Cedar City"] == [
        match.home for match in shown(csv_bytes(WIDE, OTHER, WIDE[:-1], header=HEADER))
    ]
    assert ((), {}) == (over.batch.matches, dict(over.rejected))
    assert ["finished"] == [removal.reason for removal in over.batch.removals]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("first", ["A", '"A"'])
def test_rows_beside_a_line_of_one_cell_are_torn(end: str, first: str) -> None:
    """A line cut within its last cell may end with a number that looks like a price: 12 of 12.50."""
    prices = {"B365H": "1.3", "B365D": "5.5", "B365A": "12.50"}
    rows = [changed(HomeTeam=name, **prices) for name in (first, "B", "C", "D")]
    cut = changed(HomeTeam="E", B365H="1.3", B365D="5.5", B365A=f"12{end}.50")

    assert ["A", "B", "C", "D"] == [match.home for match in shown(csv_bytes(*rows, end=end))]
    assert ["A", "B", "D"] == [match.home for match in shown(csv_bytes(*rows[:2], cut, *rows[2:], end=end))]


MARKS = csv_bytes(WIDE, OTHER, header=HEADER).decode()


@pytest.mark.parametrize(
    "text",
    [
        MARKS.replace("M Oliver", '"M Oliver').replace("Dogwood,", 'Dogwood,"'),
        MARKS.replace("Referee", '"Referee').replace("Oliver", 'Oliver"'),
        MARKS.replace("Referee", 'Ref"eree'),
    ],
    ids=["over two rows", "over header and row", "within a column's name"],
)
def test_stray_quotes_reject_the_file(text: str) -> None:
    """Two stray quotes can join the start of one match and the end of another to a row of full width."""
    with pytest.raises(PayloadError, match="stray"):
        decoded(text.encode())


def test_torn_header_rejects_the_file() -> None:
    """If most rows have another width, the header is torn, even if one row is torn in the same way."""
    for header in [(*COLUMNS[:5], *COLUMNS[4:]), (*COLUMNS[:4], *COLUMNS[5:]), (*COLUMNS, "")]:
        good = [changed(HomeTeam=f"Team {number}") for number in range(3)]
        alike = ROW + ROW[-1:] if len(header) > len(ROW) else ROW[:-1]
        columns = (*header, "HomeTeam", "AwayTeam")[: len(header) + 2]

        with pytest.raises(PayloadError, match="do not fit the header"):
            decoded(csv_bytes(*((*row, "a", "b") for row in (*good, alike)), header=columns))


def test_second_table_rejects_the_file() -> None:
    """Below another header the columns differ; a header that repeats the first one is ignored."""
    swapped = (*COLUMNS[:5], *COLUMNS[:4:-1])
    rows = (changed(HomeTeam="Cedar City"), ROW)

    assert 2 == len(shown(csv_bytes(rows[0], COLUMNS, rows[1])))
    with pytest.raises(PayloadError, match="second header"):
        decoded(csv_bytes(rows[0], swapped, rows[1]))
