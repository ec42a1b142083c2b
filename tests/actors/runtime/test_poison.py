"""A list that crashed an actor twice is refused by later instances."""

from __future__ import annotations

import pytest

from actors.core.messages import ListId
from actors.runtime.mailbox import MAX_CULPRITS, PoisonGuard

POISON, OTHER, GOOD = ListId("poison"), ListId("other"), ListId("good")


def _crash(guard: PoisonGuard, list_id: ListId) -> bool:
    """Make an instance begin the list and crash, unless it is refused; return whether it began."""
    begun = guard.begin(list_id)
    guard.recover()
    return begun


def test_only_a_list_that_was_begun_is_the_cause_of_a_crash() -> None:
    """A new instance gets the cause once; a list that ended, or that was refused, is not a cause."""
    guard = PoisonGuard()
    seen = []
    for _ in range(2):
        guard.begin(POISON)
        seen.append((guard.in_flight, guard.recover(), guard.recover()))
    for list_id in (POISON, GOOD):
        guard.begin(list_id)
        guard.end()
        seen.append((guard.in_flight, guard.recover(), guard.recover()))

    assert [(POISON, POISON, None)] * 2 + [(None, None, None)] * 2 == seen


@pytest.mark.parametrize(
    ("lists", "begun"),
    [
        ([POISON] * 5, [True, True, False, False, False]),
        ([POISON, OTHER, OTHER, OTHER], [True, True, True, False]),
        ([POISON, OTHER] * 3, [True, True, True, True, False, False]),
    ],
    ids=["one", "counted by list", "two by turns"],
)
def test_third_attempt_is_refused(lists: list[ListId], begun: list[bool]) -> None:
    """After two crashes on the same bytes a list is set aside (faults.md, D2)."""
    guard = PoisonGuard()

    assert begun == [_crash(guard, listed) for listed in lists]


@pytest.mark.parametrize("crashes", [1, 2])
def test_other_lists_are_still_accepted(crashes: int) -> None:
    """Only the cause of the crashes is refused, and other successful lists do not reset its count."""
    guard = PoisonGuard()
    for _ in range(crashes):
        _crash(guard, POISON)
    begun = guard.begin(GOOD)
    guard.end()

    assert (True, crashes < 2) == (begun, guard.begin(POISON))


def test_success_between_crashes_keeps_the_count() -> None:
    """A crash, a success and a crash of the same list are two crashes."""
    guard = PoisonGuard()
    _crash(guard, POISON)
    guard.begin(POISON)
    guard.end()
    _crash(guard, POISON)

    assert not guard.begin(POISON)


def test_number_of_remembered_lists_is_limited() -> None:
    """At the limit, the list whose crash is the longest ago is dropped first."""
    guard = PoisonGuard()
    for list_id in (POISON, POISON, OTHER, OTHER):
        _crash(guard, list_id)
    for number in range(MAX_CULPRITS - 1):
        _crash(guard, ListId(f"culprit-{number}"))

    assert (False, True) == (guard.begin(OTHER), guard.begin(POISON))
