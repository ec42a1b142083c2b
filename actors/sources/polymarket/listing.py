"""Reads a league's matches from its markets: three questions of one event are home, draw, away. Pure.

The name of a market shows its role, its position does not; other marks of the role must agree with the
name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from msgspec import Struct

from actors.core.messages import Removal, SourceMatchId
from actors.core.validation import MAX_START_TIME, Reason, clean_name
from actors.markets.market import Market as Line
from actors.source_api.parsing import unix_time
from actors.sources.polymarket.wire import Event, FeeSchedule, Market, text_of, texts

MONEYLINE = "moneyline"
BETWEEN = " vs. "
DRAW = "Draw ("
ROLES = ("home", "draw", "away")
THRESHOLDS = ("0", "1", "2")
PLAYED = frozenset({"", "NS", "1H", "HT", "2H"})  # the 90 minutes that bets are on, and the time before
FINISHED, CLOSED = "finished", "closed"
UNKNOWN_FEE = 1.0  # the highest rate, so that no surebet depends on an unknown fee
PAGES = "https://polymarket.com/event/"
_SLUG = re.compile("[a-z0-9-]{1,200}").fullmatch
_TOKEN = re.compile("[0-9]{1,100}").fullmatch


class Question(Struct, frozen=True, omit_defaults=True):
    """A market of a match other than its result; `tokens` are in the order of its outcomes.

    Before its match is known, a handicap's line belongs to the first of its `teams`; by the slug this team
    may play at one of the `sides`.
    """

    market: Line
    tokens: tuple[str, str]
    condition: str
    fee: float
    teams: tuple[str, ...] = ()
    sides: tuple[str, ...] = ()


class ListedMatch(Struct, frozen=True, omit_defaults=True):
    """A match whose order books may be requested; `tokens` and `conditions` are home, draw and away.

    `start` is in Unix seconds. `fee` is the rate of the taker's fee, `UNKNOWN_FEE` if unknown. For other
    markets it has `questions` instead of tokens, and the id is the id of the match with the kind of market;
    before the match is found, by `parent` and `slug`, the id is that of the markets' own event.
    """

    id: SourceMatchId
    home: str
    away: str
    league: str
    start: int
    tokens: tuple[str, ...]
    conditions: tuple[str, ...]
    fee: float
    in_play: bool | None = None
    url: str | None = None
    questions: tuple[Question, ...] = ()
    parent: str = ""
    slug: str = ""

    @property
    def every_token(self) -> tuple[str, ...]:
        """The tokens of the result, or of the questions."""
        return (*self.tokens, *(token for question in self.questions for token in question.tokens))


class League(Struct, frozen=True):
    """A league: key, name, the tag of its events, and whether titles name the home team first."""

    key: str
    name: str
    tag: str
    is_home_first: bool


Listed = ListedMatch | Removal


def read_listing(markets: Iterable[Market], league: League) -> dict[SourceMatchId, Listed]:
    """Return the matches on all pages of a league, by id; the last copy of a market counts."""
    newest = {market.condition_id: market for market in markets if _is_of_match(market)}
    by_event: dict[str, list[Market]] = {}
    for market in newest.values():
        by_event.setdefault(market.events[0].id, []).append(market)
    return {SourceMatchId(name): _listed(SourceMatchId(name), of, league) for name, of in by_event.items()}


def _is_of_match(market: Market) -> bool:
    return market.sports_market_type == MONEYLINE and len(market.events) == 1


def _listed(name: SourceMatchId, markets: list[Market], league: League) -> Listed:
    event = markets[-1].events[0]
    if (reason := closed(markets)) is not None:
        return Removal(name, reason)
    ordered = _roles(event, markets, league)
    if ordered is None:
        return Removal(name, Reason.OUTCOME)
    home, draw, away = ordered
    start = start_of(event, home)
    if start is None:
        return Removal(name, Reason.START_TIME)
    tokens = (_yes(home), _yes(draw), _yes(away))
    if "" in tokens or len(set(tokens)) < len(tokens):
        return Removal(name, Reason.OUTCOME)
    return ListedMatch(
        name,
        home.group_item_title or "",
        away.group_item_title or "",
        league.name,
        start,
        tokens,
        (home.condition_id, draw.condition_id, away.condition_id),
        max(map(fee_of, ordered)),
        event.live,
        f"{PAGES}{event.slug}" if _SLUG(event.slug or "") else None,
    )


def closed(markets: Iterable[Market]) -> str | None:
    """Return why the state of any of its markets forbids to show a match; None if all states allow it."""
    if any(market.closed is not False or _is_over(market.events[0]) for market in markets):
        return FINISHED
    is_open = all(
        market.active is market.accepting_orders is market.enable_order_book is True for market in markets
    )
    return None if is_open else CLOSED


def _is_over(event: Event) -> bool:
    return event.closed is True or event.ended is True or (event.period or "").strip().upper() not in PLAYED


def _roles(event: Event, markets: list[Market], league: League) -> tuple[Market, Market, Market] | None:
    """Return the markets of home, draw and away; None if any name, number or mark does not fit."""
    names = _teams(event)
    if (
        names is None
        or len(markets) != len(ROLES)
        or any(market.neg_risk is not True for market in markets)
    ):
        return None
    found: dict[str, Market] = {}
    for market in markets:
        title = market.group_item_title or ""
        role = "draw" if title.startswith(DRAW) else names.get(title)
        if role is None or role in found or not _fits(market, ROLES.index(role)):
            return None
        found[role] = market
    home, draw, away = (found[role] for role in ROLES)
    if not (league.is_home_first or event.teams) and not (_is_marked(home) and _is_marked(away)):
        return None  # the home team is unknown
    return home, draw, away


def _teams(event: Event) -> Mapping[str, str] | None:
    """Return the roles of the two teams by name; None unless the names differ."""
    if event.teams:
        names = {team.ordering: team.name for team in event.teams}
        if len(event.teams) != 2 or names.keys() != {"home", "away"}:  # noqa: PLR2004 - home and away
            return None
        home, away = names["home"], names["away"]
    else:
        home, between, away = (event.title or "").partition(BETWEEN)
        if not between or BETWEEN in away:
            return None
    shown = {clean_name(home), clean_name(away), "Draw", ""}
    is_fit = len(shown) == 4 and not home.startswith(DRAW) and not away.startswith(DRAW)  # noqa: PLR2004
    return {home: "home", away: "away"} if is_fit else None


def _fits(market: Market, role: int) -> bool:
    """Return whether the market's number and mark, if given, fit this role."""
    threshold, line = market.group_item_threshold, _line(market)
    return (threshold is None or text_of(threshold) == THRESHOLDS[role]) and line in {None, ROLES[role]}


