"""The mailbox: one pending item per key, in order of arrival, without losses."""

from __future__ import annotations

import asyncio
from collections import defaultdict

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.builders.mailboxes import Item, drained, empty_box, filled
from tests.support.time.virtual import settle

OPERATIONS = st.lists(st.sampled_from(("a", "b", "c", "get", "get", "keep", "settle")), max_size=40)


def test_items_are_returned_in_the_order_of_their_keys() -> None:
    """First in, first out; a key keeps its place while it waits."""
    box = filled("b", "a", "b", "c", "a")

    assert [Item("b", (0, 2)), Item("a", (1, 4)), Item("c", (3,))] == drained(box)
    assert box.get_nowait() is None


def test_merged_items_are_counted() -> None:
    """Received counts all items, conflated the merged ones, depth the waiting keys."""
    box = filled("a", "b", "a", "a")

    assert (4, 2, 2) == (box.received, box.conflated, box.depth)


def test_mailbox_cannot_grow() -> None:
    """At most one item per key waits, whatever the number of items."""
    box = empty_box()
    for serial in range(10_000):
        box.put_nowait(Item(str(serial % 7), (serial,)))

    assert (10_000, 9_993, 7) == (box.received, box.conflated, box.depth)
    assert len(drained(box)) == 7


def test_item_in_flight_is_not_merged_into() -> None:
    """A newer item with the key of the item in flight waits separately."""
    box = filled("a")
    taken = box.get_nowait()
    box.put_nowait(Item("a", (1,)))

    assert (Item("a", (0,)), taken, 1, 0) == (taken, box.in_flight, box.depth, box.conflated)


@given(operations=OPERATIONS)
@settings(derandomize=True, deadline=None, max_examples=200)
def test_every_item_is_returned_once_in_order(operations: list[str]) -> None:
    """Per key no item is lost, doubled or reordered, also when crashes requeue items in between."""
    box, sent, seen = empty_box(), defaultdict[str, list[int]](list), defaultdict[str, list[int]](list)
    for serial, operation in enumerate(operations):
        match operation:
            case "get":
                box.mark_processed()
                box.get_nowait()
            case "keep":
                box.mark_processed()
            case "settle":
                box.mark_processed()
                _see(seen, box.unacked)
                box.ack_all()
            case key:
                sent[key].append(serial)
                box.put_nowait(Item(key, (serial,)))
        assert box.depth <= 3
    box.mark_processed()
    _see(seen, box.unacked)
    box.ack_all()
    _see(seen, drained(box))

    assert sent == seen


def _see(seen: dict[str, list[int]], items: list[Item] | tuple[Item, ...]) -> None:
    for item in items:
        seen[item.key].extend(item.serials)


@pytest.mark.anyio
async def test_reader_waits_for_an_item() -> None:
    """`get` waits until an item is put; that item is then in flight."""
    box, got = empty_box(), list[Item]()

    async def read() -> None:
        got.append(await box.get())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        await settle()
        before = list(got)
        box.put_nowait(Item("a", (0,)))
        box.put_nowait(Item("a", (1,)))

    assert ([], [Item("a", (0, 1))]) == (before, got)
    assert (Item("a", (0, 1)), 0) == (box.in_flight, box.depth)


@pytest.mark.anyio
async def test_reader_with_a_deadline_loses_nothing() -> None:
    """An item that arrives after a reader's deadline waits for the next reader."""
    box = empty_box()
    with anyio.move_on_after(1.0):
        await box.get()
    box.put_nowait(Item("a", (0,)))

    assert Item("a", (0,)) == await box.get()


@pytest.mark.anyio
async def test_reader_cancelled_at_an_arrival_loses_nothing() -> None:
    """A reader cancelled between an arrival and its own wake-up leaves the item in the mailbox."""
    box = empty_box()
    reader = asyncio.create_task(box.get())
    await settle()
    box.put_nowait(Item("a", (0,)))
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader

    assert (None, [Item("a", (0,))]) == (box.in_flight, drained(box))
