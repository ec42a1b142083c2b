"""Reading the answers of The Odds API: the odds of one sport, and the list of sports.

Pure. Errors are objects where lists are expected, also with status 200. Format: the API's documentation
of v4; pitfalls counted over 15,884 real markets.

One bookmaker's part of an answer is gathered match by match while it is decoded. Outcomes are told by
their names, never by their order, which is alphabetical. Only `h2h` with three outcomes is ours.
`last_update` is when a bookmaker's prices were refreshed, not when they changed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from math import inf

import msgspec
from msgspec import Struct

from actors.core.cooperative import Sliced
from actors.core.errors import UNREADABLE, PayloadError
from actors.core.messages import Match, Removal
from actors.core.validation import Reason, clean_name
from actors.source_api.parsing import Gathered, Memo, unix_time
from actors.sources.the_odds_api.blocks import Block, read_events, split
from actors.sources.the_odds_api.wire import Event, Lines, Market, decoded

MAX_ERROR_BYTES = 64 * 1024
"""What is longer says nothing of an error."""
CLOCKS_APART_S = 60.0
"""How far a refresh may seem to lie after the answer; what is later is no time at all."""
MAX_KICK_OFFS = 1000
"""So many of a sport are kept, in the order of the answer; a season has some hundreds."""
KNOWN_ERRORS = frozenset(
    {
        *("missing_key", "invalid_key", "deactivated_key", "exceeded_freq_limit", "out_of_usage_credits"),
        *("missing_region", "invalid_region", "invalid_bookmakers", "missing_market", "invalid_market"),
        *("invalid_market_combo", "unknown_sport", "invalid_sport"),
    }
)
"""Error codes that are counted by name; there cannot be more names than these."""


class Slate(Struct, frozen=True):
    """A decoded answer: by bookmaker key what it says of his prices.

    `unreadable` counts matches of which nothing can be told; `answered_at` is the API's clock (Unix
    seconds) when it answered; `kick_offs` are Unix seconds, each once, and not too many.
    """

    parts: Mapping[str, Part]
    kick_offs: Collection[int]
    answered_at: float | None
    unreadable: int = 0


class Sports(Struct, frozen=True):
    """The football keys that are in season and have matches."""

    keys: tuple[str, ...]


class _Sport(Struct, frozen=True):
    key: str
    active: bool = True
    has_outrights: bool = False


_sport = msgspec.json.Decoder(_Sport)
_any = msgspec.json.Decoder()
_KEY = re.compile("soccer_[a-z0-9_]{1,64}").fullmatch


def read_slate(body: bytes, answered_at: float | None) -> Sliced[Slate]:
    """Read the odds of one sport, in slices. Raises: PayloadError if they are not."""
    parts: defaultdict[str, Part] = defaultdict(Part)
    kick_offs: set[int] = set()
    unreadable = 0
    latest = inf if answered_at is None else answered_at + CLOCKS_APART_S
    for block in _blocks(body):
        for event in block:
            if event is None:
                unreadable += 1
                continue
            fixture = Fixture.of(event)
            if fixture.start_time is not None and len(kick_offs) < MAX_KICK_OFFS:
                kick_offs.add(fixture.start_time)
            for lines in event.bookmakers:
                parts[lines.key].add(fixture, lines, latest)
        for part in parts.values():
            part.matches.seal()
        yield
    return Slate(parts, kick_offs, answered_at, unreadable)


def read_sports(body: bytes) -> Sports:
    """Read the list of sports. Raises: PayloadError if it is none, or has no football."""
    try:
        read = [decoded(_sport, raw) for raw in split(body)]
    except UNREADABLE as error:
        raise _trouble(body, error) from error
    keys = tuple(one.key for one in read if one and one.active and not one.has_outrights and _KEY(one.key))
    if not keys:
        raise PayloadError("the list of sports has no football in season", "no_football")
    return Sports(tuple(dict.fromkeys(keys)))


def error_in(body: bytes) -> PayloadError | None:
    """Read what the API says went wrong; None if the body is no error of its own."""
    content = decoded(_any, body) if len(body) <= MAX_ERROR_BYTES else None
    if not (isinstance(content, dict) and isinstance(content.get("message"), str)):
        return None
    code = str(content.get("error_code")).lower()
    reason = code if code in KNOWN_ERRORS else "error_answer"
    said = "".join(character if character.isprintable() else " " for character in content["message"])
    return PayloadError(f"the answer was an error: {reason}: {said}", reason)


def _blocks(body: bytes) -> Iterator[Block]:
    try:
        yield from read_events(body)
    except UNREADABLE as error:
        raise _trouble(body, error) from error


def _trouble(body: bytes, error: Exception) -> PayloadError:
    return error_in(body) or PayloadError(f"the body is no list of matches: {error}")


FOOTBALL = "soccer_"
DRAW = "Draw"
OURS = "h2h"
LAY = "h2h_lay"
OUTCOMES = 3


class Fixture(Struct, frozen=True, gc=False):
    """A match, and what its bookmakers have in common: its start (Unix seconds), and whether it is fit.

    Fit is football between two teams with names of their own, at a time that can be.
    """

    event: Event
    home: str
    away: str
    start_time: int | None
    is_fit: bool

    @classmethod
    def of(cls, event: Event) -> Fixture:
        """Read what is common to all bookmakers."""
        start_time = unix_time(event.commence_time)
        home, away = event.home_team or "", event.away_team or ""
        is_fit = (
            (event.sport_key or "").startswith(FOOTBALL)
            and _are_told_apart(home, away)
            and (start_time is not None or event.commence_time is None)
        )
        return cls(event, home, away, None if start_time is None else int(start_time), is_fit)


class Part(Struct):
    """What an answer says of one bookmaker so far.

    `newest` is when its newest prices were refreshed (Unix seconds), None while nothing says so.
    """

    matches: Gathered[Match] = msgspec.field(default_factory=Gathered)
    removals: list[Removal] = []
    title: str | None = None
    newest: float | None = None
    lays: int = 0

    def add(self, fixture: Fixture, lines: Lines, latest: float) -> None:
        """Take the bookmaker's lines on one match; what is no match of ours is a removal, and why.

        No price can have been refreshed later than `latest`.
        """
        self.title = lines.title or self.title
        for market in lines.markets:
            if market.key == OURS:
                refreshed = None if market.last_update is None else _times[market.last_update]
                if refreshed is None or refreshed > latest:
                    refreshed = _refreshed(lines, latest)
                if refreshed is not None and (self.newest is None or refreshed > self.newest):
                    self.newest = refreshed
                match = _match(fixture, market, refreshed)
                if match is None:
                    self.removals.append(Removal(fixture.event.id, _fault(fixture.event, market)))
                else:
                    self.matches.add(match)
            elif market.key == LAY:
                self.lays += 1


_times = Memo(unix_time, size=8192, max_chars=40)


@lru_cache(maxsize=8192)
def _are_told_apart(home: str, away: str) -> bool:
    """Return whether both teams and the draw look different, as they are shown."""
    names = {clean_name(home), clean_name(away), DRAW}
    return len(names) == OUTCOMES and "" not in names


def _refreshed(lines: Lines, latest: float) -> float | None:
    """Return when a bookmaker's prices were refreshed, where a market has no time that can be."""
    at = unix_time(lines.last_update)
    return None if at is None or at > latest else at


