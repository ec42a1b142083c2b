"""Reads the answers of The Odds API: the odds of a sport, and the list of sports. Pure.

Errors are objects in place of lists, also with status 200. Outcomes are in alphabetical order, so that only
their names identify them. `last_update` is the time of a refresh of prices, not of a change.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from functools import lru_cache
from math import inf

import msgspec
from msgspec import Struct

from actors.core.cooperative import Sliced
from actors.core.errors import UNREADABLE, PayloadError
from actors.core.messages import Match, Removal, SourceMatchId, market_id
from actors.core.validation import Reason, clean_name
from actors.source_api.json_parts import part, split
from actors.source_api.parsing import unix_time
from actors.sources.the_odds_api.lines import KINDS, lines_of
from actors.sources.the_odds_api.wire import (
    ELEMENTS,
    LOST,
    OURS,
    BookmakerMarkets,
    OddMarket,
    OddsEvent,
    OddsMarket,
    PartialEvent,
    read_event,
)

MAX_ERROR_BYTES = 64 * 1024  # a longer body is not read as an error of the API
CLOCKS_APART_S = 60.0  # a refresh may be this much later than the answer; a later time is ignored
MAX_UNREAD, MAX_KEY_CHARS = 10, 40  # keys of unread markets in a note, and their length
MAX_KICK_OFFS = 1000  # kept kick-offs of a sport; a season has some hundreds
KNOWN_ERRORS = frozenset(  # codes counted by name; all others are counted together
    {
        *("missing_key", "invalid_key", "deactivated_key", "exceeded_freq_limit", "out_of_usage_credits"),
        *("missing_region", "invalid_region", "invalid_bookmakers", "missing_market", "invalid_market"),
        *("invalid_market_combo", "unknown_sport", "invalid_sport"),
    }
)
FOOTBALL = "soccer_"
DRAW = "Draw"
LAY = "h2h_lay"
OUTCOMES = 3


class Asked(Struct, frozen=True):
    """The requested markets: whether 1X2 is one of them, and the keys of other markets."""

    result: bool
    others: frozenset[str]


class Offers(Struct):
    """The part of an answer about a bookmaker; `newest` is its last refresh (Unix seconds), or None.

    `passed_over` counts unread markets other than 1X2, `unread` has the keys of unknown markets, `listed`
    counts the occurrences of each match; all three are empty if only 1X2 was requested.
    """

    matches: list[Match] = []
    removals: list[Removal] = []
    title: str | None = None
    newest: float | None = None
    lays: int = 0
    passed_over: Counter[str] = msgspec.field(default_factory=Counter)
    unread: set[str] = msgspec.field(default_factory=set)
    listed: Counter[SourceMatchId] = msgspec.field(default_factory=Counter)

    def add(self, match: CommonFacts, offered: BookmakerMarkets, latest: float, asked: Asked) -> None:
        """Add a match, or its removal, for each requested market.

        Times of refresh later than `latest` are ignored.
        """
        self.title = offered.title or self.title
        has_result = not asked.result
        if asked.others:
            self.listed[match.event.id] += 1
        for market in offered.markets:
            if market.key == OURS:
                has_result = True
                refreshed, url = self._refreshed(market, offered, latest), _url(offered)
                odds = _odds(match, market, refreshed, url)
                if odds is None:
                    self.removals.append(Removal(match.event.id, _fault(match.event, market)))
                else:
                    self.matches.append(odds)
            elif market.key == LAY:
                self.lays += 1
            elif market.key in asked.others:
                self._add_lines(match, market, self._refreshed(market, offered, latest), _url(offered))
            elif asked.others:
                self._pass_over(market.key)
        if not has_result:
            self.removals.append(Removal(match.event.id, Reason.NO_RESULT))

    def _add_lines(
        self, match: CommonFacts, listed: OddsMarket, refreshed: float | None, url: str | None
    ) -> None:
        """Add the lines of a market, or their removals."""
        if not match.is_fit:
            self.passed_over[_unfit(match.event)] += 1
            return
        event, kind = match.event, KINDS[listed.key]
        for line in lines_of(listed, kind, match.home, match.away):
            if line.market is None:
                self.passed_over[line.reason or Reason.OUTCOME] += 1
            elif line.reason is not None:
                self.removals.append(Removal(market_id(event.id, line.market), line.reason))
            else:
                self.matches.append(_match(match, refreshed, url).of_market(line.market, line.odds))

    def _refreshed(self, market: OddsMarket, offered: BookmakerMarkets, latest: float) -> float | None:
        """Return the time of a market's refresh, and note the newest one."""
        refreshed = None if market.last_update is None else unix_time(market.last_update)
        if refreshed is None or refreshed > latest:
            refreshed = unix_time(offered.last_update)
        if refreshed is not None and refreshed > latest:
            refreshed = None
        if refreshed is not None and (self.newest is None or refreshed > self.newest):
            self.newest = refreshed
        return refreshed

    def _pass_over(self, key: str) -> None:
        self.passed_over[Reason.UNREADABLE if key == LOST else Reason.MARKET] += 1
        if key != LOST and len(self.unread) < MAX_UNREAD:
            self.unread.add(key[:MAX_KEY_CHARS])


