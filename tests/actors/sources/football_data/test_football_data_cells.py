"""football-data.co.uk: rows in any encoding, valid prices, torn rows, and bodies that are not a file."""

from __future__ import annotations

import gzip

import pytest
from msgspec import structs

from actors.core.cooperative import run_now
from actors.core.errors import PayloadError
from actors.core.messages import Extract
from actors.core.validation import Reason
from actors.sources.football_data.kind import KIND
from actors.sources.football_data.text import MAX_CELLS, MAX_LINE_CHARS, rows_in
from tests.support.builders.football_data import (
    COLUMNS,
    OPTIONS,
    ROW,
    changed,
    csv_bytes,
    decoded,
    extracted,
    judged,
    payload,
    shown,
)

BAD_PRICES = (
    *("#", "x", "c", "1xBet", '"2,50"', "0", "0.0", "1", "1.0", "1.00", "0.99", "-2", "+2.1", "2.", ".5"),
    *("NaN", "nan", "inf", "Infinity", "-inf", "1e400", "2e0", "0x2", "2_1", "1/2", "EVS", "true", "null"),
    *("\u0662.\u0661", "\uff12.1", "2\u00a01", "2 1", "'2.1", "9999999999", "1" * 400),
    *("05", "00", "012.5", "01.50"),  # the rest of a number that a decimal comma has split
)


def test_invalid_price_rejects_its_match() -> None:
    """An invalid price in any column rejects, counts and removes its match alone (faults.md, B3)."""
    (listed,) = shown(csv_bytes(ROW))
    for price in BAD_PRICES:
        for column in ["B365H", "B365D", "B365A"]:
            other = changed(HomeTeam="Cedar City")
            admission = judged(csv_bytes(changed(**{column: price}), other))

            assert [match.home for match in admission.batch.matches] == ["Cedar City"], (price, column)
            assert dict(admission.rejected) == {Reason.PRICE: 1}, (price, column)
            assert [removal.source_match_id for removal in admission.batch.removals] == [
                listed.source_match_id
            ], (price, column)


@pytest.mark.parametrize(
    ("cell", "price"),
    [
        *(("2", 2.0), ("2.50", 2.5), ("1.01", 1.01), (" 2.25 ", 2.25)),
        *(("2.123456789", 2.123456789), ("2.0999999999999996", 2.0999999999999996)),
    ],
)
def test_plain_decimal_is_a_price(cell: str, price: float) -> None:
    """Digits with or without decimals are read as a price, without the blanks around them."""
    (match,) = extracted(csv_bytes(changed(B365H=cell))).matches

    assert (match.home_price, match.draw_price, match.away_price) == (price, 3.4, 3.6)


@pytest.mark.parametrize(
    ("columns", "reasons"),
    [
        (("B365H", "B365D", "B365A"), {}),  # the match is not offered, which is not an error
        *(((f"B365{side}",), {Reason.INCOMPLETE: 1}) for side in "HDA"),
        (("B365H", "B365A"), {Reason.INCOMPLETE: 1}),
    ],
)
def test_blank_prices(columns: tuple[str, ...], reasons: dict[Reason, int]) -> None:
    """A match with one or two prices is counted and becomes a removal."""
    (listed,) = shown(csv_bytes(ROW))
    admission = judged(csv_bytes(changed(**dict.fromkeys(columns, " ")), changed(HomeTeam="Cedar City")))

    assert ["Cedar City"] == [match.home for match in admission.batch.matches]
    assert reasons == dict(admission.rejected)
    assert () == extracted(csv_bytes()).matches  # a file without rows is not an error
    assert [listed.source_match_id][: len(reasons)] == [
        removal.source_match_id for removal in admission.batch.removals
    ]


GOOD = csv_bytes(ROW, changed(HomeTeam="Cedar City"))
HTML = b"<!DOCTYPE html>\n<html><head><title>300 Multiple Choices</title></head><body>E0.csv</body></html>"


