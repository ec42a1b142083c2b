"""The Odds API: a field of another type is refused with its part, and not taken as absent."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from actors.core.cooperative import run_now
from actors.core.messages import Extract, ListId, Payload, Scope, SourceName
from actors.core.validation import Reason
from actors.sources.the_odds_api.kind import KIND
from actors.sources.the_odds_api.options import TheOddsApiOptions
from tests.support.builders.the_odds_api import API_KEY, event, market

OPTIONS = TheOddsApiOptions(kind=KIND.name, api_key=API_KEY, sports=("soccer_epl",))
ODD: list[Any] = [3, 1.5, True, [], {}, ["2026-05-28T20:20:00Z"]]


def _match(match_id: str) -> Any:
    offer = market("Home", "Away", (2.1, 3.4, 3.6))
    return event(match_id, "Home", "Away", {"some": [offer], "other": [offer]})


def _read(change: Callable[[Any], None], key: str = "some") -> Extract:
    """Read an answer of two matches, of which the first is changed."""
    changed = json.loads(json.dumps(_match("m1")))
    change(changed)
    body = json.dumps([changed, _match("m2")]).encode()
    payload = Payload(SourceName("api"), Scope("soccer_epl"), ListId("l"), body, 0.0, 0.0)
    return run_now(KIND.extract(run_now(KIND.decode(payload, OPTIONS)), key, OPTIONS))


def _ids(extract: Extract) -> list[str]:
    return [match.source_match_id for match in extract.matches]


def _reasons(extract: Extract) -> dict[str, str]:
    return {removal.source_match_id: removal.reason for removal in extract.removals}


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("name", ["commence_time", "sport_key", "sport_title", "home_team", "away_team"])
def test_field_of_a_match_costs_the_match(name: str, odd: Any) -> None:
    """A kick-off in Unix seconds is not an unknown kick-off: the match leaves, for all bookmakers."""
    for key in ("some", "other"):
        extract = _read(lambda found: found.update({name: odd}), key)

        assert (["m2"], {"m1": Reason.TYPE}) == (_ids(extract), _reasons(extract))


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("is_of_market", [True, False])
def test_time_of_a_price_costs_the_price(odd: Any, *, is_of_market: bool) -> None:
    """How old it is cannot be known; the other bookmaker keeps its price of that match."""

    def change(found: Any) -> None:
        offered = found["bookmakers"][0]
        (offered["markets"][0] if is_of_market else offered)["last_update"] = odd

    extract = _read(change)

    assert (["m2"], {"m1": Reason.TYPE}) == (_ids(extract), _reasons(extract))
    assert ["m1", "m2"] == _ids(_read(change, "other"))


@pytest.mark.parametrize("name", ["commence_time", "sport_title"])
def test_null_is_absent(name: str) -> None:
    """A field that may be missing may be null."""
    assert ["m1", "m2"] == _ids(_read(lambda found: found.update({name: None})))


@pytest.mark.parametrize("markets", [3, {}, None, "x", [3], [{"key": 3}], [None, []]])
def test_market_that_cannot_be_read_costs_the_price(markets: Any) -> None:
    """It is counted: it may have been the one that is shown."""
    extract = _read(lambda found: found["bookmakers"][0].update(markets=markets))

    assert {"m1": Reason.TYPE} == _reasons(extract)


def test_odd_market_beside_the_one_that_is_shown_costs_nothing() -> None:
    """Another market may be of any shape."""
    assert ["m1", "m2"] == _ids(_read(lambda found: found["bookmakers"][0]["markets"].append({"key": 3})))


@pytest.mark.parametrize(
    ("change", "lost"),
    [
        (lambda found: found["bookmakers"].append(3), 1),
        (lambda found: found["bookmakers"].extend([None, {"key": 7}, {}]), 3),
        (lambda found: found.update(bookmakers={}), 1),
    ],
)
def test_part_of_an_unknown_bookmaker_is_counted(change: Callable[[Any], None], lost: int) -> None:
    """By all of them, as a match without an id is."""
    assert {Reason.UNREADABLE: lost} == _read(change).passed_over
