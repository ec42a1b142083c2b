r"""Reads totals, handicaps and "both teams score" of a league's matches from its other markets. Pure.

These markets are questions of another event ("Home Town vs. Away United - More Markets"), which has the id
of its match. A real market (cut):

    {"conditionId": "0x0b", "sportsMarketType": "spreads", "groupItemTitle": "Home Town (-1.5)",
     "slug": "xx-home-away-2026-06-29-spread-home-1pt5", "line": -1.5, "negRisk": false,
     "outcomes": "[\"Home Town\", \"Away United\"]", "clobTokenIds": "[\"21\", \"22\"]",
     "events": [{"id": "8", "parentEventId": 7, "slug": "xx-home-away-2026-06-29-more-markets"}]}

A line belongs to the first outcome, by name. A bet never returns its stake, so only half lines are equal to
other bookmakers' markets. Other mentions of the line or the team must agree with it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from actors.core.messages import Removal, SourceMatchId
from actors.core.validation import Reason
from actors.markets.market import QUARTERS, Kind, market_of
from actors.markets.market import Market as Line
from actors.sources.polymarket.listing import (
    PAGES,
    League,
    Listed,
    ListedMatch,
    Question,
    closed,
    fee_of,
    is_token,
    start_of,
)
from actors.sources.polymarket.wire import Event, Market, texts

SIBLING = "-more-markets"
TWO = 2
_TYPE = re.compile("[a-z0-9_]{1,64}", re.ASCII).fullmatch
_DIGITS = re.compile("[0-9]{1,32}", re.ASCII).fullmatch


class MarketType(Struct, frozen=True):
    """A type of market with its name at the venue and in a slug; no `outcomes` means the two teams."""

    name: str
    kind: Kind
    slug: str
    outcomes: tuple[str, str] | None = None


MARKET_TYPES: Final[Mapping[Kind, MarketType]] = {
    row.kind: row
    for row in (
        MarketType("totals", Kind.OVER_UNDER, "total", ("Over", "Under")),
        MarketType("spreads", Kind.ASIAN_HANDICAP, "spread"),
        MarketType("both_teams_to_score", Kind.BTTS, "btts", ("Yes", "No")),
    )
}
"""The types of market other than the result; add a row for a new type."""


class LinesListing(Struct, frozen=True):
    """The questions of a league by match, and counts of passed-over markets by reason or type."""

    matches: Mapping[SourceMatchId, Listed]
    passed_over: Mapping[str, int]


def read_lines(markets: Iterable[Market], row: MarketType, league: League) -> LinesListing:
    """Return the questions on all pages of a league; the last copy of a market counts.

    Each result is incomplete: `completed` adds the match, and which of the teams plays at home.
    """
    newest = {market.condition_id: market for market in markets}
    passed_over, found = Counter[str](), dict[SourceMatchId, ListedMatch]()
    for market in newest.values():
        reason = _passed_over(market, row)
        question = None if reason else _question(market, row)
        if question is None:
            passed_over[reason or Reason.OUTCOME] += 1
            continue
        event = market.events[0]
        start = start_of(event, market)
        if start is None:
            passed_over[Reason.START_TIME] += 1
            continue
        name = SourceMatchId(f"{event.id} {row.kind}")
        known = found.get(name)
        questions = (question,) if known is None else (*known.questions, question)
        about = ("", "", league.name, start, (), (), 0.0, event.live, None)
        found[name] = ListedMatch(name, *about, questions, _parent(event), event.slug or "")
    return LinesListing(found, passed_over)


def completed(match: ListedMatch, main: Listed) -> Listed:
    """Return the questions of the match with the result `main`, or why none of them is usable.

    One question that does not fit its match, or two questions with one line, make all questions doubtful.
    """
    kind = match.id.rpartition(" ")[2]
    if isinstance(main, Removal):
        return Removal(SourceMatchId(f"{main.source_match_id} {kind}"), main.reason)
    name = SourceMatchId(f"{main.id} {kind}")
    if main.url is not None and match.slug and match.slug not in _slugs(main.url):
        return Removal(name, Reason.OUTCOME)
    fitting = [_fitted(question, main) for question in match.questions]
    questions = tuple([question for question in fitting if question is not None])
    if len({question.market for question in questions}) < len(fitting):
        return Removal(name, Reason.OUTCOME)
    facts = {"home": main.home, "away": main.away, "league": main.league, "start": main.start}
    return replace(
        match, id=name, questions=questions, url=main.url, in_play=main.in_play, parent="", slug="", **facts
    )


def _passed_over(market: Market, row: MarketType) -> str | None:
    """Return a market's own type if it is not `row`, or why it is unusable; None if it is usable."""
    found = market.sports_market_type or ""
    if found != row.name:
        return found if _TYPE(found) else Reason.MARKET
    return closed([market]) if len(market.events) == 1 else Reason.OUTCOME


