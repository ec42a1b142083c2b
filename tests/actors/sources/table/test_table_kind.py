"""Tables: which lines, columns and bookmakers are read, and the notes about the other lines."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from actors.core.cooperative import run_now
from actors.core.errors import PayloadError
from actors.core.validation import Reason
from actors.sources.table.kind import KIND, keys_in
from tests.support.builders.table import (
    BOOKS,
    HEADER,
    ROW,
    decoded,
    extracted,
    options_of,
    payload,
    shown,
    table,
)

PRICES = (2.1, 3.4, 3.6)
OBJECT = dict(zip(HEADER.split(","), ROW.split(","), strict=True))
OTHER = "Liga,2026-12-06,15:30,Cedar City,Dale Rovers,1.80,3.50,4.75"


def test_a_row_becomes_a_match() -> None:
    """The match's id is made of league, day and teams; the time of its prices is the file's time."""
    (match,) = extracted(table(ROW), source_time=1.7e9).matches

    assert "Liga-20261205-Alder.Town-Birch.United" == match.source_match_id
    assert ("Alder Town", "Birch United", "Liga", 1_796_481_000) == match.listing
    assert (PRICES, 1.7e9) == (match.prices, match.source_time)


@pytest.mark.parametrize(
    ("body", "written"),
    [
        (table(ROW).replace("\n", "\r\n"), {}),
        ("\ufeff" + table(ROW), {}),
        (table("", ROW, ",,,,,,,"), {}),
        (table(ROW.replace("2.10", '"2.10"').replace("Liga", ' "Liga"'[1:])), {}),
        (table(ROW, HEADER), {}),
        (table(ROW + ",x", header=HEADER + ","), {}),
        (table(ROW, header=HEADER).replace(",", ";"), {"delimiter": ";"}),
        (table(ROW, header=HEADER).replace(",", "\t"), {"delimiter": "\t"}),
        (
            table(ROW, header=HEADER).replace(",", ";").replace(".", ","),
            {"delimiter": ";", "decimal_comma": True},
        ),
        (table(ROW).encode("utf-16"), {"encoding": "utf-16"}),
        (
            table(header=ROW),
            {
                "header": False,
                "league": 1,
                "date": 2,
                "time": 3,
                "home": 4,
                "away": 5,
                "one": 6,
                "draw": 7,
                "two": 8,
            },
        ),
        (table(ROW), {"home": 4, "two": 8}),
        (json.dumps(OBJECT), {"format": "jsonl"}),
        (json.dumps({**OBJECT, "1": 2.1, "X": 3.40}) + "\n\n", {"format": "jsonl", "decimal_comma": False}),
        (
            json.dumps({**OBJECT, "odds": {"1": 2.1, "x": {"y": "3.4"}}}),
            {"format": "jsonl", "one": "odds.1", "draw": "odds.x.y"},
        ),
    ],
)
def test_the_form_of_a_table_does_not_matter(body: bytes | str, written: dict[str, Any]) -> None:
    """Line ends, marks, delimiters, encodings, numbers of columns and JSON give the same list."""
    assert shown(table(ROW)) == shown(body, **written)


def test_names_may_be_cp1252() -> None:
    """Older programs on Windows write this encoding. In another encoding the names would differ."""
    koeln = ROW.replace("Alder Town", "1. FC Köln")
    body = table(koeln, OTHER).encode("cp1252")

    assert ["1. FC Köln", "Cedar City"] == [match.home for match in shown(body, encoding="cp1252")]
    assert ["Cedar City"] == [match.home for match in shown(body)]
    with pytest.raises(PayloadError, match="must not be read as cp1252"):
        extracted(table(koeln), encoding="cp1252")


def test_bookmakers_may_have_columns_of_their_own() -> None:
    """The bookmakers' keys stand for {key} in the names of the columns."""
    header = "League,Date,Time,Home,Away,North 1,North X,North 2,South 1,South X,South 2"
    body = table(f"{ROW},2.2,3.3,3.5", header=header)

    assert [(PRICES,), ((2.2, 3.3, 3.5),)] == [
        tuple(match.prices for match in shown(body, key, **BOOKS)) for key in ("North", "South")
    ]
    assert ["North", "South"] == [*keys_in(decoded(body, options_of(**BOOKS)))]
    with pytest.raises(
        PayloadError, match="not in this table: Nort 1, Nort X, Nort 2; did you mean 'North'"
    ):
        shown(body, "Nort", **BOOKS)


def test_bookmakers_may_have_rows_of_their_own() -> None:
    """A row belongs to the bookmaker that it names."""
    body = table(
        f"{ROW},North", f"{ROW.replace('2.10', '2.20')},South", f"{OTHER},South", header=f"{HEADER},Book"
    )

    assert [[PRICES], [(2.2, 3.4, 3.6), (1.8, 3.5, 4.75)], []] == [
        [match.prices for match in shown(body, key, bookmaker="Book")] for key in ("North", "South", "East")
    ]
    assert ["North", "South"] == [*keys_in(decoded(body, options_of(bookmaker="Book")))]


