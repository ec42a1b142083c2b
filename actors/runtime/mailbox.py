"""The mailbox: an asyncio.Queue of dirty keys beside a dict of what is pending for each.

At most one pending item per key, so it cannot grow: something newer is merged into what waits. It
outlives its actor: an item that was taken and not settled when the actor crashed can be told from
those that were only waiting for the commit, and those are put back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Mailbox(Generic[K, V]):
    """Pending items by key. `merge(old, new)` lays a newer item over an older one of the same key."""

    def __init__(self, key: Callable[[V], K], merge: Callable[[V, V], V]) -> None:
        self.received = 0
        self.conflated = 0
        self.in_flight: V | None = None
        self._key = key
        self._merge = merge
        self._dirty: asyncio.Queue[K] = asyncio.Queue()
        self._pending: dict[K, V] = {}
        self._unacked: list[V] = []

    @property
    def depth(self) -> int:
        """Keys with something pending."""
        return len(self._pending)

    @property
    def unacked(self) -> tuple[V, ...]:
        """Items that were taken in and are not settled yet, oldest first."""
        return tuple(self._unacked)

    def put_nowait(self, item: V) -> None:
        """Add `item`, merging it over one of the same key that still waits; never blocks."""
        self.received += 1
        key = self._key(item)
        if key in self._pending:
            self.conflated += 1
            self._pending[key] = self._merge(self._pending[key], item)
        else:
            self._pending[key] = item
            self._dirty.put_nowait(key)

    async def get(self) -> V:
        """Wait for an item and take it in hand."""
        return self._take(await self._dirty.get())

    def get_nowait(self) -> V | None:
        """Take the next item in hand, or None when nothing is pending."""
        return self._take(self._dirty.get_nowait()) if self._pending else None

    def mark_processed(self) -> None:
        """Lay down what is in hand: worked in, but not settled."""
        if self.in_flight is not None:
            self._unacked.append(self.in_flight)
            self.in_flight = None

    def ack_all(self) -> None:
        """Forget all that was taken: its effect is safe."""
        self.in_flight = None
        self._unacked.clear()

    def requeue_unacked(self) -> V | None:
        """After a crash: give what was in hand, and put back what was laid down before it."""
        blamed, self.in_flight = self.in_flight, None
        back: dict[K, V] = {}
        for item in [one for one in self._unacked if one is not blamed]:
            key = self._key(item)
            back[key] = self._merge(back[key], item) if key in back else item
        self._unacked.clear()
        for key, item in back.items():
            if key in self._pending:
                self._pending[key] = self._merge(item, self._pending[key])
            else:
                self._pending[key] = item
                self._dirty.put_nowait(key)
        return blamed

    def discard(self, goes: Callable[[V], bool]) -> None:
        """Throw away what is pending and `goes`."""
        self._pending = {key: item for key, item in self._pending.items() if not goes(item)}
        while not self._dirty.empty():
            self._dirty.get_nowait()
        for key in self._pending:
            self._dirty.put_nowait(key)

    def _take(self, key: K) -> V:
        self.in_flight = self._pending.pop(key)
        return self.in_flight
