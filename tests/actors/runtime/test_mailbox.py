"""The mailbox: one pending item per key, in order of arrival, without losses, also after a crash."""

from __future__ import annotations

import asyncio
from typing import NamedTuple, TypeAlias

import anyio
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from actors.runtime.mailbox import Mailbox
from tests.support.time.virtual import settle


class Item(NamedTuple):
    """An item: a key, and the serial numbers of all items merged into it."""

    key: str
    serials: tuple[int, ...]


Box: TypeAlias = Mailbox[str, Item]


def empty_box() -> Box:
    """Return a mailbox that keeps the serial numbers in the order of merging."""
    return Mailbox(lambda item: item.key, lambda old, new: Item(new.key, old.serials + new.serials))


def filled(*keys: str) -> Box:
    """Return a mailbox with an item for each of `keys`, numbered from 0."""
    box = empty_box()
    for serial, key in enumerate(keys):
        box.put_nowait(Item(key, (serial,)))
    return box


def drained(box: Box) -> list[Item]:
    """Return all pending items, in order."""
    items = []
    while (item := box.get_nowait()) is not None:
        items.append(item)
    return items


def test_merged_items_are_counted() -> None:
    """`received` counts all items, `conflated` the merged items, and `depth` the waiting keys."""
    box = filled("a", "b", "a", "a")

    assert (4, 2, 2) == (box.received, box.conflated, box.depth)


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


KEYS = st.sampled_from("abc")


class MailboxMachine(RuleBasedStateMachine):
    """An item is a key and the numbers merged into it, to show losses, duplicates and reordering."""

    def __init__(self) -> None:
        super().__init__()
        self.box = empty_box()
        self.pending: dict[str, tuple[int, ...]] = {}
        self.in_flight: Item | None = None
        self.unacked: list[Item] = []
        self.number = 0

    @rule(key=KEYS)
    def put(self, key: str) -> None:
        """A newer item arrives."""
        self.number += 1
        self.box.put_nowait(Item(key, (self.number,)))
        self.pending[key] = (*self.pending.get(key, ()), self.number)

    @rule()
    def take(self) -> None:
        """The reader marks its item as processed and takes the next one."""
        self.mark_processed()
        taken = self.box.get_nowait()
        expected = next(iter(self.pending.items()), None)
        assert expected == taken
        if expected is not None:
            del self.pending[expected[0]]
            self.in_flight = Item(*expected)

    @rule()
    def mark_processed(self) -> None:
        """The reader has processed its item."""
        self.box.mark_processed()
        if self.in_flight is not None:
            self.unacked.append(self.in_flight)
            self.in_flight = None

    @rule()
    def ack_all(self) -> None:
        """The commit is published."""
        self.box.ack_all()
        self.in_flight = None
        self.unacked.clear()

    @rule()
    def crash(self) -> None:
        """The item in flight is returned; the others are pending again, merged under newer ones."""
        blamed, self.in_flight = self.in_flight, None
        assert blamed == self.box.requeue_unacked()
        back: dict[str, tuple[int, ...]] = {}
        for key, numbers in self.unacked:
            back[key] = back.get(key, ()) + numbers
        self.unacked.clear()
        for key, numbers in back.items():
            self.pending[key] = numbers + self.pending.get(key, ())

    @invariant()
    def holds_what_the_model_holds(self) -> None:
        """At most one item per key waits, and the same items are in flight and unacknowledged."""
        expected = (len(self.pending), self.in_flight, tuple(self.unacked))
        assert expected == (self.box.depth, self.box.in_flight, self.box.unacked)


def test_mailbox_equals_the_model() -> None:
    """No item is lost, doubled or reordered within its key."""
    run_state_machine_as_test(
        MailboxMachine,
        settings=settings(max_examples=150, stateful_step_count=40, deadline=None, derandomize=True),
    )
