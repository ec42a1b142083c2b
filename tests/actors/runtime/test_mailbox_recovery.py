"""The mailbox after a crash: the item in flight is returned, the other unacknowledged ones are requeued."""

from __future__ import annotations

import pytest

from tests.support.builders.mailboxes import Item, drained, empty_box, filled


def test_item_in_flight_is_processed_and_acknowledged() -> None:
    """`mark_processed` keeps the item until `ack_all`."""
    box = filled("a", "b")
    first = box.get_nowait()
    in_flight = [box.in_flight]
    box.mark_processed()
    second = box.get_nowait()
    in_flight.append(box.in_flight)
    taken = [box.unacked]
    box.mark_processed()
    taken.append(box.unacked)
    box.ack_all()
    taken.append(box.unacked)

    assert [first, second] == in_flight
    assert [(first,), (first, second), ()] == taken
    assert (None, None) == (box.in_flight, box.requeue_unacked())


def test_item_in_flight_may_be_acknowledged_at_once() -> None:
    """An item need not be marked as processed before it is acknowledged."""
    box = filled("a")
    box.get_nowait()

    box.ack_all()

    assert (None, None, 0) == (box.in_flight, box.requeue_unacked(), box.depth)


def test_mark_without_an_item_in_flight_does_nothing() -> None:
    """`mark_processed` does nothing if no item is in flight."""
    box = filled("a")

    box.mark_processed()

    assert ((), 1) == (box.unacked, box.depth)


def test_item_in_flight_is_returned_and_not_requeued() -> None:
    """The item in flight is the cause of the crash; items processed before it are not."""
    box = filled("a", "b", "c")
    box.get_nowait()
    box.mark_processed()
    culprit = box.get_nowait()

    assert (Item("b", (1,)), culprit) == (culprit, box.requeue_unacked())
    assert (None, None, ()) == (box.in_flight, box.requeue_unacked(), box.unacked)
    assert [Item("c", (2,)), Item("a", (0,))] == drained(box)


def test_crash_with_nothing_in_flight_requeues_all() -> None:
    """If the commit crashes, no item is the cause, so all of them are requeued."""
    box = filled("a", "b")
    for _ in range(2):
        box.get_nowait()
        box.mark_processed()

    assert box.requeue_unacked() is None
    assert [Item("a", (0,)), Item("b", (1,))] == drained(box)


def test_newer_item_is_merged_over_a_requeued_one() -> None:
    """An item that arrived meanwhile is newer than one that was processed before."""
    box = filled("a")
    box.get_nowait()
    box.mark_processed()
    box.put_nowait(Item("a", (1,)))

    box.requeue_unacked()

    assert [Item("a", (0, 1))] == drained(box)


@pytest.mark.parametrize("newer", [0, 1])
def test_requeued_items_of_one_key_keep_their_order(newer: int) -> None:
    """Two processed items of one key, and perhaps a third that waits, are merged from the oldest on."""
    box = empty_box()
    for serial in range(2):
        box.put_nowait(Item("a", (serial,)))
        box.get_nowait()
        box.mark_processed()
    for serial in range(2, 2 + newer):
        box.put_nowait(Item("a", (serial,)))

    box.requeue_unacked()

    assert [Item("a", tuple(range(2 + newer)))] == drained(box)


def test_unacknowledged_item_in_flight_again_is_not_requeued() -> None:
    """When a turn is repeated, an item in flight again is the cause of a crash like any other."""
    box = filled("a", "b")
    for _ in range(2):
        box.get_nowait()
        box.mark_processed()
    box.in_flight = box.unacked[0]

    assert Item("a", (0,)) == box.requeue_unacked()
    assert [Item("b", (1,))] == drained(box)


def test_discarded_item_is_gone_and_the_others_keep_their_order() -> None:
    """Discarding leaves no key without an item."""
    box = filled("a", "b", "c")
    box.discard(lambda item: item.key == "b")

    assert 2 == box.depth
    assert [Item("a", (0,)), Item("c", (2,))] == drained(box)
