"""Fair odds: equal to other implementations, proper for every price, the same in any order."""

from __future__ import annotations

import random
from itertools import pairwise, permutations
from math import nextafter
from statistics import median
from sys import float_info

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from actors.core.messages import BookmakerId
from actors.markets.odds import Odds
from actors.matches.fair import Method, Quote, Quotes, consensus, crossed, fair, overpriced
from actors.matching.event import Chances
from tests.support.oracles.disagreeing import crossed_of, overpriced_of
from tests.support.oracles.fair_odds import fair_of_all

EACH = pytest.mark.parametrize("method", Method)
SMALLEST = nextafter(1.0, 2.0)
PRICES = st.tuples(
    *[
        st.floats(SMALLEST, float_info.max)
        | st.floats(SMALLEST, 1000)
        | st.floats(1e-15, 1e-3).map(lambda x: 1 + x)
    ]
    * 3
)
CHANCES = st.lists(
    st.tuples(*[st.floats(0.001, 1)] * 3).map(lambda drawn: tuple(x / sum(drawn) for x in drawn))
)


def _books(count: int, outcomes: int = 3) -> list[Odds]:
    """Return `count` books of prices, up to about 2,000, with book sums of 0.95 to 1.40."""
    chance = random.Random(19)
    found: list[Odds] = []
    while len(found) < count:
        parts = [chance.expovariate(1) + 0.003 for _ in range(outcomes)]
        book_sum = chance.uniform(0.95, 1.40)
        prices = tuple([sum(parts) / (part * book_sum) for part in parts])
        if min(prices) > 1:
            found.append(prices)
    return found


@EACH
@pytest.mark.parametrize(
    ("outcomes", "count"),
    [(2, 2_000), (3, 5_000), (4, 2_000), (5, 2_000), pytest.param(3, 100_000, marks=pytest.mark.long)],
)
def test_fair_odds_equal_those_by_bisection(method: Method, outcomes: int, count: int) -> None:
    """The fair odds are within 1e-9 of equations solved by bisection, for book sums of 0.95 to 1.40."""
    books = _books(count, outcomes)

    ours = np.array([fair(method, prices) for prices in books])

    assert np.abs(ours - fair_of_all(method, books)).max() < 1e-9


def test_two_prices_that_are_exchanged_are_called_wrong() -> None:
    """Consensus, doubt and exchange work for two outcomes (over and under) as they do for three."""
    quotes = _quotes((1.5, 2.7), (1.52, 2.6), (1.49, 2.75), (2.7, 1.5))
    consensus_of_three = consensus([quote.chances for quote in [*quotes.values()][:3]])

    assert consensus_of_three is not None
    assert pytest.approx((1.5**-1.0593, 2.7**-1.0593), abs=1e-4) == consensus_of_three
    assert {"d"} == {*crossed(quotes)} == {*overpriced(quotes, 1.25)}


@pytest.mark.parametrize(
    ("method", "prices", "expected"),
    [
        (Method.POWER, (2.1, 3.4, 3.6), (0.46017445786, 0.277979964076, 0.261845578063)),
        (Method.SHIN, (2.1, 3.4, 3.6), (0.458665715961, 0.278737637132, 0.262596646906)),
        (Method.POWER, (1.07, 12.0, 34.0), (0.92517155908, 0.057470068244, 0.017358372676)),
        (Method.SHIN, (1.07, 12.0, 34.0), (0.91201748177, 0.069690121799, 0.018292396431)),
        (Method.POWER, (1.01, 51.0, 501.0), (0.988574084306, 0.010663938022, 0.000761977672)),
        (Method.SHIN, (1.01, 51.0, 501.0), (0.984280290608, 0.015326168447, 0.000393540944)),
        (Method.POWER, (2.2, 3.6, 4.1), (0.462563237316, 0.285781713559, 0.251655049125)),
        (Method.POWER, (1.01, 110.0, 1000.0), (0.990067348089, 0.00895460783, 0.00097804408)),
        (Method.SHIN, (1.01, 110.0, 1000.0), (0.990004523031, 0.009042488642, 0.000952988328)),
    ],
)
def test_fair_odds_equal_published_ones(method: Method, prices: Odds, expected: Chances) -> None:
    """The values are those of penaltyblog 1.13.1 (MIT), `implied`, to twelve digits."""
    assert pytest.approx(expected, abs=2e-12) == fair(method, prices)


@EACH
@given(PRICES)
@example((1.0000001, 1e300, 1e300))
@example((SMALLEST, SMALLEST, SMALLEST))
@example((SMALLEST, float_info.max, float_info.max))
@example((float_info.max, float_info.max, float_info.max))
@example((1.43, 1.43, 1e300))
@example((1e303, 1e283, 1.0000001))
@example((12.3, 1 + 4e-16, 1.96))
def test_every_price_has_a_proper_probability(method: Method, prices: Odds) -> None:
    """Whatever the prices, each probability is above 0 and below 1, and they add up to 1.

    A longer price is never likelier, and odds in another order have the same probabilities in that order.
    """
    chances = fair(method, prices)
    by_price = [chance for _, chance in sorted(zip(prices, chances, strict=True))]

    assert all(0 < chance < 1 for chance in chances)
    assert abs(sum(chances) - 1) < 1e-12
    assert all(later <= earlier + 1e-12 for earlier, later in pairwise(by_price))
    for places in permutations(range(3)):
        home, draw, away = (prices[place] for place in places)
        other = fair(method, (home, draw, away))

        assert pytest.approx([chances[place] for place in places], abs=1e-9) == list(other)


