"""Options of a table that do not fit each other are refused when the configuration is loaded."""

from __future__ import annotations

import re
from typing import Any

import pytest

from actors.sources.table.kind import KIND
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
    """Otherwise both would have the same prices."""
    with pytest.raises(ValueError, match="there are 2 keys"):
        KIND.plan(options_of(), ("north", "south"))

    for options in (options_of(**BOOKS), options_of(bookmaker="Book")):
        assert KIND.plan(options, ("north", "south")).targets()


def test_the_scope_is_the_name_of_the_file() -> None:
    """It is public: only a plain file name becomes one."""
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
    """When the configuration is loaded, with what is allowed."""
    with pytest.raises(ValueError, match=re.escape(why)):
        KIND.plan(options_of(markets=markets), ("own",))
