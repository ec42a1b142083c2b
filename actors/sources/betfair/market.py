"""One market of the exchange, kept up to date message by message, and the odds that it offers.

Pure. Ladders are keyed by level or by price, runners by (id, hc): handicap markets share selection
ids. What is offered is the best price available to back, as long as the market is open.
"""

from __future__ import annotations

from msgspec import Struct

from actors.core.messages import Match, Removal, SourceMatchId
from actors.core.validation import Reason
from actors.source_api.parsing import unix_time
from actors.sources.betfair.wire import (
    Level,
    MarketChange,
    MarketDefinition,
    RunnerChange,
    RunnerDefinition,
)

SOCCER = "1"
FOOTBALL = frozenset({None, SOCCER, 1})
"""The event type, where a definition tells it at all."""
MATCH_ODDS = "MATCH_ODDS"
OPEN = "OPEN"
CLOSED = "CLOSED"
DRAW = 58805
"""The selection id of the draw, in every match."""
HOME_PRIORITY, AWAY_PRIORITY = 1, 2
RUNNERS = 3
ACTIVE = "ACTIVE"

RunnerKey = tuple[int, float]
"""Selection id and handicap."""


Sides = tuple[RunnerDefinition, RunnerDefinition, RunnerDefinition]
"""Home, draw, away."""


class Names(Struct, frozen=True):
    """What a catalogue says of a market: the runners' names by selection id, and the competition."""

    runners: dict[int, str]
    league: str | None = None


class Terms(Struct, frozen=True):
    """What counts as a price: offers of a smallest size, with virtual bets or not, or the last traded."""

    min_size: float = 0.0
    is_last_traded: bool = False
    is_virtual: bool = False


class Runner(Struct, gc=False, eq=False):
    """One runner's ladders and its last traded price."""

    by_level: dict[int, tuple[float, float]] = {}
    by_virtual_level: dict[int, tuple[float, float]] = {}
    by_price: dict[float, float] = {}
    last_traded: float | None = None

    def apply(self, change: RunnerChange) -> None:
        """Lay a delta over what is known; a size of 0 removes."""
        if change.ltp is not None:
            self.last_traded = change.ltp
        if change.batb:
            _lay(change.batb, self.by_level)
        if change.bdatb:
            _lay(change.bdatb, self.by_virtual_level)
        for price, size in change.atb or ():
            if size > 0:
                self.by_price[price] = size
            else:
                self.by_price.pop(price, None)

    def best_back(self) -> tuple[float, float] | None:
        """Return price and size of the best offer to back without virtual bets, None when there is none."""
        if self.by_level:
            return self.by_level.get(0)
        if not self.by_price:
            return None
        best = max(self.by_price)
        return best, self.by_price[best]

    def price(self, terms: Terms) -> float | None:
        """Return the price that counts, None when there is none."""
        if terms.is_last_traded:
            return self.last_traded
        best = self.by_virtual_level.get(0) if terms.is_virtual else self.best_back()
        return None if best is None or best[1] < terms.min_size else best[0]


class Market(Struct, gc=False, eq=False):
    """One market: its definition and its runners; `was_ours` once it has been the result of a match."""

    market_id: str
    definition: MarketDefinition | None = None
    runners: dict[RunnerKey, Runner] = {}
    published_ms: int | None = None
    was_ours: bool = False

    def apply(self, change: MarketChange, published_ms: int | None) -> None:
        """Lay a delta over what is known; a definition is always whole."""
        self.published_ms = published_ms
        if change.marketDefinition is not None:
            self.definition = change.marketDefinition
            self.was_ours |= self.is_ours
        for one in change.rc or ():
            self.runners.setdefault((int(one.id), one.hc or 0.0), Runner()).apply(one)

    @property
    def is_ours(self) -> bool:
        """Whether it is the result of a match that it is about."""
        one = self.definition
        return one is not None and one.marketType == MATCH_ODDS and one.eventTypeId in FOOTBALL

    @property
    def status(self) -> str | None:
        """OPEN, SUSPENDED, CLOSED, INACTIVE; None while it is not defined."""
        return None if self.definition is None else self.definition.status

    def is_unnamed_by(self, names: Names | None) -> bool:
        """Return whether it is an open match of which somebody has no name, in `names` neither."""
        definition = self.definition if self.is_ours else None
        if definition is None or definition.status != OPEN:
            return False
        known = {} if names is None else names.runners
        runners = definition.runners or ()
        return any(one.status == ACTIVE and not (one.name or known.get(int(one.id))) for one in runners)

    def odds(self, terms: Terms, names: Names | None) -> Match | Removal:
        """Return what it offers, or why it offers nothing."""
        match_id = SourceMatchId(self.market_id)
        definition = self.definition if self.is_ours else None
        if definition is None:
            return Removal(match_id, "undefined")
        if definition.status != OPEN:
            return Removal(match_id, (definition.status or "undefined").lower())
        sides = _sides(definition)
        if sides is None:
            return Removal(match_id, Reason.OUTCOME)
        prices = [self._price(one, terms) for one in sides]
        if None in prices:
            return Removal(match_id, Reason.INCOMPLETE)
        start_time = unix_time(definition.marketTime)
        if definition.marketTime is not None and start_time is None:
            return Removal(match_id, Reason.START_TIME)
        home, draw, away = (price or 0.0 for price in prices)
        return Match(
            source_match_id=match_id,
            home=_name(sides[0], names),
            away=_name(sides[2], names),
            league=None if names is None else names.league,
            home_price=home,
            draw_price=draw,
            away_price=away,
            start_time=None if start_time is None else int(start_time),
            source_time=None if self.published_ms is None else self.published_ms / 1000,
        )

    def _price(self, side: RunnerDefinition, terms: Terms) -> float | None:
        runner = self.runners.get((int(side.id), 0.0))
        return None if runner is None else runner.price(terms)


def _lay(levels: tuple[Level, ...], ladder: dict[int, tuple[float, float]]) -> None:
    for level, price, size in levels:
        if size > 0:
            ladder[level] = (price, size)
        else:
            ladder.pop(level, None)


def _sides(definition: MarketDefinition) -> Sides | None:
    """Return home, draw and away; None unless there are exactly these three, without handicap."""
    active = [one for one in definition.runners or () if one.status == ACTIVE]
    by_priority = {one.sortPriority: one for one in active if int(one.id) != DRAW}
    draws = [one for one in active if int(one.id) == DRAW]
    home, away = by_priority.get(HOME_PRIORITY), by_priority.get(AWAY_PRIORITY)
    if len(active) != RUNNERS or not draws or home is None or away is None or any(one.hc for one in active):
        return None
    return home, draws[0], away


def _name(side: RunnerDefinition, names: Names | None) -> str:
    """Return the runner's name, empty while nobody has told it."""
    if side.name:
        return side.name
    return "" if names is None else names.runners.get(int(side.id), "")
