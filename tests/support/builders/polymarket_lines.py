"""Markets of Polymarket beside the result, written by hand in the shape of its two APIs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.support.builders.polymarket import Levels

BTTS = "both_teams_to_score"
SIBLING = "-more-markets"


def sibling_of(event: Mapping[str, Any], **changed: Any) -> dict[str, Any]:
    """Return the event with the other markets of a match."""
    return {
        **event,
        "id": f"{event['id']}9",
        "parentEventId": int(event["id"]),
        "slug": f"{event['slug']}{SIBLING}",
        "title": f"{event['title']} - More Markets",
        **changed,
    }


def line_market(
    event: Mapping[str, Any], kind: str, line: float | None = None, team: str = "", **changed: Any
) -> dict[str, Any]:
    """Return a question beside the result; `team` has the line of a spread, "home" or "away"."""
    sibling = sibling_of(event, **changed.pop("sibling", {}))
    number = "" if line is None else f"{line:g}"
    outcomes, title, slug = _words(event, kind, number, team)
    condition = condition_of(event["id"], kind, line, team)
    return {
        "id": condition,
        "conditionId": condition,
        "slug": f"{event['slug']}-{slug}",
        "sportsMarketType": kind,
        "line": line,
        "outcomes": json.dumps(outcomes),
        "outcomePrices": '["0.9", "0.1"]',
        "clobTokenIds": json.dumps(tokens_of(event["id"], kind, line, team)),
        "groupItemTitle": title,
        "groupItemThreshold": "2",
        "gameStartTime": event["startTime"].replace("T", " ").replace("Z", "+00"),
        "negRisk": False,
        "closed": False,
        "active": True,
        "acceptingOrders": True,
        "enableOrderBook": True,
        "bestAsk": 0.01,
        "feesEnabled": True,
        "feeSchedule": {"exponent": 1, "rate": 0.03, "takerOnly": True, "rebateRate": 0.25},
        "events": [sibling],
        **changed,
    }


def _words(event: Mapping[str, Any], kind: str, number: str, team: str) -> tuple[list[str], str, str]:
    """Return the outcomes, the title and the end of the address of a question."""
    goals, teams = number.replace(".", "pt").lstrip("-"), event["title"].split(" vs. ")
    if kind == "spreads":
        first, second = teams if team == "home" else teams[::-1]
        return [first, second], f"{first} ({number})", f"spread-{team}-{goals}"
    if kind == BTTS:
        return ["Yes", "No"], "Both Teams to Score", "btts"
    half = "" if kind == "totals" else "1st Half "
    return ["Over", "Under"], f"{half}O/U {number}", f"{'first-half-' if half else ''}total-{goals}"


def tokens_of(event_id: str, kind: str, line: float | None = None, team: str = "") -> list[str]:
    """Return the tokens of the first and the second outcome of a question."""
    number = f"{event_id}{sum(map(ord, kind))}{int(500 + 10 * (line or 0))}{int(team == 'away')}"
    return [f"{number}1", f"{number}2"]


def condition_of(event_id: str, kind: str, line: float | None = None, team: str = "") -> str:
    """Return the condition of a question."""
    return f"0x{tokens_of(event_id, kind, line, team)[0][:-1]}"


def line_book(token: str, asks: Levels, at: float = 0.0, **changed: Any) -> dict[str, Any]:
    """Return the order book of an outcome."""
    return {
        "market": f"0x{token[:-1]}",
        "asset_id": token,
        "timestamp": str(int(at * 1000)),
        "asks": [{"price": price, "size": size} for price, size in asks],
        "bids": [{"price": "0.01", "size": "500"}],
        "neg_risk": False,
        **changed,
    }
