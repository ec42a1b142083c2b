"""football-data.co.uk: 10,000 damaged pieces of recorded files show no price but in its own place."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.builders.damage_football_data import KINDS, trial

pytestmark = pytest.mark.recordings

SEEDS = st.integers(0, 2**64)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=1_000 // len(KINDS) + 1)
@given(SEEDS)
def test_no_damage_moves_a_price(kind: str, seed: int) -> None:
    """Cells lost, doubled or split, stray commas and marks, lines cut or joined: rejected, or as it was."""
    assert () == trial(Random(seed), kind).wrong


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=10_000 // len(KINDS) + 1)
@given(SEEDS)
def test_no_damage_moves_a_price_for_long(kind: str, seed: int) -> None:
    """The same for ten times as many."""
    assert () == trial(Random(seed), kind).wrong


def test_the_trials_are_about_something() -> None:
    """Of an undamaged line prices are shown, and something of a damaged one is rejected, of every kind."""
    made = [trial(Random(f"{number}"), kind) for kind in KINDS for number in range(50)]

    assert set(KINDS) == {one.kind for one in made if one.accepted}
    assert set(KINDS) == {one.kind for one in made if one.rejected["unreadable"]}
