"""Polymarket in memory: its leagues, its markets in pages, and its order books, for `peers/web.py`.

venue = Polymarket()
venue.add("101", "Home Town", "Away United", start=WALL_0 + 3600)
async with configured(folder, CONFIG, web=Web(venue.answer)) as service:
    ...
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

import httpx2

from tests.support.builders.polymarket import (
    ROLES,
    SOME,
    Levels,
    book_of,
    event_of,
    league_row,
    market_of,
    time_text,
    token_of,
)
from tests.support.builders.polymarket_lines import line_book, line_market
from tests.support.peers.web import serving

CONFIG = """
[sources.polymarket]
kind = "polymarket"
url = "http://gamma.example"
prices_url = "http://clob.example"

[bookmakers.polymarket]
name = "Polymarket"
source = "polymarket"
key = "polymarket"
"""


@dataclass
class Listed:
    """A match of the venue: unusual fields of its event, its markets and its books, by role."""

    event: dict[str, Any]
    tag: str
    asks: dict[str, Levels]
    markets: dict[str, dict[str, Any]] = field(default_factory=dict)
    books: dict[str, dict[str, Any]] = field(default_factory=dict)
    lines: list[dict[str, Any]] = field(default_factory=list)
    line_asks: dict[str, Levels] = field(default_factory=dict)

    def line(self, kind: str, line: float | None = None, team: str = "", **changed: Any) -> list[str]:
        """List a question beside the result, both of its outcomes at 0.52; return its tokens."""
        market = line_market(self.event, kind, line, team, **changed)
        self.lines.append(market)
        tokens: list[str] = json.loads(market["clobTokenIds"])
        self.line_asks.update((token, (("0.52", "1000"),)) for token in tokens)
        return tokens

    def market(self, role: str, **changed: Any) -> None:
        """Have a market say something else."""
        self.markets.setdefault(role, {}).update(changed)

    def every_market(self, **changed: Any) -> None:
        """Have all markets of the match say something else."""
        for role in ROLES:
            self.market(role, **changed)


class Polymarket:
    """The venue; markets (in pages of `page_size`) and books come in random order."""

    name, config, opens_s = "polymarket", CONFIG, 5.0

    def __init__(self, seed: int = 1, page_size: int = 100) -> None:
        self.leagues = [league_row()]
        self.matches: dict[str, Listed] = {}
        self.page_size = page_size
        self.random = Random(seed)
        self.posted: list[list[str]] = []

    def add(
        self,
        event_id: str,
        home: str = "Home Town",
        away: str = "Away United",
        *,
        start: float = 0.0,
        asks: Mapping[str, Levels] = SOME,
        tag: str = "82",
        **changed: Any,
    ) -> Listed:
        """List a match."""
        listed = Listed(event_of(event_id, home, away, start, **changed), tag, dict(asks))
        self.matches[event_id] = listed
        return listed

    def remove(self, event_id: str) -> None:
        """Take a match off the list."""
        del self.matches[event_id]

    def move(self, event_id: str, start: float) -> None:
        """Have a match kick off at another time."""
        self.matches[event_id].event["startTime"] = time_text(start)

    async def answer(self, request: httpx2.Request) -> httpx2.Response:
        """Answer a request."""
        match request.url.path:
            case "/sports":
                body: Any = self.leagues
            case "/markets/keyset":
                body = self.page(dict(request.url.params))
            case "/books":
                tokens = [item["token_id"] for item in json.loads(request.content)]
                self.posted.append(tokens)
                body = self.books(tokens)
            case path:
                raise AssertionError(path)
        return await serving(json.dumps(body).encode())(request)

    def markets(self, tag: str | None = None) -> list[dict[str, Any]]:
        """Return the markets of a tag, or of all tags."""
        return [
            market_of(listed.event, role, **listed.markets.get(role, {}))
            for listed in self.matches.values()
            if tag in {None, listed.tag}
            for role in ROLES
        ]

    def line_markets(self, tag: str, kind: str) -> list[dict[str, Any]]:
        """Return a tag's markets of a type beside the results, and markets that look like them."""
        return [
            market
            for listed in self.matches.values()
            if listed.tag == tag
            for market in listed.lines
            if kind in market["sportsMarketType"]
        ]

    def page(self, query: Mapping[str, str]) -> dict[str, Any]:
        """Return a page of the open markets of a tag."""
        assert "false" == query["closed"], query
        tag, kind = query["tag_id"], query["sports_market_types"]
        markets = self.markets(tag) if kind == "moneyline" else self.line_markets(tag, kind)
        begin = int(query.get("after_cursor", "0"))
        end = begin + self.page_size
        page = markets[begin:end]
        self.random.shuffle(page)
        return {"markets": page, **({"next_cursor": str(end)} if end < len(markets) else {})}

    def books(self, tokens: list[str]) -> list[dict[str, Any]]:
        """Return the books of these tokens; a role without asks has no book."""
        found = [
            book_of(event_id, role, listed.asks[role], **listed.books.get(role, {}))
            for event_id, listed in self.matches.items()
            for role in ROLES
            if role in listed.asks and token_of(event_id, role) in tokens
        ]
        found += [
            line_book(token, asks)
            for listed in self.matches.values()
            for token, asks in listed.line_asks.items()
            if token in tokens
        ]
        self.random.shuffle(found)
        return found
