"""The messages that wait, by receiver, within limits of number and age. Pure."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Iterable
from typing import Final

from actors.alerts.message import Message

MAX_ALERTS: Final = 10_000
"""The most alerts that wait, each counted once for each receiver."""
MAX_AGE_S: Final = 86_400.0


class Queue:
    """Waiting messages, oldest first; a message that is `held` may not be sent yet."""

    def __init__(self, max_alerts: int = MAX_ALERTS) -> None:
        self._max_alerts = max_alerts
        self._waiting: OrderedDict[int, Message] = OrderedDict()
        self._ready: dict[str, OrderedDict[int, Message]] = defaultdict(OrderedDict)
        self._counts: dict[str, int] = {}
        self._held: dict[int, Message] = {}

    def add(self, messages: Iterable[Message], *, is_held: bool) -> list[Message]:
        """Add messages in the order of their numbers; return the oldest ones, dropped for room."""
        for message in messages:
            self._waiting[message.number] = message
            self._counts[message.receiver] = self.waiting(message.receiver) + len(message.alerts)
            if is_held:
                self._held[message.number] = message
            else:
                self._ready[message.receiver][message.number] = message
        dropped: list[Message] = []
        while self.total > self._max_alerts:
            oldest = next(iter(self._waiting.values()))
            self.remove(oldest)
            dropped.append(oldest)
        return dropped

    def release(self, numbers: Iterable[int]) -> set[str]:
        """Let these messages be sent; return their receivers."""
        found = [self._held.pop(number) for number in numbers if number in self._held]
        for message in found:
            self._ready[message.receiver][message.number] = message
        return {message.receiver for message in found}

    def first(self, receiver: str) -> Message | None:
        """Return the oldest message for a receiver that may be sent."""
        return next(iter(self._ready[receiver].values()), None)

    def has(self, message: Message) -> bool:
        """Return whether a message still waits."""
        return message.number in self._waiting

    def remove(self, message: Message) -> None:
        """Take a message out."""
        if self._waiting.pop(message.number, None) is not None:
            self._counts[message.receiver] -= len(message.alerts)
            self._held.pop(message.number, None)
            self._ready[message.receiver].pop(message.number, None)

    def of(self, receiver: str) -> list[Message]:
        """Return all messages for a receiver."""
        return [message for message in self._waiting.values() if message.receiver == receiver]

    def waiting(self, receiver: str) -> int:
        """Return the number of alerts that wait for a receiver."""
        return self._counts.get(receiver, 0)

    @property
    def total(self) -> int:
        """The number of alerts that wait, each counted once for each receiver."""
        return sum(self._counts.values())
