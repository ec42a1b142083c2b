"""A market of the exchange, updated message by message, and its odds. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field

from actors.core.errors import UNREADABLE
from actors.core.messages import Match, Removal, SourceMatchId
from actors.core.validation import Reason
from actors.source_api.parsing import unix_time
from actors.sources.betfair.options import BetfairStreamOptions
from actors.sources.betfair.wire import (
    Level,
    MarketChange,
    MarketDefinition,
    RunnerChange,
    RunnerDefinition,
    levels,
    prices,
)

SOCCER = "1"
FOOTBALL = frozenset({None, SOCCER, 1})  # a definition may have no event type
MATCH_ODDS = "MATCH_ODDS"
OPEN = "OPEN"
CLOSED = "CLOSED"
DRAW = 58805  # the selection id of the draw, in every match
HOME_PRIORITY, AWAY_PRIORITY = 1, 2
RUNNERS = 3
ACTIVE = "ACTIVE"

Key = tuple[int, float]  # selection id and handicap
Offer = tuple[float, float]  # price and size
Sides = tuple[RunnerDefinition, RunnerDefinition, RunnerDefinition]  # home, draw and away


class MarketNames(Struct, frozen=True):
    """A market's names in a catalogue: of runners by selection id, and of the competition."""

    runners: dict[int, str]
    league: str | None = None


class Ladder(Struct, gc=False, eq=False):
    """The offers of one side, to back or to lay, by level or by price."""

    by_level: dict[float, Offer] = {}
    by_virtual_level: dict[float, Offer] = {}
    by_price: dict[float, float] = {}

    def apply(
        self, levels: Iterable[Level], virtual_levels: Iterable[Level], prices: Iterable[Offer]
    ) -> None:
        """Apply a delta; a size of 0 removes an offer."""
        for ladder, changed in ((self.by_level, levels), (self.by_virtual_level, virtual_levels)):
            for level, price, size in changed:
                if size > 0:
                    ladder[level] = (price, size)
                else:
                    ladder.pop(level, None)
        for price, size in prices:
            if size > 0:
                self.by_price[price] = size
            else:
                self.by_price.pop(price, None)


class Runner(Struct, gc=False, eq=False):
    """A runner's offers, and its last traded price; `lay` is empty if only prices to back are read.

    `is_unread` after unreadable offers to lay.
    """

    back: Ladder = field(default_factory=Ladder)
    lay: Ladder | None = None
    last_traded: float | None = None
    is_unread: bool = False

    def apply(self, change: RunnerChange) -> None:
        """Apply a delta to its offers to back."""
        if change.ltp is not None:
            self.last_traded = change.ltp
        self.back.apply(change.batb or (), change.bdatb or (), change.atb or ())

    def apply_lay(self, change: RunnerChange) -> None:
        """Apply a delta to its offers to lay."""
        self.lay = self.lay or Ladder()
        try:
            self.lay.apply(levels(change.batl), levels(change.bdatl), prices(change.atl))
        except UNREADABLE:
            self.is_unread = True

    def best_back(self) -> Offer | None:
        """Return the best offer to back without virtual bets, None without an offer."""
        if self.back.by_level:
            return self.back.by_level.get(0)
        return max(self.back.by_price.items(), default=None)

    def best_lay(self) -> Offer | None:
        """Return the best offer to lay without virtual bets; None if there is none or none is read."""
        if self.lay is None or self.lay.by_level:
            return None if self.lay is None else self.lay.by_level.get(0)
        return min(self.lay.by_price.items(), default=None)

    def price(self, options: BetfairStreamOptions) -> float | None:
        """Return the price by these options, None if there is none."""
        if options.price == "last_traded":
            return self.last_traded
        best = self.back.by_virtual_level.get(0) if options.virtual_bets else self.best_back()
        return None if best is None or best[1] < options.min_size else best[0]

    def is_crossed(self, options: BetfairStreamOptions) -> bool:
        """Return whether its price to back is at least its price to lay: then one price is outdated."""
        if options.price == "last_traded":
            return False
        back, lay = self.best_back(), self.best_lay()
        if options.virtual_bets:
            back = self.back.by_virtual_level.get(0)
            lay = None if self.lay is None else self.lay.by_virtual_level.get(0)
        return back is not None and lay is not None and back[0] >= lay[0]


