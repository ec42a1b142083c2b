"""Makes matches with prices from the answers of 5DollarFootballAPI. Pure.

Before the kick-off the present price is `closing`. In play it is `inplay`, and null means suspended.
`opening` is history. `closing` is history, too, as soon as any bookmaker has a price of any market in play.

Each market of a bookmaker is read from one place. The lists of matches have Bet365's 1X2 prices, and all
its prices in play. The odds by match have everything else before the kick-off; they are not read in play,
because they do not say whether the match is over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final, TypeVar

import msgspec
from msgspec import Raw, Struct

from actors.core.messages import Extract, Match, Removal, SourceMatchId
from actors.core.validation import MAX_START_TIME, Reason, clean_name
from actors.markets.market import Kind, Market, market_of
from actors.source_api.groups import Group, after_preface
from actors.source_api.parsing import unix_time
from actors.sources.five_dollar_football.wire import (
    Fixture,
    MatchOdds,
    Offered,
    Row,
    market_of_raw,
    read_odds,
)

T = TypeVar("T")

_NONE = frozenset({b"", b"null"})

BET365, TITLE = "bet365", "Bet365"
SCHEDULED, BEGUN, ENDED = "scheduled", "in_play", "finished"
SUSPENDED, FINISHED, WITHDRAWN = "suspended", "finished", "withdrawn"
RESULT = "1x2"
NAMES: Final[Mapping[Kind, str]] = {
    Kind.ASIAN_HANDICAP: "asian_handicap",
    Kind.OVER_UNDER: "goal_line",
    Kind.BTTS: "btts",
}
LOOK_ALIKES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("corner_line", "corner_asian", "corner_line_half"), Reason.CORNERS),
    **dict.fromkeys(("card_line", "card_asian"), Reason.CARDS),
    **dict.fromkeys(("1x2_half", "asian_handicap_half", "goal_line_half"), Reason.HALVES),
}
"""The names of markets that are not read, with the reasons under which they are counted."""


class ListedMatch(Struct, frozen=True):
    """A match in a list; `start` is in Unix seconds."""

    id: SourceMatchId
    home: str
    away: str
    league: str | None
    start: int
    in_play: bool = False


class Lists(Struct, frozen=True):
    """Matches of a list at `at` (Unix seconds); either all in play or none."""

    rows: tuple[Row, ...]
    at: float
    in_play: bool


class OddsByMatch(Struct, frozen=True):
    """A group of one match, and its odds at `at` (Unix seconds); None for a group without a match.

    The match has begun if any bookmaker has a price in play.
    """

    group: Group[ListedMatch]
    odds: MatchOdds | None
    at: float
    has_begun: bool = False


class _Moments(Struct, frozen=True):
    closing: Raw = Raw()
    inplay: Raw = Raw()


class _Result(Struct, frozen=True):
    home: float | None = None
    draw: float | None = None
    away: float | None = None


class _Handicap(Struct, frozen=True):
    line: float
    home: float | None = None
    away: float | None = None


class _Total(Struct, frozen=True):
    line: float
    over: float | None = None
    under: float | None = None


class _Both(Struct, frozen=True):
    yes: float | None = None
    no: float | None = None


_group = msgspec.json.Decoder(Group[ListedMatch])
_moments = msgspec.json.Decoder(_Moments)
_result = msgspec.json.Decoder(_Result)
_handicap = msgspec.json.Decoder(_Handicap)
_total = msgspec.json.Decoder(_Total)
_both = msgspec.json.Decoder(_Both)
_bookmakers = msgspec.json.Decoder(list[Offered])


def read_group(body: bytes, at: float) -> OddsByMatch:
    """Read a group and its odds. Raises: PayloadError if they cannot be read."""
    group, answer = after_preface(body, _group)
    odds = read_odds(answer) if group.matches else None
    has_begun = odds is not None and any(_are_in_play(each.odds) for each in odds.bookmakers)
    return OddsByMatch(group, odds, at, has_begun)


def listed_match(fixture: Fixture) -> ListedMatch | Removal:
    """Return a match of a list, or why it is not shown."""
    name = SourceMatchId(str(int(fixture.id)))
    if fixture.status not in {SCHEDULED, BEGUN}:
        return Removal(name, FINISHED if fixture.status == ENDED else SUSPENDED)
    home, away = clean_name(fixture.teams.home.name), clean_name(fixture.teams.away.name)
    if "" in {home, away} or home == away:
        return Removal(name, Reason.OUTCOME)
    start = int(fixture.kickoff_ts)
    is_told_twice = fixture.kickoff_utc is None or unix_time(fixture.kickoff_utc) == start
    if not (0 < start <= MAX_START_TIME and is_told_twice):
        return Removal(name, Reason.START_TIME)
    league = clean_name(fixture.league.name) or None
    return ListedMatch(name, home, away, league, start, fixture.status == BEGUN)


def of_lists(content: Lists, kinds: tuple[Kind, ...]) -> Extract:
    """Return Bet365's prices for the matches of a list; a match listed twice is rejected."""
    fixtures = [row.fixture for row in content.rows if row.fixture is not None]
    taken = Counter(fixture.id for fixture in fixtures)
    made = _Made(kinds if content.in_play else (Kind.ONE_X_TWO,))
    made.passed_over[Reason.UNREADABLE] += len(content.rows) - len(fixtures)
    for fixture in fixtures:
        listed = listed_match(fixture)
        if isinstance(listed, Removal):
            made.removals.append(listed)
        elif taken[fixture.id] > 1:
            made.removals.append(Removal(listed.id, Reason.DUPLICATE))
        elif listed.in_play != content.in_play or not (listed.in_play or _is_to_come(fixture, content.at)):
            made.removals.append(Removal(listed.id, SUSPENDED))
        else:
            made.add(listed, _odds_in(fixture))
    return made.extract(TITLE)


