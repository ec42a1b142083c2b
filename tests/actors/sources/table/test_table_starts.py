"""Dates, times and prices as tables write them; what could be another day, hour or price is none."""

from __future__ import annotations

from typing import Any

import pytest

from actors.sources.table.odds import JsonNumber, is_of_two_formats, price
from actors.sources.table.starts import moment_of, start_of
from tests.support.builders.table import options_of

NOON = 1_780_315_200  # 2026-06-01T12:00:00Z


@pytest.mark.parametrize(
    ("first", "clock", "written"),
    [
        ("2026-06-01T12:00:00Z", "", {}),
        ("2026-06-01 14:00 +02:00", "", {}),
        ("2026-06-01T12:00:00.000+0000", "", {"timezone": "Asia/Tokyo"}),
        ("2026-06-01 14:00", "", {"timezone": "Europe/Berlin"}),
        ("2026-06-01", "14:00", {"timezone": "Europe/Berlin"}),
        ("01.06.2026", "14.00", {"date_format": "%d.%m.%Y"}),
        ("1/6/26", "2:00 PM", {"date_format": "%d/%m/%y"}),
        ("06/01/2026", "08:00:00 am", {"date_format": "%m/%d/%Y", "timezone": "America/New_York"}),
        ("01 Jun 2026 12:00 +0000", "", {"date_format": "%d %b %Y %H:%M %z", "timezone": None}),
        ("06/01/2026 02:00 PM", "", {"date_format": "%m/%d/%Y %I:%M %p"}),
        (str(NOON), "", {"date_format": "unix"}),
        (f"{NOON}000", "", {"date_format": "unix_ms"}),
    ],
)
def test_a_start_is_read(first: str, clock: str, written: dict[str, Any]) -> None:
    """All of these are one moment."""
    assert start_of(first, clock, options_of(**written)).start_time == NOON


def test_without_a_time_only_the_day_is_known() -> None:
    """The end of the day in its zone is the last moment for the start."""
    start = start_of("2026-06-01", "", options_of(timezone="Europe/Berlin"))

    assert (None, NOON + 10 * 3600) == (start.start_time, start.latest_start)


@pytest.mark.parametrize(
    ("first", "clock", "written", "why"),
    [
        ("03/04/2026", "15:00", {}, "must be like 2026-12-31"),
        ("2026-02-30", "15:00", {}, "must be like 2026-12-31"),
        ("", "15:00", {}, "must be like 2026-12-31"),
        ("2026-06-01T12:00:00", "", {"timezone": None}, "no offset: timezone must be set"),
        ("13/13/2026", "", {"date_format": "%d/%m/%Y"}, "must be as %d/%m/%Y"),
        ("1/6/2026", "", {"date_format": "%d/%m/%y"}, "must be as %d/%m/%y"),
        ("2026-06-01", "0.45", {}, "the time like 15:00"),
        ("2026-06-01", "25:00", {}, "the time like 15:00"),
        ("2026-06-01", "13:00 PM", {}, "the time like 15:00"),
        ("2026-06-01T12:00:00Z", "15:00", {}, "the time like 15:00"),
        ("\u0662026-06-01", "", {}, "must be a date"),
        ("2026-03-29", "02:30", {}, "the clocks leave out or have twice"),
        ("2026-10-25", "02:30", {}, "the clocks leave out or have twice"),
        ("9" * 16, "", {"date_format": "unix"}, "out of range"),
        ("01.06.2026", "", {"date_format": "unix"}, "must be seconds since 1970"),
        ("2026-06-01" * 10, "", {}, "must be a date"),
    ],
)
def test_what_may_be_another_moment_is_none(
    first: str, clock: str, written: dict[str, Any], why: str
) -> None:
    """The error says what was found, and what is allowed."""
    with pytest.raises(ValueError, match=why):
        start_of(first, clock, options_of(**written))


@pytest.mark.parametrize("written", ["2026-06-01T12:00:00Z", "01.06.2026 14:00"])
def test_the_time_of_prices_is_iso_or_as_the_date(written: str) -> None:
    """Many tables have their dates in a form of people, and this one in a form of programs."""
    assert moment_of(written, options_of(date_format="%d.%m.%Y")) == NOON


def test_the_day_of_prices_is_not_enough() -> None:
    """How old they are is not known."""
    with pytest.raises(ValueError, match="must be a date with a time"):
        moment_of("2026-06-01", options_of())


@pytest.mark.parametrize(
    ("cell", "odds_format", "comma", "expected"),
    [
        ("2.10", "decimal", False, 2.1),
        (" 13 ", "decimal", False, 13.0),
        ("150", "decimal", False, 150.0),
        ("2,10", "decimal", True, 2.1),
        (JsonNumber("2.10"), "decimal", True, 2.1),
        ("+150", "american", False, 2.5),
        ("150", "american", False, 2.5),
        ("-200", "american", False, 1.5),
        ("\u2212200", "american", False, 1.5),
        ("EVEN", "american", False, 2.0),
        ("5/2", "fractional", False, 3.5),
        ("4/11", "fractional", False, 1 + 4 / 11),
        ("evens", "fractional", False, 2.0),
    ],
)
def test_a_price_is_read_in_its_format(cell: str, odds_format: str, comma: object, expected: float) -> None:
    """As decimal odds, the amount that comes back for a stake of 1."""
    assert expected == price(cell, odds_format, comma=bool(comma))


@pytest.mark.parametrize(
    ("cell", "odds_format", "comma"),
    [
        *(
            (cell, "decimal", False)
            for cell in ("", "2,10", "02.1", ".5", "2.", "1e1", "nan", "+150", "5/2")
        ),
        *(
            (cell, "decimal", False)
            for cell in ("2 .1", "-2.1", "\u0662.1", "1.000,5", "0x2", "2.1" + "0" * 300)
        ),
        *((cell, "decimal", True) for cell in ("2.10", "1.000,50", "2,1,0", "2,")),
        *((cell, "american", False) for cell in ("2.10", "+50", "99", "-0100", "+-150", "5/2", "1500.5")),
        *((cell, "fractional", False) for cell in ("2.5", "5/0", "5-2", "5/2/1", "05-Feb", "-5/2", "+150")),
    ],
)
def test_what_is_not_of_the_format_is_no_price(cell: str, odds_format: str, comma: object) -> None:
    """It is 0.0, which the gate never lets through."""
    assert price(cell, odds_format, comma=bool(comma)) == 0.0


def test_a_number_of_two_formats_is_told_from_others() -> None:
    """150 may be decimal odds or American ones; with a sign, or with decimals, it is one of them."""
    cells = ("150", "99", "+150", "-150", "150.0", "2.10", "5/2")

    assert ["150"] == [cell for cell in cells if is_of_two_formats(cell)]
