"""The wire format of The Odds API: a match with its bookmakers, markets and outcomes.

Pure. A real match (cut to one bookmaker):

    {"id": "5ed0...", "sport_key": "soccer_xx", "sport_title": "XX",
     "commence_time": "2026-01-16T19:00:00Z", "home_team": "Home Town", "away_team": "Away United",
     "bookmakers": [{"key": "some_eu", "title": "Some", "last_update": "2026-01-14T16:22:51Z",
      "markets": [{"key": "h2h", "last_update": "2026-01-14T16:22:51Z", "outcomes": [
       {"name": "Away United", "price": 5.5}, {"name": "Draw", "price": 4.3}, ...]}]}]}

Format: the API's documentation of v4. A part of another shape, with a field of another type or a field
twice, is refused by itself, so that a fault of one bookmaker does not affect the others. An optional field
may be absent or null, but not of another type.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from actors.core.errors import UNREADABLE
from actors.core.messages import SourceMatchId
from actors.source_api.json_parts import part

Url: TypeAlias = str | UnsetType | None  # requested by `links`; null if the bookmaker has no address

MAX_POINT = 1000.0  # far above any line
MAX_PRICE = 1001.0  # bookmakers end at 1001, exchanges at 1000


class Outcome(Struct, frozen=True, gc=False):
    """An outcome; an invalid `price` is 0.0, which is never accepted.

    `point` is its line in goals, if any. An outcome with a `description` belongs to a team's or player's
    bet.
    """

    name: str
    price: Annotated[float, Meta(le=MAX_PRICE)]
    link: Url = UNSET
    point: float | UnsetType | None = UNSET
    description: str | UnsetType | None = UNSET


class OddsMarket(Struct, frozen=True, gc=False):
    """A market of a bookmaker."""

    key: str
    outcomes: tuple[Outcome, ...]
    last_update: str | None = None
    link: Url = UNSET


class BookmakerMarkets(Struct, frozen=True, gc=False):
    """A bookmaker's markets of a match."""

    key: str
    markets: tuple[OddsMarket, ...]
    title: str = ""
    last_update: str | None = None
    link: Url = UNSET


class OddsEvent(Struct, frozen=True, gc=False):
    """A match with the offers of every bookmaker."""

    id: SourceMatchId
    bookmakers: tuple[BookmakerMarkets, ...]
    sport_key: str | None = None
    sport_title: str | None = None
    commence_time: str | None = None
    home_team: str | None = None
    away_team: str | None = None


class OddMarket(OddsMarket, frozen=True, gc=False):
    """An unreadable market: its bookmaker's offer for the match is unknown."""


class PartialEvent(OddsEvent, frozen=True, gc=False):
    """A match with unreadable parts.

    `is_odd`: one of its own fields is of another type. Otherwise `lost` counts parts of unknown bookmakers.
    """

    is_odd: bool = False
    lost: int = 0


OURS = "h2h"
LOST = ""
"""The key of a market whose key is unreadable."""
_TEXTS = ("sport_key", "sport_title", "commence_time", "home_team", "away_team")

_event = msgspec.json.Decoder(OddsEvent)
ELEMENTS = msgspec.json.Decoder(list[msgspec.Raw])
_any = msgspec.json.Decoder()


def read_event(raw: msgspec.Raw) -> OddsEvent | None:
    """Read a match, part by part if necessary; None if it has no id."""
    event = part(_event, raw)
    if event is not None and _has_each_field_once(bytes(raw), event):
        return event
    content = _without_doubled_fields(raw)
    if not isinstance(content, dict) or not isinstance(content.get("id"), str):
        return None
    found = content.get("bookmakers")
    listed = _objects(content, "bookmakers", "key")
    bookmakers = tuple(map(_bookmaker_markets, listed))
    return PartialEvent(
        SourceMatchId(content["id"]),
        bookmakers,
        **{name: _text(content, name) for name in _TEXTS},
        is_odd=not all(_is_text(content.get(name)) for name in _TEXTS),
        lost=len(found) - len(listed) if isinstance(found, list) else 1,
    )