def _match(fixture: Fixture, market: Market, refreshed: float | None) -> Match | None:
    """Return what a market offers; None unless its outcomes are home team, draw and away team."""
    if not fixture.is_fit or len(market.outcomes) != OUTCOMES:
        return None
    event, home, away = fixture.event, fixture.home, fixture.away
    one, two, three = market.outcomes
    prices = {one.name: one.price, two.name: two.price, three.name: three.price}
    try:
        return Match(  # in the order of its fields, which is half as dear: this is done for every price
            event.id,
            home,
            away,
            event.sport_title,
            prices[home],
            prices[DRAW],
            prices[away],
            fixture.start_time,
            refreshed,
        )
    except KeyError:
        return None


def _fault(event: Event, market: Market) -> Reason:
    """Name what keeps a market from being a match of ours."""
    names = [outcome.name for outcome in market.outcomes]
    teams = {event.home_team, event.away_team}
    if sorted(names) == sorted(filter(None, teams)):
        return Reason.TWO_WAY
    if not (event.sport_key or "").startswith(FOOTBALL):
        return Reason.SPORT
    if len(names) != OUTCOMES or len(set(names)) != OUTCOMES or {*teams, DRAW} != set(names):
        return Reason.OUTCOME
    if not _are_told_apart(event.home_team or "", event.away_team or ""):
        return Reason.OUTCOME
    return Reason.START_TIME