class OddsAnswer(Struct, frozen=True):
    """The odds of a sport, by bookmaker key; times in Unix seconds.

    `unreadable` counts matches without an id, and parts of matches without a known bookmaker.
    """

    offers: Mapping[str, Offers]
    kick_offs: Collection[int]
    answered_at: float | None
    unreadable: int = 0


class Sports(Struct, frozen=True):
    """The keys of football leagues that are in season and have matches."""

    keys: tuple[str, ...]


class CommonFacts(Struct, frozen=True, gc=False):
    """A match; `is_fit` if it is football, its teams have different names, and its time is possible."""

    event: OddsEvent
    home: str
    away: str
    start_time: int | None
    is_fit: bool


class _Sport(Struct, frozen=True):
    key: str
    active: bool = True
    has_outrights: bool = False


_sport = msgspec.json.Decoder(_Sport)
_any = msgspec.json.Decoder()
_KEY = re.compile("soccer_[a-z0-9_]{1,64}").fullmatch


def read_odds(
    body: bytes, answered_at: float | None, asked: Collection[str] = (OURS,)
) -> Sliced[OddsAnswer]:
    """Read the odds of a sport, in slices; `asked` are the keys of the markets to read.

    Raises: PayloadError if they cannot be read.
    """
    offers: defaultdict[str, Offers] = defaultdict(Offers)
    kick_offs: set[int] = set()
    unreadable = 0
    latest = inf if answered_at is None else answered_at + CLOCKS_APART_S
    wanted = Asked(OURS in asked, frozenset(asked) - {OURS})
    for raw in _elements(body):
        yield
        if (event := read_event(raw)) is None:
            unreadable += 1
            continue
        unreadable += event.lost if isinstance(event, PartialEvent) else 0
        match = _common_facts(event)
        if match.start_time is not None and len(kick_offs) < MAX_KICK_OFFS:
            kick_offs.add(match.start_time)
        for offered in event.bookmakers:
            offers[offered.key].add(match, offered, latest, wanted)
    return OddsAnswer(offers, kick_offs, answered_at, unreadable)


def read_sports(body: bytes) -> Sports:
    """Read the list of sports. Raises: PayloadError if it is no such list, or lacks football."""
    sports = [part(_sport, raw) for raw in _elements(body)]
    keys = tuple(
        sport.key
        for sport in sports
        if sport and sport.active and not sport.has_outrights and _KEY(sport.key)
    )
    if not keys:
        raise PayloadError("the list of sports has no football in season", "no_football")
    return Sports(tuple(dict.fromkeys(keys)))


