"""football-data.co.uk: every total and handicap of every recorded file, compared with another reading.

Files of finished matches are read as before kick-off, and once more with their closing prices as earlier
ones: then closing prices and closing lines belong together.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from actors.core.errors import PayloadError
from actors.sources.football_data.kind import FootballDataOptions
from tests.support.builders.football_data import ALL_MARKETS, OPTIONS, extracted, judged
from tests.support.oracles.football_data_markets import Key, reading
from tests.support.recordings import football_data

pytestmark = pytest.mark.recordings

CODES = ("B365", "PS", "BFE", "BW", "WH", "GB")
FILES = [path for folder in ("fixtures", "seasons", "quirks") for path in football_data(folder, "*.csv")]
SEASONS = [path for path in FILES if path.parent.name != "fixtures"]


def _upcoming(path: Path) -> bytes:
    """Return the file with its matches as before kick-off."""
    return path.read_bytes().replace(b",FTHG,", b",Goals,", 1).replace(b",HG,", b",Goals,", 1)


def _closing(path: Path) -> bytes:
    """Return the same with the closing columns of all markets under the names of the earlier ones."""
    header, end, rest = _upcoming(path).partition(b"\n")
    names = [
        re.sub(r"^(AH|B365|BFE|P)(h|AH[HA]|[<>]2\.5)$", r"\1-\2", it)
        for it in header.decode("latin-1").split(",")
    ]
    names = [re.sub(r"^(AH|B365|BFE|P)C(h|AH[HA]|[<>]2\.5)(\r?)$", r"\1\2\3", name) for name in names]
    return ",".join(names).encode("latin-1") + end + rest


def _rejected(body: bytes, code: str, options: FootballDataOptions) -> Counter[str]:
    try:
        passed_over = Counter(extracted(body, code, options=options).passed_over)
        return judged(body, code, options).rejected + passed_over
    except PayloadError as error:
        if "column not in this file" in str(error):
            return Counter()
        raise


def _ours(body: bytes, code: str) -> tuple[dict[Key, tuple[float, ...]], Counter[str]]:
    """Return the other markets that are shown, and the reasons of those that are not."""
    rejected = _rejected(body, code, ALL_MARKETS) - _rejected(body, code, OPTIONS)
    try:
        others = [match for match in judged(body, code, ALL_MARKETS).batch.matches if match.odds]
    except PayloadError:
        others = []
    shown = {(match.home, match.away, str(match.market)): match.odds for match in others}
    assert len(shown) == len(others)
    return shown, rejected


@pytest.mark.parametrize(
    ("path", "read"),
    [
        *(pytest.param(path, Path.read_bytes, id=path.stem) for path in FILES),
        *(pytest.param(path, _upcoming, id=f"{path.stem}-upcoming") for path in SEASONS),
        *(pytest.param(path, _closing, id=f"{path.stem}-closing") for path in SEASONS),
    ],
)
def test_every_price_and_line_equals_another_reading(path: Path, read: Callable[[Path], bytes]) -> None:
    """Each is equal, or refused for the same reason: markets, prices and counts, of every bookmaker."""
    body = read(path)

    assert {code: reading(body, code) for code in CODES} == {code: _ours(body, code) for code in CODES}


def test_other_reading_has_markets() -> None:
    """The comparison is not empty: three bookmakers have totals and handicaps, also closing ones."""
    counts: Counter[tuple[str, str]] = Counter()
    for body in [*map(Path.read_bytes, FILES), *map(_upcoming, SEASONS), *map(_closing, SEASONS)]:
        for code in CODES:
            counts.update((code, market.partition(":")[0]) for _, _, market in reading(body, code).shown)

    assert {
        (code, kind) for code in ("B365", "PS", "BFE") for kind in ("over_under", "asian_handicap")
    } == {*counts}
    assert min(counts.values()) > 100
