"""The rules in order, and the prices that a link endures."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from actors.matching.evidence import LeagueEvidence, Likeness
from actors.matching.rules import (
    CONDITIONS,
    LIMITS,
    Rule,
    distance,
    lacks,
    open_to,
    price_gap,
)
from tests.support.builders.events import EVEN


def test_limits_are_those_of_the_conditions() -> None:
    """The limits are the sorted differences of kick-offs between which no condition changes."""
    assert list(LIMITS) == sorted({condition.within_s for condition in CONDITIONS})


@pytest.mark.parametrize("far", [0, 61, 300, 301, 900, 7200, 100_000, 345_600])
def test_a_limit_stands_for_all_below_it(far: int) -> None:
    """Exactly the conditions that hold at the next limit hold for the difference itself."""
    limit = next(number for number in LIMITS if number >= far)
    for better, worse, league, country in product(Likeness, Likeness, LeagueEvidence, (-1, 0, 1)):
        expected = [
            condition
            for condition in CONDITIONS
            if not lacks(condition, better, worse, far, league, country)
        ]
        assert expected == list(open_to(better, worse, limit, league, country)[0])


def test_the_first_condition_that_holds_bears_most_of_its_likes() -> None:
    """Prices that part beyond the limit of that condition end the link: no later condition keeps it."""
    for better, worse, limit, league, country in product(
        Likeness, Likeness, LIMITS, LeagueEvidence, (-1, 0, 1)
    ):
        gaps = [
            condition.gap
            for condition in open_to(better, worse, limit, league, country)[0]
            if not condition.priced
        ]
        priced = [condition.gap for condition in open_to(better, worse, limit, league, country)[0]]
        assert gaps[:1] == ([max(gaps)] if gaps else [])
        assert priced[:1] == ([max(priced)] if priced else [])


def test_what_is_unknown_may_turn_out_well() -> None:
    """Same names hours apart may be one match if the league is unknown, but not in different leagues."""
    same = Likeness.SAME
    ways, bearable = open_to(same, same, LIMITS[3], LeagueEvidence.UNKNOWN, 0)

    assert ([Rule.MOVED], 0.25) == ([way.rule for way in ways], bearable)
    assert ((), -1.0) == open_to(same, same, LIMITS[3], LeagueEvidence.DIFFERENT, 1)


def test_a_rounded_gap_is_on_the_same_side_of_each_limit() -> None:
    """Otherwise the commit, which uses the exact distance, would part events that the linker joins."""
    random = Random(0)
    for limit in (condition.gap for condition in CONDITIONS if condition.gap < 1):
        for off in (0.0, 1e-6, -1e-6, 4e-5, -4e-5, *(random.uniform(-limit, limit) for _ in range(50))):
            other = (EVEN[0] - (limit + off) / 2, EVEN[1] - (limit + off) / 2, EVEN[2] + limit + off)
            exact, gap = distance(EVEN, other), price_gap(EVEN, other)
            assert gap is not None
            assert 0 <= gap - exact + 1e-9 < 1.001e-4
            assert (gap <= limit) == (exact <= limit + 1e-9)
    assert (None, 0.0, 1.0) == (
        price_gap(None, EVEN),
        price_gap(EVEN, EVEN),
        price_gap((1.0, 0.0, 0.0), (0.0, 0.0, 1.0)),
    )
