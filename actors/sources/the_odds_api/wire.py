"""The wire format of The Odds API: one match with its bookmakers, markets and outcomes.

Pure. A real match (cut to one bookmaker):

    {"id": "5ed0...", "sport_key": "soccer_xx", "sport_title": "XX",
     "commence_time": "2026-01-16T19:00:00Z", "home_team": "Home Town", "away_team": "Away United",
     "bookmakers": [{"key": "some_eu", "title": "Some", "last_update": "2026-01-14T16:22:51Z",
      "markets": [{"key": "h2h", "last_update": "2026-01-14T16:22:51Z", "outcomes": [
       {"name": "Away United", "price": 5.5}, {"name": "Draw", "price": 4.3}, ...]}]}]}

Format: the API's documentation of v4. What has another shape is mended part by part, so that one
bookmaker's nonsense costs nobody else his prices. A part that says one of its fields twice is left out:
which of the two holds cannot be told, and a JSON reader takes the last without a word.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Struct

from actors.core.errors import UNREADABLE
from actors.core.messages import SourceMatchId

T = TypeVar("T")

MAX_PRICE = 1001.0
"""Bookmakers end at 1001, exchanges at 1000; a larger number is another thing, or a slip."""


class Outcome(Struct, frozen=True, gc=False):
    """One outcome; `price` is 0.0, which nothing accepts, where it is no number, or too large a one."""

    name: str
    price: Annotated[float, Meta(le=MAX_PRICE)]


class Market(Struct, frozen=True, gc=False):
    """One market of one bookmaker."""

    key: str
    outcomes: tuple[Outcome, ...]
    last_update: str | None = None


class Lines(Struct, frozen=True, gc=False):
    """One bookmaker's markets of one match."""

    key: str
    markets: tuple[Market, ...]
    title: str = ""
    last_update: str | None = None


class Event(Struct, frozen=True, gc=False):
    """One match with what every bookmaker offers on it."""

    id: SourceMatchId
    bookmakers: tuple[Lines, ...]
    sport_key: str | None = None
    sport_title: str | None = None
    commence_time: str | None = None
    home_team: str | None = None
    away_team: str | None = None


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
    event = decoded(_event, raw)
    if event is not None and says_once(bytes(raw), [event]):
        return event
    content = _without_doubled(raw)
    if not isinstance(content, dict) or not isinstance(content.get("id"), str):
        return None
    return Event(
        id=SourceMatchId(content["id"]),
        sport_key=_text(content, "sport_key"),
        sport_title=_text(content, "sport_title"),
        commence_time=_text(content, "commence_time"),
        home_team=_text(content, "home_team"),
        away_team=_text(content, "away_team"),
        bookmakers=tuple(_mended_lines(part) for part in _tables(content, "bookmakers", "key")),
    )


def says_once(text: bytes, events: Sequence[Event]) -> bool:
    """Return whether `text` holds nothing but the fields of these matches, each of them once.

    By the number of its quotation marks, for every field has those of its name. One that nobody knows
    makes more of them as well, and harms nothing: then the text is read in a slower way.
    """
    bookmakers = markets = outcomes = missing = 0
    for event in events:
        texts = (event.sport_key, event.sport_title, event.commence_time, event.home_team, event.away_team)
        missing += texts.count(None)
        bookmakers += len(event.bookmakers)
        for lines in event.bookmakers:
            if not lines.title or lines.last_update is None:
                missing += (not lines.title) + (lines.last_update is None)
            markets += len(lines.markets)
            for market in lines.markets:
                outcomes += len(market.outcomes)
                if market.last_update is None:
                    missing += 1
    marks = 26 * len(events) + 14 * bookmakers + 10 * markets + 6 * outcomes - 4 * missing
    return text.count(b'"') == marks


def _without_doubled(raw: msgspec.Raw) -> Any:
    """Read it with None for each table that says a field twice; None if it cannot be read."""
    if decoded(_any, raw) is None:  # which knows more errors than the slower reader
        return None
    try:
        return json.loads(bytes(raw), object_pairs_hook=_table)
    except UNREADABLE:
        return None


def _table(fields: list[tuple[str, Any]]) -> dict[str, Any] | None:
    table = dict(fields)
    return table if len(table) == len(fields) else None


def _mended_lines(part: dict[str, Any]) -> Lines:
    markets = tuple(
        Market(market["key"], _mended_outcomes(market), _text(market, "last_update"))
        for market in _tables(part, "markets", "key")
    )
    return Lines(part["key"], markets, _text(part, "title") or "", _text(part, "last_update"))


def _mended_outcomes(market: dict[str, Any]) -> tuple[Outcome, ...]:
    return tuple(
        Outcome(outcome["name"], _price(outcome.get("price")))
        for outcome in _tables(market, "outcomes", "name")
    )


def _tables(table: dict[str, Any], name: str, named_by: str) -> list[dict[str, Any]]:
    """Return the tables in that list that have a name of their own."""
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
    return float(value) if 0 < value <= MAX_PRICE else 0.0
