"""Real markets and a real book of Polymarket, put into answers as the venue would have sent them.

No answer of `/markets/keyset`, `/sports` or `/books` was recorded as sent: the answers are assembled here.
"""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest

from actors.core.messages import Extract, Removal, SourceMatchId
from actors.markets.market import Kind
from actors.source_api.groups import Group, preface_of
from actors.sources.polymarket.catalogue import read_markets
from actors.sources.polymarket.kind import KEY, KIND
from actors.sources.polymarket.lines import MARKET_TYPES, MarketType, completed, read_lines
from actors.sources.polymarket.listing import League, Listed, ListedMatch, read_listing
from actors.sources.polymarket.options import PolymarketOptions
from actors.sources.polymarket.plan import KINDS
from actors.sources.polymarket.prices import offer, read_books
from tests.support.builders.reading import extracted, grouped, judged, prices_of
from tests.support.oracles.polymarket_lines import sides, verdict
from tests.support.recordings import FOLDER

pytestmark = pytest.mark.recordings

CUP = League("fifwc", "FIFA World Cup", "102232", is_home_first=True)
OPTIONS = PolymarketOptions(kind="polymarket", markets=KINDS)
PARTS = ("teams", "markets", "series", "sport", "tags", "eventMetadata")


def _event(name: str) -> dict[str, Any]:
    read = json.loads((FOLDER / "polymarket" / name).read_bytes())
    event: dict[str, Any] = read[0] if isinstance(read, list) else read
    return event


def _listed(event: dict[str, Any], **changed: Any) -> dict[SourceMatchId, Listed]:
    """Read the markets of an event as a page has them: flat, each with its event, without teams."""
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
    """Names, roles and fee equal those that a person reads in the file."""
    event = _event(name)
    tokens = {market["groupItemTitle"]: market["clobTokenIds"].split('"')[1] for market in event["markets"]}

    (match,) = _listed(event).values()

    assert isinstance(match, ListedMatch)
    assert expected == (match.id, match.home, match.away, match.start)
    assert 0.03 == match.fee
    draw = f"Draw ({match.home} vs. {match.away})"
    assert match.tokens == (tokens[match.home], tokens[draw], tokens[match.away])


def test_recorded_prices_are_those_of_the_13th_minute() -> None:
    """Asks of 0.72, 0.20 and 0.09 are put into books; the event's teams give the same result."""
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


def _siblings() -> tuple[list[Any], dict[str, Decimal | None]]:
    """Return the markets of the recorded sibling as a page has them, and the asks of their tokens.

    The two books of a question mirror each other: its second outcome is asked at 1 - the bid of the first.
    """
    event = _event("wc_match_more_markets.json")
    short = {name: value for name, value in event.items() if name not in PARTS}
    asks: dict[str, Decimal | None] = {}
    for market in event["markets"]:
        first, second = json.loads(market["clobTokenIds"])
        ask, bid = market.get("bestAsk"), market.get("bestBid")
        asks[first] = None if ask is None else Decimal(str(ask))
        asks[second] = None if bid is None else 1 - Decimal(str(bid))
    return [{**market, "events": [short]} for market in event["markets"]], asks


def _extracted(markets: list[Any], asks: dict[str, Decimal | None], row: MarketType) -> Extract:
    """Read the questions of a type, complete them by their match, and read their books."""
    (main,) = _listed(_event("wc_match_13min.json")).values()
    body = json.dumps({"markets": markets}).encode()
    (listed,) = read_lines(read_markets(body).markets, row, CUP).matches.values()
    assert isinstance(listed, ListedMatch)
    assert "640346" == listed.parent
    match = completed(listed, main)
    assert isinstance(match, ListedMatch)
    books = [
        {"asset_id": token, "asks": [{"price": str(ask), "size": "90000"}], "neg_risk": False}
        for token in match.every_token
        if (ask := asks[token]) is not None
    ]
    body = grouped(match, body=json.dumps(books).encode())
    return extracted(KIND, KEY, OPTIONS, body, f"fifwc-{row.slug}-2026-06-29.1")


@pytest.mark.parametrize(
    ("kind", "shown", "refused"),
    [
        (Kind.OVER_UNDER, 7, {"price": 2}),
        (Kind.ASIAN_HANDICAP, 5, {"incomplete": 3, "book_sum": 1, "price": 1}),
        (Kind.BTTS, 1, {}),
    ],
)
def test_every_recorded_line_is_shown_or_refused(kind: Kind, shown: int, refused: dict[str, int]) -> None:
    """Each line has the prices of an independent reading, or the reason that this reading names."""
    markets, asks = _siblings()
    extract = _extracted(markets, asks, MARKET_TYPES[kind])
    admission = judged(KIND, KEY, OPTIONS, extract)
    verdicts = {
        f"640346 {side.market}": verdict(side, asks)
        for side in sides(markets, "Germany")
        if side.market.startswith(kind)
    }

    found = prices_of(admission.batch.matches)
    reasons = {str(removal.source_match_id): str(removal.reason) for removal in admission.batch.removals}
    assert {name: odds for name, (odds, reason) in verdicts.items() if reason is None} == found
    assert {name: reason for name, (_, reason) in verdicts.items() if reason} == reasons
    assert (shown, refused) == (len(found), Counter(reasons.values()))


def test_recorded_look_alikes_are_counted_by_their_types() -> None:
    """25 of the 45 markets are other bets."""
    markets, _ = _siblings()
    body = json.dumps({"markets": markets}).encode()

    listing = read_lines(read_markets(body).markets, MARKET_TYPES[Kind.OVER_UNDER], CUP)

    ours = {"spreads": 10, "both_teams_to_score": 1}
    others = {name: count for name, count in listing.passed_over.items() if name not in ours}
    assert (25, 10) == (sum(others.values()), len(others))
    assert ours == {name: listing.passed_over[name] for name in ours}


def test_sibling_event_is_no_match() -> None:
    """The 45 markets "More Markets" of the same match have other types."""
    listed = _listed(_event("wc_match_more_markets.json"))

    assert [] == [match for match in listed.values() if isinstance(match, ListedMatch)]


def test_recorded_book_has_its_best_ask_last() -> None:
    """The last ask is the price that the book's recorder derived, and the cheapest of all levels."""
    recorded = _event("book_france_win.json")
    book = {"asset_id": "7", **recorded["orderbook"]}

    read = read_books(preface_of(Group(())) + json.dumps([book]).encode()).by_token["7"]

    assert read is not None
    assert recorded["derived"]["bestAskMicros"] / 1e6 == float(read.asks[-1].price)
    assert float(read.asks[-1].price) == min(float(level.price) for level in read.asks)
