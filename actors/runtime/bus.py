"""The bus: a published batch goes to every subscriber, at once and in order."""

from __future__ import annotations

from collections.abc import Callable

from actors.core.messages import Batch


class Bus:
    """Publish/subscribe for batches; never waits."""

    def __init__(self) -> None:
        self._subscribers: list[Callable[[Batch], None]] = []

    def subscribe(self, subscriber: Callable[[Batch], None]) -> None:
        """Call `subscriber`, which must neither block nor raise, with every later batch."""
        self._subscribers.append(subscriber)

    def publish(self, batch: Batch) -> None:
        """Call every subscriber with `batch`, in the order of subscription."""
        for subscriber in self._subscribers:
            subscriber(batch)
