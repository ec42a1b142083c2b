"""How long a replica may show a collector's commits. Pure.

Each look of a replica raises a round. A collector answers the newest round that it has read, and only when
its board has nothing overdue and is committed completely. When a replica sees the answer to round R, and
has applied all records up to that time, it knows that the collector was in order after the replica *sent*
its newest look of round R or before. From that moment it shows the collector's lists for `HOLDS_S` at most.
No clocks are compared; delayed answers, looks and beats prove nothing new.

Surebets work the same way, with the matcher's ticks in place of beats. The matcher's clock is compared with
another clock only by the order of events: a tick was made after its round was read, and before it was
received.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Mapping
from math import inf

from actors.board.validity import HOLDS_S
from actors.cluster.store import CollectorId, Look, Position

SILENT_S = 3.0
"""Seconds without a new beat after which a collector is deposed."""
MAX_LOOKS = 64  # looks with remembered rounds: half a minute
MAX_TICKS = 128  # ticks that bound the matcher's clock: a minute, in which clocks drift by less than 0.1 s


class Evidence:
    """A replica's knowledge of each collector."""

    def __init__(self) -> None:
        self._rounds: deque[int] = deque(maxlen=MAX_LOOKS)
        self._sent: deque[float] = deque(maxlen=MAX_LOOKS)
        self._waiting: deque[tuple[Position, Mapping[CollectorId, float]]] = deque(maxlen=MAX_LOOKS)
        self._proven: dict[CollectorId, float] = {}

    def sent(self, answered: int) -> float:
        """Return when (monotonic seconds) the newest own look with that round or a lower one was sent."""
        at = bisect_right(self._rounds, answered) - 1
        return self._sent[at] if at >= 0 else -inf

    def looked(self, look: Look, sent_mono: float) -> None:
        """Record the answer to a look that was sent at that time (monotonic seconds)."""
        proven = {collector: self.sent(answered) for collector, answered in look.beats.items()}
        self._rounds.append(look.round)
        self._sent.append(sent_mono)
        self._waiting.append((look.head, proven))

    def applied(self, at: Position) -> None:
        """Record that all records up to that position are applied."""
        while self._waiting and self._waiting[0][0] <= at:
            for collector, mono in self._waiting.popleft()[1].items():
                self._proven[collector] = max(mono, self._proven.get(collector, -inf))

    def until(self, collector: CollectorId) -> float:
        """Return until when (monotonic seconds) the lists of a collector may be shown."""
        return self._proven.get(collector, -inf) + HOLDS_S


class MatcherClock:
    """A process's bounds on the matcher's clock; the ticks come from the collector `by`. Outlives actors.

    Only recent ticks count, because clocks drift. Times are monotonic seconds.
    """

    def __init__(self) -> None:
        self.by: CollectorId | None = None
        self.until = -inf
        """The moment until which surebets are valid after the newest tick."""
        self.ahead_most_s, self._ahead_least_s = inf, -inf
        self._bounds: deque[tuple[float, float]] = deque(maxlen=MAX_TICKS)

    def ticked(self, by: CollectorId, mono: float, sent_mono: float, received_mono: float) -> None:
        """Record a tick at the matcher's `mono`, made between our look's sending and its receipt."""
        if by != self.by:
            self.by = by
            self._bounds.clear()
        self._bounds.append((mono - received_mono, mono - sent_mono))
        self._ahead_least_s = max([least for least, _ in self._bounds])
        self.ahead_most_s = min([most for _, most in self._bounds])
        self.until = sent_mono + HOLDS_S

    def earliest(self, mono: float) -> float:
        """Return the earliest matcher's time for a moment on our clock."""
        return mono + self._ahead_least_s


class Silence:
    """Finds collectors with unchanged beats, from the looks of one observer."""

    def __init__(self) -> None:
        self._since: dict[CollectorId, tuple[int, float]] = {}

    def looked(self, look: Look, sent_mono: float, now_mono: float) -> dict[CollectorId, int]:
        """Return the collectors that have been silent for `SILENT_S`, each with its beat.

        Silence counts from the answer that first showed a beat to the sending of the look that shows it
        again.
        """
        self._since = {
            collector: known
            if (known := self._since.get(collector)) is not None and known[0] == beat
            else (beat, now_mono)
            for collector, beat in look.beats.items()
        }
        return {
            collector: beat
            for collector, (beat, since) in self._since.items()
            if sent_mono - since >= SILENT_S
        }
