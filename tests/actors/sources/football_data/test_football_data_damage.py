"""football-data.co.uk: 10,000 damaged parts of recorded files show no price in a wrong place."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.builders.damage_football_data import KINDS, trial
from tests.support.builders.football_data import ALL_MARKETS

pytestmark = pytest.mark.recordings

SEEDS = st.integers(0, 2**64)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=10_000 // len(KINDS) + 1)
@given(SEEDS)
def test_damage_never_moves_a_price(kind: str, seed: int) -> None:
    """A price near lost, doubled or split cells, stray marks or torn lines is rejected or as it was."""
    assert () == trial(Random(seed), kind).wrong


def test_trials_show_and_reject_something() -> None:
    """Every kind of damage has trials with shown prices and trials with rejected ones."""
    made = [trial(Random(f"{number}"), kind) for kind in KINDS for number in range(50)]

    assert set(KINDS) == {attempt.kind for attempt in made if attempt.accepted}
    assert set(KINDS) == {attempt.kind for attempt in made if attempt.rejected["unreadable"]}
    assert {*ALL_MARKETS.kinds} == {kind for attempt in made for kind in attempt.kinds}
