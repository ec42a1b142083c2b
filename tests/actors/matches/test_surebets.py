"""Best prices, surebets and stakes: equal to trying everything, and never a loss."""

from __future__ import annotations

from math import inf, nextafter
from typing import Any

import msgspec
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from actors.core.messages import BookmakerId, Prices
from actors.matches.surebets import Best, Doubt, PricedLeg, SurebetRules, best, surebet
from tests.support.oracles.bets import (
    NO_GAIN,
    combinations_of,
    doubts_about,
    equal_stakes,
)

NOW = 1000.0
RULES = SurebetRules()
PRICE = st.integers(15, 90).map(lambda number: number / 10)  # most combinations of such prices gain
COMMISSION = st.sampled_from([0.0, 0.0, 0.02, 0.05, 0.5])
FAIR = (0.45, 0.28, 0.27)
CHANCES = st.sampled_from(
    [FAIR, FAIR, (0.5, 0.3, 0.2), (0.57, 0.28, 0.15), (0.39, 0.22, 0.39), (0.2, 0.3, 0.5)]
)
"""Some chances are more than 0.12 apart, in one outcome or in two, and some are exactly 0.12 apart."""
GAIN_10 = [("a", 2.2), ("b", 4.4), ("b", 4.4)]
FEE = st.sampled_from([0.0, 0.0, 0.0, 0.03, 0.05, 1.0])


def _leg(bookmaker: str, outcome: int, price: float, **other: Any) -> PricedLeg:
    """Return a leg of a live list confirmed now, with a sure link and no commission; `other` changes it."""
    of = BookmakerId(bookmaker)
    leg = PricedLeg(of, outcome, price, 0.0, NOW, 90.0, Prices.LIVE, is_sure=True, chances=FAIR)
    return msgspec.structs.replace(leg, **other)


def _three(home: Any = (), draw: Any = (), away: Any = ()) -> list[PricedLeg]:
    """Return legs of three bookmakers that gain 3.05 %, with the given changes to each leg."""
    legs = [_leg("a", 0, 2.2), _leg("b", 1, 3.6), _leg("c", 2, 4.2)]
    return [
        msgspec.structs.replace(leg, **dict(changes))
        for leg, changes in zip(legs, (home, draw, away), strict=True)
    ]


@st.composite
def _books(draw: st.DrawFn) -> list[PricedLeg]:
    """Return the legs of one to five bookmakers, some of them without all outcomes."""
    legs = []
    for bookmaker in "abcde"[: draw(st.integers(1, 5))]:
        shared: dict[str, Any] = {
            "commission": draw(COMMISSION),
            "fee_rate": draw(FEE),
            "vouched_mono": NOW - draw(st.sampled_from([0, 0, 0, 20, 24, 40, 44, 59, 60, 90, 120])),
            "holds_s": draw(st.sampled_from([60.0, 90.0, inf])),
            "prices": draw(st.sampled_from([Prices.LIVE, Prices.LIVE, Prices.LIVE, Prices.COLLECTED])),
            "is_sure": draw(st.sampled_from([True, True, True, False])),
            "is_doubted": draw(st.sampled_from([False, False, False, True])),
            "chances": draw(CHANCES),
        }
        legs += [
            _leg(bookmaker, number, draw(PRICE), **shared)
            for number in draw(st.sampled_from([(0, 1, 2), (0, 1, 2), (1,), (0, 2)]))
        ]
    return legs


EACH_RULE = st.builds(
    SurebetRules,
    max_age_s=st.sampled_from([None, 30.0, 100.0]),
    max_skew_s=st.sampled_from([None, 20.0, 40.0]),
    max_profit=st.sampled_from([0.1, 0.3, 100.0]),
)


@given(_books(), EACH_RULE)
def test_a_surebet_is_the_best_of_all_combinations(legs: list[PricedLeg], rules: SurebetRules) -> None:
    """The best combination has no doubt except profit; if there is none, it is the best of all, doubted."""
    _assert_best(legs, rules)


@pytest.mark.long
@settings(max_examples=1000)
@given(_books(), EACH_RULE)
def test_a_surebet_is_the_best_of_all_combinations_of_many(
    legs: list[PricedLeg], rules: SurebetRules
) -> None:
    """The same holds for many more books."""
    _assert_best(legs, rules)


def test_a_book_sum_of_one_is_no_surebet_although_floats_add_up_to_less() -> None:
    """Prices of 1.5, 6 and 6 gain nothing."""
    legs = [_leg("a", outcome, price, commission=0.0) for outcome, price in enumerate((1.5, 6.0, 6.0))]

    assert 1 / 1.5 + 1 / 6.0 + 1 / 6.0 < 1  # `sum` is exact from Python 3.12 on
    assert surebet(legs, NOW, SurebetRules()) is None


