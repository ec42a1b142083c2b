"""The life of a venue without a key: its events, and the prices that a service must and may show.

A life follows every answer that came whole. From these alone it reads the prices that hold, by the rules of
the venue's page: it knows nothing of groups, schedules or boards. All times are seconds of a virtual loop,
except kick-offs, which are Unix seconds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx2

from tests.support.peers.web import Answer

HOUR, DAY = 3600.0, 86_400.0
OVER_S = 3 * HOUR  # after its kick-off a match leaves, whatever a venue says
IN_PLAY_S = 60.0  # for so long a price counts once its match has kicked off
NEAR_BEFORE_S, NEAR_AFTER_S = 2 * HOUR, 2.5 * HOUR

Choose = Callable[[Sequence[Any]], Any]
Odds = tuple[float, ...]


@dataclass
class Quote:
    """The content of the last answer about a match: no odds if the match is not on offer.

    It was asked for at `asked`, and holds for some seconds at least and at most. `is_listed`: every list
    since then has the match unchanged, `of`.
    """

    odds: Odds | None
    of: Any
    start: float
    asked: float
    holds_s: tuple[float, float]
    is_listed: bool = True


@dataclass
class Listing:
    """A list that was read to its end: its matches, the first request and the last answer."""

    matches: Mapping[str, Any]
    asked: float
    done: float


@dataclass
class Reading:
    """The pages of a list so far, and the values that identify these pages."""

    asked: float
    items: list[Any] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)


class Life(ABC):
    """A venue with its tables; `wall_0` is the wall clock at second 0, a list holds for `listed_for_s`.

    It is polled in steps of `near_poll_s` and `far_poll_s`, as shipped, or a few times as long if it
    `is_slow`: a price holds for three of them.
    """

    name: str
    shipped: str
    listed_for_s: float
    near_poll_s: float
    far_poll_s: float
    slower: float
    answer: Answer

    def __init__(self, wall_0: float, *, is_slow: bool) -> None:
        self.wall_0 = wall_0
        self.config = self.shipped
        if is_slow:
            self.near_poll_s *= self.slower
            self.far_poll_s *= self.slower
            of = f'kind = "{self.name}"\n'
            steps = f"poll_interval_s = {self.near_poll_s}\nfar_interval_s = {self.far_poll_s}\n"
            self.config = self.shipped.replace(of, of + steps)
        self.quotes: dict[str, Quote] = {}

    @abstractmethod
    def add(self, number: int, start: float) -> None:
        """List a match, or list it again in its first form."""

    @abstractmethod
    def names(self) -> list[str]:
        """Return all matches that are listed."""

    @abstractmethod
    def happens(self, name: str, choose: Choose) -> None:
        """Change a state, a price or a kick-off of a match, or take away the container of its prices."""

    @abstractmethod
    def close(self, name: str, choose: Choose) -> None:
        """Suspend or hide a match, or a part of it, in any way; its prices stay."""

    @abstractmethod
    def settle(self, name: str) -> None:
        """End a match; its prices stay."""

    @abstractmethod
    def remove(self, name: str) -> None:
        """Take a match off the list."""

    @abstractmethod
    def follow(self, request: httpx2.Request, body: Any, asked: float, now: float) -> None:
        """Take an answer that came whole."""

    @abstractmethod
    def listings(self) -> list[Listing]:
        """Return the newest version of each list that was read to its end."""

    @abstractmethod
    def is_current(self, since: float) -> bool:
        """Return whether everything was asked for after `since`, and answered."""

    @abstractmethod
    def expected(self, now: float) -> dict[str, Odds]:
        """Return the odds of each match that is on offer now, by the tables."""

    def must(self, now: float) -> dict[str, Odds]:
        """Return the valid prices: the board must have them."""
        return {
            name: quote.odds
            for name, quote in self.quotes.items()
            if quote.odds is not None
            and quote.is_listed
            and now < quote.asked + self._held_s(quote, quote.holds_s[0], now)
            and self.wall_0 + now < quote.start + OVER_S
        }

    def may(self, now: float) -> dict[str, Odds]:
        """Return prices that were valid not too long ago, while a list still holds."""
        is_listed = any(now <= listing.asked + self.listed_for_s for listing in self.listings())
        return {
            name: quote.odds
            for name, quote in self.quotes.items()
            if is_listed
            and quote.odds is not None
            and now <= quote.asked + self._held_s(quote, quote.holds_s[1], now)
            and self.wall_0 + now <= quote.start + OVER_S
        }

    def _held_s(self, quote: Quote, holds_s: float, now: float) -> float:
        """Return for how long a price holds: in play, for a minute at most."""
        return min(holds_s, IN_PLAY_S) if quote.start <= self.wall_0 + now else holds_s

    def is_near(self, starts: Iterable[float], now: float) -> bool:
        """Return whether any kick-off is near."""
        wall = self.wall_0 + now
        return any(start - NEAR_BEFORE_S <= wall <= start + NEAR_AFTER_S for start in starts)


def last_before(listings: Sequence[Listing], now: float) -> list[Listing]:
    """Return the last list before a second; two lists if one came then, since their order is unknown."""
    before = [listing for listing in listings if listing.done <= now]
    return before[-2:][::-1] if before and before[-1].done == now else before[-1:]
