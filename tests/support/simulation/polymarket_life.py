"""The life of Polymarket with two leagues."""

from __future__ import annotations

import json
from typing import Any

import httpx2

from tests.support.builders.polymarket import ROLES, league_row, time_text
from tests.support.oracles.polymarket_reading import Open, change, expected, odds_of, open_matches
from tests.support.peers.polymarket import CONFIG, Polymarket
from tests.support.simulation.venue_life import (
    DAY,
    HOUR,
    OVER_S,
    Choose,
    Life,
    Listing,
    Odds,
    Quote,
    Reading,
    last_before,
)

HORIZON_S = 14 * DAY


class PolymarketLife(Life):
    """The life of Polymarket: matches with even numbers are in one league, odd ones in another."""

    name, shipped, listed_for_s = "polymarket", CONFIG, 900.0
    near_poll_s, far_poll_s, slower = 5.0, 30.0, 3.0
    tags = ("82", "780")

    def __init__(self, wall_0: float, seed: int, page_size: int, *, is_slow: bool) -> None:
        super().__init__(wall_0, is_slow=is_slow)
        self.venue = Polymarket(seed, page_size)
        self.venue.leagues.append(league_row("lal", 780, name="La Liga"))
        self.answer = self.venue.answer
        self._readings: dict[str, Reading] = {}
        self._lists: dict[str, list[Listing]] = {tag: [] for tag in self.tags}

    def add(self, number: int, start: float) -> None:
        """List a match."""
        tag = self.tags[number % 2]
        self.venue.add(f"10{number}", f"Home {number}", f"Away {number}", start=start, tag=tag)

    def names(self) -> list[str]:
        """Return the matches."""
        return [*self.venue.matches]

    def happens(self, name: str, choose: Choose) -> None:
        """Change something about a match."""
        listed = self.venue.matches[name]
        match choose(("state", "price", "price", "left over", "kick-off")):
            case "state":
                change(self.venue, name, choose)
            case "price":
                level = (f"0.{choose(range(300, 420))}", choose(("4000", "50", "1")))
                listed.asks[choose(ROLES)] = [("0.9", "9000"), level]
            case "left over":
                listed.asks[choose(ROLES)] = [(choose(("0.99", "0.62", "0.45")), "9000")]
            case _:
                later = choose((HOUR, 30 * HOUR, 60 * HOUR, -30 * HOUR, 20 * DAY))
                listed.event["startTime"] = time_text(self.wall_0 + later)

    def close(self, name: str, choose: Choose) -> None:
        """Close a market or end the event, or take away a book."""
        listed, role = self.venue.matches[name], choose(ROLES)
        how = choose(("acceptingOrders", "active", "enableOrderBook", "ended", "period", "book"))
        if how == "book":
            listed.asks.pop(role, None)
        elif how in {"ended", "period"}:
            listed.event[how] = choose(("FT", "ET", "FT OT")) if how == "period" else True
        else:
            listed.market(role, **{how: False})

    def settle(self, name: str) -> None:
        """End a match."""
        listed = self.venue.matches[name]
        listed.event.update(ended=True, period="VFT")
        listed.every_market(closed=True, acceptingOrders=False)

    def remove(self, name: str) -> None:
        """Take a match off the list."""
        del self.venue.matches[name]

    def follow(self, request: httpx2.Request, body: Any, asked: float, now: float) -> None:
        """Take a page of markets, or books."""
        query = request.url.params
        if request.url.path == "/markets/keyset":
            self._page(query["tag_id"], query.get("after_cursor"), body, asked, now)
        elif request.url.path == "/books":
            self._books({item["token_id"] for item in json.loads(request.content)}, body, asked, now)

    def listings(self) -> list[Listing]:
        """Return the newest list of each league."""
        return [listings[-1] for listings in self._lists.values() if listings]

    def is_current(self, since: float) -> bool:
        """Return whether both leagues were asked for after `since`, and then all books."""
        newest = self.listings()
        return len(newest) == len(self.tags) and all(
            listing.asked >= since
            and all(
                name in self.quotes and self.quotes[name].asked > listing.done for name in listing.matches
            )
            for listing in newest
        )

    def expected(self, now: float) -> dict[str, Odds]:
        """Return the odds by the tables."""
        wall, odds = self.wall_0 + now, expected(self.venue)
        listed = open_matches(self.venue.markets())
        return {name: odds[name] for name in odds if -OVER_S < listed[name].start - wall <= HORIZON_S}

    def _page(self, tag: str, cursor: str | None, page: Any, asked: float, now: float) -> None:
        if cursor is None:
            self._readings[tag] = Reading(asked)
        reading = self._readings.get(tag)
        if reading is None:
            return
        reading.items += page["markets"]
        following = page.get("next_cursor", "")
        if following in reading.seen:  # the pages form a circle
            del self._readings[tag]
        elif following:
            reading.seen.add(following)
        else:
            del self._readings[tag]
            self._listed(tag, Listing(self._shown(reading.items, now), reading.asked, now))

    def _shown(self, markets: list[Any], now: float) -> dict[str, Open]:
        wall = self.wall_0 + now
        return {
            name: match
            for name, match in open_matches(markets).items()
            if -2 * OVER_S <= match.start - wall <= HORIZON_S
        }

    def _listed(self, tag: str, listing: Listing) -> None:
        self._lists[tag].append(listing)
        for name, quote in self.quotes.items():
            if self.tags[int(name) % 2] == tag:
                quote.is_listed &= _is_same(quote.of, listing.matches.get(name))

    def _books(self, tokens: set[str], books: list[Any], asked: float, now: float) -> None:
        found: dict[str, Open] = {}
        for listings in self._lists.values():
            for listing in last_before(listings, now):
                asked_for = {
                    name: match
                    for name, match in listing.matches.items()
                    if tokens.issuperset(match.tokens)
                }
                found = {**asked_for, **found}
        newest = {name: match for listing in self.listings() for name, match in listing.matches.items()}
        near_s, far_s = 3 * self.near_poll_s, 3 * self.far_poll_s
        holds_s = near_s if self.is_near((match.start for match in found.values()), now) else far_s
        is_changed = any(listing.done >= asked for listing in self.listings())
        for name, match in found.items():
            odds, bounds = (
                odds_of(match.tokens, books),
                (near_s, far_s) if is_changed else (holds_s, holds_s),
            )
            is_listed = _is_same(match, newest.get(name)) and not is_changed
            self.quotes[name] = Quote(odds, match, match.start, asked, bounds, is_listed)
        for name in set(self.quotes) - set(found):  # quotes of a group that has lost the match meanwhile
            if not self.quotes[name].is_listed and tokens.issuperset(self.quotes[name].of.tokens):
                del self.quotes[name]


def _is_same(old: Open, new: Open | None) -> bool:
    """Return whether a match is still asked for in the same way, in the same group."""
    return new is not None and (old.tokens, old.start // DAY) == (new.tokens, new.start // DAY)
