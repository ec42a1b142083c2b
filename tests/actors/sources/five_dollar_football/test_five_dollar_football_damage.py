"""5DollarFootballAPI: 10,000 damaged answers show no price in a wrong place."""

from __future__ import annotations

from random import Random

import pytest

from tests.support.builders.damage_five_dollar_football import KINDS, trial

HARMLESS = {"reorder"}
"""Kinds of damage that reject nothing."""


@pytest.mark.parametrize("count", [1_000, pytest.param(10_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", KINDS)
def test_damage_never_moves_a_price(kind: str, count: int) -> None:
    """A price with missing, doubled, retyped, renamed or merged parts is rejected or as it was."""
    numbers = range(count // len(KINDS) + 1)

    assert [] == [text for number in numbers for text in trial(Random(f"{kind} {number}"), kind).wrong]


def test_trials_show_and_reject_something() -> None:
    """Every kind but a cut body has shown prices, and every harmful kind has rejected ones."""
    made = [trial(Random(f"{number}"), kind) for kind in KINDS for number in range(100)]

    assert {*KINDS} - {"cut the body"} == {attempt.kind for attempt in made if attempt.accepted}
    assert {*KINDS} - HARMLESS <= {attempt.kind for attempt in made if attempt.rejected}