def test_a_fee_of_each_share_is_reckoned_with() -> None:
    """A share at 0.41 costs 0.417257 with a fee of 3 %, so odds of 2.439 count as 2.3966."""
    legs = _three(home={"price": 1 / 0.41, "fee_rate": 0.03})

    found = surebet(legs, NOW, SurebetRules())

    assert found is not None
    assert 0.417257 + 1 / 3.6 + 1 / 4.2 == pytest.approx(found.book_sum, abs=1e-9)


@pytest.mark.parametrize(
    ("prices", "is_shown"),
    [((1.51, 3.01, 181.08), False), ((2.0, 4.0, 4.0), False), ((2.0, 4.0, 4.0001), True)],
)
def test_what_gains_less_than_a_millionth_is_no_surebet(
    prices: tuple[float, float, float], *, is_shown: bool
) -> None:
    """The profit would be shown as 0."""
    legs = [_leg("abc"[outcome], outcome, price) for outcome, price in enumerate(prices)]

    found = surebet(legs, NOW, SurebetRules())

    assert is_shown == (found is not None and round(found.profit, 6) > 0)
    assert is_shown == (found is not None)


def test_a_profit_of_the_limit_is_not_too_good_although_floats_subtract_to_more() -> None:
    """Prices of 2.2, 4.4 and 4.4 gain 10 %, which is allowed."""
    legs = [_leg(bookmaker, outcome, price) for outcome, (bookmaker, price) in enumerate(GAIN_10)]

    found = surebet(legs, NOW, SurebetRules(max_profit=0.1))

    assert found is not None
    assert found.profit > 0.1
    assert () == found.doubts


def test_the_best_price_after_commission_is_a_leg() -> None:
    """An exchange takes 5 % of the winnings, 1.3 at 2.3: 2.235 is left, which is more than 2.2."""
    legs = [_leg("a", 0, 2.3, commission=0.05), _leg("b", 0, 2.2), _leg("c", 1, 3.8), _leg("d", 2, 4.4)]

    found = surebet(legs, NOW, RULES)

    assert found is not None
    assert ["a", "c", "d"] == [leg.bookmaker for leg in found.legs]


@pytest.mark.parametrize("commission", [0.0, 0.02])
def test_three_prices_of_one_bookmaker_are_no_surebet_and_hide_none(commission: float) -> None:
    """No other price confirms these prices; with the best price of another bookmaker they are a surebet."""
    alone = [_leg("a", outcome, 3.2, commission=commission) for outcome in range(3)]
    other = [_leg("b", outcome, 3.1) for outcome in range(3)]

    found = surebet([*alone, *other], NOW, RULES)

    assert surebet(alone, NOW, RULES) is None
    assert found is not None
    assert {"a", "b"} == {leg.bookmaker for leg in found.legs}
    assert (3.2, 3.2, 3.1) == tuple(sorted((leg.price for leg in found.legs), reverse=True))


def _assert_best(legs: list[PricedLeg], rules: SurebetRules) -> None:
    found = [(total, doubts_about(some, total, NOW, rules)) for total, some in combinations_of(legs)]
    assume(all(abs(total - NO_GAIN) > 1e-9 for total, _ in found))
    believed = [pair for pair in found if pair[1] <= {Doubt.PROFIT}]
    expected = min((total for total, _ in believed or found), default=None)

    shown = surebet(legs, NOW, rules)

    if shown is None:
        assert expected is None
    else:
        assert pytest.approx(expected) == shown.book_sum
        assert set(shown.doubts) == doubts_about(shown.legs, shown.book_sum, NOW, rules)
        assert not believed or set(shown.doubts) <= {Doubt.PROFIT}
        assert pytest.approx(equal_stakes(shown.legs)) == [share * shown.book_sum for share in shown.shares]


@settings(max_examples=50)
@given(_books(), EACH_RULE)
def test_a_surebet_lasts_until_a_leg_is_too_old(legs: list[PricedLeg], rules: SurebetRules) -> None:
    """Just before `until` no leg is doubted for its age, and from `until` on a leg is doubted."""
    found = surebet(legs, NOW, rules)
    assume(found is not None and Doubt.AGE not in found.doubts and found.until < inf)
    assert found is not None
    before = surebet(found.legs, nextafter(found.until - 1e-9, 0), rules)
    after = surebet(found.legs, found.until, rules)

    assert NOW < found.until
    assert before is not None
    assert after is not None
    assert Doubt.AGE not in before.doubts
    assert Doubt.AGE in after.doubts


