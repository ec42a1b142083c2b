"""Dates and times as tables write them; what could be another day or hour is none."""

from __future__ import annotations

from typing import Any

import pytest

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
