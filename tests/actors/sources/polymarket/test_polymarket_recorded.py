"""Real markets and a real book of Polymarket, put into the answers that would have brought them.

No answer of `/markets/keyset`, `/sports` or `/books` was recorded as sent: they are assembled here.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from actors.core.messages import Removal, SourceMatchId
from actors.source_api.groups import Group, preface_of
from actors.sources.polymarket.catalogue import read_markets
from actors.sources.polymarket.listing import League, Listed, ListedMatch, read_listing
from actors.sources.polymarket.prices import offer, read_books
from tests.support.recordings import FOLDER

pytestmark = pytest.mark.recordings

CUP = League("fifwc", "FIFA World Cup", "102232", is_home_first=True)
PARTS = ("teams", "markets", "series", "sport", "tags", "eventMetadata")


def _event(name: str) -> dict[str, Any]:
    read = json.loads((FOLDER / "polymarket" / name).read_bytes())
    event: dict[str, Any] = read[0] if isinstance(read, list) else read
    return event


def _listed(event: dict[str, Any], **changed: Any) -> dict[SourceMatchId, Listed]:
    """Read the markets of an event as a page has them: flat, with their event in each, without teams."""
    short = {name: value for name, value in event.items() if name not in PARTS} | changed
    page = {"markets": [{**market, "events": [short]} for market in event["markets"]]}
    return read_listing(read_markets(json.dumps(page).encode()).markets, CUP)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("wc_match_pre.json", ("636324", "Netherlands", "Morocco", 1782781200)),
        ("wc_match_13min.json", ("640346", "Germany", "Paraguay", 1782765000)),
    ],
)
def test_recorded_match_is_read(name: str, expected: tuple[object, ...]) -> None:
    """Names, roles and fee are those that a person reads in the file."""
    event = _event(name)
    tokens = {market["groupItemTitle"]: market["clobTokenIds"].split('"')[1] for market in event["markets"]}

    (match,) = _listed(event).values()

    assert isinstance(match, ListedMatch)
    assert expected == (match.id, match.home, match.away, match.start)
    assert 0.03 == match.fee
    draw = f"Draw ({match.home} vs. {match.away})"
    assert match.tokens == (tokens[match.home], tokens[draw], tokens[match.away])


def test_recorded_prices_are_those_of_the_13th_minute() -> None:
    """Asks of 0.72, 0.20 and 0.09, put into books; with the teams of the event the same."""
    event = _event("wc_match_13min.json")
    (match,) = _listed(event, teams=event["teams"]).values()
    assert isinstance(match, ListedMatch)
    asks = {market["conditionId"]: market["bestAsk"] for market in event["markets"]}
    books = [
        {"asset_id": token, "asks": [{"price": str(asks[condition]), "size": "5000"}]}
        for token, condition in zip(match.tokens, match.conditions, strict=True)
    ]

    found = offer(
        match, read_books(preface_of(Group((match,))) + json.dumps(books).encode()), 10.0, after_fees=False
    )

    assert not isinstance(found, Removal)
    assert (1.3888, 5.0, 11.1111) == (found.home_price, found.draw_price, found.away_price)


def test_sibling_event_is_no_match() -> None:
    """The 45 markets "More Markets" of the same match have other types."""
    listed = _listed(_event("wc_match_more_markets.json"))

    assert [] == [match for match in listed.values() if isinstance(match, ListedMatch)]


@pytest.mark.parametrize("changed", [{"closed": True}, {"ended": True}, {"period": "VFT"}])
def test_recorded_match_that_is_over_is_not_shown(changed: dict[str, Any]) -> None:
    """By its states, whatever it quotes."""
    (found,) = _listed(_event("wc_match_13min.json"), **changed).values()

    assert Removal(SourceMatchId("640346"), "finished") == found


def test_recorded_book_has_its_best_ask_last() -> None:
    """It is the price that its recorder derived, and the cheapest of all levels."""
    recorded = _event("book_france_win.json")
    book = {"asset_id": "7", **recorded["orderbook"]}

    read = read_books(preface_of(Group(())) + json.dumps([book]).encode()).by_token["7"]

    assert read is not None
    assert recorded["derived"]["bestAskMicros"] / 1e6 == float(read.asks[-1].price)
    assert float(read.asks[-1].price) == min(float(level.price) for level in read.asks)
