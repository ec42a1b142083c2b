"""A simulated bookmaker: its view of the world, and its prices. Pure state, no clock.

A price never exceeds the fair price in the bookmaker's view. So prices of several bookmakers give a certain
profit only while one of them lags behind, or boosts a price by some 8 % above the fair one.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping
from fractions import Fraction
from random import Random
from typing import TypeAlias

from msgspec import Struct

from actors.core.cooperative import Sliced
from actors.core.messages import Extract, Match, Removal, SourceMatchId
from actors.markets.market import FORMS, Kind, Market
from actors.markets.odds import Odds, book_sum
from actors.sources.simulated.goals import Outlook, Scores, lines_of, odds_of, scores_of
from actors.sources.simulated.world import SimulatedMatch, Triple

MAX_LAG_MS = 15_100  # including the step in which the lag ends
PRICING_SLICE = 32  # matches priced between two yields: each takes some ten microseconds ...
_SLICE_OF_ALL = 4  # ... and with all markets some 0.1 ms

_KEY = re.compile(r"(sharp|standard|wide)(-[0-9]{1,3})?")
_DRAWS = 1021
_BOOST = 1.08  # times the fair price, rounded up to the ladder
_STEP_MS = 100  # the unit of lags
_LEAST_ODDS, _MOST_SUM = 1.05, 1.18  # limits for markets other than 1X2

Ladder: TypeAlias = tuple[float, ...]
"""The prices that a bookmaker can show, rising from 1.01 to 201."""


def _decimals(*hundredths: tuple[int, int, int]) -> Ladder:
    return tuple(price / 100 for bounds in hundredths for price in range(*bounds))


FINE = _decimals((101, 1000, 1), (1000, 10000, 10), (10000, 20101, 100))
TIERED = _decimals((101, 500, 1), (500, 1000, 5), (1000, 2000, 10), (2000, 5000, 50), (5000, 20101, 100))
_FRACTIONS = (
    "1/100 1/50 1/33 1/25 1/20 1/16 1/14 1/12 1/11 1/10 1/9 1/8 1/7 2/13 1/6 2/11 1/5 2/9 1/4 2/7 3/10 1/3"
    " 4/11 2/5 4/9 1/2 8/15 4/7 8/13 4/6 8/11 4/5 5/6 10/11 20/21 1/1 21/20 11/10 23/20 6/5 5/4 13/10 11/8"
    " 7/5 6/4 31/20 13/8 17/10 7/4 9/5 15/8 19/10 2/1 21/10 11/5 9/4 23/10 12/5 5/2 13/5 27/10 11/4 14/5"
    " 29/10 3/1 16/5 10/3 7/2 18/5 15/4 19/5 4/1 17/4 9/2 19/4 5/1 11/2 6/1 13/2 7/1 15/2 8/1 17/2 9/1"
    " 19/2 10/1 11/1 12/1 13/1 14/1 15/1 16/1 17/1 18/1 20/1 22/1 25/1 28/1 30/1 33/1 40/1 50/1 66/1"
    " 80/1 100/1 125/1 150/1 200/1"
)
FRACTIONAL = tuple(round(float(1 + Fraction(profit)), 2) for profit in _FRACTIONS.split())


class _Style(Struct, frozen=True):
    margin: float  # the book sum minus 1, before rounding
    opinion: float  # how unevenly the margin is spread, 0 to 1
    lag: tuple[int, int]  # the shortest and longest delay of a match, in steps
    steps: int  # a price moves when a probability has moved by 1 / steps
    ladder: Ladder
    rate_steps: int  # the resolution of expected goals, in units of 0.002
    spacing: int  # distance of its lines, in quarters of a goal
    halves: bool  # whether it has only lines at half goals


_STYLES = {
    "sharp": _Style(0.0245, 0.15, (2, 15), 2048, FINE, 3, 1, halves=False),
    "standard": _Style(0.052, 0.96, (20, 60), 512, TIERED, 10, 2, halves=False),
    "wide": _Style(0.069, 0.995, (50, 150), 512, FRACTIONAL, 10, 4, halves=True),
}


class Listing(Struct, frozen=True, eq=False, gc=False):
    """A match in its source's spelling."""

    fixture: SimulatedMatch
    match_id: SourceMatchId
    home: str
    away: str
    league: str | None
    start_time: int | None


class State(Struct, frozen=True, eq=False, gc=False):
    """A match at a moment of the world: its slot, its listing and its true probabilities.

    Without `outlook` only 1X2 is wanted.
    """

    slot: int
    listing: Listing
    fair: Triple | None
    outlook: Outlook | None = None


class ByOutcome(Struct, frozen=True, gc=False):
    """A number for each outcome; unlike a tuple it is never visited by the garbage collector."""

    home: float
    draw: float
    away: float


