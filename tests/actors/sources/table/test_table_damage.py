"""Tables: 10,000 damaged ones show no price that neither the table nor the damaged text has."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.builders.damage_table import KINDS, trial

SEEDS = st.integers(0, 2**64)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=10_000 // len(KINDS) + 1)
@given(SEEDS)
def test_damage_never_moves_a_price(kind: str, seed: int) -> None:
    """A price near lost bytes, moved cells or other delimiters is rejected, or as the text says."""
    assert () == trial(Random(seed), kind).wrong


@pytest.mark.parametrize("kind", KINDS)
def test_trials_show_and_reject_something(kind: str) -> None:
    """Every kind of damage has trials with shown prices, and with rejected rows; none is wrong."""
    made = [trial(Random(f"{number}"), kind) for number in range(50)]

    assert any(attempt.accepted for attempt in made)
    assert any(attempt.rejected for attempt in made)
    assert [] == [attempt.wrong for attempt in made if attempt.wrong]
