"""The Odds API: every total and handicap of the recorded answers, compared with another reading."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from actors.core.cooperative import run_now
from actors.core.validation import Admission
from actors.sources.the_odds_api.answers import OddsAnswer
from actors.sources.the_odds_api.kind import KIND
from actors.sources.the_odds_api.options import TheOddsApiOptions
from tests.support.builders.reading import decoded as decode
from tests.support.builders.reading import judged as gated
from tests.support.builders.the_odds_api import ALL_MARKETS, keys_in, options_of, plain_rows
from tests.support.oracles.the_odds_api_markets import Key, reading
from tests.support.recordings import the_odds_api

pytestmark = pytest.mark.recordings

FILES = the_odds_api("2026-04-16-markets/*.json")
OPTIONS, OF_1X2 = options_of(markets=ALL_MARKETS), options_of()


def decoded(body: bytes, options: TheOddsApiOptions) -> OddsAnswer:
    """Decode an answer."""
    answer = decode(KIND, options, body)
    assert isinstance(answer, OddsAnswer)
    return answer


def judged(answer: OddsAnswer, key: str, options: TheOddsApiOptions) -> Admission:
    """Return the result of the integrity gate; markets that are passed over count as rejected."""
    extract = run_now(KIND.extract(answer, key, options))
    made = gated(KIND, key, options, extract)
    made.rejected.update(extract.passed_over)
    return made


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_price_and_line_equals_another_reading(path: Path) -> None:
    """For every bookmaker each line is equal or refused for one reason; 1X2 is as without the option."""
    body = path.read_bytes()
    answer, of_1x2 = decoded(body, OPTIONS), decoded(body, OF_1X2)
    for key in keys_in({"": body}):
        every, results = judged(answer, key, OPTIONS), judged(of_1x2, key, OF_1X2)
        others = [match for match in every.batch.matches if match.odds]
        shown: dict[Key, tuple[float, ...]] = {
            (match.event_id, str(match.market)): match.odds for match in others
        }

        assert len(shown) == len(others)
        assert reading(body, key) == (shown, every.rejected - results.rejected), key
        assert results.batch.matches == tuple(match for match in every.batch.matches if not match.odds)
        assert plain_rows(body, key) == {
            match.source_match_id: (match.source_match_id, match.home, match.away, *match.prices)
            for match in results.batch.matches
        }


def test_other_reading_has_markets() -> None:
    """The comparison is not empty, and includes all markets of the recordings."""
    counts: Counter[str] = Counter()
    for body in map(Path.read_bytes, FILES):
        for key in keys_in({"": body}):
            shown, refused = reading(body, key)
            counts.update(market.partition(":")[0] for _, market in shown)
            counts["refused"] += refused.total()
    listed = Counter(
        market["key"]
        for path in FILES
        for match in json.loads(path.read_bytes())
        for bookmaker in match["bookmakers"]
        for market in bookmaker["markets"]
    )

    assert counts.total() == listed["totals"] + listed["spreads"]
    assert min(counts["over_under"], counts["asian_handicap"]) > 100