def test_body_that_is_no_file_is_rejected_entirely() -> None:
    """A wrong shape or encoding, a header without teams or date, or an open quote raises PayloadError."""
    for body in [
        b"",
        *(b"\r\n\r\n", b'\r\n"Div",Date\r\n', b'\r"\r'),
        b"\xef\xbb\xbf",
        HTML,
        b'{"Div": ["E0"], "Date": []}',
        b"[]",
        GOOD.decode().encode("utf-16"),
        GOOD.decode().encode("utf-16-le"),
        GOOD.decode().encode("utf-32"),
        GOOD.replace(b"Alder", b"Al\0er"),
        b"\0" * 1000,
        gzip.compress(GOOD),
        GOOD.replace(b"Alder", b"\x81lder"),
        GOOD.replace(b"Div", b"Division"),
        GOOD.replace(b"Div,", b""),
        GOOD.replace(b",", b";"),
        GOOD.replace(b"HomeTeam", b"Host"),
        GOOD.replace(b"AwayTeam", b"hometeam"),
        GOOD.replace(b"Date", b"Day"),
        GOOD[:20],
        GOOD.replace(b"Alder Town", b'"' + b"A" * 200_000 + b'"'),
        *(GOOD.replace(b"Alder", b'"Alder'), GOOD + b'XX,14/02/2026,15:00,"Delta'),
        GOOD.replace(b"Div", b'"Div'),
    ]:
        with pytest.raises(PayloadError):
            decoded(body)


def test_error_shows_little_of_the_body() -> None:
    """The message has the first cell, shortened and without control characters."""
    with pytest.raises(PayloadError) as caught:
        decoded(b"\x1b[31m" + b"A" * 10_000 + b"\n" + GOOD)

    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 200
    assert "'Div' or 'Country'" in str(caught.value)
    assert COLUMNS[0] == "Div"


@pytest.mark.parametrize(
    "later", [("", "", "", ""), ("2.20", "", "3.60", ""), ("2.10", "3.40", "3.60", "2")], ids=str
)
def test_later_row_that_offers_nothing_removes_an_earlier_price(later: tuple[str, ...]) -> None:
    """If a match occurs twice, the last row counts, also if it has no price, or a result."""
    rows = (*ROW, ""), (*changed(HomeTeam="Cedar City"), ""), (*ROW[:5], *later)
    admission = judged(csv_bytes(*rows, header=(*COLUMNS, "FTHG")))

    assert [match.home for match in admission.batch.matches] == ["Cedar City"]
    assert admission.rejected[Reason.DUPLICATE] == 1


def test_truncated_price_is_never_read() -> None:
    """Without an announced length a file must end with a line end: `12`, cut from `12.50`, is a price."""
    body = csv_bytes(ROW, changed(HomeTeam="Cedar City", B365H="1.30", B365D="5.50", B365A="12.50"))
    cut = body[: -len(".50\r\n")]

    assert [match.away_price for match in shown(cut)] == [3.6, 12.0]  # of the announced length
    with pytest.raises(PayloadError, match="may be cut"):
        run_now(KIND.decode(structs.replace(payload(cut), is_framed=False), OPTIONS))
    whole = run_now(KIND.decode(structs.replace(payload(body), is_framed=False), OPTIONS))
    assert len([*whole.rows]) == 2


@pytest.mark.parametrize("code", ["utf-8", "utf-8-sig", "cp1252"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_long_text_is_equal_in_any_encoding(code: str, end: str) -> None:
    """For any encoding and line ends, the text's rows are its lines."""
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
    """If a match has a valid row and a torn one, neither counts; a torn row with a result is no error."""
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
    """The columns below a second header differ; a header that repeats the first header is ignored."""
    swapped = (*COLUMNS[:5], *COLUMNS[:4:-1])
    rows = (changed(HomeTeam="Cedar City"), ROW)

    assert 2 == len(shown(csv_bytes(rows[0], COLUMNS, rows[1])))
    with pytest.raises(PayloadError, match="second header"):
        decoded(csv_bytes(rows[0], swapped, rows[1]))
