"""What has crashed an actor twice is left alone, by the instances that come after it."""

from __future__ import annotations

import pytest

from actors.core.messages import ListId
from actors.runtime.poison import MAX_CULPRITS, PoisonGuard

POISON, OTHER, GOOD = ListId("poison"), ListId("other"), ListId("good")


def _crash(memory: PoisonGuard, list_id: ListId) -> bool:
    """Let an instance take it in hand and, unless it is set aside, die of it."""
    begun = memory.begin(list_id)
    memory.recover()
    return begun


def test_nothing_is_set_aside_at_first() -> None:
    """A list that has done no harm is taken in hand, and laid down."""
    memory = PoisonGuard()

    begun = [memory.begin(GOOD), memory.in_flight == GOOD]
    memory.end()

    assert begun == [True, True]
    assert (None, None) == (memory.in_flight, memory.recover())


def test_third_attempt_is_refused() -> None:
    """After the second crash on the same bytes they are set aside for good."""
    memory = PoisonGuard()

    assert [_crash(memory, POISON) for _ in range(5)] == [True, True, False, False, False]


def test_what_is_refused_is_not_in_hand() -> None:
    """A list that was left alone is not blamed for what comes next."""
    memory = PoisonGuard()
    _crash(memory, POISON)
    _crash(memory, POISON)

    memory.begin(POISON)

    assert (None, None) == (memory.in_flight, memory.recover())


def test_culprit_is_named() -> None:
    """A new instance learns what its predecessor died of, once."""
    memory = PoisonGuard()
    memory.begin(POISON)

    assert (POISON, None) == (memory.recover(), memory.recover())


@pytest.mark.parametrize("crashes", [1, 2])
def test_other_lists_go_on(crashes: int) -> None:
    """Only the culprit is left alone, and good lists in between do not wash it clean."""
    memory = PoisonGuard()
    for _ in range(crashes):
        _crash(memory, POISON)
    begun = memory.begin(GOOD)
    memory.end()

    assert (True, crashes < 2) == (begun, memory.begin(POISON))


def test_list_that_did_no_harm_the_second_time_keeps_its_count() -> None:
    """One crash, one good run, one crash: that is two."""
    memory = PoisonGuard()
    _crash(memory, POISON)
    memory.begin(POISON)
    memory.end()
    _crash(memory, POISON)

    assert not memory.begin(POISON)


def test_new_culprit_counts_from_one() -> None:
    """Two different lists that crash once each are not one that crashed twice."""
    memory = PoisonGuard()

    assert [_crash(memory, one) for one in (POISON, OTHER, OTHER, OTHER)] == [True, True, True, False]


def test_two_poison_lists_are_both_set_aside() -> None:
    """Two scopes with one poison payload each: each crashes the actor at most twice (faults.md, D2)."""
    memory = PoisonGuard()

    begun = [_crash(memory, one) for one in (POISON, OTHER) * 3]

    assert begun == [True, True, True, True, False, False]


def test_only_so_many_culprits_are_remembered() -> None:
    """Memory is bounded: the one whose crash is the longest ago is forgotten first."""
    memory = PoisonGuard()
    for one in (POISON, POISON, OTHER, OTHER):
        _crash(memory, one)
    for number in range(MAX_CULPRITS - 1):
        _crash(memory, ListId(f"culprit-{number}"))

    assert (True, False) == (memory.begin(POISON), memory.begin(OTHER))
