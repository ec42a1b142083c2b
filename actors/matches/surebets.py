"""Best prices and surebets: bets on each outcome, at several bookmakers, that gain after every result.

Pure arithmetic over the legs of one market of a fixture; `actors/markets/covers.py` has their stakes.
Outcomes are numbered from 0, in order; times are monotonic seconds. docs/fixtures.md has the reasons.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import chain, combinations
from typing import Annotated, TypeAlias

from msgspec import Meta, Struct

from actors.board.validity import is_skewed, max_age, until
from actors.core.messages import BookmakerId, Prices
from actors.markets.covers import needed
from actors.markets.market import ONE_X_TWO, Market
from actors.markets.odds import Odds, after_fee, book_sum, of_one_winner, scaled
from actors.markets.returns import is_reversible, may_gain
from actors.matches.fair import MIN_BOOKMAKERS, Quotes, crossed, overpriced
from actors.matching.event import Chances
from actors.matching.rules import OFF

Seconds = Annotated[float, Meta(gt=0, le=1e9)]
Commission = Annotated[float, Meta(ge=0, le=0.5, title="a number from 0 to 0.5, where 0.05 is 5 %")]


class Doubt(StrEnum):
    """Why a surebet is not believed."""

    AGE = "age"  # a price was not confirmed lately
    SKEW = "skew"  # its prices were confirmed at times too far apart
    LINK = "link"  # the evidence for a leg's link is too weak
    PRICE = "price"  # a price disagrees with those of other bookmakers: probably an error
    PROFIT = "profit"  # too good to be true


class SurebetRules(Struct, frozen=True, forbid_unknown_fields=True):
    """When a surebet is shown and believed; docs/configuration.md explains each rule."""

    max_age_s: Seconds | None = None
    max_skew_s: Seconds | None = None
    min_life_s: Annotated[float, Meta(ge=0, le=3600)] = 2.0
    max_profit: Annotated[
        float, Meta(gt=0, le=1, title="a number above 0 and at most 1, where 0.1 is 10 %")
    ] = 0.10
    max_price_ratio: Annotated[float, Meta(gt=1, le=1000)] = 1.25


class Best(Struct, frozen=True, gc=False):
    """The highest price of an outcome, and all bookmakers that offer it, in their order."""

    price: float
    bookmakers: tuple[BookmakerId, ...]


class PricedLeg(Struct, frozen=True, gc=False):
    """One outcome at one bookmaker, which takes `commission` from the net win on the market.

    Its list was confirmed at `vouched_mono`, for `holds_s` seconds. `chances` are the fair chances of the
    bookmaker's prices; it `is_doubted` if these contradict the other bookmakers. `fee_rate` is the fee of
    `Match`, for prediction markets. Without `is_trusted` the newest attempt to get its list failed: then
    neither it nor an older price of its company is a leg.
    """

    bookmaker: BookmakerId
    outcome: int
    price: float
    commission: float
    vouched_mono: float
    holds_s: float
    prices: Prices
    is_sure: bool
    chances: Chances
    is_doubted: bool = False
    company: str = ""
    fee_rate: float = 0.0
    is_trusted: bool = True
    market: Market = ONE_X_TWO

    @property
    def paid(self) -> float:
        """The price after the fee."""
        return after_fee(self.price, self.fee_rate)


SHARE_DIGITS = 10  # with fewer digits a share at a high price, up to 1,000, may return less than the total
NO_GAIN = 1 - 1e-6  # from this book sum on the gain would be shown as a profit of 0

Legs: TypeAlias = tuple[PricedLeg, ...]
"""A leg for each outcome, in their order."""


class FoundSurebet(Struct, frozen=True):
    """A leg for each outcome; `book_sum` is the cost of a return of 1, `shares` divide the stake.

    At `until` (monotonic seconds) a leg is too old. With doubts it is not believed. If it `is_weak`, all
    stakes may be returned, and its numbers describe the other results.
    """

    legs: Legs
    book_sum: float
    shares: tuple[float, ...]
    until: float
    doubts: tuple[Doubt, ...] = ()

    @property
    def profit(self) -> float:
        """The gain as a share of the whole stake."""
        return 1 / self.book_sum - 1

    @property
    def is_weak(self) -> bool:
        """Whether a result returns all stakes, so that no gain is certain."""
        return not may_gain(self.legs[0].market)


class Leg(Struct, frozen=True, gc=False):
    """An outcome, such as `X`, and the bookmaker with the price; `stake` is its share of the total.

    The price was confirmed `age_s` seconds ago.
    """

    outcome: str
    bookmaker: BookmakerId
    odds: float
    stake: float
    age_s: float = 0.0


class Surebet(Struct, frozen=True, gc=False):
    """Prices that win after every result, since `since` (Unix seconds); `profit` is a share of the total.

    `book_sum` is the cost of a return of 1, for double chance the cost of a return of 2, because two of its
    bets win. The surebet ends at `until` (Unix seconds) without new confirmations. Ages and `until` are as
    of the version that last changed its fixture. A weak surebet has a profit of 0, because all stakes may
    be returned, and a `usual_profit`, the least gain after any other result.
    """

    profit: float
    since: float
    legs: tuple[Leg, ...]
    book_sum: float = 1.0
    until: float = 0.0
    usual_profit: float | None = None

    @property
    def bets(self) -> tuple[object, ...]:
        """The parts that do not depend on confirmations."""
        legs = [(leg.outcome, leg.bookmaker, leg.odds, leg.stake) for leg in self.legs]
        return (self.profit, self.usual_profit, self.since, *legs)


def best(prices: Mapping[BookmakerId, Odds]) -> tuple[Best, ...] | None:
    """Return the best gross price of each outcome, None without bookmakers."""
    if not prices:
        return None
    return tuple([_best(prices, of_outcome) for of_outcome in zip(*prices.values(), strict=True)])


def doubted_legs(quotes: Quotes, rules: SurebetRules, market: Market = ONE_X_TWO) -> frozenset[BookmakerId]:
    """Return the bookmakers whose prices contradict the other prices: no surebet uses them.

    Two other bookmakers are enough to call a price too high, while best prices need three, because a bet on
    it may be lost. In most markets exchanging the teams does not reverse the outcomes.
    """
    found = overpriced(quotes, rules.max_price_ratio, MIN_BOOKMAKERS - 1)
    return found | crossed(quotes) if is_reversible(market) else found


def surebet(legs: Iterable[PricedLeg], now: float, rules: SurebetRules) -> FoundSurebet | None:
    """Return the most profitable surebet whose only doubt, if any, is its profit.

    If there is none, return the most profitable surebet with its doubts, or None. Of equal surebets the
    first legs win. Collected prices are never a leg.
    """
    live = _live(legs)
    return _surebet(live, now, rules) if live and may_gain(live[0].market) else None


def weak_surebet(legs: Iterable[PricedLeg], now: float, rules: SurebetRules) -> FoundSurebet | None:
    """Return the best surebet on a line where all stakes may be returned: it never loses, and mostly gains.

    No leg has a fee, because fees are not returned.
    """
    live = _live(legs)
    return None if not live or may_gain(live[0].market) else _surebet(live, now, rules)


def _surebet(live: list[PricedLeg], now: float, rules: SurebetRules) -> FoundSurebet | None:
    if not (offered := _by_outcome(live)):
        return None
    highest = tuple([max([leg.price for leg in some]) for some in offered])
    if book_sum(of_one_winner(live[0].market, highest)) >= NO_GAIN:
        return None  # the usual case; commission, fees and half results only raise the sum
    is_weak = not may_gain(live[0].market)
    live = [leg for leg in _freshest(live) if leg.is_trusted and not (is_weak and leg.fee_rate)]
    sound = [leg for leg in live if leg.is_sure and not leg.is_doubted]
    found = _cheapest_of(sound)
    if found is not None and not {Doubt.PROFIT}.issuperset(_doubts(found, now, rules)):
        groups = [group for some in _agreeing(sound) for group in _fresh(some, now, rules)]
        found = _cheapest([_cheapest_of(group) for group in groups])
    if found is None or sum(_needed(found)) >= NO_GAIN:
        found = _cheapest_of(live)
    if found is None or (total := sum(needed := _needed(found))) >= NO_GAIN:
        return None
    ends, doubts = until(found, rules.max_age_s), _doubts(found, now, rules)
    return FoundSurebet(found, total, scaled(needed), ends, doubts)


def _best(prices: Mapping[BookmakerId, Odds], of_outcome: Sequence[float]) -> Best:
    highest = max(of_outcome)
    where = [bookmaker for bookmaker, price in zip(prices, of_outcome, strict=True) if price == highest]
    return Best(highest, tuple(where))


def _live(legs: Iterable[PricedLeg]) -> list[PricedLeg]:
    return [leg for leg in legs if leg.prices is Prices.LIVE]


def _freshest(legs: Sequence[PricedLeg]) -> list[PricedLeg]:
    """Return the legs at the last confirmed bookmaker of each company."""
    latest: dict[str, PricedLeg] = {}
    for leg in legs:
        company = leg.company or leg.bookmaker
        if company not in latest or leg.vouched_mono > latest[company].vouched_mono:
            latest[company] = leg
    return [leg for leg in legs if latest[leg.company or leg.bookmaker].bookmaker == leg.bookmaker]


def _doubts(legs: Legs, now: float, rules: SurebetRules) -> tuple[Doubt, ...]:
    found = {
        Doubt.AGE: now >= until(legs, rules.max_age_s),
        Doubt.SKEW: is_skewed(legs, rules.max_skew_s),
        Doubt.LINK: not all(leg.is_sure for leg in legs),
        Doubt.PRICE: any(leg.is_doubted for leg in legs) or not _agree(legs),
        Doubt.PROFIT: 1 / sum(_needed(legs)) > 1 + rules.max_profit,  # in floats 1.1 - 1 is above 0.1
    }
    return tuple(doubt for doubt, is_so in found.items() if is_so)


def _agree(legs: Legs) -> bool:
    """Return whether the prices of all these bookmakers agree."""
    every = zip(*[leg.chances for leg in legs], strict=True)
    return all(max(of_outcome) - min(of_outcome) <= OFF for of_outcome in every)


def _agreeing(legs: Sequence[PricedLeg]) -> Iterator[list[PricedLeg]]:
    """Yield the largest groups of legs that all agree with each other."""
    groups = [[*legs]]
    for outcome in _outcomes(legs):
        groups = [some for group in groups for some in _within(group, outcome)]
    yield from groups


def _within(legs: Sequence[PricedLeg], outcome: int) -> Iterator[list[PricedLeg]]:
    """Yield the largest groups of legs whose chances of an outcome differ by `OFF` at most."""
    highest = -1.0
    for low in sorted({leg.chances[outcome] for leg in legs}):
        group = [leg for leg in legs if 0 <= leg.chances[outcome] - low <= OFF]
        if (reached := max([leg.chances[outcome] for leg in group])) > highest:
            highest = reached
            yield group


def _fresh(legs: Sequence[PricedLeg], now: float, rules: SurebetRules) -> Iterator[list[PricedLeg]]:
    """Yield groups of legs that are all fresh enough to be combined."""
    ages = [(leg, max_age([leg], rules.max_age_s)) for leg in legs]
    for limit in sorted({age for _, age in ages}):
        fresh = [leg for leg, age in ages if now < leg.vouched_mono + limit and limit <= age]
        if rules.max_skew_s is None:
            yield fresh
            continue
        for oldest in sorted({leg.vouched_mono for leg in fresh}):
            yield [leg for leg in fresh if 0 <= leg.vouched_mono - oldest <= rules.max_skew_s]


def _cheapest_of(legs: Sequence[PricedLeg]) -> Legs | None:
    """Return the legs at two bookmakers or more that need the smallest stake; None without such legs.

    They have the best net prices. If one bookmaker has all of these, one outcome takes its next best price,
    because a gain at a single bookmaker is an error. Several legs on one market with commission may need
    less, and are tried too; with four or more outcomes two such markets are not combined.
    """
    offered = [sorted(of_outcome, key=_net) for of_outcome in _by_outcome(legs)]
    if not offered:
        return None
    first = [of_outcome[0] for of_outcome in offered]
    found = [first]
    if not _are_at_several(first):
        found = [
            [*first[:outcome], of_outcome[1], *first[outcome + 1 :]]
            for outcome, of_outcome in enumerate(offered)
            if len(of_outcome) > 1
        ]
    markets: dict[BookmakerId, dict[int, PricedLeg]] = {}
    for leg in legs:
        if leg.commission:
            markets.setdefault(leg.bookmaker, {})[leg.outcome] = leg
    for bookmaker, market in markets.items():
        elsewhere = {
            leg.outcome: leg for leg in chain(*map(reversed, offered)) if leg.bookmaker != bookmaker
        }
        for count in range(2, len(offered)):
            for here in combinations(market, count):
                mixed = elsewhere | {outcome: market[outcome] for outcome in here}
                if len(mixed) == len(offered):
                    found.append([mixed[outcome] for outcome in range(len(offered))])
    return _cheapest([tuple(legs) for legs in found])


def _by_outcome(legs: Sequence[PricedLeg]) -> list[list[PricedLeg]]:
    """Return the legs of each outcome; empty if an outcome has none."""
    offered = [[leg for leg in legs if leg.outcome == outcome] for outcome in _outcomes(legs)]
    return offered if all(offered) else []


def _outcomes(legs: Sequence[PricedLeg]) -> range:
    """Return the outcomes of the market of these legs."""
    return range(len(legs[0].chances) if legs else 0)


def _net(leg: PricedLeg) -> float:
    """Return the negative net win of a stake of 1, after fee and commission, as a sort key."""
    return -(leg.paid - 1) * (1 - leg.commission)


def _are_at_several(legs: Iterable[PricedLeg]) -> bool:
    return len({leg.bookmaker for leg in legs}) > 1


def _cheapest(found: Iterable[Legs | None]) -> Legs | None:
    return min(
        [legs for legs in found if legs is not None], key=lambda legs: sum(_needed(legs)), default=None
    )


def _needed(legs: Legs) -> list[float]:
    """Return the smallest stakes with which every result pays at least 1."""
    return needed(legs[0].market, legs)