def of_match(content: OddsByMatch, key: str, kinds: tuple[Kind, ...]) -> Extract:
    """Return a bookmaker's prices for the match of a group, without those in the lists."""
    group, odds = content.group, content.odds
    made = _Made(kinds)
    made.removals += group.removals
    made.passed_over.update(group.left_out)
    title = None
    for listed in group.matches if odds is not None else ():
        offered = [each for each in odds.bookmakers if each.slug == key] if odds is not None else []
        made.passed_over[Reason.UNREADABLE] += 0 if odds is None else odds.unread.count
        fault = _fault(listed, content, offered)
        title = offered[0].name or None if offered else None
        if fault is not None:
            made.removals.append(Removal(listed.id, fault))
        else:
            made.add(listed, offered[0].odds, with_result=key != BET365)
    return made.extract(TITLE if key == BET365 else title)


def _fault(listed: ListedMatch, content: OddsByMatch, offered: list[Offered]) -> str | None:
    """Return why a match of a group is not shown."""
    if content.odds is None or str(int(content.odds.fixture_id)) != listed.id:
        return Reason.OUTCOME
    if listed.in_play or content.has_begun or listed.start <= content.at:
        return SUSPENDED
    if len(offered) == 1:
        return None
    return Reason.DUPLICATE if offered else WITHDRAWN


def _is_to_come(fixture: Fixture, at: float) -> bool:
    return fixture.kickoff_ts > at and not _are_in_play(_odds_in(fixture))


def _are_in_play(odds: Mapping[str, Raw]) -> bool:
    """Return whether any market has a price or a line from after the kick-off."""
    found = (market_of_raw(_moments, raw) for raw in odds.values())
    return any(moments is not None and bytes(moments.inplay) not in _NONE for moments in found)


def _odds_in(fixture: Fixture) -> Mapping[str, Raw]:
    """Return Bet365's odds in a list: the full odds if given, in either of two forms."""
    odds = fixture.odds or {} if fixture.odds_full is None else fixture.odds_full
    if (raw := odds.get("bookmakers")) is None:
        return odds
    offered = [each for each in market_of_raw(_bookmakers, raw) or () if each.slug == BET365]
    return offered[0].odds if len(offered) == 1 else {}


