"""One bookmaker's part of an answer of The Odds API, gathered match by match while it is decoded.

Pure. Outcomes are told by their names, never by their order, which is alphabetical. Only `h2h` with
three outcomes is ours. `last_update` is when a bookmaker's prices were refreshed, not when they changed.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

from actors.gathered import Gathered
from actors.integrity import Reason
from actors.iso_time import unix_time
from actors.messages import Match, Removal
from actors.sources.the_odds_api.wire import Event, Lines, Market

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
    start_time: int | None
    is_fit: bool

    @classmethod
    def of(cls, event: Event) -> Fixture:
        """Read what is common to all bookmakers."""
        start_time = unix_time(event.commence_time)
        is_fit = (
            event.sport_key.startswith(FOOTBALL)
            and event.home_team not in {None, DRAW, event.away_team}
            and event.away_team not in {None, DRAW}
            and (start_time is not None or event.commence_time is None)
        )
        return cls(event, None if start_time is None else int(start_time), is_fit)


class Part(Struct):
    """What an answer says of one bookmaker so far.

    `newest` is when its newest prices were refreshed (Unix seconds), 0 while nobody has said.
    """

    matches: Gathered[Match] = msgspec.field(default_factory=Gathered)
    removals: list[Removal] = []
    title: str | None = None
    newest: float = 0.0
    lays: int = 0

    def add(self, fixture: Fixture, lines: Lines) -> None:
        """Take the bookmaker's lines on one match; what is no match of ours is a removal, and why."""
        self.title = lines.title or self.title
        for market in lines.markets:
            if market.key == OURS:
                refreshed = unix_time(market.last_update or lines.last_update)
                if refreshed is not None and refreshed > self.newest:
                    self.newest = refreshed
                match = _match(fixture, market, refreshed)
                if match is None:
                    self.removals.append(Removal(fixture.event.id, _fault(fixture.event, market)))
                else:
                    self.matches.add(match)
            elif market.key == LAY:
                self.lays += 1


def _match(fixture: Fixture, market: Market, refreshed: float | None) -> Match | None:
    """Give what a market offers; None unless its outcomes are the home team, the draw and the away team."""
    event = fixture.event
    home, away = event.home_team, event.away_team
    if not fixture.is_fit or home is None or away is None or len(market.outcomes) != OUTCOMES:
        return None
    prices = {outcome.name: outcome.price for outcome in market.outcomes}
    if not (home in prices and DRAW in prices and away in prices):
        return None
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


def _fault(event: Event, market: Market) -> Reason:
    """Name what keeps a market from being a match of ours."""
    names = [outcome.name for outcome in market.outcomes]
    teams = {event.home_team, event.away_team}
    if sorted(names) == sorted(filter(None, teams)):
        return Reason.TWO_WAY
    if not event.sport_key.startswith(FOOTBALL):
        return Reason.SPORT
    if len(names) != OUTCOMES or len(set(names)) != OUTCOMES or {*teams, DRAW} != set(names):
        return Reason.OUTCOME
    return Reason.START_TIME
