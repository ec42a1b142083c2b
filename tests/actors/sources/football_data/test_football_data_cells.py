"""football-data.co.uk: the rows of a file in any encoding, valid prices, bodies that are no file."""

from __future__ import annotations

import gzip

import pytest
from msgspec import structs

from actors.core.cooperative import run_now
from actors.core.errors import PayloadError
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
    *("05", "00", "012.5", "01.50"),  # what is left of a number that a decimal comma has split
)


def test_invalid_price_rejects_its_match() -> None:
    """The match is rejected and counted, for any of its three prices; the others of the file stay."""
    for price in BAD_PRICES:
        for column in ["B365H", "B365D", "B365A"]:
            other = changed(HomeTeam="Cedar City")
            admission = judged(csv_bytes(changed(**{column: price}), other))

            assert [match.home for match in admission.batch.matches] == ["Cedar City"], (price, column)
            assert dict(admission.rejected) == {Reason.PRICE: 1}, (price, column)


@pytest.mark.parametrize(
    ("cell", "price"),
    [
        *(("2", 2.0), ("2.50", 2.5), ("1.01", 1.01), (" 2.25 ", 2.25)),
        *(("2.123456789", 2.123456789), ("2.0999999999999996", 2.0999999999999996)),
    ],
)
def test_plain_decimal_is_a_price(cell: str, price: float) -> None:
    """Digits with or without decimals are read as a price, without blanks around them."""
    (match,) = extracted(csv_bytes(changed(B365H=cell))).matches

    assert (match.home_price, match.draw_price, match.away_price) == (price, 3.4, 3.6)


@pytest.mark.parametrize(
    ("columns", "reasons"),
    [
        (("B365H", "B365D", "B365A"), {}),  # the match is not offered, which is no error
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
    assert () == extracted(csv_bytes()).matches  # no rows at all are no error either
    assert [listed.source_match_id][: len(reasons)] == [
        removal.source_match_id for removal in admission.batch.removals
    ]


@pytest.mark.parametrize("prices", [("11.0", "3.4", "3.6"), ("1.2", "3.4", "3.6")])
def test_prices_with_an_impossible_book_sum_are_rejected(prices: tuple[str, str, str]) -> None:
    """A typing error in a price shows in the book sum."""
    admission = judged(csv_bytes((*ROW[:5], *prices)))

    assert (admission.batch.matches, dict(admission.rejected)) == ((), {Reason.BOOK_SUM: 1})


def test_last_row_of_a_repeated_match_counts() -> None:
    """The last row of a match counts, and the repetition is counted (faults.md, B8)."""
    admission = judged(csv_bytes(ROW, changed(HomeTeam="Cedar City"), changed(B365H="2.20")))
    shown_prices = {match.home: match.home_price for match in admission.batch.matches}

    assert shown_prices == {"Alder Town": 2.2, "Cedar City": 2.1}
    assert dict(admission.rejected) == {Reason.DUPLICATE: 1}


GOOD = csv_bytes(ROW, changed(HomeTeam="Cedar City"))
HTML = b"<!DOCTYPE html>\n<html><head><title>300 Multiple Choices</title></head><body>E0.csv</body></html>"


def test_body_that_is_no_file_is_rejected_entirely() -> None:
    """Wrong shape or encoding, no teams or date in the header, an open quote: PayloadError, no list."""
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
    """The message has the first cell, cut and without control characters."""
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
    """If a match occurs twice, the last row counts: also without a price, or with a result."""
    rows = (*ROW, ""), (*changed(HomeTeam="Cedar City"), ""), (*ROW[:5], *later)
    admission = judged(csv_bytes(*rows, header=(*COLUMNS, "FTHG")))

    assert [match.home for match in admission.batch.matches] == ["Cedar City"]
    assert admission.rejected[Reason.DUPLICATE] == 1


def test_truncated_price_is_never_read() -> None:
    """Without an announced length a file must end with a line end: `12.50` cut to `12` is a price too."""
    body = csv_bytes(ROW, changed(HomeTeam="Cedar City", B365H="1.30", B365D="5.50", B365A="12.50"))
    cut = body[: -len(".50\r\n")]

    assert [match.away_price for match in shown(cut)] == [3.6, 12.0]  # framed, so it counts as complete
    with pytest.raises(PayloadError, match="may be cut"):
        run_now(KIND.decode(structs.replace(payload(cut), is_framed=False), OPTIONS))
    whole = run_now(KIND.decode(structs.replace(payload(body), is_framed=False), OPTIONS))
    assert len([*whole.rows]) == 2


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
