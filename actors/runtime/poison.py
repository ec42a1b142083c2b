"""Remembers what an actor had in hand when it crashed, so that the same bytes crash it twice at most.

Pure; outlives its actor. The actor names what it takes in hand and lays it down again; an instance
that starts and finds something in hand knows that its predecessor died of it (faults.md, D2).
"""

from __future__ import annotations

from actors.core.messages import ListId

MAX_CRASHES = 2
MAX_CULPRITS = 64


class PoisonGuard:
    """Crashes by the list that was in hand, of the newest `MAX_CULPRITS` only."""

    def __init__(self) -> None:
        self.in_flight: ListId | None = None
        self._crashes: dict[ListId, int] = {}

    def begin(self, list_id: ListId) -> bool:
        """Take `list_id` in hand; False if it has crashed the actor twice and must be left alone."""
        if self._crashes.get(list_id, 0) >= MAX_CRASHES:
            return False
        self.in_flight = list_id
        return True

    def end(self) -> None:
        """Lay it down: it did no harm."""
        self.in_flight = None

    def recover(self) -> ListId | None:
        """At the start of a new instance: count what killed the last one and name it, None if nothing."""
        culprit, self.in_flight = self.in_flight, None
        if culprit is not None:
            self._crashes[culprit] = self._crashes.pop(culprit, 0) + 1
            while len(self._crashes) > MAX_CULPRITS:
                del self._crashes[next(iter(self._crashes))]
        return culprit