class _Made:
    """Collects an extract of these kinds of market."""

    def __init__(self, kinds: tuple[Kind, ...]) -> None:
        self._kinds = kinds
        self._matches: list[Match] = []
        self.removals: list[Removal] = []
        self.passed_over: Counter[str] = Counter()

    def extract(self, title: str | None) -> Extract:
        """Return the extract."""
        return Extract(tuple(self._matches), tuple(self.removals), title, +self.passed_over)

    def add(self, listed: ListedMatch, odds: Mapping[str, Raw], *, with_result: bool = True) -> None:
        """Add the markets of a match that are on offer."""
        match = Match(
            listed.id,
            listed.home,
            listed.away,
            listed.league,
            *(0.0, 0.0, 0.0),
            start_time=listed.start,
            latest_start=None if listed.in_play else listed.start,  # the price ends with the kick-off
            in_play=listed.in_play,
        )
        if with_result:
            found = _now(odds, RESULT, _result, listed)
            if isinstance(found, str):
                self.removals.append(Removal(listed.id, found))
            else:
                self._add_result(match, found)
        if len(self._kinds) > 1:
            read = {RESULT, *(name for kind, name in NAMES.items() if kind in self._kinds)}
            self.passed_over.update(LOOK_ALIKES.get(name, Reason.MARKET) for name in odds.keys() - read)
            for market, prices in self._others(odds, listed):
                self._matches.append(match.of_market(market, prices))

    def _add_result(self, match: Match, found: _Result) -> None:
        if found.home is None or found.draw is None or found.away is None:
            self.removals.append(Removal(match.source_match_id, Reason.INCOMPLETE))
            return
        prices = {"home_price": found.home, "draw_price": found.draw, "away_price": found.away}
        self._matches.append(msgspec.structs.replace(match, **prices))

    def _others(
        self, odds: Mapping[str, Raw], listed: ListedMatch
    ) -> Iterator[tuple[Market, tuple[float, float]]]:
        """Yield the markets other than the result; unreadable markets are counted."""
        for kind in self._kinds:
            found: _Handicap | _Total | _Both | str
            match kind:
                case Kind.ASIAN_HANDICAP:
                    found = _now(odds, NAMES[kind], _handicap, listed)
                case Kind.OVER_UNDER:
                    found = _now(odds, NAMES[kind], _total, listed)
                case Kind.BTTS:
                    found = _now(odds, NAMES[kind], _both, listed)
                case _:
                    continue
            if isinstance(found, str):
                self.passed_over.update([found] if found not in {SUSPENDED, Reason.NO_RESULT} else [])
                continue
            prices = _pair(found)
            try:
                market = market_of(kind, None if isinstance(found, _Both) else found.line)
            except ValueError:
                self.passed_over[Reason.LINE] += 1
                continue
            if prices is None:
                self.passed_over[Reason.INCOMPLETE] += 1
            else:
                yield market, prices


def _pair(found: _Handicap | _Total | _Both) -> tuple[float, float] | None:
    match found:
        case _Handicap(home=float(first), away=float(second)):
            return first, second
        case _Total(over=float(first), under=float(second)):
            return first, second
        case _Both(yes=float(first), no=float(second)):
            return first, second
    return None


def _now(
    odds: Mapping[str, Raw], name: str, decoder: msgspec.json.Decoder[T], listed: ListedMatch
) -> T | str:
    """Return a market's present prices, or why it has no prices."""
    if (raw := odds.get(name)) is None or bytes(raw) == b"null":
        return Reason.NO_RESULT
    if (moments := market_of_raw(_moments, raw)) is None:
        return Reason.TYPE
    now = moments.inplay if listed.in_play else moments.closing
    if bytes(now) in _NONE:
        return SUSPENDED
    found = market_of_raw(decoder, now)
    return Reason.TYPE if found is None else found
