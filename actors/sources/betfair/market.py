"""A market of the exchange, kept up to date message by message, and the odds that it offers. Pure."""

from __future__ import annotations

from msgspec import Struct

from actors.core.messages import Match, Removal, SourceMatchId
from actors.core.validation import Reason
from actors.source_api.parsing import unix_time
from actors.sources.betfair.options import BetfairStreamOptions
from actors.sources.betfair.wire import MarketChange, MarketDefinition, RunnerChange, RunnerDefinition

SOCCER = "1"
FOOTBALL = frozenset({None, SOCCER, 1})  # a definition may have no event type
MATCH_ODDS = "MATCH_ODDS"
OPEN = "OPEN"
CLOSED = "CLOSED"
DRAW = 58805  # the selection id of the draw, in every match
HOME_PRIORITY, AWAY_PRIORITY = 1, 2
RUNNERS = 3
ACTIVE = "ACTIVE"

Offer = tuple[float, float]  # price and size
Sides = tuple[RunnerDefinition, RunnerDefinition, RunnerDefinition]  # home, draw and away


class MarketNames(Struct, frozen=True):
    """The facts of a catalogue about a market: the runners' names by selection id, and the competition."""

    runners: dict[int, str]
    league: str | None = None


class Runner(Struct, gc=False, eq=False):
    """A runner's ladders, by level or by price, and its last traded price."""

    by_level: dict[float, Offer] = {}
    by_virtual_level: dict[float, Offer] = {}
    by_price: dict[float, float] = {}
    last_traded: float | None = None

    def apply(self, change: RunnerChange) -> None:
        """Apply a delta; a size of 0 removes."""
        if change.ltp is not None:
            self.last_traded = change.ltp
        for ladder, levels in ((self.by_level, change.batb), (self.by_virtual_level, change.bdatb)):
            for level, price, size in levels or ():
                if size > 0:
                    ladder[level] = (price, size)
                else:
                    ladder.pop(level, None)
        for price, size in change.atb or ():
            if size > 0:
                self.by_price[price] = size
            else:
                self.by_price.pop(price, None)

    def best_back(self) -> Offer | None:
        """Return the best offer to back without virtual bets, None when there is none."""
        if self.by_level:
            return self.by_level.get(0)
        return max(self.by_price.items(), default=None)

    def price(self, options: BetfairStreamOptions) -> float | None:
        """Return the price that counts, None when there is none."""
        if options.price == "last_traded":
            return self.last_traded
        best = self.by_virtual_level.get(0) if options.virtual_bets else self.best_back()
        return None if best is None or best[1] < options.min_size else best[0]


class Market(Struct, gc=False, eq=False):
    """A market, with its runners by selection id and handicap; `was_ours` if `is_ours` ever was true.

    `version` is the highest of its definitions. After a change that could not be applied it `is_unread`
    until its next definition, and `is_lacking` until its next image.
    """

    market_id: str
    definition: MarketDefinition | None = None
    runners: dict[tuple[int, float], Runner] = {}
    published_ms: float | None = None
    was_ours: bool = False
    version: float | None = None
    is_unread: bool = False
    is_lacking: bool = False

    def apply(self, change: MarketChange, published_ms: float | None) -> None:
        """Apply a delta; a definition is always whole."""
        self.published_ms = published_ms
        if change.marketDefinition is not None:
            self.is_unread = False
            self.definition = change.marketDefinition
            self.version = change.marketDefinition.version or self.version
            self.was_ours |= self.is_ours
        for runner in change.rc or ():
            self.runners.setdefault((int(runner.id), runner.hc or 0.0), Runner()).apply(runner)

    @property
    def is_ours(self) -> bool:
        """Whether it is about the result of a football match."""
        it = self.definition
        return it is not None and it.marketType == MATCH_ODDS and it.eventTypeId in FOOTBALL

    @property
    def status(self) -> str | None:
        """OPEN, SUSPENDED, CLOSED or INACTIVE; None while it is not defined."""
        return None if self.definition is None else self.definition.status

    @property
    def removal_reason(self) -> str:
        """The reason of a removal while it is not open."""
        return (self.status or "undefined").lower()

    def is_unnamed_by(self, names: MarketNames | None) -> bool:
        """Return whether it is an open match with a side that has no name, in `names` neither."""
        definition = self.definition if self.is_ours else None
        if definition is None or definition.status != OPEN:
            return False
        active = (runner for runner in definition.runners or () if runner.status == ACTIVE)
        return not all(_name(runner, names) for runner in active)

    def odds(self, options: BetfairStreamOptions, names: MarketNames | None) -> Match | Removal:
        """Return what it offers, or why it offers nothing."""
        match_id = SourceMatchId(self.market_id)
        definition = self.definition if self.is_ours else None
        if definition is None:
            return Removal(match_id, Reason.UNREADABLE if self.is_unread else "undefined")
        if definition.status != OPEN:
            return Removal(match_id, self.removal_reason)
        sides = _sides(definition)
        if sides is None:
            return Removal(match_id, Reason.OUTCOME)
        home, draw, away = (self._price(runner, options) for runner in sides)
        if home is None or draw is None or away is None:
            return Removal(match_id, Reason.INCOMPLETE)
        start_time = unix_time(definition.marketTime)
        if definition.marketTime is not None and start_time is None:
            return Removal(match_id, Reason.START_TIME)
        return Match(
            match_id,
            _name(sides[0], names),
            _name(sides[2], names),
            None if names is None else names.league,
            *(home, draw, away),
            None if start_time is None else int(start_time),
            None if self.published_ms is None else self.published_ms / 1000,
            in_play=definition.inPlay,
        )

    def _price(self, side: RunnerDefinition, options: BetfairStreamOptions) -> float | None:
        runner = self.runners.get((int(side.id), 0.0))
        return None if runner is None else runner.price(options)


def _sides(definition: MarketDefinition) -> Sides | None:
    """Return the sides; None unless there are exactly these three, without handicap."""
    active = [runner for runner in definition.runners or () if runner.status == ACTIVE]
    by_priority = {runner.sortPriority: runner for runner in active if int(runner.id) != DRAW}
    draws = [runner for runner in active if int(runner.id) == DRAW]
    home, away = by_priority.get(HOME_PRIORITY), by_priority.get(AWAY_PRIORITY)
    if (
        len(active) != RUNNERS
        or not draws
        or home is None
        or away is None
        or any(runner.hc for runner in active)
    ):
        return None
    return home, draws[0], away


def _name(side: RunnerDefinition, names: MarketNames | None) -> str:
    """Return the runner's name: of the definition, else of the catalogue, else empty."""
    return side.name or ("" if names is None else names.runners.get(int(side.id), ""))
