"""football-data.co.uk: every recorded file, price by price and line by line, compared with other readings.

The season files have finished matches only, so they are read a second time with the result column
renamed, which makes all their matches upcoming, and again with closing lines in place of earlier ones.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from actors.core.errors import PayloadError
from actors.core.messages import Match, Removal
from actors.sources.football_data.fixtures import FixtureRow
from actors.sources.football_data.kind import KIND, FootballDataOptions
from tests.support.builders.football_data import (
    ALL_MARKETS,
    OPTIONS,
    Content,
    content,
    decoded,
    extracted,
    judged,
    offers,
)
from tests.support.builders.reading import judged as gated
from tests.support.oracles.football_data_markets import Key, reading
from tests.support.recordings import football_data

pytestmark = pytest.mark.recordings

CODES = ("B365", "BFD", "BMGM", "BV", "BW", "CL", "LB", "PS", "BFE", "WH", "1XB", "BF", "IW", "VC", "GB")
FILES = [path for folder in ("fixtures", "seasons", "quirks") for path in football_data(folder, "*.csv")]

FINISHED = [path for path in FILES if path.parent.name != "fixtures"]


def _open(path: Path) -> bytes:
    """Return the file with its matches as if before kick-off."""
    return path.read_bytes().replace(b",FTHG,", b",Goals,", 1).replace(b",HG,", b",Goals,", 1)


def _upcoming(path: Path) -> bytes:
    """Return the file with matches as if before kick-off, and its closing prices as present prices."""
    body = _open(path)
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


LINED = ("B365", "PS", "BFE", "BW", "WH", "GB")


def _closing(path: Path) -> bytes:
    """Return the file with the closing columns of all markets under the names of the earlier columns."""
    header, end, rest = _open(path).partition(b"\n")
    names = [
        re.sub(r"^(AH|B365|BFE|P)(h|AH[HA]|[<>]2\.5)$", r"\1-\2", it)
        for it in header.decode("latin-1").split(",")
    ]
    names = [re.sub(r"^(AH|B365|BFE|P)C(h|AH[HA]|[<>]2\.5)(\r?)$", r"\1\2\3", name) for name in names]
    return ",".join(names).encode("latin-1") + end + rest


def _read(body: bytes, code: str, options: FootballDataOptions) -> tuple[tuple[Match, ...], Counter[str]]:
    """Return the matches that are shown, and the reasons of the matches that are not."""
    try:
        extract = extracted(body, code, options=options)
    except PayloadError as error:
        if "column not in this file" in str(error):
            return (), Counter()
        raise
    admission = gated(KIND, code, options, extract)
    return admission.batch.matches, admission.rejected + Counter(extract.passed_over)


def _our_markets(body: bytes, code: str) -> tuple[dict[Key, tuple[float, ...]], Counter[str]]:
    """Return the other markets that are shown, and the reasons of the markets that are not."""
    matches, rejected = _read(body, code, ALL_MARKETS)
    rejected -= _read(body, code, OPTIONS)[1]
    others = [match for match in matches if match.odds]
    shown = {(match.home, match.away, str(match.market)): match.odds for match in others}
    assert len(shown) == len(others)
    return shown, rejected


@pytest.mark.parametrize(
    ("path", "read"),
    [
        *(pytest.param(path, Path.read_bytes, id=path.stem) for path in FILES),
        *(pytest.param(path, _open, id=f"{path.stem}-upcoming") for path in FINISHED),
        *(pytest.param(path, _closing, id=f"{path.stem}-closing") for path in FINISHED),
    ],
)
def test_every_price_and_line_equals_another_reading(path: Path, read: Callable[[Path], bytes]) -> None:
    """Markets, prices and counts of every bookmaker are equal, or refused for the same reason."""
    body = read(path)

    assert {code: reading(body, code) for code in LINED} == {
        code: _our_markets(body, code) for code in LINED
    }


def test_other_reading_of_markets_is_not_empty() -> None:
    """The comparison is not empty: three bookmakers have totals and handicaps, also closing ones."""
    counts: Counter[tuple[str, str]] = Counter()
    for body in [
        *map(Path.read_bytes, FILES),
        *map(_open, FINISHED),
        *map(_closing, FINISHED),
    ]:
        for code in LINED:
            counts.update((code, market.partition(":")[0]) for _, _, market in reading(body, code).shown)

    assert {
        (code, kind) for code in ("B365", "PS", "BFE") for kind in ("over_under", "asian_handicap")
    } == {*counts}
    assert min(counts.values()) > 100
