"""The inputs of an actor: the bus, its mailbox, and the poison-message guard.

Mailbox and guard outlive the actor. The item in flight during a crash counts as its cause.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from actors.core.messages import Batch, Failure, ListId

MAX_CRASHES = 2
MAX_CULPRITS = 64

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Bus:
    """Publish/subscribe for batches and failures; never waits."""

    def __init__(self) -> None:
        self._subscribers: list[Callable[[Batch | Failure], None]] = []

    def subscribe(self, subscriber: Callable[[Batch | Failure], None]) -> None:
        """Call `subscriber`, which must neither block nor raise, with every later message."""
        self._subscribers.append(subscriber)

    def publish(self, message: Batch | Failure) -> None:
        """Call every subscriber with `message`, in the order of subscription."""
        for subscriber in self._subscribers:
            subscriber(message)


class Mailbox(Generic[K, V]):
    """Pending items by key, oldest key first. `merge(old, new)` merges two items of the same key."""

    def __init__(self, key: Callable[[V], K], merge: Callable[[V, V], V]) -> None:
        self.received = 0
        self.conflated = 0
        self.in_flight: V | None = None
        self._key = key
        self._merge = merge
        self._pending: OrderedDict[K, V] = OrderedDict()
        self._arrived = asyncio.Event()
        self._unacked: list[V] = []

    @property
    def depth(self) -> int:
        """The number of pending items."""
        return len(self._pending)

    @property
    def is_idle(self) -> bool:
        """Whether every item was acknowledged."""
        return not self._pending and self.in_flight is None and not self._unacked

    @property
    def unacked(self) -> tuple[V, ...]:
        """The items that are processed but not acknowledged, oldest first."""
        return tuple(self._unacked)

    def put_nowait(self, item: V) -> None:
        """Add `item`, merged into a pending item of its key; never block."""
        self.received += 1
        key = self._key(item)
        if (older := self._pending.get(key)) is not None:
            self.conflated += 1
            item = self._merge(older, item)
        self._pending[key] = item
        self._arrived.set()

    def put_back(self, item: V) -> None:
        """Return the rest of a taken item; it counts as older than the pending item of its key."""
        key = self._key(item)
        newer = self._pending.get(key)
        self._pending[key] = item if newer is None else self._merge(item, newer)
        self._arrived.set()

    async def get(self) -> V:
        """Wait for an item; it is in flight until `mark_processed` or `ack_all`."""
        while (item := self.get_nowait()) is None:
            self._arrived.clear()
            await self._arrived.wait()
        return item

    def get_nowait(self) -> V | None:
        """Return the next item, which is then in flight; None when nothing is pending."""
        if self._pending:
            _, self.in_flight = self._pending.popitem(last=False)
            return self.in_flight
        return None

    def mark_processed(self) -> None:
        """Mark the item in flight processed but not acknowledged."""
        if self.in_flight is not None:
            self._unacked.append(self.in_flight)
            self.in_flight = None

    def ack_all(self) -> None:
        """Acknowledge every item that was taken: its effect is safe."""
        self.in_flight = None
        self._unacked.clear()

    def requeue_unacked(self) -> V | None:
        """After a crash: make the other unacknowledged items pending; return the item in flight."""
        blamed, self.in_flight = self.in_flight, None
        requeued: dict[K, V] = {}
        for item in self._unacked:
            if item is not blamed:
                key = self._key(item)
                requeued[key] = self._merge(requeued[key], item) if key in requeued else item
        self._unacked.clear()
        for item in requeued.values():
            self.put_back(item)
        return blamed

    def discard(self, predicate: Callable[[V], bool]) -> None:
        """Remove the pending items for which `predicate` is true."""
        for key in [key for key, item in self._pending.items() if predicate(item)]:
            del self._pending[key]


class PoisonGuard:
    """Counts crashes by list, for the newest `MAX_CULPRITS` lists; outlives its actor."""

    def __init__(self) -> None:
        self.in_flight: ListId | None = None
        self._crashes: dict[ListId, int] = {}

    def begin(self, list_id: ListId) -> bool:
        """Note that work on `list_id` begins; return False instead if it crashed the actor twice."""
        self.recover()  # work without an end counts as a crash, even before its actor has ended
        if self._crashes.get(list_id, 0) >= MAX_CRASHES:
            return False
        self.in_flight = list_id
        return True

    def end(self) -> None:
        """Note that the work has ended without a crash."""
        self.in_flight = None

    def recover(self) -> ListId | None:
        """Return the list that crashed the previous instance, if any; called when an instance starts."""
        culprit, self.in_flight = self.in_flight, None
        if culprit is not None:
            self._crashes[culprit] = self._crashes.pop(culprit, 0) + 1
            while len(self._crashes) > MAX_CULPRITS:
                del self._crashes[next(iter(self._crashes))]
        return culprit
