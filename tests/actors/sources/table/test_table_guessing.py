"""A configuration is guessed from a table; the command asks for values that the table does not prove."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from actors.core.errors import ConfigError
from actors.service.settings import load
from actors.sources.table.guessing import configuration_of
from tests.support.builders.strangers import EVERY, Sent
from tests.support.builders.table import HEADER, ROW, shown, table


def _guessed(body: str | bytes) -> tuple[dict[str, Any], tuple[str, ...], str]:
    text, asked = configuration_of("odds.csv", body.encode() if isinstance(body, str) else body)
    return tomllib.loads(text)["sources"]["table"], asked, text


@pytest.mark.parametrize("sent", EVERY, ids=lambda sent: sent.name)
def test_what_a_stranger_sends_is_read(sent: Sent, tmp_path: Path) -> None:
    """With the values that it asks for, the configuration is valid, and shows every price at its match."""
    text, asked = configuration_of(sent.name, sent.body)
    for name, value in sent.asked.items():
        text = text.replace(f'{name} = ""', f'{name} = "{value}"')
    file = tmp_path / "mine.toml"
    file.write_text(text, "utf-8")
    settings = load(file)
    written = {**tomllib.loads(text)["sources"]["table"]}

    assert {*sent.asked} == {*asked}
    assert sent.shown == {
        bookmaker: [
            (match.home, match.away, match.start_time, match.prices)
            for match in shown(sent.body, entry.key, **_only(written))
        ]
        for bookmaker, entry in settings.bookmakers.items()
    }


def _only(written: dict[str, Any]) -> dict[str, Any]:
    columns = ("home", "away", "league", "date", "time", "one", "draw", "two", "timezone")
    return {**dict.fromkeys(columns), **written}


@pytest.mark.parametrize("sent", [sent for sent in EVERY if sent.asked], ids=lambda sent: sent.name)
def test_what_is_asked_for_must_be_set(sent: Sent, tmp_path: Path) -> None:
    """The service does not start while the time zone is not set."""
    file = tmp_path / "mine.toml"
    file.write_text(configuration_of(sent.name, sent.body)[0], "utf-8")

    with pytest.raises(ConfigError, match="timezone was '', must be an IANA name"):
        load(file)


@pytest.mark.parametrize(
    ("days", "form"),
    [
        (("03/04/2026", "05/06/2026"), ""),
        (("03/04/2026", "13/06/2026"), "%d/%m/%Y"),
        (("03/04/2026", "05/13/2026"), "%m/%d/%Y"),
        (("03.04.26", "05.06.26"), ""),
        (("2026/04/03", "2026/05/06"), "%Y/%m/%d"),
        (("3 Apr 2026", "13 Jun 2026"), "%d %b %Y"),
        (("2026-04-03", "2026-06-05"), None),
        (("13/04/2026", "04/13/2026"), ""),
    ],
)
def test_a_form_of_dates_is_guessed_only_if_a_row_proves_it(
    days: tuple[str, str], form: str | None
) -> None:
    """A wrong guess would put prices on another day's match; both possible forms are named."""
    guessed, asked, text = _guessed(table(*(ROW.replace("2026-12-05", day) for day in days)))

    assert form == guessed.get("date_format")
    assert ("date_format" in asked) == (form == "")
    assert (days[0] != "03/04/2026" or form != "") or 'every row fits "%d/%m/%Y" and "%m/%d/%Y"' in text


@pytest.mark.parametrize(
    ("prices", "odds_format"),
    [
        ("2.10,3.40,3.60", "decimal"),
        ("150,220,190", ""),
        ("+150,220,-190", "american"),
        ("11/10,12/5,5/2", "fractional"),
    ],
)
def test_numbers_of_two_formats_are_asked_for(prices: str, odds_format: str) -> None:
    """150 may mean the decimal odds 150.0 or 2.5."""
    guessed, asked, _ = _guessed(table(ROW.replace("2.10,3.40,3.60", prices)))

    assert odds_format == guessed["odds_format"]
    assert ("odds_format" in asked) == (odds_format == "")


def test_columns_that_are_not_found_are_asked_for() -> None:
    """The remark lists the columns of the table."""
    guessed, asked, text = _guessed(table(ROW, header=HEADER.replace("Home", "Foo").replace("X", "Bar")))

    assert {"home", "one", "draw", "two", "timezone"} == {*asked}
    assert "" == guessed["home"]
    assert 'home = ""  # which of: League, Date, Time, Foo, Away, 1, Bar, 2' in text


