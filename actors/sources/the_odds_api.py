"""The Odds API v4: dozens of bookmakers a request, polled by league, for a key and its credits.

Pure. One answer holds one sport with all its bookmakers; outcomes are told by their names, never by
their order, which is alphabetical. Only `h2h` with three outcomes is ours. `last_update` is when a
bookmaker's prices were refreshed, not when they changed: a list that the API itself has not refreshed
for too long is not believed to be live.
"""

from __future__ import annotations

import re
from collections import Counter

from actors.errors import TransportError
from actors.integrity import Reason
from actors.iso_time import unix_time
from actors.kinds import PolledKind
from actors.messages import Extract, Match, Payload, Removal, SourceMatchId
from actors.slices import SLICE, Steps
from actors.sources.the_odds_api_answers import (
    FOOTBALL,
    Slate,
    Sports,
    error_in,
    read_slate,
    read_sports,
)
from actors.sources.the_odds_api_options import SPORTS_SCOPE, TheOddsApiOptions
from actors.sources.the_odds_api_plan import HEADERS, TheOddsApiPlan
from actors.sources.the_odds_api_wire import Event, Market

DRAW = "Draw"
OURS = "h2h"
LAY = "h2h_lay"
OUTCOMES = 3


def check_key(key: str) -> None:
    """Raise ValueError unless `key` can be a bookmaker's key, such as `williamhill`."""
    if not re.fullmatch("[A-Za-z0-9_]{1,64}", key):
        raise ValueError(f"key was {key!r}, must be a bookmaker's key of the API, like 'williamhill'")


def decode(payload: Payload, options: TheOddsApiOptions) -> Steps[Slate | Sports]:
    """Read an answer, in slices. Raises: PayloadError if it is an error or no answer of the API."""
    del options
    if payload.scope == SPORTS_SCOPE:
        return read_sports(payload.body)
    return (yield from read_slate(payload.body, payload.answered_at))


def extract(slate: Slate, key: str, options: TheOddsApiOptions) -> Steps[Extract]:
    """Read one bookmaker's prices, in slices.

    A match whose outcomes are not the three of a football match is rejected under its own reason.
    Lay prices are the other side of an exchange: passed over, and counted.
    """
    del options
    matches: list[Match] = []
    removals: list[Removal] = []
    passed_over: Counter[str] = Counter()
    title, newest = None, None
    for count, (event, lines) in enumerate(slate.offers.get(key, ())):
        if count % SLICE == 0:
            yield
        title = lines.title or title
        passed_over[Reason.LAY] += sum(market.key == LAY for market in lines.markets)
        for market in lines.markets:
            if market.key == OURS:
                refreshed = unix_time(market.last_update or lines.last_update)
                newest = max(newest or 0.0, refreshed or 0.0) or None
                one = _match(event, market, refreshed)
                (matches if isinstance(one, Match) else removals).append(one)  # type: ignore[arg-type]
    lag_s = None if newest is None or slate.answered_at is None else slate.answered_at - newest
    passed_over[Reason.UNREADABLE] = slate.unreadable
    return Extract(tuple(matches), tuple(removals), title, +passed_over, lag_s)


def explain(error: TransportError) -> None:
    """Add to a refusal what the API says of it."""
    if (said := error_in(error.body)) is not None:
        error.args = (f"{error}: {said}",)
        error.reason = said.reason


def _match(event: Event, market: Market, refreshed: float | None) -> Match | Removal:
    match_id = SourceMatchId(event.id)
    if (reason := _fault(event, market)) is not None:
        return Removal(match_id, reason)
    prices = {outcome.name: outcome.price for outcome in market.outcomes}
    start_time = unix_time(event.commence_time)
    return Match(
        source_match_id=match_id,
        home=event.home_team or "",
        away=event.away_team or "",
        league=event.sport_title,
        home_price=prices[event.home_team or ""],
        draw_price=prices[DRAW],
        away_price=prices[event.away_team or ""],
        start_time=None if start_time is None else int(start_time),
        source_time=refreshed,
    )


def _fault(event: Event, market: Market) -> Reason | None:
    names = [outcome.name for outcome in market.outcomes]
    teams = {event.home_team, event.away_team}
    if sorted(names) == sorted(filter(None, teams)):
        return Reason.TWO_WAY
    if not event.sport_key.startswith(FOOTBALL):
        return Reason.SPORT
    if len(names) != OUTCOMES or len(set(names)) != OUTCOMES or {*teams, DRAW} != set(names):
        return Reason.OUTCOME
    if event.commence_time is not None and unix_time(event.commence_time) is None:
        return Reason.START_TIME
    return None


KIND = PolledKind(
    name="the_odds_api",
    options=TheOddsApiOptions,
    check_key=check_key,
    plan=TheOddsApiPlan,
    decode=decode,
    extract=extract,
    headers=HEADERS,
    repeats_confirm=False,
    has_titles=True,
    explain=explain,
)
