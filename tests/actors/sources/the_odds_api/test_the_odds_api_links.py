"""The pages of the bookmakers in answers of The Odds API."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from actors.core.cooperative import run_now
from actors.sources.the_odds_api.answers import read_odds
from actors.sources.the_odds_api.wire import PartialEvent, read_event
from tests.support.builders.the_odds_api import event, market

PAGE = "https://some.example/7"


def _answer(of_bookmaker: object, of_market: object, of_outcomes: object) -> Any:
    """Return a match with a link in each place."""
    offered = market("Home", "Away", (2.0, 3.5, 4.0)) | {"link": of_market}
    offered["outcomes"] = [outcome | {"link": of_outcomes} for outcome in offered["outcomes"]]
    found = event("m1", "Home", "Away", {"some": [offered]})
    found["bookmakers"][0]["link"] = of_bookmaker
    return found


@pytest.mark.parametrize(
    ("links", "url"),
    [
        ((PAGE, None, None), PAGE),
        ((PAGE, "https://some.example/1x2", "https://bet.example/2"), PAGE),
        ((None, "https://some.example/1x2", None), None),
        ((7, None, None), None),
        (('https://some.example/"7"', None, None), 'https://some.example/"7"'),
    ],
)
def test_match_has_the_page_that_its_bookmaker_gives(links: tuple[Any, Any, Any], url: str | None) -> None:
    """What is given for a market or an outcome leads to a betting slip; a broken link costs no price."""
    body = json.dumps([_answer(*links)]).encode()

    (match,) = run_now(read_odds(body, None)).offers["some"].matches

    assert (url, 2.0, 3.5, 4.0) == (match.url, match.home_price, match.draw_price, match.away_price)


def test_answer_with_links_is_read_at_once() -> None:
    """Links are fields that are known: a match that has them is not taken apart."""
    answer = _answer(PAGE, None, "https://bet.example/2")

    found = read_event(msgspec.Raw(json.dumps(answer).encode()))

    assert found is not None
    assert not isinstance(found, PartialEvent)
