"""Options of a table that do not fit are refused; dates, times and prices as tables write them."""

from __future__ import annotations

import re
from typing import Any

import pytest

from actors.sources.table.kind import KIND
from actors.sources.table.odds import JsonNumber, is_of_two_formats, price
from actors.sources.table.starts import moment_of, start_of
from tests.support.builders.table import BOOKS, COLUMNS, MARKETS, options_of


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ({"path": None}, "path or url must be set"),
        ({"url": "http://feed.example/odds.csv"}, "path or url must be set, and not both"),
        ({"date": None, "time": None}, "start or date must be the column"),
        ({"start": "Start"}, "start or date must be the column of the kick-off, and not both"),
        ({"date": None, "start": "Start"}, "time was set without date"),
        ({"header": False}, "header was false: columns then must be numbers"),
        ({"format": "jsonl", "one": 3}, 'format was "jsonl": columns then must be names'),
        ({"one": "X"}, "must be three columns"),
        ({"one": "{key} 1"}, "must all have {key} in them, or none"),
        ({**BOOKS, "bookmaker": "Book"}, "must be one or the other"),
        ({"timezone": None}, "timezone is missing, must be the IANA name"),
        ({"timezone": ""}, "timezone was '', must be an IANA name"),
        ({"timezone": "Europe"}, "timezone was 'Europe', must be an IANA name"),
        ({"timezone": "Europe/Berln"}, "did you mean 'Europe/Berlin'"),
        ({"date_format": ""}, "date_format was '', must be \"iso\""),
        *(
            ({"date_format": form}, 'or a pattern like "%d/%m/%Y"')
            for form in ("%d/%m", "%d/%d/%Y", "%Q", "%")
        ),
        ({"date_format": "%d/%m/%Y %H:%M"}, "must be the pattern of the date alone"),
        *(
            (
                {"date": None, "time": None, "start": "S", "date_format": f"%d/%m/%Y {clock}"},
                "or a pattern like",
            )
            for clock in ("%I:%M", "%H", "%H:%d")
        ),
        ({"date_format": "unix"}, "must be start, not date and time"),
        ({"one": None}, "one, draw and two must all be set, or none"),
        ({"one": None, "draw": None, "two": None}, "one, draw and two must be set, or a table markets"),
        (
            {"header": False, **dict.fromkeys(COLUMNS, None), "home": 1, "away": 2, "start": 3}
            | {"one": 4, "draw": 5, "two": 6, "markets": MARKETS},
            "header was false: columns then must be numbers",
        ),
        (
            {"format": "jsonl", "markets": {"btts": {"yes": 1, "no": 2}}},
            'format was "jsonl": columns then must be',
        ),
    ],
)
def test_options_that_do_not_fit_are_refused(written: dict[str, Any], why: str) -> None:
    """The error begins with the name of an option."""
    with pytest.raises(ValueError, match=re.escape(why)):
        KIND.plan(options_of(**written), ("own",))


def test_two_bookmakers_need_columns_of_their_own() -> None:
    """Otherwise the two bookmakers would have the same prices."""
    with pytest.raises(ValueError, match="there are 2 keys"):
        KIND.plan(options_of(), ("north", "south"))

    for options in (options_of(**BOOKS), options_of(bookmaker="Book")):
        assert KIND.plan(options, ("north", "south")).targets()


def test_the_scope_is_the_name_of_the_file() -> None:
    """The scope is public: only a plain file name becomes a scope."""
    places: list[dict[str, Any]] = [
        {"path": "/srv/odds.csv"},
        {"path": "s3cret"},
        {"path": None, "url": "http://x.example/a.jsonl?k=s"},
    ]
    targets = [KIND.plan(options_of(**place), ("own",)).targets()[0] for place in places]

    assert ["odds.csv", "table", "a.jsonl"] == [target.scope for target in targets]
    assert ["/srv/odds.csv", "s3cret", "http://x.example/a.jsonl?k=s"] == [target.url for target in targets]


@pytest.mark.parametrize("key", ["", " a", "a\n", "x" * 65])
def test_a_key_that_no_cell_can_have_is_refused(key: str) -> None:
    """Cells are compared without the blanks around them."""
    with pytest.raises(ValueError, match="key was"):
        KIND.check_key(key)


@pytest.mark.parametrize(
    ("markets", "why"),
    [
        (
            {"over_under:2.50": {"over": "a", "under": "b"}},
            "markets: was 'over_under:2.50', must be spelled",
        ),
        ({"totals": {"over": "a", "under": "b"}}, "markets: was 'totals', must be 1x2, over_under:LINE"),
        ({"1x2": {"1": "a", "X": "b", "2": "c"}}, "was '1x2', whose columns are one, draw and two"),
        (
            {"over_under": {"over": "a", "under": "b"}},
            "over_under has over, under, must have line, over, under",
        ),
        ({"btts": {"yes": "a"}}, "btts has yes, must have yes, no"),
        ({"btts": {"yes": "a", "no": "b", "line": "c"}}, "btts has yes, no, line, must have yes, no"),
        ({"btts": {}}, "btts has nothing, must have yes, no"),
        ({"over_under:2.4": {"over": "a", "under": "b"}}, "must be a multiple of 0.25 from 0.25 to 20"),
        ({"btts": {"yes": "a", "no": "a"}}, "column 'a' is that of several prices or lines"),
        ({"btts": {"yes": "1", "no": "a"}}, "column '1' is that of several prices or lines"),
        (
            {"over_under": {"line": "a", "over": "a", "under": "b"}},
            "column 'a' is that of several prices or",
        ),
        (
            {"btts": {"yes": "{key} a", "no": "{key} b"}},
            "all columns of prices must have {key} in them, or none",
        ),
        (
            {"over_under": {"line": "{key} a", "over": "b", "under": "c"}},
            "the column of a line has {key} in it: then all columns of prices must have it",
        ),
    ],
)
def test_columns_that_make_no_market_are_refused(markets: Any, why: str) -> None:
    """The error comes when the configuration is loaded, with what is allowed."""
    with pytest.raises(ValueError, match=re.escape(why)):
        KIND.plan(options_of(markets=markets), ("own",))


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
    """All these texts mean one moment."""
    assert start_of(first, clock, options_of(**written)).start_time == NOON


def test_without_a_time_only_the_day_is_known() -> None:
    """The match starts at the latest at the end of that day in the table's time zone."""
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
    """Many tables write dates as people do, but the time of their prices as programs do."""
    assert moment_of(written, options_of(date_format="%d.%m.%Y")) == NOON


def test_the_day_of_prices_is_not_enough() -> None:
    """From a day alone the age of prices is not known."""
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
    """The result is decimal odds: the amount that comes back for a stake of 1."""
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
    """Such a cell becomes 0.0, which the gate never accepts."""
    assert price(cell, odds_format, comma=bool(comma)) == 0.0


def test_a_number_of_two_formats_is_told_from_others() -> None:
    """150 may be decimal or American odds; a sign or decimals leave only one format."""
    cells = ("150", "99", "+150", "-150", "150.0", "2.10", "5/2")

    assert ["150"] == [cell for cell in cells if is_of_two_formats(cell)]
