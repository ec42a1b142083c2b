"""The oracle of surebets: every combination of legs, and every doubt about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

import numpy as np

from actors.core.messages import Prices
from actors.matches.surebets import Doubt, Legs, PricedLeg, SurebetRules

NO_GAIN = 1 - 1e-6  # with this sum of stakes or more, no gain is shown


def after_fee(leg: PricedLeg) -> Fraction:
    """Return what a stake of 1 returns after a fee: it buys shares that pay 1 each; numbers as written."""
    share = 1 / Fraction(str(leg.price))
    return 1 / (share + Fraction(str(leg.fee_rate)) * share * (1 - share))


def equal_stakes(legs: Legs) -> list[float]:
    """Return the stakes with which each outcome pays 1: the solution of linear equations."""
    paid = np.zeros((len(legs), len(legs)))
    for winner, leg in enumerate(legs):
        paid[winner, winner] = float(after_fee(leg)) * (1 - leg.commission)
        for number, other in enumerate(legs):
            paid[winner, number] += leg.commission * (other.bookmaker == leg.bookmaker)
    return [float(stake) for stake in np.linalg.solve(paid, np.ones(len(legs)))]


def combinations_of(legs: Sequence[PricedLeg]) -> Iterator[tuple[float, Legs]]:
    """Return all combinations that gain, at two or three live bookmakers, with the sum of their stakes."""
    live = [leg for leg in legs if leg.prices is Prices.LIVE]
    for home, draw, away in product(
        *([leg for leg in live if leg.outcome == number] for number in range(3))
    ):
        if home.bookmaker == draw.bookmaker == away.bookmaker:
            continue
        if (total := sum(equal_stakes((home, draw, away)))) < NO_GAIN:
            yield total, (home, draw, away)


def doubts_about(legs: Legs, total: float, now: float, rules: SurebetRules) -> set[Doubt]:
    """Return every reason not to believe a surebet."""
    found = set()
    limit = rules.max_age_s or min(leg.holds_s for leg in legs)
    if any(now >= leg.vouched_mono + limit for leg in legs):
        found.add(Doubt.AGE)
    if any(abs(a.vouched_mono - b.vouched_mono) > (rules.max_skew_s or 1e9) for a in legs for b in legs):
        found.add(Doubt.SKEW)
    if not all(leg.is_sure for leg in legs):
        found.add(Doubt.LINK)
    apart = [abs(x - y) for a in legs for b in legs for x, y in zip(a.chances, b.chances, strict=True)]
    if any(leg.is_doubted for leg in legs) or max(apart) > 0.12:
        found.add(Doubt.PRICE)
    if 1 / total > 1 + rules.max_profit:
        found.add(Doubt.PROFIT)
    return found
