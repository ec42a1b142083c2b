"""The oracle of values: each price against the median of the others, as a person would do it by hand."""

from __future__ import annotations

from statistics import median

import numpy as np

from actors.markets.market import Kind, Market
from actors.matches.fair import Method
from tests.support.builders.valued import Offers
from tests.support.oracles.fair_odds import fair_of_all

MAX_KELLY = 0.05


def by_hand(
    offers: Offers, market: Market, method: Method, max_age_s: float | None, reference: str | None
) -> dict[tuple[str, str], tuple[float, float]]:
    """Return the expected value and the Kelly share of each price with a positive expected value."""
    live = {name: offer for name, offer in offers.items() if offer.is_live}
    compared = {name: offer for name, offer in live.items() if _is_newest(name, live) and offer.is_trusted}
    limit_s = max_age_s or min([offer.stale_after_s for offer in compared.values()], default=0.0)
    twice = 2 if market.kind is Kind.DOUBLE_CHANCE else 1
    priced = [tuple(twice * price for price in offer.prices) for offer in compared.values()]
    fair = dict(zip(compared, fair_of_all(method, priced).tolist() if priced else [], strict=True))
    members = [name for name, offer in compared.items() if offer.is_sure and offer.age_s < limit_s]
    found = {}
    for name, offer in compared.items():
        others = [member for member in members if member != name]
        others = others if reference is None else [member for member in others if member == reference]
        if len(others) < (3 if reference is None else 1) or (offer.fee_rate and _may_return(market)):
            continue
        chances = [median(fair[other][place] for other in others) for place in range(len(offer.prices))]
        chances = [chance / sum(chances) for chance in chances]
        if twice == 2:
            chances = _of_two(chances)
        for outcome, price, chance in zip(market.outcomes, offer.prices, chances, strict=True):
            share = 1 / price + offer.fee_rate / price * (1 - 1 / price)
            gain = (1 / share - 1) * (1 - offer.commission)
            value = chance * gain - (1 - chance)
            if value > 0:
                found[name, outcome] = value, min(value / gain, MAX_KELLY)
    return found


def _is_newest(name: str, live: Offers) -> bool:
    company = live[name].company or name
    same = [other for other, offer in live.items() if (offer.company or other) == company]
    return name == min(same, key=lambda other: live[other].age_s)


def _may_return(market: Market) -> bool:
    return market.line is not None and market.line % 1 != 0.5


def _of_two(chances: list[float]) -> list[float]:
    """Return the chances of double chance: each is at most 1, and their sum is 2."""
    doubled = np.array(chances) * 2
    for place in range(len(doubled)):
        if doubled[place] > 1:
            others = [other for other in range(len(doubled)) if other != place]
            doubled[others] *= 1 / sum(doubled[others])
            doubled[place] = 1.0
    return [float(chance) for chance in doubled]
