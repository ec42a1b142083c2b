"""When a rule fires, step by step: each row is a time, a value and the expected alert."""

from __future__ import annotations

from typing import TypeAlias

import pytest

from actors.alerts.alert import State
from actors.alerts.rules.rule import Limit
from actors.alerts.rules.transitions import Moment, Reading, Transitions

UP = Limit(2.5, 2.4)
FIRING, RESOLVED = State.FIRING, State.RESOLVED
Row: TypeAlias = tuple[float, float | None, State | None]


def _moment(at: float) -> Moment:
    return Moment(int(at * 10), int(at * 10), at, at)


@pytest.mark.parametrize(
    "rows",
    [
        [(0, 2.6, None), (1, 2.7, None), (2, 2.3, None), (3, 2.6, FIRING)],  # true at the start: no alert
        [(0, 2.45, None), (1, 2.6, None)],  # between the limits at the start: it was never below
        [(0, 2.3, None), (1, 2.5, FIRING), (2, 2.6, None), (3, 2.45, None), (4, 2.5, None)],
        [(0, 2.3, None), (1, 2.5, FIRING), (2, 2.39, RESOLVED), (3, 2.5, FIRING)],
        [(0, None, None), (1, 2.5, FIRING), (2, None, RESOLVED)],  # a missing value ends the alert
    ],
)
def test_a_rule_fires_once_for_each_rise(rows: list[Row]) -> None:
    """A rule fires at the threshold, and again only after the value went back beyond the hysteresis."""
    transitions = Transitions(UP)

    for at, value, told in rows:
        assert told == transitions.read("a", Reading(value), _moment(at)), at


def test_a_wait_ends_without_a_word_when_the_value_falls_or_goes() -> None:
    """Only a value that stays at the threshold for the whole wait fires, at the moment the wait ends."""
    transitions = Transitions(UP, for_s=5.0)
    for at, value in [(0, 2.3), (1, 2.6), (3, 2.45), (4, 2.6)]:
        assert transitions.read("a", Reading(value), _moment(at)) is None
        transitions.read("b", Reading(value), _moment(at))
    assert transitions.leave("b") is None

    assert [] == [*transitions.due(8.9)]
    assert [("a", 9.0)] == [*transitions.due(9.0)]
    assert RESOLVED is transitions.leave("a")


def test_a_value_that_rises_at_unchanged_prices_is_noted() -> None:
    """A surebet that returns after a failure, with unchanged prices, fires no alert."""
    transitions = Transitions(Limit(0.0, 0.0))
    for at, value in [(1, 0.01), (2, None)]:
        assert transitions.read("a", Reading(value, changed=5), _moment(at)) is None

    assert transitions.read("a", Reading(0.01, changed=20), _moment(3)) is None
    assert transitions.read("a", Reading(None), _moment(4)) is None
    assert FIRING is transitions.read("a", Reading(0.01, changed=41), _moment(5))


def test_another_basis_notes_what_holds_and_ends_what_does_not() -> None:
    """Making or ending a link fires nothing; an alert that had fired goes on, or is resolved."""
    transitions = Transitions(UP)
    transitions.read("a", Reading(2.3), _moment(0))

    assert transitions.read("a", Reading(2.6), _moment(1), is_same=False) is None
    assert transitions.read("a", Reading(2.3), _moment(2)) is None
    assert FIRING is transitions.read("a", Reading(2.6), _moment(3))
    assert transitions.read("a", Reading(2.7), _moment(4), is_same=False) is None
    assert RESOLVED is transitions.read("a", Reading(2.3), _moment(5), is_same=False)


def test_a_rule_is_silent_while_it_cools_down() -> None:
    """A rise within `cooldown_s` after the last alert is not reported, and its end is not, either."""
    transitions = Transitions(UP, cooldown_s=10.0)
    told = [
        transitions.read("a", Reading(value), _moment(at))
        for at, value in [(0, 2.3), (1, 2.6), (2, 2.3), (3, 2.6), (4, 2.3), (11, 2.6)]
    ]

    assert [None, FIRING, RESOLVED, None, None, FIRING] == told