def test_the_time_of_prices_is_guessed() -> None:
    """The column is guessed only if every time in it can be read."""
    header, rows = f"{HEADER},Updated", [f"{ROW},2026-11-28T10:00:00Z", f"{ROW},"]

    assert "Updated" == _guessed(table(rows[0], header=header))[0]["updated"]
    assert "updated" not in _guessed(table(*rows[:1], f"{ROW},today", header=header))[0]


@pytest.mark.parametrize("body", [b"", b"\n", b"\x00\xff", b"{}", b"x", b"[" * 5000])
def test_what_is_no_table_is_asked_for(body: bytes) -> None:
    """From such a file nothing is guessed, so all values have to be set."""
    _, asked, _ = _guessed(body)

    assert {"home", "away", "start", "one", "draw", "two"} <= {*asked}


OTHERS = {
    "over_under:2.5": {"over": "Over 2.5", "under": "Under 2.5"},
    "btts": {"yes": "BTTS Yes", "no": "BTTS No"},
    "double_chance": {"1X": "1X", "12": "12", "X2": "X2"},
    "asian_handicap": {"line": "AH Line", "home": "AH Home", "away": "AH Away"},
    "over_under": {"line": "total_line", "over": "over", "under": "under"},
}
CELLS = "1.9,1.95,1.8,2,1.3,1.3,1.75,-0.75,2.02,1.88,2.25,1.9,1.95"


def _with_comments(text: str) -> dict[str, Any]:
    """Return the configured table with the markets, without the number signs before them."""
    first, _, behind = text.partition("# The header speaks of other markets")
    lines = [line.removeprefix("# ") for line in behind.splitlines() if line.startswith(("# [", "# "))]
    return dict(
        tomllib.loads("\n".join([first, *(it for it in lines if "=" in it or "[" in it)]))["sources"][
            "table"
        ]
    )


def test_markets_of_which_the_header_speaks_are_written_as_comments() -> None:
    """Nobody asked for these markets; without the number signs they are read."""
    names = ",".join(column for columns in OTHERS.values() for column in columns.values())
    body = table(f"{ROW},{CELLS}", header=f"{HEADER},{names}")
    guessed, asked, text = _guessed(body)
    read = {**_with_comments(text), **dict.fromkeys(asked, "Europe/Berlin")}
    found = shown(body, **{**dict.fromkeys(("start",)), **read})

    assert "markets" not in guessed
    assert OTHERS == read["markets"]
    every = {"1x2", "over_under:2.5", "over_under:2.25", "btts", "double_chance", "asian_handicap:-0.75"}
    assert every == {str(match.market) for match in found}


@pytest.mark.parametrize(
    ("header", "columns"),
    [
        ("N 1,N X,N 2,S 1,S X,S 2,N Über 2.5,N Unter 2.5", ("{key} Über 2.5", "{key} Unter 2.5")),
        ("NH,ND,NA,SH,SD,SA,N>2.5,N<2.5", ("{key}>2.5", "{key}<2.5")),
        ("N 1,N X,N 2,S 1,S X,S 2,S o2.5,S u2.5", ("{key} o2.5", "{key} u2.5")),
        ("N 1,N X,N 2,S 1,S X,S 2,N 2.5 over,N 2.5 under", ("{key} 2.5 over", "{key} 2.5 under")),
    ],
)
def test_columns_of_each_bookmaker_are_named_with_its_key(header: str, columns: tuple[str, str]) -> None:
    """The columns of other markets have {key} in their names, as the columns of 1X2 have."""
    row = "Liga,2026-12-05,15:30,Alder,Birch,2.1,3.4,3.6,2.2,3.3,3.5,1.9,1.95"
    _, _, text = _guessed(table(row, header=f"League,Date,Time,Home,Away,{header}"))

    assert {"over_under:2.5": dict(zip(("over", "under"), columns, strict=True))} == _with_comments(text)[
        "markets"
    ]


@pytest.mark.parametrize(
    "names",
    [
        "Corners Over 9.5,Corners Under 9.5",
        "Over 2.5 HT,Under 2.5 HT",
        "Over 2.5,Under 3.5",
        "Over 2.4,Under 2.4",
        "Over,Under",
        "Home Over 1.5,Home Under 1.5",
        "Max Over 2.5,Max Under 2.5",
        "BTTS Yes,Other",
        "GG,NG",
        "1X,X2",
        "AHh,AHH",
    ],
)
def test_what_the_header_does_not_say_plainly_is_not_guessed(names: str) -> None:
    """Examples are corners, a half, one team, the best of several bookmakers, or one outcome alone."""
    _, _, text = _guessed(table(f"{ROW},1.9,1.95", header=f"{HEADER},{names}"))

    assert "markets" not in text
