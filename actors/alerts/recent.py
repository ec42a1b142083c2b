"""The alerts that fired lately, for readers; they are numbered within a life of the service. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from secrets import token_hex
from typing import Final

from actors.alerts.alert import Alert

MAX_RECENT: Final = 200


class Recent:
    """The newest alerts; `newest` is the number of the last, 0 without one; `epoch` names this life."""

    def __init__(self) -> None:
        self.epoch = token_hex(4)
        self.newest = 0
        self._alerts: deque[Alert] = deque(maxlen=MAX_RECENT)
        self._followers: list[Callable[[], None]] = []

    def follow(self, told: Callable[[], None]) -> None:
        """Have `told` called after each alert; it must not wait."""
        self._followers.append(told)

    def add(self, alert: Alert) -> None:
        """Add an alert."""
        self._alerts.append(alert)
        self.newest += 1
        for told in self._followers:
            told()

    @property
    def oldest(self) -> int:
        """The number of the oldest alert that is known; `newest` + 1 if no alert is known."""
        return self.newest - len(self._alerts) + 1

    def since(self, number: int) -> Sequence[Alert]:
        """Return the known alerts after this number, newest last."""
        return [*self._alerts][max(number + 1 - self.oldest, 0) :] if number < self.newest else ()
