"""Sources of a cluster's lives whose prices, of several kinds of market, now and then make surebets.

A site gives the prices of a source to any process. Lines come and go, and so do the 1X2
prices of one match, which has others all the time. Another match begins during the life.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from random import Random

import anyio
from msgspec.structs import replace

from actors.core.clock import Instant
from actors.core.cooperative import Sliced
from actors.core.errors import SourceError
from actors.core.messages import Extract, Match, Removal, Scope, SourceMatchId, SourceName
from actors.markets.market import Kind, parsed
from actors.markets.odds import Odds
from actors.service.settings import Settings, SourceSettings
from actors.source_api.kinds import TickingKind
from actors.source_api.options import Markets as MarketsOption
from actors.source_api.options import SourceOptions
from tests.support.simulation.truth import Legs
from tests.support.time.virtual import WALL_0

CLUBS = (
    ("Arsenal", "Chelsea"),
    ("Liverpool", "Everton"),
    ("Fulham", "Brentford"),
    ("Burnley", "Millwall"),
)
SOON = 2
"""The number of the match that begins during the life, by the clocks of some machines."""
SIDE = 3
"""The number of the match that is without 1X2 prices now and then."""
OTHERS = tuple(
    map(parsed, ("over_under:2.5", "over_under:3.5", "asian_handicap:-0.5", "asian_handicap:0", "btts"))
)
KINDS = (Kind.ONE_X_TWO, Kind.OVER_UNDER, Kind.ASIAN_HANDICAP, Kind.BTTS)
TICKS_S = {SourceName("alder"): 0.5, SourceName("birch"): 4.0, SourceName("cedar"): 1.0}
"""The interval in which each source is read."""
STALE_S, MAX_AGE_S = 10.0, 3.0
"""`MAX_AGE_S` is shorter than one of the intervals, so that surebets end by age alone."""
AWAY_S, AWAY = 6.0, 0.02
"""The longest time for which a source fails, and the chance of it at each reading."""
FAIR = (2.6, 3.3, 2.8)
LABEL = "England - Premier League"  # the label has its country, so that links are sure
SCOPE = Scope("market")
CONFIG = f"""
[surebets]
max_age_s = {MAX_AGE_S}
min_life_s = 1.0
max_profit = 0.5
max_price_ratio = 2.0
"""


class _Options(SourceOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    markets: MarketsOption = ()


class _Site:
    """The present prices of a source."""

    def __init__(self, random: Random) -> None:
        self.random = random
        names = [SourceMatchId(f"m{number}") for number in range(len(CLUBS))]
        self.prices: dict[SourceMatchId, Odds] = dict.fromkeys(names, FAIR)
        self._others = [(name, market) for name in names for market in OTHERS]
        self.is_calm = False
        self._away_until = -inf

    def read(self) -> dict[SourceMatchId, Odds]:
        """Return the prices by the ids of the markets. Raises: SourceError while the site is away."""
        if self.random.random() < AWAY:
            self._away_until = anyio.current_time() + self.random.uniform(0.0, AWAY_S)
        if anyio.current_time() < self._away_until and not self.is_calm:
            raise SourceError("away", "away")
        for match_id in [name for name in self.prices if " " not in name]:
            if self.random.random() < 0.15:
                self.prices[match_id] = self._priced()
        self._change_others()
        return dict(self.prices)

    def _change_others(self) -> None:
        """Change prices of other markets, and the set of these markets."""
        for name, market in self._others:
            chance, market_id = self.random.random(), SourceMatchId(f"{name} {market}")
            if chance < 0.05:
                self.prices.pop(market_id, None)
            elif chance < 0.2:
                self.prices[market_id] = self.random.choice([(1.9, 1.9), (1.8, 2.15), (2.15, 1.8)])
        side, chance = SourceMatchId(f"m{SIDE}"), self.random.random()
        if chance < 0.05:
            self.prices.pop(side, None)
        elif chance < 0.1:
            self.prices[side] = FAIR

    def _priced(self) -> tuple[float, float, float]:
        home, draw, away = (round(price * self.random.uniform(0.9, 1.0), 2) for price in FAIR)
        best = [(3.1, draw, away), (home, 4.0, away), (home, draw, 3.4), (home, draw, away)]
        return self.random.choice(best)


class _Machine:
    """A process's reading of a source."""

    scope = SCOPE

    def __init__(self, name: SourceName, key: str, site: _Site, legs: Legs) -> None:
        self.interval_s, self._key = TICKS_S[name], key
        self._name, self._site, self._legs = name, site, legs
        self._read: Mapping[SourceMatchId, Odds] = {}

    def image(self) -> Mapping[str, Extract]:
        return {self._key: Extract(tuple(self._matches(self._read)))}

    def advance(self, now: Instant) -> Sliced[Mapping[str, Extract]]:
        del now
        yield
        try:
            read = self._site.read()
        except SourceError:
            self._legs.read(id(self), None)
            raise
        self._legs.read(id(self), {f"{self._name}_{name}": prices for name, prices in read.items()})
        changed = {name: prices for name, prices in read.items() if self._read.get(name) != prices}
        gone = tuple(Removal(name, "closed") for name in self._read if name not in read)
        self._read = read
        return {self._key: Extract(tuple(self._matches(changed)), gone)}

    def _matches(self, prices: Mapping[SourceMatchId, Odds]) -> list[Match]:
        return [_match(name, of) for name, of in prices.items()]


def _match(name: SourceMatchId, prices: Odds) -> Match:
    event, _, market = name.partition(" ")
    number = int(event.removeprefix("m"))
    start = int(WALL_0) + (30 if number == SOON else 2_000_000)  # mostly far ahead of any machine's clock
    home, draw, away = FAIR if market else prices
    match = Match(SourceMatchId(event), *CLUBS[number], LABEL, home, draw, away, start)
    return match.of_market(parsed(market), prices) if market else match


class Markets:
    """The sites of all sources, and the legs that count."""

    def __init__(self, random: Random) -> None:
        self.legs = Legs(MAX_AGE_S)
        self._sites = {name: _Site(random) for name in TICKS_S}

    def settings(self, settings: Settings) -> Settings:
        """Return settings whose sources read these sites in place of their own."""
        return replace(settings, sources={name: self._source(name) for name in settings.sources})

    def calm(self) -> None:
        """Let all sources work from now on."""
        for site in self._sites.values():
            site.is_calm = True

    def _source(self, name: SourceName) -> SourceSettings:
        kind = TickingKind(
            "market",
            _Options,
            lambda _: None,
            lambda _options, keys, _now: _Machine(name, keys[0], self._sites[name], self.legs),
        )
        return SourceSettings(kind, _Options(kind="market", stale_after_s=STALE_S, markets=KINDS))
