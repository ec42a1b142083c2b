"""The mailbox of an actor, which outlives it: at most one pending item per key, so that it cannot grow.

After a crash the item in flight is to blame; those processed but not acknowledged are pending again.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Mailbox(Generic[K, V]):
    """Pending items by key, oldest key first. `merge(old, new)` makes one item of two of the same key."""

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
    def unacked(self) -> tuple[V, ...]:
        """The items that are processed but not acknowledged, oldest first."""
        return tuple(self._unacked)

    def put_nowait(self, item: V) -> None:
        """Add `item`, merged into the pending one of its key if there is one; never block."""
        self.received += 1
        key = self._key(item)
        if (older := self._pending.get(key)) is not None:
            self.conflated += 1
            item = self._merge(older, item)
        self._pending[key] = item
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
        """After a crash: make the other unacknowledged items pending; return the one that was in flight."""
        blamed, self.in_flight = self.in_flight, None
        requeued: dict[K, V] = {}
        for item in self._unacked:
            if item is not blamed:
                key = self._key(item)
                requeued[key] = self._merge(requeued[key], item) if key in requeued else item
        self._unacked.clear()
        for key, item in requeued.items():
            newer = self._pending.get(key)
            self._pending[key] = item if newer is None else self._merge(item, newer)
            self._arrived.set()
        return blamed

    def discard(self, predicate: Callable[[V], bool]) -> None:
        """Remove the pending items for which `predicate` is true."""
        for key in [key for key, item in self._pending.items() if predicate(item)]:
            del self._pending[key]