def _question(market: Market, row: MarketType) -> Question | None:
    """Return the question of a market; None if any part does not fit its type."""
    outcomes, tokens, asked = texts(market.outcomes), texts(market.clob_token_ids), _asked(market, row)
    is_pair = len(outcomes) == len(tokens) == len({*outcomes}) == len({*tokens}) == TWO
    if asked is None or not is_pair or market.neg_risk is True or not all(map(is_token, tokens)):
        return None
    if row.outcomes is not None:
        if {*outcomes} != {*row.outcomes}:
            return None
        tokens = tuple([tokens[outcomes.index(outcome)] for outcome in row.outcomes])
    sides, titles = _sides(market, row, asked), _titles(row, outcomes, asked)
    if not sides or market.group_item_title not in {None, *titles}:
        return None
    teams = outcomes if row.outcomes is None else ()
    return Question(asked, (tokens[0], tokens[1]), market.condition_id, fee_of(market), teams, sides)


def _asked(market: Market, row: MarketType) -> Line | None:
    """Return the line of a market (for a handicap that of its first team); None if we do not read it."""
    line = market.line
    if isinstance(line, bool) or not isinstance(line, int | float | None):
        return None
    try:
        asked = market_of(row.kind, line)
    except (ValueError, OverflowError):
        return None
    is_half = asked.quarters is None or asked.quarters % QUARTERS == QUARTERS // 2
    return asked if is_half else None


def _titles(row: MarketType, outcomes: tuple[str, ...], asked: Line) -> tuple[str, ...]:
    """Return the possible titles of a market with this line."""
    match row.kind:
        case Kind.OVER_UNDER:
            return (f"O/U {asked.line:g}",)
        case Kind.ASIAN_HANDICAP:
            return f"{outcomes[0]} ({asked.line:g})", f"{outcomes[0]} ({asked.line:+g})"
        case _:
            return ("Both Teams to Score",)


def _sides(market: Market, row: MarketType, asked: Line) -> tuple[str, ...]:
    """Return the sides of its first team that fit its slug: ("",) without teams, () if none fits."""
    every = ("",) if row.outcomes is not None else ("home", "away")
    slug, base = market.slug, (market.events[0].slug or "").removesuffix(SIBLING)
    if slug is None or not base:
        return every
    goals = "" if asked.line is None else f"-{abs(asked.line):g}".replace(".", "pt")
    return tuple(side for side in every if slug == f"{base}-{row.slug}{'-' if side else ''}{side}{goals}")


def _fitted(question: Question, main: ListedMatch) -> Question | None:
    """Return a question with its outcomes in order, home first; None if it has other teams."""
    market, tokens = question.market, question.tokens
    if question.teams:
        teams = main.home, main.away
        side = {teams: "home", teams[::-1]: "away"}.get((question.teams[0], question.teams[1]))
        if side not in question.sides:
            return None
        if side == "away":
            line = -(market.line or 0.0)
            market, tokens = market_of(market.kind, line), (tokens[1], tokens[0])
    return replace(question, market=market, tokens=tokens, teams=(), sides=())


def _parent(event: Event) -> str:
    """Return the id of an event's match, which may be the event; "" if only its slug names the match."""
    parent = event.parent_event_id
    text = str(parent) if isinstance(parent, int | str) and not isinstance(parent, bool) else ""
    return text if _DIGITS(text) else ""


def _slugs(url: str) -> tuple[str, str]:
    slug = url.removeprefix(PAGES)
    return slug, f"{slug}{SIBLING}"
