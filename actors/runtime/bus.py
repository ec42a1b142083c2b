"""The bus: what is published goes to every subscriber, at once and in order.

Between the bookmakers and whoever wants their batches. Publishing never blocks and never waits: a
subscriber is a plain function that takes the batch in, such as a mailbox's `put_nowait`.
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
        """Hand every later batch to `subscriber`, which must neither block nor raise."""
        self._subscribers.append(subscriber)

    def publish(self, batch: Batch) -> None:
        """Hand `batch` to every subscriber, in the order of subscription."""
        for subscriber in self._subscribers:
            subscriber(batch)
