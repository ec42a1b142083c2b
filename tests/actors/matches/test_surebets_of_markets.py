"""Surebets of all markets: those that an exhaustive search finds, and none that may lose after a score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest

from actors.core.messages import BookmakerId
from actors.markets.market import Kind, Market, parsed
from actors.matches.fair import Method, Quote, fair
from actors.matches.surebets import (
    NO_GAIN,
    FoundSurebet,
    PricedLeg,
    SurebetRules,
    doubted_legs,
    surebet,
    weak_surebet,
)
from tests.support.oracles.market_bets import best_bets, best_weak, paid_out
from tests.support.oracles.market_boards import NOW, boards, leg, lines_of
from tests.support.recordings import the_odds_api

RULES = SurebetRules(max_profit=1000.0)
TOTAL_2_5, TOTAL_2_25, TOTAL_2 = (parsed(f"over_under:{line}") for line in ("2.5", "2.25", "2"))
DOUBLE_CHANCE = Market(Kind.DOUBLE_CHANCE)


def _two(market: Market, first: float, second: float) -> FoundSurebet | None:
    """Return the surebet of two bookmakers' prices, one for each outcome."""
    return surebet([leg(market, "a", 0, first), leg(market, "b", 1, second)], NOW, RULES)


def _compared(every: Iterable[list[PricedLeg]]) -> Counter[str]:
    """Compare the surebets of markets with the oracle; return how many there were, by kind."""
    counts = Counter[str]()
    for legs in every:
        market, line = legs[0].market, legs[0].market.line or 0.0
        found, expected = surebet(legs, NOW, RULES), best_bets(legs, line)
        counts["boards"] += 1
        if expected is None or abs(1 / expected.returned - NO_GAIN) < 1e-9:
            assert expected is not None or found is None
            continue
        assert (found is not None) == (1 / expected.returned < NO_GAIN), (market, legs)
        if found is None:
            continue
        counts[market.kind] += 1
        least = paid_out(found.legs, found.shares, line).min()
        assert abs(least - 1 - found.profit) < 1e-9, (market, legs)
        assert least > 1
        assert len({each.bookmaker for each in found.legs}) > 1
        if expected.is_doubtful:
            counts["doubtful"] += 1
        else:
            assert abs(found.profit - (expected.returned - 1)) < 1e-9, (market, legs)
    return counts


def _compared_weak(every: Iterable[list[PricedLeg]]) -> Counter[str]:
    """Compare the weak surebets of markets with the oracle; return how many there were, by kind."""
    counts = Counter[str]()
    for legs in every:
        market, line = legs[0].market, legs[0].market.line or 0.0
        found, expected = weak_surebet(legs, NOW, RULES), best_weak(legs, line)
        if expected is None or abs(1 / expected.returned - NO_GAIN) < 1e-9:
            assert expected is not None or found is None, (market, legs)
            continue
        counts[f"{market.kind} whole"] += 1
        assert (found is not None) == (1 / expected.returned < NO_GAIN), (market, legs)
        if found is None:
            continue
        counts[market.kind] += 1
        payments = sorted(paid_out(found.legs, found.shares, line))
        assert abs(payments[0] - 1) < 1e-12, (market, legs)
        assert payments[1] > 1
        assert abs(payments[1] - 1 - found.profit) < 1e-9
        assert abs(found.profit - (expected.returned - 1)) < 1e-9, (market, legs)
        assert surebet(legs, NOW, RULES) is None
    return counts


@pytest.mark.timeout(3_600)
def test_weak_surebets_of_all_lines_are_the_best_bets_that_never_lose(
    *, is_long: bool, is_whole: bool
) -> None:
    """One result returns the whole stake; every other result gains what the best pair of bets gains."""
    many = 100_000 if is_whole else 20_000 if is_long else 2_000
    counts = _compared_weak(boards(many, seed=7 if is_long else 5))

    print(dict(counts))  # noqa: T201
    assert {"over_under", "asian_handicap"} == {name for name in counts if " " not in name}
    assert min(counts["over_under"], counts["asian_handicap"]) > many // 100


def test_a_leg_with_a_fee_is_none_of_a_weak_surebet() -> None:
    """The fee of such a leg is lost when the stakes are returned."""
    sound = leg(TOTAL_2, "a", 0, 2.2)
    found = [
        weak_surebet([sound, leg(TOTAL_2, "b", 1, 2.2, fee_rate=fee)], NOW, RULES) for fee in (0.0, 0.03)
    ]

    assert found[0] is not None
    assert pytest.approx(0.1) == found[0].profit
    assert found[1] is None


@pytest.mark.timeout(3_600)
def test_surebets_of_all_markets_are_the_best_of_all_bets(*, is_long: bool, is_whole: bool) -> None:
    """Surebets gain what the best stakes on the best pair or triple gain, after the worst score."""
    many = 100_000 if is_whole else 20_000 if is_long else 500
    counts = _compared(boards(many, seed=6 if is_long else 5))

    print(dict(counts))  # noqa: T201
    assert min(counts[kind] for kind in Kind) > many // 20
    assert counts["doubtful"] < many // 40


def test_stakes_of_a_quarter_line_gain_as_much_as_they_can() -> None:
    """At odds of 2.1 and 2.1, stakes by the odds gain 2.5 % after two goals; these gain 3.3 % or more."""
    found = _two(TOTAL_2_25, 2.1, 2.1)

    assert found is not None
    assert pytest.approx(1 / (1 / 2.1 + (2 - 1 / 2.1) / 3.1) - 1) == found.profit
    assert pytest.approx((1 / 2.1 / found.book_sum, 1 - 1 / 2.1 / found.book_sum)) == found.shares


@pytest.mark.parametrize(
    ("market", "doubted"),
    [
        (parsed("asian_handicap:0"), "ab"),
        (parsed("asian_handicap:-0.25"), ""),
        (TOTAL_2_5, ""),
        (Market(Kind.BTTS), ""),
    ],
    ids=str,
)
def test_exchanged_teams_are_told_where_the_line_is_the_same_for_both(market: Market, doubted: str) -> None:
    """If two bookmakers have opposite prices, either may have exchanged the teams; a total has no teams."""
    prices = {"a": (1.7, 2.1), "b": (2.1, 1.7)}
    quotes = {BookmakerId(name): Quote(of, fair(Method.POWER, of)) for name, of in prices.items()}

    assert {*doubted} == doubted_legs(quotes, RULES, market)


@pytest.mark.recordings
def test_surebets_of_a_real_poll_are_those_of_the_oracle_and_none_loses() -> None:
    """Compare each line that several bookmakers have, at its collected prices, also for weak surebets."""
    lines = [*lines_of(the_odds_api("2026-04-16-markets/*.json"))]
    pairs = sum(
        first.bookmaker != second.bookmaker
        for legs in lines
        for first in legs
        for second in legs
        if (first.outcome, second.outcome) == (0, 1)
    )
    counts, weak = _compared(lines), _compared_weak(lines)

    print(f"{len(lines)} lines, {pairs} pairs of bets at two bookmakers: {counts}, {weak}")  # noqa: T201
    assert pairs > 10_000
    assert weak["asian_handicap whole"] + weak["over_under whole"] > 40
