"""Values of prices by other bookmakers' prices, and cases in which a value is doubted or does not exist."""

from __future__ import annotations

from random import Random

import pytest
from msgspec.structs import replace

from actors.core.clock import Instant
from actors.markets.market import ONE_X_TWO, Kind, Market
from actors.matches.fair import Method
from actors.matches.surebets import Doubt, SurebetRules
from tests.support.builders.valued import NOW, START, Offer, terms_of, values_among
from tests.support.oracles.values import by_hand

OTHERS = {name: Offer((2.0, 3.6, 4.0)) for name in ("birch", "cedar", "dogwood")}
HIGH = Offer((2.4, 3.4, 3.5))
MARKETS = [
    ONE_X_TWO,
    Market(Kind.BTTS),
    Market(Kind.DOUBLE_CHANCE),
    *(Market(Kind.OVER_UNDER, quarters) for quarters in (8, 9, 10)),
    Market(Kind.ASIAN_HANDICAP, -3),
]


@pytest.mark.parametrize("seed", range(20))
def test_values_of_random_books_are_those_by_hand(seed: int, request: pytest.FixtureRequest) -> None:
    """The values agree to 1e-9, for each market, method and reference: 1,000 books (`--whole` 100,000)."""
    random, seen = Random(seed), 0
    for _ in range(5000 if request.config.getoption("--whole") else 50):
        market, method = random.choice(MARKETS), random.choice([*Method])
        offers = {f"b{number}": _any_offer(random, market) for number in range(random.randint(1, 9))}
        max_age_s, reference = random.choice([None, 5.0]), random.choice([None, None, "b0"])
        rules = SurebetRules(max_age_s=max_age_s)

        found = values_among(offers, market, terms_of(offers, method, rules, reference))
        expected = by_hand(offers, market, method, max_age_s, reference)

        seen += len(found)
        by_price = {(value.bookmaker, value.outcome): (value.expected, value.kelly) for value in found}
        near = {at: of for at, of in expected.items() if of[0] > 1e-9}
        assert near.keys() <= by_price.keys() <= expected.keys()
        assert all(expected[at] == pytest.approx(of, abs=1e-9) for at, of in by_price.items())
        assert sorted([value.expected for value in found], reverse=True) == [of.expected for of in found]
    assert seen > 10


def _any_offer(random: Random, market: Market) -> Offer:
    """Return a random offer of a bookmaker, with prices mostly near those of the other bookmakers."""
    shares = [random.uniform(0.8, 1.2) for _ in market.outcomes]
    margin, winners = random.uniform(0.97, 1.1), market.winners
    prices = tuple(max(sum(shares) / (winners * margin * share), 1.001) for share in shares)
    return Offer(
        tuple(round(price, 3) for price in prices),
        age_s=random.choice([0.5, 4.0, 12.0, random.uniform(0, 30)]),
        stale_after_s=random.choice([10.0, 30.0, 60.0]),
        commission=random.choice([0.0, 0.0, 0.05]),
        fee_rate=random.choice([0.0, 0.0, 0.03]),
        company=random.choice(["", "", "one company"]),
        is_sure=random.random() < 0.8,
        is_live=random.random() < 0.9,
        is_trusted=random.random() < 0.9,
    )


@pytest.mark.parametrize(
    ("high", "doubts"),
    [
        (HIGH, ()),
        (replace(HIGH, age_s=29.0), ()),
        (replace(HIGH, age_s=30.0), (Doubt.AGE,)),
        (replace(HIGH, is_sure=False), (Doubt.LINK,)),
        (replace(HIGH, prices=(2.7, 3.4, 3.5)), (Doubt.PRICE,)),
        (replace(HIGH, prices=(4.0, 3.6, 2.05)), (Doubt.PRICE,)),
        (replace(HIGH, age_s=31.0, is_sure=False), (Doubt.AGE, Doubt.LINK)),
    ],
)
def test_a_value_has_the_doubts_of_its_price(high: Offer, doubts: tuple[Doubt, ...]) -> None:
    """The price is too old, only likely linked, above 1.25 times the fair price, or of exchanged teams."""
    found = values_among({"alder": high, **OTHERS})

    assert ("alder", doubts) == (found[0].bookmaker, found[0].doubts)


@pytest.mark.parametrize(
    "offers",
    [
        {"alder": HIGH, "birch": OTHERS["birch"], "cedar": OTHERS["cedar"]},
        {"alder": HIGH, **OTHERS, "birch": replace(OTHERS["birch"], is_sure=False)},
        {"alder": HIGH, **OTHERS, "birch": replace(OTHERS["birch"], is_trusted=False)},
        {"alder": HIGH, **OTHERS, "birch": replace(OTHERS["birch"], is_live=False)},
        {"alder": HIGH, **OTHERS, "birch": replace(OTHERS["birch"], age_s=30.0)},
        {"alder": replace(HIGH, company="birch"), **OTHERS},
        {"alder": replace(HIGH, is_trusted=False), **OTHERS},
        {"alder": replace(HIGH, is_live=False), **OTHERS},
        {"alder": replace(HIGH, in_play=True), **OTHERS},
    ],
)
def test_there_is_no_value_without_three_other_companies_or_a_live_price(offers: dict[str, Offer]) -> None:
    """These prices must be live, young, surely linked, not in play, and of a list that was received."""
    assert not [value for value in values_among(offers) if value.bookmaker == "alder"]


@pytest.mark.parametrize(("wall", "count"), [(START - 0.001, 1), (START, 0)])
def test_values_end_at_the_kick_off(wall: float, count: int) -> None:
    """The clock decides, whatever the sources say."""
    found = values_among({"alder": HIGH, **OTHERS}, now=Instant(NOW.mono, wall))

    assert count == len(found)