@pytest.mark.parametrize(
    ("row", "note"),
    [
        (ROW.replace(",2.10", ""), "line 2 has 7 cells, the header has 8"),
        (ROW.replace("Liga", "Liga,"), "line 2 has 9 cells, the header has 8"),
        (ROW.replace("Liga", '"Liga'), "line 2 is not CSV"),
        (
            ROW.replace("2026-12-05", "05/12/2026"),
            "line 2: the time was '05/12/2026 15:30', must be like 2026-12-31",
        ),
        (
            ROW.replace("Alder Town", "7"),
            "line 2 has the teams '7' and 'Birch United', must have two names",
        ),
        (ROW.replace("Alder Town", "Birch United"), "line 2 has the teams"),
        (ROW.replace("Alder", "Al\0der"), "line 2 has bytes that are no text in the encoding"),
        (ROW.replace("Alder", "Al\x8dder"), "line 2 has bytes that are no text in the encoding"),
        (ROW.replace("2.10", "2;10"), "line 2: 1 was '2;10', must be a decimal number above 1, like 2.10"),
        (ROW.replace("2.10", "1.00"), "line 2: 1 was '1.00', must be a decimal number above 1"),
        (ROW.replace("2.10", ""), "line 2: 1 was '', must be a decimal number above 1"),
        ("x" * 70_000, "line 2 has 70001 characters"),
    ],
)
def test_a_row_that_cannot_be_read_costs_itself_and_is_told(row: str, note: str) -> None:
    """The note has the line's number, the found value and what is allowed; the row is counted once."""
    read = extracted(table(row, OTHER))

    assert ["Cedar City"] == [match.home for match in read.matches]
    assert [note] == [text[: len(note)] for text in read.notes]
    assert len(read.removals) + sum(read.passed_over.values()) == 1


def test_a_line_without_an_end_is_not_read() -> None:
    """The line may be cut within a price. A whole JSON object needs no line end."""
    body = table(ROW, OTHER)

    assert ["Alder Town"] == [match.home for match in shown(body[:-2])]
    assert ["Alder Town"] == [match.home for match in shown(json.dumps(OBJECT), format="jsonl")]
    assert [] == [match.home for match in shown(json.dumps(OBJECT)[:-2], format="jsonl")]
    with pytest.raises(PayloadError, match="it may be cut"):  # for a body without an announced length
        run_now(KIND.decode(replace(payload(table(ROW)[:-1]), is_framed=False), options_of()))


@pytest.mark.parametrize(
    ("line", "note"),
    [
        ("[]", "it must be {...}"),
        ("{", "is not an object of JSON"),
        ('{"a": NaN}', "NaN is no number"),
        ('{"Home": "a", "Home": "b"}', "a key is there twice"),
        ("[" * 30_000, "is not an object of JSON"),
        ("{" + ",".join(f'"{n}":"1"' for n in range(1001)) + "}", "keys beyond the 1000 that are read"),
    ],
)
def test_a_line_that_is_no_object_costs_itself(line: str, note: str) -> None:
    """The other lines are read."""
    read = extracted(f"{line}\n{json.dumps(OBJECT)}\n", format="jsonl")

    assert ["Alder Town"] == [match.home for match in read.matches]
    assert note in read.notes[0]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("", "the table has no line"),
        ("<html>\n", "column not in this table: Home"),
        (
            table(ROW, header=HEADER.replace("Home", "Heim")),
            "column not in this table: Home",
        ),
        (table(f"{ROW},x", header=f"{HEADER},Home"), "column more than once in this table: Home"),
        (table(ROW, header=HEADER.replace("Home", "H\0me")), "the header cannot be read"),
        (table(ROW, "Date,League,Time,Home,Away,1,X,2", ROW), "line 3 is a second header"),
        (table(ROW, *["x"] * 3), "3 lines cannot be read, 1 can; the first: line 3 has 1 cells"),
    ],
)
def test_a_body_that_is_no_table_is_refused_whole(body: str, why: str) -> None:
    """No line of such a body is believed."""
    with pytest.raises(PayloadError, match=why):
        extracted(body)


def test_a_number_of_two_formats_is_shown_and_told() -> None:
    """The number is read in the configured format; a note names the other possible format."""
    read = extracted(table(ROW.replace("3.60", "150")))

    assert [(2.1, 3.4, 150.0)] == [match.prices for match in read.matches]
    assert ["line 2: 2 was '150', read as decimal: decimal and American odds may be written so"] == [
        *read.notes
    ]


def test_of_a_match_that_is_listed_twice_the_last_counts() -> None:
    """A row that cannot be read makes the match's other row invalid, as nobody knows which is newer."""
    later = ROW.replace("2.10", "2.20")

    assert [(2.2, 3.4, 3.6)] == [match.prices for match in shown(table(ROW, later))]
    assert [] == [match.prices for match in shown(table(ROW, later.replace("2.20", "?")))]
    blank = table(ROW, ROW.replace("2.10,3.40,3.60", ",,"), OTHER)
    assert ["Cedar City"] == [match.home for match in shown(blank)]


def test_an_id_of_the_table_is_kept() -> None:
    """An id with other characters gets a form that no plain id has."""
    body = table(f"{ROW},a-1", f"{OTHER},a 1", header=f"{HEADER},Id")

    assert ["a-1", "~a.1"] == [match.source_match_id for match in shown(body, id="Id")]
    assert {Reason.UNREADABLE: 1} == extracted(
        table(f"{ROW},", f"{OTHER},2", header=f"{HEADER},Id"), id="Id"
    ).passed_over


@pytest.mark.parametrize(
    ("updated", "note"),
    [
        ("", "line 2: the time was '', must be"),
        ("2026-06-01", "line 2: the time was '2026-06-01', must be a date with a time"),
        ("2066-06-01 12:00", "line 2: the time was '2066-06-01 12:00', in the future"),
    ],
)
def test_prices_of_an_unknown_time_are_not_shown(updated: str, note: str) -> None:
    """A wrong time zone would make prices newer than they are."""
    read = extracted(
        table(f"{ROW},{updated}", f"{OTHER},2026-06-01T12:00:00Z", header=f"{HEADER},At"), updated="At"
    )

    assert [1_780_315_200.0] == [match.source_time for match in read.matches]
    assert [note] == [text[: len(note)] for text in read.notes]
