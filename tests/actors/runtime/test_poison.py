"""A list that has crashed an actor twice is refused by the instances that come after."""

from __future__ import annotations

import pytest

from actors.core.messages import ListId
from actors.runtime.poison import MAX_CULPRITS, PoisonGuard

POISON, OTHER, GOOD = ListId("poison"), ListId("other"), ListId("good")


def _crash(guard: PoisonGuard, list_id: ListId) -> bool:
    """Have an instance begin with the list and crash, unless it is refused; return whether it began."""
    begun = guard.begin(list_id)
    guard.recover()
    return begun


def test_nothing_is_set_aside_at_first() -> None:
    """A list that has done no harm is begun and ended."""
    guard = PoisonGuard()

    begun = [guard.begin(GOOD), guard.in_flight == GOOD]
    guard.end()

    assert begun == [True, True]
    assert (None, None) == (guard.in_flight, guard.recover())


def test_third_attempt_is_refused() -> None:
    """After the second crash on the same bytes they are set aside for good."""
    guard = PoisonGuard()

    assert [_crash(guard, POISON) for _ in range(5)] == [True, True, False, False, False]


def test_what_is_refused_is_not_in_flight() -> None:
    """A list that was left alone is not blamed for what comes next."""
    guard = PoisonGuard()
    _crash(guard, POISON)
    _crash(guard, POISON)

    guard.begin(POISON)

    assert (None, None) == (guard.in_flight, guard.recover())


def test_culprit_is_named() -> None:
    """A new instance learns what its predecessor died of, once."""
    guard = PoisonGuard()
    guard.begin(POISON)

    assert (POISON, None) == (guard.recover(), guard.recover())


@pytest.mark.parametrize("crashes", [1, 2])
def test_other_lists_go_on(crashes: int) -> None:
    """Only the culprit is left alone, and good lists in between do not wash it clean."""
    guard = PoisonGuard()
    for _ in range(crashes):
        _crash(guard, POISON)
    begun = guard.begin(GOOD)
    guard.end()

    assert (True, crashes < 2) == (begun, guard.begin(POISON))


def test_list_that_did_no_harm_the_second_time_keeps_its_count() -> None:
    """One crash, one good run, one crash: that is two."""
    guard = PoisonGuard()
    _crash(guard, POISON)
    guard.begin(POISON)
    guard.end()
    _crash(guard, POISON)

    assert not guard.begin(POISON)


def test_new_culprit_counts_from_one() -> None:
    """Two different lists that crash once each are not one that crashed twice."""
    guard = PoisonGuard()

    assert [_crash(guard, one) for one in (POISON, OTHER, OTHER, OTHER)] == [True, True, True, False]


def test_two_poison_lists_are_both_set_aside() -> None:
    """Two scopes with one poison payload each: each crashes the actor at most twice (faults.md, D2)."""
    guard = PoisonGuard()

    begun = [_crash(guard, one) for one in (POISON, OTHER) * 3]

    assert begun == [True, True, True, True, False, False]


def test_only_so_many_culprits_are_remembered() -> None:
    """Memory is bounded: the one whose crash is the longest ago is forgotten first."""
    guard = PoisonGuard()
    for one in (POISON, POISON, OTHER, OTHER):
        _crash(guard, one)
    for number in range(MAX_CULPRITS - 1):
        _crash(guard, ListId(f"culprit-{number}"))

    assert (True, False) == (guard.begin(POISON), guard.begin(OTHER))
