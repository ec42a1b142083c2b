"""football-data.co.uk: every recorded file, price by price, compared with a second, simple parser.

The season files have finished matches only, so they are read a second time with the result column
renamed: then all of their matches are upcoming ones.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from actors.core.errors import PayloadError
from actors.core.messages import Removal
from actors.sources.football_data.fixtures import FixtureRow
from tests.support.builders.football_data import Content, content, decoded, judged, offers
from tests.support.recordings import football_data

pytestmark = pytest.mark.recordings

CODES = ("B365", "BFD", "BMGM", "BV", "BW", "CL", "LB", "PS", "BFE", "WH", "1XB", "BF", "IW", "VC", "GB")
FILES = [path for folder in ("fixtures", "seasons", "quirks") for path in football_data(folder, "*.csv")]

FINISHED = [path for path in FILES if path.parent.name != "fixtures"]


def _upcoming(path: Path) -> bytes:
    """Return the file with its matches as before kick-off, and its closing prices as present ones."""
    body = path.read_bytes().replace(b",FTHG,", b",Goals,", 1).replace(b",HG,", b",Goals,", 1)
    header = body.partition(b"\n")[0]
    return body if b",PSH," in header else body.replace(b",PSC", b",PS")


def _plain(body: bytes, code: str) -> list[Content] | None:
    found = offers(body, code)
    return None if found is None else [offer.content for offer in found]


def _ours(body: bytes, code: str) -> list[Content] | None:
    try:
        return [content(match) for match in judged(body, code).batch.matches]
    except PayloadError as error:
        if str(error).startswith("column not in this file"):
            return None
        raise


@pytest.mark.long
@pytest.mark.parametrize(
    ("path", "read"),
    [
        *(pytest.param(path, Path.read_bytes, id=path.stem) for path in FILES),
        *(pytest.param(path, _upcoming, id=f"{path.stem}-upcoming") for path in FINISHED),
    ],
)
def test_every_price_and_start_equals_a_simple_reading(path: Path, read: Callable[[Path], bytes]) -> None:
    """Teams, starts and prices of every bookmaker are equal, in order; missing columns are an error."""
    body = read(path)

    assert {code: _plain(body, code) for code in CODES} == {code: _ours(body, code) for code in CODES}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_match_of_a_file_has_its_own_id_and_a_league(path: Path) -> None:
    """Over all bookmakers an id belongs to one fixture, and no division is unknown."""
    listed = [fixture for fixture in decoded(_upcoming(path)).fixtures if isinstance(fixture, FixtureRow)]
    fixtures = {
        (fixture.source_match_id, fixture.home, fixture.away, fixture.start_time) for fixture in listed
    }

    assert len({match_id for match_id, *_ in fixtures}) == len(fixtures) == len(listed)
    assert {fixture.league for fixture in listed} & {None, "", "XX"} == set()


def test_simple_reading_has_offers() -> None:
    """The simple parser finds offers in every file except the stub, so the comparison is not empty."""
    empty = [path for path in FILES if not any(offers(_upcoming(path), code) for code in CODES)]

    assert empty == FILES[:1]


def test_all_valid_rows_of_the_recordings_are_read() -> None:
    """No date or time of a real download of upcoming matches is rejected, except in the stub."""
    unreadable = {
        path.stem: sum(isinstance(fixture, Removal) for fixture in decoded(path.read_bytes()).fixtures)
        for path in football_data("fixtures")
    }

    assert [name for name, count in unreadable.items() if count] == [min(unreadable)]
