"""Reads the match of a row in a football-data.co.uk file: teams, kick-off, whether it is over. Pure.

Column names differ between the main leagues, the extra leagues and a few Greek files; kick-offs are
Europe/London wall time for every league.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime, time
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from msgspec import Struct

from actors.core.errors import PayloadError
from actors.core.messages import Removal, SourceMatchId
from actors.core.validation import Reason, clean_name
from actors.source_api.match_ids import match_id_of
from actors.sources.football_data.cells import MAX_CELL_CHARS
from actors.sources.football_data.text import Row, is_blank, width_of

LONDON: Final = ZoneInfo("Europe/London")
FINISHED = "finished"
# Reasons that remove a match for all bookmakers, also for bookmakers without a price in its row.
FOR_ALL_BOOKMAKERS: Final = frozenset({FINISHED, Reason.UNREADABLE})
_NUMBER = re.compile(r"[0-9.]+").fullmatch

LEAGUES: Final[Mapping[str, str]] = {  # codes from the site's notes.txt; other codes are shown unchanged
    "E0": "Premier League",
    "E1": "Championship",
    "E2": "League One",
    "E3": "League Two",
    "EC": "National League",
    "SC0": "Scottish Premiership",
    "SC1": "Scottish Championship",
    "SC2": "Scottish League One",
    "SC3": "Scottish League Two",
    "D1": "Bundesliga",
    "D2": "2. Bundesliga",
    "I1": "Serie A",
    "I2": "Serie B",
    "SP1": "La Liga",
    "SP2": "Segunda División",
    "F1": "Ligue 1",
    "F2": "Ligue 2",
    "N1": "Eredivisie",
    "B1": "Belgian Pro League",
    "P1": "Primeira Liga",
    "T1": "Süper Lig",
    "G1": "Super League Greece",
}


class FixtureRow(Struct, frozen=True, gc=False):
    """The match of a row; without a time, `latest_start` is the end of its day."""

    source_match_id: SourceMatchId
    home: str
    away: str
    league: str | None
    start_time: int | None
    latest_start: int | None


class Layout(Struct, frozen=True):
    """The places of a fixture's columns; -1 for a column that the file lacks."""

    division: int
    subdivision: int
    home: int
    away: int
    date: int
    time: int
    result: int
    referee: int

    @classmethod
    def of(cls, columns: Mapping[str, int]) -> Layout:
        """Find the columns by name. Raises: PayloadError if a team or the date has no column."""

        def place(*names: str) -> int:
            return next((columns[name] for name in names if name in columns), -1)

        layout = cls(
            division=place("Div", "Country"),
            subdivision=place("League"),
            home=place("HomeTeam", "Home", "HT"),
            away=place("AwayTeam", "Away", "AT"),
            date=place("Date"),
            time=place("Time"),
            result=place("FTHG", "HG"),
            referee=place("Referee"),
        )
        if min(layout.home, layout.away, layout.date) < 0:
            raise PayloadError("the header lacks a column for the home team, the away team or the date")
        return layout


def read_row(layout: Layout, cells_a_row: int, row: Row) -> FixtureRow | Removal | None:
    """Read a row: a fixture, or why there is none; None for a blank row.

    A row with another number of cells than the header is torn. Raises: PayloadError like `width_of`.
    """
    if is_blank(row):
        return None
    fixture = read_fixture(layout, row)
    return fixture if width_of(row) == cells_a_row else torn(fixture)


def read_fixture(layout: Layout, row: Row) -> FixtureRow | Removal:
    """Read a row that is not blank: a fixture, or why there is none.

    A removal has no id if the teams or the referee come from other columns. The id consists of division,
    date and teams, not of the time, which is often corrected.
    """

    def cell(at: int) -> str:
        return row[at][:MAX_CELL_CHARS].strip() if 0 <= at < len(row) else ""

    division = " ".join(filter(None, map(cell, (layout.division, layout.subdivision))))
    home, away = clean_name(cell(layout.home)), clean_name(cell(layout.away))
    if not _are_teams(division, home, away) or _NUMBER(cell(layout.referee)):
        return _unknown()
    day = _day(cell(layout.date))
    known_day = cell(layout.date) if day is None else day.isoformat().replace("-", "")
    match_id = match_id_of(division, known_day, home, away)
    if cell(layout.result):
        return Removal(match_id, FINISHED)
    start = None if day is None else _start(day, cell(layout.time) or "23:59")
    if start is None:
        return Removal(match_id, Reason.START_TIME)
    times = (start, None) if cell(layout.time) else (None, start + 60)
    return FixtureRow(match_id, home, away, LEAGUES.get(division, division) or None, *times)


def torn(fixture: FixtureRow | Removal) -> Removal:
    """Return the removal for a torn row, without an id if the id is uncertain."""
    if isinstance(fixture, FixtureRow):
        return Removal(fixture.source_match_id, Reason.UNREADABLE)
    return fixture if fixture.reason in {FINISHED, Reason.UNREADABLE} else _unknown()


def _unknown() -> Removal:
    return Removal(SourceMatchId(""), Reason.UNREADABLE)


def _are_teams(division: str, home: str, away: str) -> bool:
    """Return whether these are two names, not cells of other columns."""
    return (
        home != away
        and all(any(map(str.isalpha, name)) for name in (home, away))
        and '"' not in f"{division}{home}{away}"
    )


@lru_cache(maxsize=1024)
def _day(text: str) -> date | None:
    """Read dd/mm/yy or dd/mm/yyyy; None for anything else."""
    found = re.fullmatch(r"([0-9]{1,2})/([0-9]{1,2})/([0-9]{2}|[0-9]{4})", text)
    if found is None:
        return None
    day, month, year = map(int, found.groups())
    century = 0 if len(found[3]) > 2 else 2000 if year < 90 else 1900  # noqa: PLR2004 - files begin in 1993
    try:
        return date(century + year, month, day)
    except ValueError:
        return None


@lru_cache(maxsize=8192)
def _start(day: date, text: str) -> int | None:
    """Return a time of the day as Unix seconds, None if it is impossible."""
    found = re.fullmatch("([0-9]{1,2}):([0-9]{2})", text)
    try:
        clock = time(int(found[1]), int(found[2])) if found else None
    except ValueError:
        return None
    return None if clock is None else int(datetime.combine(day, clock, LONDON).timestamp())