@pytest.mark.parametrize(
    ("legs", "rules", "doubts"),
    [
        (_three(), RULES, ()),
        (_three(home={"vouched_mono": NOW - 89.9}), RULES, ()),
        (_three(home={"vouched_mono": NOW - 90}), RULES, (Doubt.AGE,)),
        (_three(home={"vouched_mono": NOW - 50}, away={"holds_s": 50.0}), RULES, (Doubt.AGE,)),
        (_three(home={"vouched_mono": NOW - 50}), SurebetRules(max_age_s=50.0), (Doubt.AGE,)),
        (_three(draw={"vouched_mono": NOW - 21}), SurebetRules(max_skew_s=20.0), (Doubt.SKEW,)),
        (_three(draw={"vouched_mono": NOW - 20}), SurebetRules(max_skew_s=20.0), ()),
        (_three(draw={"is_sure": False}), RULES, (Doubt.LINK,)),
        (_three(away={"is_doubted": True}), RULES, (Doubt.PRICE,)),
        (_three(away={"chances": (0.33, 0.3, 0.37)}), RULES, ()),
        (_three(away={"chances": (0.32, 0.3, 0.38)}), RULES, (Doubt.PRICE,)),
        (_three(home={"price": 2.7}, draw={"price": 4.3}), RULES, (Doubt.PROFIT,)),
        (_three(home={"price": 9.0, "is_sure": False, "is_doubted": True}), RULES, tuple(Doubt)[2:]),
    ],
)
def test_each_doubt_has_its_reason(
    legs: list[PricedLeg], rules: SurebetRules, doubts: tuple[Doubt, ...]
) -> None:
    """Age, skew, link, price and profit are doubted at their limits, one by one and together."""
    found = surebet(legs, NOW, rules)

    assert found is not None
    assert doubts == found.doubts


@pytest.mark.parametrize(
    ("better", "others", "rules"),
    [
        ({"vouched_mono": NOW - 90}, _three(), RULES),
        ({"vouched_mono": NOW - 50}, _three(away={"holds_s": 50.0}), RULES),
        ({"vouched_mono": NOW - 21}, _three(), SurebetRules(max_skew_s=20.0)),
        (
            {"vouched_mono": NOW - 24},
            _three(away={"vouched_mono": NOW - 20}),
            SurebetRules(max_skew_s=20.0),
        ),
        ({"is_sure": False}, _three(), RULES),
        ({"is_doubted": True}, _three(), RULES),
        ({"chances": (0.32, 0.3, 0.38)}, _three(), RULES),
    ],
)
def test_a_believed_surebet_wins_over_a_better_one_that_is_doubted(
    better: dict[str, Any], others: list[PricedLeg], rules: SurebetRules
) -> None:
    """A better price that makes a doubt is passed over if another price gains as well."""
    doubted = msgspec.structs.replace(_leg("d", 0, 2.3), **better)

    found = surebet([doubted, *others], NOW, rules)

    assert found is not None
    assert () == found.doubts
    assert "a" == found.legs[0].bookmaker


@pytest.mark.parametrize("count", [2, 3])
def test_commission_is_taken_of_what_a_market_wins_net(count: int) -> None:
    """Bets on one market cost less than bets on several, even if those have somewhat better prices."""
    market = [_leg("x", number, price, commission=0.05) for number, price in enumerate((2.3, 3.8, 4.4))]
    apart = [
        _leg(name, number, price + 0.01, commission=0.05)
        for number, (name, price) in enumerate(zip("abc", (2.3, 3.8, 4.4), strict=True))
    ]

    alone = surebet(apart, NOW, RULES)
    together = surebet([*apart, *market[:count]], NOW, RULES)

    assert alone is not None
    assert together is not None
    assert pytest.approx(1 / 2.2445 + 1 / 3.6695 + 1 / 4.2395) == alone.book_sum
    assert ["x", "x", "c"] == [leg.bookmaker for leg in together.legs]
    assert pytest.approx(sum(equal_stakes(together.legs))) == together.book_sum < alone.book_sum


def test_an_outcome_without_a_price_makes_no_surebet() -> None:
    """Only bets on all three outcomes together are sure."""
    assert None is surebet(_three()[:2], NOW, RULES)
    assert None is surebet([], NOW, RULES)


def test_a_leg_is_too_old_at_the_very_moment_until_which_it_counts() -> None:
    """This holds although the floats of the two times differ by less than 300."""
    legs = _three(*[{"vouched_mono": 400.30377730191464, "holds_s": 300.0}] * 3)
    found = surebet(legs, 500.0, RULES)
    assert found is not None
    late = surebet(legs, found.until, RULES)

    assert found.until - 400.30377730191464 < 300
    assert late is not None
    assert (Doubt.AGE,) == late.doubts


def test_the_best_price_names_all_that_offer_it() -> None:
    """Every bookmaker with the highest price is named, in their order."""
    prices = {
        BookmakerId("a"): (2.0, 3.5, 4.0),
        BookmakerId("b"): (2.1, 3.4, 4.0),
        BookmakerId("c"): (2.1, 3.3, 3.9),
    }

    assert (
        Best(2.1, (BookmakerId("b"), BookmakerId("c"))),
        Best(3.5, (BookmakerId("a"),)),
        Best(4.0, (BookmakerId("a"), BookmakerId("b"))),
    ) == best(prices)