def error_in(body: bytes) -> PayloadError | None:
    """Read the API's error in a body; None if there is none."""
    content = part(_any, body) if len(body) <= MAX_ERROR_BYTES else None
    if not (isinstance(content, dict) and isinstance(content.get("message"), str)):
        return None
    code = str(content.get("error_code")).lower()
    reason = code if code in KNOWN_ERRORS else "error_answer"
    said = "".join(character if character.isprintable() else " " for character in content["message"])
    return PayloadError(f"the answer was an error: {reason}: {said}", reason)


def _elements(body: bytes) -> list[msgspec.Raw]:
    try:
        return split(ELEMENTS, body)
    except UNREADABLE as error:
        raise (error_in(body) or PayloadError(f"the body is no list of matches: {error}")) from error


def _common_facts(event: OddsEvent) -> CommonFacts:
    start_time = unix_time(event.commence_time)
    home, away = event.home_team or "", event.away_team or ""
    is_fit = (
        not _is_odd(event)
        and (event.sport_key or "").startswith(FOOTBALL)
        and _have_own_names(home, away)
        and (start_time is not None or event.commence_time is None)
    )
    return CommonFacts(event, home, away, None if start_time is None else int(start_time), is_fit)


@lru_cache(maxsize=8192)
def _have_own_names(home: str, away: str) -> bool:
    """Return whether the shown names of both teams and the draw differ."""
    names = {clean_name(home), clean_name(away), DRAW}
    return len(names) == OUTCOMES and "" not in names


def _odds(match: CommonFacts, market: OddsMarket, refreshed: float | None, url: str | None) -> Match | None:
    """Return a 1X2 market's match; None unless its outcomes are home team, draw and away team."""
    if not match.is_fit or len(market.outcomes) != OUTCOMES:
        return None
    event, home, away = match.event, match.home, match.away
    first, second, third = market.outcomes
    prices = {first.name: first.price, second.name: second.price, third.name: third.price}
    try:
        # Positional arguments take half the time, and this runs for every price.
        return Match(
            event.id,
            home,
            away,
            event.sport_title,
            prices[home],
            prices[DRAW],
            prices[away],
            match.start_time,
            refreshed,
            None,
            None,
            0.0,
            None,
            url,
        )
    except KeyError:
        return None


def _fault(event: OddsEvent, market: OddsMarket) -> Reason:
    """Return why a market is rejected."""
    if isinstance(market, OddMarket) or _is_odd(event):
        return Reason.TYPE
    names = [outcome.name for outcome in market.outcomes]
    teams = {event.home_team, event.away_team}
    if sorted(names) == sorted(filter(None, teams)):
        return Reason.TWO_WAY
    if not (event.sport_key or "").startswith(FOOTBALL):
        return Reason.SPORT
    is_complete = len(names) == OUTCOMES and {*teams, DRAW} == set(names)
    is_told_apart = _have_own_names(event.home_team or "", event.away_team or "")
    return Reason.START_TIME if is_complete and is_told_apart else Reason.OUTCOME


def _unfit(event: OddsEvent) -> Reason:
    """Return why all markets of an unfit match are rejected."""
    if _is_odd(event):
        return Reason.TYPE
    if not (event.sport_key or "").startswith(FOOTBALL):
        return Reason.SPORT
    is_told_apart = _have_own_names(event.home_team or "", event.away_team or "")
    return Reason.START_TIME if is_told_apart else Reason.OUTCOME


def _match(match: CommonFacts, refreshed: float | None, url: str | None) -> Match:
    """Return a match without prices."""
    event = match.event
    start, title = match.start_time, event.sport_title
    listed = Match(event.id, match.home, match.away, title, 0.0, 0.0, 0.0, start, refreshed)
    return listed if url is None else msgspec.structs.replace(listed, url=url)


def _url(offered: BookmakerMarkets) -> str | None:
    return offered.link if isinstance(offered.link, str) else None


def _is_odd(event: OddsEvent) -> bool:
    return isinstance(event, PartialEvent) and event.is_odd