class Market(Struct, gc=False, eq=False):
    """A market, with its runners by selection id and handicap; `was_ours` if `is_ours` ever was true.

    `listed` are the ids of its lines on offer, unless the market is about the result. `version` is the
    highest version of its definitions. After a change that could not be applied it `is_unread` until its
    next definition, and `is_lacking` until its next image.
    """

    market_id: str
    definition: MarketDefinition | None = None
    runners: dict[Key, Runner] = {}
    listed: frozenset[SourceMatchId] = frozenset()
    published_ms: float | None = None
    was_ours: bool = False
    version: float | None = None
    is_unread: bool = False
    is_lacking: bool = False

    def apply(self, change: MarketChange, published_ms: float | None) -> None:
        """Apply a delta; a definition in it is always complete."""
        self.published_ms = published_ms
        if change.marketDefinition is not None:
            self.is_unread = False
            self.definition = change.marketDefinition
            self.version = change.marketDefinition.version or self.version
            self.was_ours |= self.is_ours
        for runner in change.rc or ():
            self.runners.setdefault(key_of(runner), Runner()).apply(runner)

    def apply_lay(self, change: MarketChange) -> None:
        """Apply the offers to lay of a delta; unreadable offers set `is_lacking`."""
        for each in change.rc or ():
            runner = self.runners[key_of(each)]
            runner.apply_lay(each)
            self.is_lacking |= runner.is_unread

    @property
    def is_ours(self) -> bool:
        """Whether the market is on the result of a football match."""
        it = self.definition
        return it is not None and it.marketType == MATCH_ODDS and it.eventTypeId in FOOTBALL

    @property
    def status(self) -> str | None:
        """OPEN, SUSPENDED, CLOSED or INACTIVE; None before a definition."""
        return None if self.definition is None else self.definition.status

    @property
    def removal_reason(self) -> str:
        """The reason of a removal while the market is not open."""
        return (self.status or "undefined").lower()

    def is_unnamed_by(self, names: MarketNames | None) -> bool:
        """Return whether it is open and has a side that neither it nor `names` has a name for."""
        definition = self.definition if self.is_ours else None
        if definition is None or definition.status != OPEN:
            return False
        active = (runner for runner in definition.runners or () if runner.status == ACTIVE)
        return not all(name_of(runner, names) for runner in active)

    def odds(self, options: BetfairStreamOptions, names: MarketNames | None) -> Match | Removal:
        """Return the match with its odds, or why it has none."""
        match_id = SourceMatchId(self.market_id)
        definition = self.definition if self.is_ours else None
        if definition is None:
            return Removal(match_id, Reason.UNREADABLE if self.is_unread else "undefined")
        if definition.status != OPEN:
            return Removal(match_id, self.removal_reason)
        sides = sides_of(definition)
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
            name_of(sides[0], names),
            name_of(sides[2], names),
            None if names is None else names.league,
            *(home, draw, away),
            None if start_time is None else int(start_time),
            None if self.published_ms is None else self.published_ms / 1000,
            in_play=definition.inPlay,
        )

    def _price(self, side: RunnerDefinition, options: BetfairStreamOptions) -> float | None:
        runner = self.runners.get((int(side.id), 0.0))
        return None if runner is None else runner.price(options)


def key_of(runner: RunnerDefinition | RunnerChange) -> Key:
    """Return the key of a runner in its market; a missing handicap counts as 0."""
    return int(runner.id), runner.hc or 0.0


def sides_of(definition: MarketDefinition) -> Sides | None:
    """Return home, draw and away; None unless the runners are exactly these, without handicap."""
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


def name_of(side: RunnerDefinition, names: MarketNames | None) -> str:
    """Return the runner's name from the definition, otherwise from the catalogue, otherwise ""."""
    return side.name or ("" if names is None else names.runners.get(int(side.id), ""))
