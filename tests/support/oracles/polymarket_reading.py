"""Polymarket's offers by the rules of its page, read from its answers; changes of its tables.

An independent reading: it shares nothing with the source, and takes only what `peers/polymarket.py` sends.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from decimal import ROUND_FLOOR, Decimal
from typing import Any, NamedTuple

from tests.support.builders.polymarket import ROLES
from tests.support.peers.polymarket import Polymarket

Choose = Callable[[Sequence[Any]], Any]
Odds = tuple[float, ...]

STATES: dict[str, tuple[Any, ...]] = {
    "closed": (False, True),
    "active": (True, False),
    "acceptingOrders": (True, False, None),
    "enableOrderBook": (True, False),
    "negRisk": (True, False),
    "groupItemThreshold": ("0", "1", "2", None),
    "outcomes": ('["Yes", "No"]', '["No", "Yes"]'),
}
EVENTS: dict[str, tuple[Any, ...]] = {
    "ended": (False, True, None),
    "period": ("NS", "1H", "HT", "2H", None, "FT", "VFT", "ET", "FT OT"),
}
PRICES = (Decimal("0.005"), Decimal("0.995"))
BOOK_SUM = (Decimal("0.95"), Decimal("1.12"))
STAKE = 10


class Open(NamedTuple):
    """A match that may be shown: the tokens of "Yes" for home, draw and away, and its kick-off."""

    tokens: tuple[str, ...]
    start: float


def change(venue: Polymarket, event_id: str, choose: Choose) -> None:
    """Have a match, or one of its markets or books, say something else."""
    listed, name, role = venue.matches[event_id], choose([*STATES, *EVENTS, "no book"]), choose(ROLES)
    if name == "no book":
        listed.asks.pop(role, None)
    elif name in EVENTS:
        listed.event[name] = choose(EVENTS[name])
    else:
        listed.market(role, **{name: choose(STATES[name])})


def expected(venue: Polymarket) -> dict[str, Odds]:
    """Return the odds of each match that is offered now."""
    matches = open_matches(venue.markets())
    books = venue.books([token for match in matches.values() for token in match.tokens])
    found = {name: odds_of(match.tokens, books) for name, match in matches.items()}
    return {name: odds for name, odds in found.items() if odds is not None}


def open_matches(markets: Iterable[Any]) -> dict[str, Open]:
    """Return the matches of a whole list that may be shown; of two copies of a market the later counts."""
    newest = {market["conditionId"]: market for market in markets}
    by_event: dict[str, list[Any]] = {}
    for market in newest.values():
        by_event.setdefault(market["events"][0]["id"], []).append(market)
    found = {name: _opened(of) for name, of in by_event.items()}
    return {name: match for name, match in found.items() if match is not None}


def odds_of(tokens: Iterable[str], books: Iterable[Any]) -> Odds | None:
    """Return the odds at which `STAKE` USD can be staked on each token, rounded down as they are shown."""
    by_token = {book["asset_id"]: book for book in books}
    asks = [_ask(by_token.get(token, {"asks": ()})) for token in tokens]
    odds = []
    for ask in asks:
        if ask is None or not PRICES[0] < ask < PRICES[1]:
            return None
        odds.append((1 / ask).quantize(Decimal("0.0001"), ROUND_FLOOR))
    return (
        tuple(map(float, odds)) if BOOK_SUM[0] <= sum(1 / price for price in odds) <= BOOK_SUM[1] else None
    )


def _opened(markets: Sequence[Any]) -> Open | None:
    tokens: dict[int, str] = {}
    for market in markets:
        event = market["events"][0]
        role = _role(event["title"], market["groupItemTitle"])
        is_fit = market["groupItemThreshold"] in {None, str(role)}
        if not (is_fit and _is_open(event, market)):
            return None
        yes = json.loads(market["outcomes"]).index("Yes")
        tokens[role] = json.loads(market["clobTokenIds"])[yes]
    if len(markets) != len(ROLES) or len(tokens) != len(ROLES):
        return None
    start = datetime.fromisoformat(markets[0]["events"][0]["startTime"]).timestamp()
    return Open(tuple(tokens[role] for role in range(3)), start)


def _is_open(event: Mapping[str, Any], market: Mapping[str, Any]) -> bool:
    is_over = event["ended"] is True or event["period"] in {"FT", "VFT", "ET", "FT OT"}
    is_over |= market["closed"] is not False
    needed = ("active", "acceptingOrders", "enableOrderBook", "negRisk")
    return not is_over and all(market[key] is True for key in needed)


def _role(title: str, name: str) -> int:
    home, away = title.split(" vs. ")
    return {home: 0, f"Draw ({title})": 1, away: 2}[name]


def _ask(book: Mapping[str, Any]) -> Decimal | None:
    """Return the price at which `STAKE` USD can be staked, None if the book is too small."""
    staked = Decimal(0)
    levels = [(Decimal(level["price"]), Decimal(level["size"])) for level in book["asks"]]
    for price, size in sorted(levels):
        staked += price * size
        if staked >= STAKE:
            return price
    return None