def _has_each_field_once(text: bytes, event: OddsEvent) -> bool:
    """Return whether `text` contains only the fields of this match, each once.

    Counts quotation marks: two for each field's name, and two for each text value. Anything else in `text`
    (a doubled or unknown field, a null, an escaped mark) adds marks.
    """
    texts = (event.sport_key, event.sport_title, event.commence_time, event.home_team, event.away_team)
    missing, markets, outcomes = texts.count(None), 0, 0
    for bookmaker in event.bookmakers:
        missing += (not bookmaker.title) + (bookmaker.last_update is None)
        markets += len(bookmaker.markets)
        for market in bookmaker.markets:
            outcomes += len(market.outcomes)
            missing += market.last_update is None
    marks = 26 + 14 * len(event.bookmakers) + 10 * markets + 6 * outcomes - 4 * missing
    if b'"link"' in text:
        marks += sum(map(_marks, _links(event)))
    if b'"point"' in text or b'"description"' in text:
        marks += sum(map(_marks_of_line, _outcomes_of(event)))
    return text.count(b'"') == marks


def _links(event: OddsEvent) -> Iterator[Url]:
    for bookmaker in event.bookmakers:
        yield bookmaker.link
        for market in bookmaker.markets:
            yield market.link
            yield from [outcome.link for outcome in market.outcomes]


def _outcomes_of(event: OddsEvent) -> Iterator[Outcome]:
    for bookmaker in event.bookmakers:
        for market in bookmaker.markets:
            yield from market.outcomes


def _marks_of_line(outcome: Outcome) -> int:
    return 2 * (outcome.point is not UNSET) + _marks(outcome.description)


def _marks(text: Url) -> int:
    """Return the quotation marks of a field with this value."""
    return 0 if text is UNSET else 2 if text is None else 4


def _without_doubled_fields(raw: msgspec.Raw) -> Any:
    """Decode with None for each object that has a field twice; None if that is impossible."""
    if part(_any, raw) is None:  # `json` accepts more than JSON
        return None
    try:
        return json.loads(bytes(raw), object_pairs_hook=_object)
    except UNREADABLE:
        return None


def _object(fields: list[tuple[str, Any]]) -> dict[str, Any] | None:
    table = dict(fields)
    return table if len(table) == len(fields) else None


def _bookmaker_markets(table: dict[str, Any]) -> BookmakerMarkets:
    markets = [_market(market) for market in _objects(table, "markets", "key")]
    if not _is_text(table.get("last_update")):
        markets = [OddMarket(market.key, ()) for market in markets]
    found = table.get("markets")
    lost = len(found) - len(markets) if isinstance(found, list) else 0
    if not isinstance(found, list) or (len(markets) < len(found) and OURS not in {m.key for m in markets}):
        markets.append(OddMarket(OURS, ()))  # this part may be the missing market
    return BookmakerMarkets(
        table["key"],
        (*markets, *[OddMarket(LOST, ())] * lost),
        _text(table, "title") or "",
        _text(table, "last_update"),
        _text(table, "link"),
    )


def _market(market: dict[str, Any]) -> OddsMarket:
    if not _is_text(market.get("last_update")):
        return OddMarket(market["key"], ())
    return OddsMarket(market["key"], _outcomes(market), _text(market, "last_update"))


def _outcomes(market: dict[str, Any]) -> tuple[Outcome, ...]:
    outcomes = _objects(market, "outcomes", "name")
    return tuple(
        Outcome(
            item["name"],
            _price(item.get("price")),
            point=_point(item.get("point")),
            description=None if item.get("description") is None else str(item["description"]),
        )
        for item in outcomes
    )


def _objects(table: dict[str, Any], name: str, id_field: str) -> list[dict[str, Any]]:
    """Return the objects in the list `name` whose `id_field` is a text."""
    found = table.get(name)
    if not isinstance(found, list):
        return []
    return [item for item in found if isinstance(item, dict) and isinstance(item.get(id_field), str)]


def _is_text(value: object) -> bool:
    """Return whether a value is a text, or absent."""
    return value is None or isinstance(value, str)


def _text(table: dict[str, Any], name: str) -> str | None:
    value = table.get(name)
    return value if isinstance(value, str) else None


def _price(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    return float(value) if 0 < value <= MAX_PRICE else 0.0


def _point(value: object) -> float | None:
    """Return a point as a number; None if it is not a valid number."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) <= MAX_POINT else None  # type: ignore[arg-type]
