"""Damaged answers and files: no price is shown in a wrong place; each source has 10,000 trials."""

from __future__ import annotations

from random import Random
from types import ModuleType
from typing import Any

import pytest

from tests.support.builders import (
    damage_five_dollar_football,
    damage_football_data,
    damage_table,
    damage_the_odds_api,
)
from tests.support.builders.damage import Trial
from tests.support.builders.football_data import ALL_MARKETS

HARMLESS: dict[ModuleType, set[str]] = {
    damage_five_dollar_football: {"reorder"},
    damage_the_odds_api: {"merge parts", "remove a field", "remove a part", "reorder"},
    damage_football_data: set(),
    damage_table: set(),
}
"""Kinds of damage that may reject nothing, by source."""
QUICK = (damage_five_dollar_football, damage_the_odds_api)
KINDS_OF_MARKET = {
    damage_the_odds_api: damage_the_odds_api.OPTIONS.kinds,
    damage_football_data: ALL_MARKETS.kinds,
}


def _case(source: ModuleType, *values: Any, is_long: bool = False) -> Any:
    marks = [] if getattr(source, "IS_INVENTED", False) else [pytest.mark.recordings]
    marks += [pytest.mark.long] if is_long else []
    return pytest.param(
        source, *values, marks=marks, id="-".join([source.__name__[30:], *map(str, values)])
    )


@pytest.mark.parametrize(
    ("source", "kind", "count"),
    [
        *(_case(source, kind, 1_000) for source in QUICK for kind in source.KINDS),
        *(_case(source, kind, 10_000, is_long=True) for source in HARMLESS for kind in source.KINDS),
    ],
)
def test_damage_never_moves_a_price(source: ModuleType, kind: str, count: int) -> None:
    """A price near lost, doubled, retyped, renamed or merged parts is rejected or is unchanged."""
    numbers = range(count // len(source.KINDS) + 1)

    assert [] == [
        text for number in numbers for text in source.trial(Random(f"{kind} {number}"), kind).wrong
    ]


def _is_refused(source: ModuleType, attempt: Trial) -> bool:
    """Return whether the damage was noticed; recorded files have rejected rows even without damage."""
    if source is damage_football_data:
        return attempt.rejected["unreadable"] > 0
    return attempt.rejected.total() > attempt.rejected["lay"]


@pytest.mark.parametrize("source", [*map(_case, HARMLESS)])
def test_trials_show_and_reject_something(source: ModuleType) -> None:
    """Each kind but a cut body shows prices, each harmful kind rejects some; no price is wrong."""
    made = [source.trial(Random(f"{number}"), kind) for kind in source.KINDS for number in range(50)]

    assert [] == [attempt.wrong for attempt in made if attempt.wrong]
    assert {*source.KINDS} - {"cut the body"} <= {attempt.kind for attempt in made if attempt.accepted}
    assert {*source.KINDS} - HARMLESS[source] <= {
        attempt.kind for attempt in made if _is_refused(source, attempt)
    }
    assert {*KINDS_OF_MARKET.get(source, ())} <= {kind for attempt in made for kind in attempt.kinds}
