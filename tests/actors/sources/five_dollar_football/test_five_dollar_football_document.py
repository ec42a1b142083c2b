"""The examples of the OpenAPI document, which is kept beside the recordings, read by the product."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec
import pytest

from actors.core.cooperative import run_now
from actors.core.errors import PayloadError, TransportError
from actors.core.messages import Extract, SourceMatchId
from actors.core.validation import Reason
from actors.source_api.groups import Group, preface_of
from actors.source_api.json_parts import MAX_PART_BYTES
from actors.sources.five_dollar_football.kind import KIND
from actors.sources.five_dollar_football.options import (
    BOOKMAKERS,
    IN_PLAY,
    LEAGUES,
    NEAR,
    READ,
    STATUS,
    FiveDollarFootballOptions,
)
from actors.sources.five_dollar_football.prices import ListedMatch, Lists, OddsByMatch
from actors.sources.five_dollar_football.wire import Account, Bookmakers, FixturesPage, Leagues
from tests.support.builders.reading import decoded, judged, prices_of
from tests.support.recordings import FOLDER

FILE = FOLDER.parent / "sources" / "five_dollar_football-openapi-2026-08-19.json"
OPTIONS = FiveDollarFootballOptions(kind=KIND.name, api_key="an-invented-key", markets=READ)

BEFORE = "kick-off.2026-07-12T00:00:00Z"

pytestmark = pytest.mark.recordings


@cache
def _example(path: str) -> bytes:
    if not FILE.exists():
        pytest.skip(f"{FILE} is not there")
    answer = msgspec.json.decode(FILE.read_bytes())["paths"][path]["get"]["responses"]["200"]
    return msgspec.json.encode(answer["content"]["application/json"]["example"])


def _read(body: bytes, scope: str, at: float = 0.0) -> Any:
    return decoded(KIND, OPTIONS, body, scope, at=at)


def _shown(extract: Extract) -> dict[str, tuple[float, ...]]:
    return prices_of(judged(KIND, "bet365", OPTIONS, extract).batch.matches)


def test_example_of_an_account_a_league_and_a_bookmaker_are_read() -> None:
    """All parts of the examples are read."""
    account, leagues = _read(_example("/status"), STATUS), _read(_example("/leagues"), LEAGUES)
    bookmakers = _read(_example("/bookmakers"), BOOKMAKERS)

    assert isinstance(account, Account)
    assert isinstance(leagues, Leagues)
    assert isinstance(bookmakers, Bookmakers)
    assert (10, 60) == (account.limits.rate_limit, account.limits.rate_window_seconds)
    assert [39, 61] == [league.id for league in leagues.leagues]
    assert "pinnacle" in {bookmaker.slug for bookmaker in bookmakers.bookmakers}
    assert 0 == leagues.unread.count + bookmakers.unread.count


def test_an_element_that_is_too_long_costs_itself_alone() -> None:
    """The long element is counted as unreadable, and the others are read."""
    body = msgspec.json.decode(_example("/leagues"))
    body["data"][0]["name"] = "x" * MAX_PART_BYTES
    leagues = _read(msgspec.json.encode(body), LEAGUES)

    assert [[61], 1] == [[league.id for league in leagues.leagues], leagues.unread.count]


@pytest.mark.parametrize("path", ["/fixtures", "/leagues/{id}/fixtures", "/teams/{id}/fixtures"])
def test_examples_of_matches_are_read(path: str) -> None:
    """Each example is read as it stands in the document, and has no part that cannot be read."""
    page = _read(_example(path), NEAR)
    expected = msgspec.json.decode(_example(path))["data"]

    assert isinstance(page, FixturesPage)
    assert 0 == page.unread.count
    assert [row["id"] for row in expected] == [row.fixture and row.fixture.id for row in page.rows]


def _examples() -> dict[str, bytes]:
    paths = msgspec.json.decode(FILE.read_bytes())["paths"] if FILE.exists() else {}
    return {path: _example(path) for path in paths}


@pytest.mark.parametrize("scope", [STATUS, LEAGUES, BOOKMAKERS, NEAR, IN_PLAY, BEFORE, "2026-07-12.1"])
def test_no_example_has_a_price_where_it_has_none_to_bet_on(scope: str) -> None:
    """All examples are of matches that are over, or without odds, whatever request they answer."""
    listed = ListedMatch(SourceMatchId("197590518"), "Home", "Away", None, 1_783_814_400)
    preface = preface_of(Group((listed,))) if scope == "2026-07-12.1" else b""
    shown, read = dict[str, tuple[float, ...]](), 0
    for example in _examples().values():
        try:
            content = _read(preface + example, scope, 1_783_810_000.0)
        except PayloadError:
            continue
        read += 1
        if isinstance(content, Lists | OddsByMatch):
            shown |= _shown(run_now(KIND.extract(content, "bet365", OPTIONS)))

    assert {} == shown
    assert read


@pytest.mark.parametrize("scope", [IN_PLAY, BEFORE])
def test_a_match_that_is_finished_is_not_shown(scope: str) -> None:
    """The example of a list has only such a match, with all its prices from before kick-off."""
    extract = run_now(KIND.extract(_read(_example("/fixtures"), scope), "bet365", OPTIONS))

    assert {} == _shown(extract)
    assert ["finished"] == [removal.reason for removal in extract.removals]


@pytest.mark.parametrize("is_to_come", [True, False])
def test_example_of_odds_by_match_has_its_prices(*, is_to_come: bool) -> None:
    """Prices before kick-off are shown if the example has no prices in play; otherwise nothing is shown."""
    answer = msgspec.json.decode(_example("/fixtures/{id}/odds"))
    (bookmaker,) = answer["data"]["bookmakers"]
    bookmaker["slug"], odds = "pinnacle", bookmaker["odds"]
    expected = {
        "197590518": tuple(odds["1x2"]["closing"].values()),
        "197590518 asian_handicap:-0.5": (2.02, 1.78),
        "197590518 over_under:2.75": (1.85, 1.95),
        "197590518 btts": tuple(odds["btts"]["closing"].values()),
    }
    for market in odds.values() if is_to_come else ():
        market["inplay"] = None

    assert (expected if is_to_come else {}) == _shown(_by_match(answer))


def test_markets_that_cannot_be_read_are_counted() -> None:
    """A suspended market and a market that is not there are not counted."""
    answer = msgspec.json.decode(_example("/fixtures/{id}/odds"))
    (bookmaker,) = answer["data"]["bookmakers"]
    bookmaker["slug"], odds = "pinnacle", bookmaker["odds"]
    for market in odds.values():
        market["inplay"] = None
    odds["goal_line"]["closing"], odds["asian_handicap"]["closing"] = {"line": []}, None
    del odds["btts"]
    counted = _by_match(answer).passed_over

    assert (1, {Reason.TYPE}) == (
        counted[Reason.TYPE],
        {*counted} & {Reason.TYPE, Reason.NO_RESULT, "suspended"},
    )


def _by_match(answer: object) -> Extract:
    """Return the prices before kick-off that Pinnacle's odds of the example's match give."""
    listed = ListedMatch(SourceMatchId("197590518"), "Home", "Away", None, 1_783_814_400)
    body = preface_of(Group((listed,))) + msgspec.json.encode(answer)
    return run_now(KIND.extract(_read(body, "2026-07-12.1", 1_783_810_000.0), "pinnacle", OPTIONS))


def test_what_an_error_says_is_told() -> None:
    """An error has the form that the document's text describes: success, and an error with its code."""
    body = b'{"success": 0, "error": {"type": "t", "code": "c", "message": "m", "request_id": "r"}}'
    error = TransportError("status was 403", status=403, body=body)
    assert KIND.explain is not None
    KIND.explain(error)

    assert "status was 403: c: m (request r)" == str(error)
    with pytest.raises(PayloadError, match="c: m"):
        _read(body, NEAR)
