"""Prices as tables write them: decimal, American and fractional, and what is none of them."""

from __future__ import annotations

import pytest

from actors.sources.table.odds import JsonNumber, is_of_two_formats, price


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
