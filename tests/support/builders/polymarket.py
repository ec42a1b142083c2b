"""Answers of Polymarket, written by hand in the shape of its two APIs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

Levels = Iterable[tuple[str, str]]  # price and size

FOOTBALL = "100350"
ROLES = ("home", "draw", "away")
SOME: Mapping[str, Levels] = {
    "home": (("0.99", "900"), ("0.5", "1000")),
    "draw": (("0.3", "500"), ("0.28", "400")),
    "away": (("0.27", "300"), ("0.25", "100")),
}
"""Asks as the venue sends them, from worst to best: 2.0, 3.5714 and 4.0."""


def league_row(key: str = "epl", tag: int = 82, **changed: Any) -> dict[str, Any]:
    """Return a league in the list of leagues."""
    return {
        "id": tag,
        "sport": key,
        "name": "Premier League",
        "ordering": "home",
        "tags": f"1,{tag}, 100639,{FOOTBALL}",
        "series": "10188",
        **changed,
    }


def time_text(at: float) -> str:
    """Return a time as the venue writes it."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def event_of(event_id: str, home: str, away: str, start: float, **changed: Any) -> dict[str, Any]:
    """Return a match with the names that its markets use."""
    return {
        "id": event_id,
        "slug": f"epl-{event_id}",
        "title": f"{home} vs. {away}",
        "startTime": time_text(start),
        "gameId": 90086980,
        "live": False,
        "ended": False,
        "score": "",
        "period": "NS",
        "seriesSlug": "premier-league",
        **changed,
    }


def token_of(event_id: str, role: str) -> str:
    """Return the token of "Yes"; the token of "No" has another digit at its end."""
    return f"{event_id}{ROLES.index(role)}0"


def market_of(event: Mapping[str, Any], role: str, **changed: Any) -> dict[str, Any]:
    """Return the question whether a match ends with a given result."""
    home, _, away = event["title"].partition(" vs. ")
    title = {"home": home, "away": away, "draw": f"Draw ({event['title']})"}[role]
    token = token_of(event["id"], role)
    return {
        "id": f"{event['id']}{role}",
        "conditionId": f"0x{event['id']}{ROLES.index(role)}",
        "outcomes": '["Yes", "No"]',
        "outcomePrices": '["0.9", "0.1"]',
        "clobTokenIds": json.dumps([token, f"{token}1"]),
        "groupItemTitle": title,
        "groupItemThreshold": str(ROLES.index(role)),
        "marketMetadata": {"opticOddsSelectionLine": role},
        "sportsMarketType": "moneyline",
        "gameStartTime": event["startTime"].replace("T", " ").replace("Z", "+00"),
        "negRisk": True,
        "closed": False,
        "active": True,
        "acceptingOrders": True,
        "enableOrderBook": True,
        "bestAsk": 0.01,
        "lastTradePrice": 0.02,
        "feesEnabled": True,
        "feeSchedule": {"exponent": 1, "rate": 0.03, "takerOnly": True, "rebateRate": 0.25},
        "events": [dict(event)],
        **changed,
    }


def book_of(event_id: str, role: str, asks: Levels, at: float = 0.0, **changed: Any) -> dict[str, Any]:
    """Return the order book of "Yes"."""
    return {
        "market": f"0x{event_id}{ROLES.index(role)}",
        "asset_id": token_of(event_id, role),
        "timestamp": str(int(at * 1000)),
        "hash": "a1",
        "bids": [{"price": "0.01", "size": "500"}],
        "asks": [{"price": price, "size": size} for price, size in asks],
        "min_order_size": "5",
        "tick_size": "0.01",
        "neg_risk": True,
        "last_trade_price": "0.02",
        **changed,
    }
