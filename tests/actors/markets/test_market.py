"""Markets: their only spelling, their lines, and the return of a bet."""

from __future__ import annotations

import contextlib
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.markets.market import FORMS, ONE_X_TWO, Kind, Market, market_of, parsed
from actors.markets.odds import Odds, of_all_winners, of_one_winner
from actors.markets.returns import (
    Result,
    is_reversible,
    least_return,
    may_gain,
    result_of,
    results,
    returned,
)

LINES = [
    Market(kind, at)
    for kind, form in FORMS.items()
    if form.lines
    for at in range(form.lines[0], form.lines[1] + 1)
]
EVERY = [*LINES, *(Market(kind) for kind, form in FORMS.items() if form.lines is None)]
SCORES = [*itertools.product(range(13), repeat=2)]


@pytest.mark.parametrize("market", EVERY, ids=str)
def test_a_market_has_one_spelling(market: Market) -> None:
    """The text of a market is read back as the same market."""
    assert market == parsed(str(market))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("over_under:2.50", "must be spelled over_under:2.5"),
        ("over_under:+2.5", "must be spelled over_under:2.5"),
        ("asian_handicap:-0", "must be spelled asian_handicap:0"),
        ("asian_handicap:-.5", "must be a number"),
        ("over_under:02.5", "must be spelled over_under:2.5"),
        ("over_under:2.3", "multiple of 0.25 from 0.25 to 20"),
        ("over_under:0", "from 0.25 to 20"),
        ("asian_handicap:10.25", "from -10 to 10"),
        ("over_under:nan", "must be a number"),
        ("over_under:1e1", "must be a number"),
        ("over_under", "needs a line"),
        ("over_under:", "must be a number"),
        ("1x2:0", "has no line"),
        ("1X2", "must be 1x2, over_under:LINE, asian_handicap:LINE, btts, double_chance"),
        ("", "must be 1x2"),
    ],
)
def test_another_spelling_is_refused(text: str, said: str) -> None:
    """The error names the right spelling, or the allowed values."""
    with pytest.raises(ValueError, match=said):
        parsed(text)


@given(st.text(max_size=40))
def test_any_text_is_a_market_or_refused(text: str) -> None:
    """No other error is raised, and a market that is read has that spelling."""
    with contextlib.suppress(ValueError):
        assert text == str(parsed(text))


def _by_halves(outcome: str, line: float, home: int, away: int, odds: float) -> float:
    """Return a bet's return by the rule of two half bets, each on a half or whole line."""
    sides = {"over": home + away - line, "under": line - home - away}
    sides |= {"home": home - away + line, "away": away - home - line}
    beyond = sides[outcome]
    halves = [beyond] if (2 * line).is_integer() else [beyond - 0.25, beyond + 0.25]
    return sum(odds if half > 0 else 0.0 if half < 0 else 1.0 for half in halves) / len(halves)


@pytest.mark.parametrize("market", LINES, ids=str)
def test_a_bet_on_a_line_returns_what_two_half_bets_do(market: Market) -> None:
    """The returns are equal after each score up to 12:12; no two results return the same at these odds."""
    line, odds = market.line, 2.6
    assert line is not None
    for (home, away), outcome in itertools.product(SCORES, market.outcomes):
        expected = _by_halves(outcome, line, home, away, odds)
        assert expected == pytest.approx(returned(result_of(market, outcome, home, away), odds), abs=1e-12)


@pytest.mark.parametrize("kind", [Kind.ONE_X_TWO, Kind.BTTS, Kind.DOUBLE_CHANCE])
def test_so_many_outcomes_win_after_each_score(kind: Kind) -> None:
    """All other outcomes are lost completely."""
    market = market_of(kind)
    for home, away in SCORES:
        ends = [result_of(market, outcome, home, away) for outcome in market.outcomes]
        assert FORMS[kind].winners == ends.count(Result.WON)
        assert len(ends) - FORMS[kind].winners == ends.count(Result.LOST)


