"""What linking finds of labelled lists that are spelled, and read, as those of 5DollarFootballAPI."""

from __future__ import annotations

from random import Random

import pytest

from tests.support.labelled import HARDER, WEEKS, measured, week, with_sources
from tests.support.linked_five_dollar import in_its_style

pytestmark = pytest.mark.recordings


@pytest.mark.parametrize(
    "way", ["twins, half of the partners gone", "no labels", "double headers, half gone"]
)
@pytest.mark.parametrize("name", WEEKS)
def test_no_match_is_linked_wrongly(name: str, way: str) -> None:
    """Beside the names of football-data.co.uk, however hard the week is."""
    random = Random(name)
    found = measured(in_its_style(HARDER[way](week(name), random), random))

    assert [] == found.wrong
    assert found.recall >= 0.97


@pytest.mark.parametrize("name", WEEKS)
def test_no_match_of_several_sources_is_linked_wrongly(name: str) -> None:
    """Three more sources list what this one does, in other spellings, in one week without prices."""
    random = Random(name)
    found = measured(with_sources(in_its_style(week(name), random), random, 3))

    assert [] == found.wrong
    assert found.recall >= 0.93
