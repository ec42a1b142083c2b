"""Poison messages: a list that has crashed its actor twice is not worked on again (faults.md, D2)."""

from __future__ import annotations

from actors.core.messages import ListId

MAX_CRASHES = 2
MAX_CULPRITS = 64


class PoisonGuard:
    """Crashes by list, of the newest `MAX_CULPRITS` lists; outlives its actor."""

    def __init__(self) -> None:
        self.in_flight: ListId | None = None
        self._crashes: dict[ListId, int] = {}

    def begin(self, list_id: ListId) -> bool:
        """Note that work on `list_id` begins; return False instead if it crashed the actor twice."""
        if self._crashes.get(list_id, 0) >= MAX_CRASHES:
            return False
        self.in_flight = list_id
        return True

    def end(self) -> None:
        """Note that the work has ended without a crash."""
        self.in_flight = None

    def recover(self) -> ListId | None:
        """At the start of an instance: return the list that crashed the last one, None without a crash."""
        culprit, self.in_flight = self.in_flight, None
        if culprit is not None:
            self._crashes[culprit] = self._crashes.pop(culprit, 0) + 1
            while len(self._crashes) > MAX_CULPRITS:
                del self._crashes[next(iter(self._crashes))]
        return culprit