def _is_marked(market: Market) -> bool:
    return market.group_item_threshold is not None or _line(market) is not None


def _line(market: Market) -> str | None:
    return None if market.market_metadata is None else market.market_metadata.optic_odds_selection_line


def start_of(event: Event, market: Market) -> int | None:
    """Return the kick-off in Unix seconds; None if it is unknown or impossible."""
    start = unix_time(event.start_time if event.start_time is not None else market.game_start_time)
    return int(start) if start is not None and 0 < start <= MAX_START_TIME else None


def _yes(market: Market) -> str:
    """Return the token of "Yes", which has the same place in both lists; "" if it is uncertain."""
    outcomes, tokens = texts(market.outcomes), texts(market.clob_token_ids)
    if (
        sorted(outcomes) != ["No", "Yes"]
        or len(set(tokens)) != len(outcomes)
        or len(tokens) != len(outcomes)
    ):
        return ""
    token = tokens[outcomes.index("Yes")]
    return token if is_token(token) else ""


def is_token(text: str) -> bool:
    """Return whether a text may be a token."""
    return _TOKEN(text) is not None


def fee_of(market: Market) -> float:
    """Return the rate of the taker's fee, `UNKNOWN_FEE` if unknown."""
    if market.fees_enabled is False:
        return 0.0
    match market.fee_schedule:
        case FeeSchedule(rate=float(rate), exponent=1.0) if 0 <= rate < UNKNOWN_FEE:
            return rate
    return UNKNOWN_FEE
