"""The bus: a published batch goes to every subscriber, at once and in order.

Publishing never waits: a subscriber is a plain function such as a mailbox's `put_nowait`.
"""

from __future__ import annotations

from collections.abc import Callable

from actors.core.messages import Batch

Subscriber = Callable[[Batch], None]


class Bus:
    """Publish/subscribe for batches."""

    def __init__(self) -> None:
        self._subscribers: list[Subscriber] = []

    def subscribe(self, subscriber: Subscriber) -> None:
        """Call `subscriber`, which must neither block nor raise, with every later batch."""
        self._subscribers.append(subscriber)

    def publish(self, batch: Batch) -> None:
        """Call every subscriber with `batch`, in the order of subscription."""
        for subscriber in self._subscribers:
            subscriber(batch)
