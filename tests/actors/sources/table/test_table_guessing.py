"""A configuration is guessed of a table; what the table does not prove is asked for."""

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
    """With what it asks for set, the configuration is valid, and shows every price at its match."""
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
    """The service does not start with a zone that nobody has said."""
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
    """Otherwise the prices of a match would be those of another day."""
    guessed, asked, _ = _guessed(table(*(ROW.replace("2026-12-05", day) for day in days)))

    assert form == guessed.get("date_format")
    assert ("date_format" in asked) == (form == "")


def test_both_forms_of_a_date_are_named() -> None:
    """The operator sees between what to choose."""
    _, _, text = _guessed(table(ROW.replace("2026-12-05", "03/04/2026")))

    assert 'date_format = ""  # every row fits "%d/%m/%Y" and "%m/%d/%Y"' in text


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
    """150 may be 150.0 or 2.5."""
    guessed, asked, _ = _guessed(table(ROW.replace("2.10,3.40,3.60", prices)))

    assert odds_format == guessed["odds_format"]
    assert ("odds_format" in asked) == (odds_format == "")


def test_columns_that_are_not_found_are_asked_for() -> None:
    """The remark has the columns that there are."""
    guessed, asked, text = _guessed(table(ROW, header=HEADER.replace("Home", "Foo").replace("X", "Bar")))

    assert {"home", "one", "draw", "two", "timezone"} == {*asked}
    assert "" == guessed["home"]
    assert 'home = ""  # which of: League, Date, Time, Foo, Away, 1, Bar, 2' in text


def test_the_time_of_prices_is_guessed() -> None:
    """Only where each row has one that can be read."""
    header, rows = f"{HEADER},Updated", [f"{ROW},2026-11-28T10:00:00Z", f"{ROW},"]

    assert "Updated" == _guessed(table(rows[0], header=header))[0]["updated"]
    assert "updated" not in _guessed(table(*rows[:1], f"{ROW},today", header=header))[0]


@pytest.mark.parametrize("body", [b"", b"\n", b"\x00\xff", b"{}", b"x", b"[" * 5000])
def test_what_is_no_table_is_asked_for(body: bytes) -> None:
    """A file that says nothing leaves everything to be set."""
    _, asked, _ = _guessed(body)

    assert {"home", "away", "start", "one", "draw", "two"} <= {*asked}
