r"""The wire format of Polymarket: leagues and markets from one API, order books from another. Pure.

Real answers (cut):

    [{"sport": "xxx", "name": "XX", "ordering": "home", "tags": "1,82,100350", "primaryTagId": 82}]

    {"markets": [{"conditionId": "0x0a", "sportsMarketType": "moneyline", "groupItemTitle": "Home Town",
     "groupItemThreshold": "0", "outcomes": "[\"Yes\", \"No\"]", "clobTokenIds": "[\"11\", \"12\"]",
     "negRisk": true, "closed": false, "active": true, "acceptingOrders": true, "enableOrderBook": true,
     "feesEnabled": true, "feeSchedule": {"exponent": 1, "rate": 0.03, "takerOnly": true},
     "events": [{"id": "7", "title": "Home Town vs. Away United", "slug": "xx-home-away-2026-06-29",
      "startTime": "2026-06-29T20:30:00Z"}]}],
     "next_cursor": "abc"}

    [{"market": "0x0a", "asset_id": "11", "timestamp": "1783961277158", "neg_risk": true,
      "bids": [{"price": "0.405", "size": "27.5"}], "asks": [{"price": "0.99", "size": "5"}, ...]}]

Format: docs.polymarket.com. Missing values are left out. Texts that hold lists or tables are JSON.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from actors.core.errors import UNREADABLE, PayloadError
from actors.source_api.json_parts import split
from actors.source_api.parsing import Whole


class Sport(Struct, frozen=True, rename="camel"):
    """A league; `tags` are numbers separated by commas, `primary_tag_id` is its own tag, if given."""

    sport: str
    tags: str = ""
    name: str | None = None
    ordering: str | None = None
    primary_tag_id: Whole | str | None = None


class Team(Struct, frozen=True):
    """A team of an event."""

    name: str
    ordering: str | None = None


class Event(Struct, frozen=True, rename="camel"):
    """A market's match, or a part of it; then `parent_event_id` is the match's id."""

    id: str
    title: str | None = None
    slug: str | None = None
    start_time: str | None = None
    closed: bool | None = None
    ended: bool | None = None
    live: bool | None = None
    period: str | None = None
    parent_event_id: Any = None
    teams: tuple[Team, ...] | None = None


class Metadata(Struct, frozen=True, rename="camel"):
    """Another company's name for the outcome: `home`, `draw` or `away`."""

    optic_odds_selection_line: str | None = None


class FeeSchedule(Struct, frozen=True):
    """The fee of a taker: shares x rate x (price x (1 - price)) ^ exponent."""

    rate: float | None = None
    exponent: float | None = None


class Market(Struct, frozen=True, rename="camel"):
    """A question with two answers: yes and no, or its type's answers; some types have `line` and `slug`."""

    condition_id: str
    events: tuple[Event, ...]
    sports_market_type: str | None = None
    group_item_title: str | None = None
    group_item_threshold: str | Whole | None = None
    market_metadata: Metadata | None = None
    outcomes: str = ""
    clob_token_ids: str = ""
    game_start_time: str | None = None
    neg_risk: bool | None = None
    closed: bool | None = None
    active: bool | None = None
    accepting_orders: bool | None = None
    enable_order_book: bool | None = None
    fees_enabled: bool | None = None
    fee_schedule: FeeSchedule | None = None
    line: Any = None
    slug: Any = None


class Level(Struct, frozen=True, gc=False):
    """An offer at a price: a number of shares that pay 1 USD each."""

    price: str
    size: str


class OrderBook(Struct, frozen=True):
    """The order book of a token; its levels may be in any order."""

    asset_id: str
    asks: tuple[Level, ...]
    market: str | None = None
    timestamp: str | None = None
    neg_risk: bool | None = None


class _Page(Struct, frozen=True):
    markets: list[msgspec.Raw]
    next_cursor: str | None = None


_page = msgspec.json.Decoder(_Page)
_elements = msgspec.json.Decoder(list[msgspec.Raw])
_texts = msgspec.json.Decoder(tuple[str, ...])
SPORT = msgspec.json.Decoder(Sport)
MARKET = msgspec.json.Decoder(Market)
ORDER_BOOK = msgspec.json.Decoder(OrderBook)


def elements(body: bytes, what: str) -> list[msgspec.Raw]:
    """Return the elements of a JSON list, undecoded. Raises: PayloadError if it is not a list of `what`."""
    try:
        return split(_elements, body)
    except UNREADABLE as error:
        raise PayloadError(f"the body is no list of {what}: {error}") from error


def page(body: bytes) -> tuple[list[msgspec.Raw], str]:
    """Return the markets of a page, undecoded, and the cursor of the next page; "" if it is the last.

    Raises: PayloadError if it is not a page.
    """
    try:
        read = split(_page, body)
    except UNREADABLE as error:
        raise PayloadError(f"the body is no page of markets: {error}") from error
    return read.markets, read.next_cursor or ""


def text_of(value: Whole | str | None) -> str:
    """Return a number or a text as text, "" for None."""
    return "" if value is None else value if isinstance(value, str) else str(int(value))


def texts(text: str) -> tuple[str, ...]:
    """Read a list of texts in JSON; empty for anything else."""
    try:
        return _texts.decode(text)
    except UNREADABLE:
        return ()