def test_outcomes_without_a_line_are_those_of_the_score() -> None:
    """Each won outcome of four scores is listed."""
    won = {
        (score, outcome)
        for score in [(2, 1), (0, 0), (1, 1), (0, 3)]
        for market in (ONE_X_TWO, market_of(Kind.BTTS), market_of(Kind.DOUBLE_CHANCE))
        for outcome in market.outcomes
        if result_of(market, outcome, *score) is Result.WON
    }
    expected = {(2, 1): "1 yes 1X 12", (0, 0): "X no 1X X2", (1, 1): "X yes 1X X2", (0, 3): "2 no 12 X2"}

    assert won == {(score, outcome) for score, some in expected.items() for outcome in some.split()}


@pytest.mark.parametrize("market", EVERY, ids=str)
def test_no_score_has_results_of_its_own(market: Market) -> None:
    """The distinct results equal those that all scores up to 30:30 give."""
    every = {
        tuple(result_of(market, outcome, home, away) for outcome in market.outcomes)
        for home, away in itertools.product(range(31), repeat=2)
    }

    assert every == {*results(market)}


@pytest.mark.parametrize(
    ("market", "least"),
    [
        ("over_under:2.5", 1.05),
        ("asian_handicap:-0.25", 1.025),
        ("asian_handicap:-0.75", 1.025),
        ("asian_handicap:0", 1.0),
        ("asian_handicap:-1", 1.0),
        ("btts", 1.05),
    ],
)
def test_stakes_on_both_outcomes_return_less_where_the_stake_comes_back(market: str, least: float) -> None:
    """At odds 2.1 on both, a half line keeps the whole gain, a quarter line half, a whole line nothing."""
    assert least == pytest.approx(least_return(parsed(market), (0.5, 0.5), (2.1, 2.1)))


def test_whole_lines_alone_may_return_every_stake() -> None:
    """Stakes on a whole line therefore never gain for certain."""
    whole = {market for market in LINES if market.quarters is not None and market.quarters % 4 == 0}

    assert whole == {market for market in EVERY if not may_gain(market)}


def test_a_market_is_reversible_if_the_exchanged_teams_have_its_outcomes_in_reverse_order() -> None:
    """Other handicaps get another line by the exchange; totals and both-teams-to-score stay the same."""
    reversible = ("1x2", "asian_handicap:0", "double_chance")

    assert {*map(parsed, reversible)} == {market for market in EVERY if is_reversible(market)}


def test_prices_of_double_chance_count_twice() -> None:
    """A stake of 1 / (2 o) on each price o returns 1 after any result; prices of other markets stay."""
    double, odds = market_of(Kind.DOUBLE_CHANCE), (1.3, 1.25, 1.9)
    counted = of_one_winner(double, odds)

    assert (2.6, 2.5, 3.8) == counted
    assert 1.0 == pytest.approx(least_return(double, [1 / price for price in counted], odds))
    assert all(of_one_winner(market, odds) is odds for market in EVERY if market != double)


@pytest.mark.parametrize(
    ("chances", "expected"),
    [
        ((0.4, 0.35, 0.25), (0.8, 0.7, 0.5)),
        ((0.6, 0.3, 0.1), (1.0, 0.75, 0.25)),
        ((0.5, 0.5, 0.0), (1, 1, 0)),
    ],
)
def test_chances_of_double_chance_add_up_to_two_and_none_is_above_one(
    chances: Odds, expected: Odds
) -> None:
    """The excess of an outcome goes to the others in proportion; chances of other markets stay."""
    found = of_all_winners(market_of(Kind.DOUBLE_CHANCE), chances)

    assert expected == pytest.approx(found)
    assert 2.0 == pytest.approx(sum(found))
    assert all(of_all_winners(market, chances) is chances for market in (ONE_X_TWO, *LINES))
