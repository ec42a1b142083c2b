"""The mailbox after a crash: the culprit is named, what was laid down before it is put back."""

from __future__ import annotations

import pytest

from tests.support.builders.mailboxes import Item, drained, empty_box, filled


def test_item_in_hand_is_laid_down_and_settled() -> None:
    """`keep` lays down what was worked in, `settle` forgets it when its effect is safe."""
    box = filled("a", "b")
    first = box.get_nowait()
    in_hand = [box.in_flight]
    box.mark_processed()
    second = box.get_nowait()
    in_hand.append(box.in_flight)
    taken = [box.unacked]
    box.mark_processed()
    taken.append(box.unacked)
    box.ack_all()
    taken.append(box.unacked)

    assert [first, second] == in_hand
    assert [(first,), (first, second), ()] == taken
    assert (None, None) == (box.in_flight, box.requeue_unacked())


def test_item_in_hand_may_be_settled_at_once() -> None:
    """Who settles without laying down first is not blamed for it later."""
    box = filled("a")
    box.get_nowait()

    box.ack_all()

    assert (None, None, 0) == (box.in_flight, box.requeue_unacked(), box.depth)


def test_keep_with_an_empty_hand_does_nothing() -> None:
    """There may be nothing to lay down."""
    box = filled("a")

    box.mark_processed()

    assert ((), 1) == (box.unacked, box.depth)


def test_culprit_is_named_and_not_put_back() -> None:
    """What was in hand in the crash is given up; what was laid down before is not."""
    box = filled("a", "b", "c")
    box.get_nowait()
    box.mark_processed()
    culprit = box.get_nowait()

    assert (Item("b", (1,)), culprit) == (culprit, box.requeue_unacked())
    assert (None, None, ()) == (box.in_flight, box.requeue_unacked(), box.unacked)
    assert [Item("c", (2,)), Item("a", (0,))] == drained(box)


def test_crash_with_an_empty_hand_blames_nothing() -> None:
    """A crash in the commit is no batch's fault: all of them are put back."""
    box = filled("a", "b")
    for _ in range(2):
        box.get_nowait()
        box.mark_processed()

    assert box.requeue_unacked() is None
    assert [Item("a", (0,)), Item("b", (1,))] == drained(box)


def test_recovered_item_lies_under_a_newer_one() -> None:
    """What came in the meantime is newer than what was laid down, and is merged over it."""
    box = filled("a")
    box.get_nowait()
    box.mark_processed()
    box.put_nowait(Item("a", (1,)))

    box.requeue_unacked()

    assert [Item("a", (0, 1))] == drained(box)


@pytest.mark.parametrize("newer", [0, 1])
def test_recovered_items_of_one_key_keep_their_order(newer: int) -> None:
    """Two laid down of one key and perhaps a third that waits: the oldest lies at the bottom."""
    box = empty_box()
    for serial in range(2):
        box.put_nowait(Item("a", (serial,)))
        box.get_nowait()
        box.mark_processed()
    for serial in range(2, 2 + newer):
        box.put_nowait(Item("a", (serial,)))

    box.requeue_unacked()

    assert [Item("a", tuple(range(2 + newer)))] == drained(box)


def test_culprit_that_was_laid_down_before_is_not_put_back() -> None:
    """Taken in hand again, as in the replay of a turn, it is given up like any other culprit."""
    box = filled("a", "b")
    for _ in range(2):
        box.get_nowait()
        box.mark_processed()
    box.in_flight = box.unacked[0]

    assert Item("a", (0,)) == box.requeue_unacked()
    assert [Item("b", (1,))] == drained(box)


def test_what_is_discarded_is_gone_and_the_rest_keeps_its_order() -> None:
    """Throwing away leaves no key behind that nothing waits for."""
    box = filled("a", "b", "c")
    box.discard(lambda item: item.key == "b")

    assert 2 == box.depth
    assert [Item("a", (0,)), Item("c", (2,))] == drained(box)
