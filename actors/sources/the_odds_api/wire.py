"""The wire format of The Odds API: one match with its bookmakers, markets and outcomes.

Pure. A real match (cut to one bookmaker):

    {"id": "5ed0...", "sport_key": "soccer_xx", "sport_title": "XX",
     "commence_time": "2026-01-16T19:00:00Z", "home_team": "Home Town", "away_team": "Away United",
     "bookmakers": [{"key": "some_eu", "title": "Some", "last_update": "2026-01-14T16:22:51Z",
      "markets": [{"key": "h2h", "last_update": "2026-01-14T16:22:51Z", "outcomes": [
       {"name": "Away United", "price": 5.5}, {"name": "Draw", "price": 4.3}, ...]}]}]}

Format: the API's documentation of v4. What has another shape is mended part by part, so that one
bookmaker's nonsense costs nobody else his prices.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from actors.core.errors import UNREADABLE
from actors.core.messages import SourceMatchId

T = TypeVar("T")

MAX_PRICE = 10**9


class Outcome(Struct, frozen=True, gc=False):
    """One outcome; `price` is 0.0, which nothing accepts, where it is no number."""

    name: str
    price: float


class Market(Struct, frozen=True, gc=False):
    """One market of one bookmaker."""

    key: str
    outcomes: tuple[Outcome, ...] = ()
    last_update: str | None = None


class Lines(Struct, frozen=True, gc=False):
    """One bookmaker's markets of one match."""

    key: str
    title: str = ""
    markets: tuple[Market, ...] = ()
    last_update: str | None = None


class Event(Struct, frozen=True, gc=False):
    """One match with what every bookmaker offers on it."""

    id: SourceMatchId
    sport_key: str = ""
    sport_title: str | None = None
    commence_time: str | None = None
    home_team: str | None = None
    away_team: str | None = None
    bookmakers: tuple[Lines, ...] = ()


_event = msgspec.json.Decoder(Event)
_any = msgspec.json.Decoder()


def decoded(decoder: msgspec.json.Decoder[T], raw: bytes | msgspec.Raw) -> T | None:
    """Decode a part of an answer; None where it is of another shape or no JSON at all."""
    try:
        return decoder.decode(raw)
    except UNREADABLE:
        return None


def read_event(raw: msgspec.Raw) -> Event | None:
    """Read one match; None where not even its id can be told."""
    if (event := decoded(_event, raw)) is not None:
        return event
    content = decoded(_any, raw)
    if not isinstance(content, dict) or not isinstance(content.get("id"), str):
        return None
    return Event(
        id=SourceMatchId(content["id"]),
        sport_key=_text(content, "sport_key") or "",
        sport_title=_text(content, "sport_title"),
        commence_time=_text(content, "commence_time"),
        home_team=_text(content, "home_team"),
        away_team=_text(content, "away_team"),
        bookmakers=tuple(_mended_lines(part) for part in _tables(content, "bookmakers", "key")),
    )


def _mended_lines(part: dict[str, Any]) -> Lines:
    markets = tuple(
        Market(market["key"], _mended_outcomes(market), _text(market, "last_update"))
        for market in _tables(part, "markets", "key")
    )
    return Lines(part["key"], _text(part, "title") or "", markets, _text(part, "last_update"))


def _mended_outcomes(market: dict[str, Any]) -> tuple[Outcome, ...]:
    return tuple(
        Outcome(outcome["name"], _price(outcome.get("price")))
        for outcome in _tables(market, "outcomes", "name")
    )


def _tables(table: dict[str, Any], name: str, named_by: str) -> list[dict[str, Any]]:
    """Give the tables in that list that have a name of their own."""
    parts = table.get(name)
    if not isinstance(parts, list):
        return []
    return [part for part in parts if isinstance(part, dict) and isinstance(part.get(named_by), str)]


def _text(table: dict[str, Any], name: str) -> str | None:
    value = table.get(name)
    return value if isinstance(value, str) else None


def _price(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    return float(value) if 0 < value < MAX_PRICE else 0.0