class Boost(Struct, frozen=True, gc=False):
    """A temporarily better price: the slot of the match, and the outcome (0, 1, 2)."""

    slot: int
    outcome: int


class _Offer(Struct, eq=False, gc=False):
    listing: Listing
    opinion: ByOutcome
    estimate: ByOutcome | None  # None while it is suspended
    match: Match | None = None
    others: tuple[Match, ...] = ()  # its markets other than 1X2


class Bookmaker:
    """The bookmaker of a key in the world of `seed`; it lists the share `coverage` (0 to 1) of matches.

    `kinds` are its kinds of market.

    Raises: ValueError, with the key and the allowed keys, for a key of another form.
    """

    def __init__(
        self, key: str, seed: int, coverage: float = 1.0, kinds: tuple[Kind, ...] = (Kind.ONE_X_TWO,)
    ) -> None:
        found = _KEY.fullmatch(key)
        if found is None:
            raise ValueError(
                f"key was {key!r}, must be sharp, standard or wide, "
                "optionally with a hyphen and a number of one to three digits (standard-2)"
            )
        self.key = key
        self._coverage = coverage
        self._kinds = kinds
        self._style = _STYLES[found[1]]
        draw = Random(f"{seed}/{key}")
        self._draws = tuple(draw.random() for _ in range(_DRAWS))
        shortest, longest = self._style.lag
        self._lags = tuple(round(shortest + share * (longest - shortest)) for share in self._draws)
        self._offers: dict[int, _Offer] = {}  # by slot, in order of appearance
        self._boost: Boost | None = None
        self.pending: defaultdict[int, list[State]] = defaultdict(list)  # by the step that shows it

    def image(self) -> Extract:
        """Return the whole list in order of appearance; the removals are suspended matches."""
        matches: list[Match] = []
        suspended: list[Removal] = []
        for offer in self._offers.values():
            if offer.match is None:
                suspended.append(Removal(offer.listing.match_id, "suspended"))
            else:
                matches += (offer.match, *offer.others)
        return Extract(tuple(matches), tuple(suspended))

    def expect(self, at: int, state: State) -> None:
        """Keep a state of the time `at` until the bookmaker sees it."""
        self.pending[-(-at // _STEP_MS) + self._lags[state.slot % _DRAWS]].append(state)

    def update(
        self, appeared: Mapping[int, State], until: int, boost: Boost | None = None
    ) -> Sliced[Extract]:
        """Return the changes by new matches, by states seen up to `until`, and by a boost."""
        seen, changed = dict(appeared), self._boosted(boost)
        for step in sorted(step for step in self.pending if step <= until // _STEP_MS):
            yield
            pending = self.pending.pop(step)
            seen |= {state.slot: state for state in pending if until < state.listing.fixture.end}
        removals: list[Removal] = []
        others: list[Match] = []
        for number, state in enumerate(seen.values()):
            if number % (PRICING_SLICE if state.outlook is None else _SLICE_OF_ALL) == 0:
                yield
            slot, listing = state.slot, state.listing
            offer = self._offers.get(slot)
            if offer is None or offer.listing.match_id != listing.match_id:
                if offer is not None:
                    finished = offer.listing.match_id, *(other.source_match_id for other in offer.others)
                    removals += (Removal(match_id, "finished") for match_id in finished)
                    del self._offers[slot]
                if not self.lists(slot, listing.fixture.number):
                    continue
                nothing = ByOutcome(0.0, 0.0, 0.0)  # equals no real estimate
                offer = self._offers[slot] = _Offer(listing, self.opinion(listing.fixture), nothing)
            if self._moves(offer, slot, state.fair):
                changed.pop(slot, None)
                if offer.match is None:
                    removals.append(Removal(listing.match_id, "suspended"))
                else:
                    changed[slot] = offer.match
            if state.outlook is not None:
                before, offer.others = offer.others, self._others(offer, state.outlook)
                others += (other for other in offer.others if other not in before)
                listed = {other.source_match_id for other in offer.others}
                reason = "suspended" if offer.match is None else "withdrawn"
                gone = (other.source_match_id for other in before)
                removals += (Removal(match_id, reason) for match_id in gone if match_id not in listed)
        return Extract((*changed.values(), *others), tuple(removals))

    def lists(self, slot: int, number: int) -> bool:
        """Return whether it lists match `number` of a slot."""
        return self._draws[(17 * slot + 5 * number) % _DRAWS] < self._coverage

    def _boosted(self, boost: Boost | None) -> dict[int, Match]:
        """Begin another boost, and return the changed matches by slot."""
        before, self._boost = self._boost, boost
        changed: dict[int, Match] = {}
        for slot in {it.slot for it in (before, boost) if it is not None and before != boost}:
            offer = self._offers.get(slot)
            if offer is None or offer.match is None or offer.estimate is None:
                continue
            match = self._priced(offer, slot, offer.estimate)
            if match != offer.match:
                changed[slot] = offer.match = match
        return changed

    def _priced(self, offer: _Offer, slot: int, estimate: ByOutcome) -> Match:
        listing, prices = offer.listing, list(self.quote(estimate, offer.opinion))
        if self._boost is not None and self._boost.slot == slot:
            chances = estimate.home, estimate.draw, estimate.away
            fair, ladder = sum(chances) / chances[self._boost.outcome], self._style.ladder
            at = min(bisect_left(ladder, _BOOST * fair), len(ladder) - 1)
            prices[self._boost.outcome] = max(prices[self._boost.outcome], ladder[at])
        home, draw, away = prices
        names = listing.home, listing.away, listing.league
        return Match(listing.match_id, *names, home, draw, away, listing.start_time)

    def _moves(self, offer: _Offer, slot: int, fair: Triple | None) -> bool:
        """Update an offer to these probabilities; return whether it changed."""
        estimate = None if fair is None else self.estimate(fair)
        if estimate == offer.estimate:
            return False
        before, offer.estimate = offer.match, estimate
        offer.match = None if estimate is None else self._priced(offer, slot, estimate)
        return estimate is None or offer.match != before

    def opinion(self, fixture: SimulatedMatch) -> ByOutcome:
        """Return the weights that divide its margin among the outcomes, each above 0."""
        home, away = self._weight(7 * fixture.home.number), self._weight(7 * fixture.away.number + 3)
        return ByOutcome(home, self._weight(3 * fixture.slot.number + 11 * fixture.number), away)

    def estimate(self, fair: Triple) -> ByOutcome:
        """Return its view of the fair probabilities: in whole steps, at least half a step."""
        steps = self._style.steps
        home, draw, away = round(fair[0] * steps), round(fair[1] * steps), round(fair[2] * steps)
        return ByOutcome(home or 0.5, draw or 0.5, away or 0.5)

    def quote(self, estimate: ByOutcome, opinion: ByOutcome) -> Triple:
        """Return its decimal prices for an estimate, each from 1.01 to 201."""
        total = estimate.home + estimate.draw + estimate.away
        home, draw, away = self._with_margin(estimate, opinion)
        return self._shown(total / home), self._shown(total / draw), self._shown(total / away)

    def _with_margin(self, estimate: ByOutcome, opinion: ByOutcome) -> Triple:
        """Return an estimate plus the margin."""
        home, draw, away = estimate.home, estimate.draw, estimate.away
        home_weight, draw_weight, away_weight = opinion.home, opinion.draw, opinion.away
        total = home + draw + away
        margin = self._style.margin * total / (home * home_weight + draw * draw_weight + away * away_weight)
        return (
            home * (1.0 + margin * home_weight),
            draw * (1.0 + margin * draw_weight),
            away * (1.0 + margin * away_weight),
        )

    def _shown(self, odds: float) -> float:
        """Return odds rounded down to the ladder, but at least its lowest price."""
        ladder = self._style.ladder
        return ladder[bisect_right(ladder, odds, 1) - 1]

    def _others(self, offer: _Offer, outlook: Outlook) -> tuple[Match, ...]:
        """Return its markets of a match other than 1X2."""
        match, estimate = offer.match, offer.estimate
        if match is None or estimate is None:
            return ()
        total = estimate.home + estimate.draw + estimate.away
        home, draw, away = self._with_margin(estimate, offer.opinion)
        results = home / total, draw / total, away / total
        scores = scores_of(results, outlook, self._style.rate_steps)
        offered = ((market, self._odds(market, scores)) for market in self._markets(outlook))
        return tuple([match.of_market(market, odds) for market, odds in offered if odds])

    def _odds(self, market: Market, scores: Scores) -> Odds:
        """Return the prices of a market; none if it is nearly decided, or returns its stakes."""
        odds = tuple(map(self._shown, odds_of(market, scores)))
        is_open = min(odds) >= _LEAST_ODDS and book_sum(odds) <= _MOST_SUM * FORMS[market.kind].winners
        return odds if is_open else ()

    def _markets(self, outlook: Outlook) -> Iterator[Market]:
        main = {Kind.OVER_UNDER: outlook.total, Kind.ASIAN_HANDICAP: outlook.handicap}
        for kind in self._kinds[1:]:
            if kind in main:
                yield from lines_of(kind, main[kind], self._style.spacing, halves=self._style.halves)
            else:
                yield Market(kind)

    def _weight(self, number: int) -> float:
        leaning = 2.0 * self._draws[number % _DRAWS] - 1.0  # its opinion differs by match and market
        return 1.0 + self._style.opinion * math.copysign(0.8 + 0.2 * abs(leaning), leaning)