@given(CHANCES, st.randoms(use_true_random=False))
def test_a_consensus_is_the_median_scaled(chances: list[Chances], chance: random.Random) -> None:
    """A consensus is the median of each outcome, scaled to the sum 1; fewer than three have none."""
    found = consensus(chances)
    shuffled = chance.sample(chances, len(chances))

    assert found == consensus(shuffled)
    if len(chances) < 3:
        assert found is None
    else:
        middles = [median(pair) for pair in zip(*chances, strict=True)]
        assert pytest.approx([middle / sum(middles) for middle in middles]) == found


IN_PLAY = (1.9, 2.65, 6.0), (1.95, 2.6, 5.8), (1.92, 2.7, 6.2), (1.94, 2.62, 5.9)
BEFORE_A_GOAL = (1.22, 5.4, 14.0)


def _quotes(*prices: Odds, uncounted: int = 0, method: Method = Method.POWER) -> Quotes:
    """Return bookmakers a, b, ... with these prices; the last `uncounted` do not count."""
    counted = len(prices) - uncounted
    return {
        BookmakerId("abcdefghijkl"[number]): Quote(some, fair(method, some), number < counted)
        for number, some in enumerate(prices)
    }


@pytest.mark.parametrize(
    ("quotes", "expected"),
    [
        (_quotes(*IN_PLAY, BEFORE_A_GOAL), {"e"}),
        (_quotes(BEFORE_A_GOAL, *IN_PLAY[:3]), {"a"}),
        (_quotes(BEFORE_A_GOAL, *IN_PLAY[:2]), set()),  # one of only two other bookmakers may be wrong
        (_quotes(*IN_PLAY[:3], BEFORE_A_GOAL, uncounted=1), {"d"}),
        (_quotes(*IN_PLAY, BEFORE_A_GOAL, uncounted=3), set()),
        (_quotes(*IN_PLAY, (1.9, 2.65, 8.5)), {"e"}),
        (_quotes(*IN_PLAY, (1.9, 2.65, 8.3)), set()),
        (_quotes(*IN_PLAY, (1.05, 1.2, 1.3)), set()),  # prices that are too low mislead nobody
        (_quotes(*[(2.0, 4.0, 4.0)] * 3, (2.5, 4.0, 4.0)), set()),  # exactly 1.25 times the fair price
        (_quotes(*[(2.0, 4.0, 4.0)] * 3, (2.5001, 4.0, 4.0)), {"d"}),
    ],
)
def test_price_far_above_the_fair_one_of_three_others_is_called_wrong(
    quotes: Quotes, expected: set[str]
) -> None:
    """The prices of fewer than three others call no price wrong, and only counted prices are compared."""
    assert expected == overpriced(quotes, 1.25)


@pytest.mark.parametrize(
    ("quotes", "expected"),
    [
        (_quotes((2.5, 3.3, 2.9), (2.9, 3.35, 2.5), (2.5, 3.3, 2.85)), {"b"}),
        (_quotes((2.5, 3.3, 2.9), (2.9, 3.35, 2.5)), {"a", "b"}),  # either may have exchanged the teams
        (_quotes((2.5, 3.3, 2.9), (2.55, 3.3, 2.85), (2.5, 3.3, 2.85)), set()),
        (_quotes((2.7, 3.3, 2.68), (2.68, 3.3, 2.7)), set()),  # nearly equal if they are exchanged
        (_quotes((1.5, 4.5, 6.5), (6.0, 4.4, 1.53), (1.52, 4.4, 6.4)), {"b"}),
        (_quotes((1.5, 4.5, 6.5), (3.0, 3.4, 2.4), (1.52, 4.4, 6.4)), set()),  # wrong in another way
        (_quotes((1.5, 4.5, 6.5)), set()),
        (_quotes((2.5, 3.3, 2.9), (2.9, 3.35, 2.5), uncounted=1), {"b"}),
    ],
)
def test_bookmaker_that_exchanged_home_and_away_is_told_by_the_others(
    quotes: Quotes, expected: set[str]
) -> None:
    """The prices of that bookmaker agree better with the others if home and away are exchanged."""
    assert expected == crossed(quotes)


@EACH
@given(st.randoms(use_true_random=False), st.integers(1, 12), st.integers(0, 3))
def test_prices_that_disagree_are_those_of_the_definitions(
    method: Method, chance: random.Random, count: int, uncounted: int
) -> None:
    """The functions find the same prices as the oracle, whichever and however many bookmakers count.

    Some books have home and away exchanged, and some have one price that is too high.
    """
    books = [_near((2.3, 3.4, 3.3), chance) for _ in range(count)]
    quotes = _quotes(*books, uncounted=min(uncounted, count), method=method)
    prices = {name: quote.prices for name, quote in quotes.items()}
    counted = [name for name, quote in quotes.items() if quote.counts]

    for fewest in (2, 3):
        assert overpriced_of(prices, counted, method, 1.25, fewest) == overpriced(quotes, 1.25, fewest)
    assert crossed_of(prices, counted, method) == crossed(quotes)


def _near(prices: Odds, chance: random.Random) -> Odds:
    """Return prices near `prices`, perhaps with home and away exchanged, or with one that is too high."""
    near = [price * chance.uniform(0.93, 1.07) for price in prices]
    if chance.random() < 0.2:
        near.reverse()
    if chance.random() < 0.3:
        near[chance.randrange(3)] *= chance.uniform(1.0, 1.5)
    home, draw, away = near
    return home, draw, away
