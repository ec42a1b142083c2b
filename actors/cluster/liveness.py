"""Truth at a distance: until when a replica may show what a collector has committed. Pure.

Each look of a replica raises a round. A collector answers the newest round that it has read, and only when
its board has nothing overdue and all of it is committed. So once a replica sees the answer to round R, and
has applied all that was committed by then, it knows that the collector was in order after the replica
*sent* its own newest look of round R or before. From then on it shows the collector's lists for `HOLDS_S`
at most. No clocks are compared; answers, looks and beats that were long on their way prove nothing new.

So it is with surebets, by the matcher's ticks in place of beats. Times of the matcher's clock are compared
with those of another by what came before what alone: a tick was made after the round that it names was
read, and before it was received.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Mapping
from math import inf

from actors.board.validity import HOLDS_S
from actors.cluster.store import CollectorId, Look, Position

SILENT_S = 3.0
"""Seconds after which a collector whose beat stands still is deposed."""
MAX_LOOKS = 64  # of which the rounds are remembered: half a minute
MAX_TICKS = 128  # by which the matcher's clock is known: a minute, in which clocks part by less than 0.1 s


class Evidence:
    """A replica's knowledge of each collector."""

    def __init__(self) -> None:
        self._rounds: deque[int] = deque(maxlen=MAX_LOOKS)
        self._sent: deque[float] = deque(maxlen=MAX_LOOKS)
        self._waiting: deque[tuple[Position, Mapping[CollectorId, float]]] = deque(maxlen=MAX_LOOKS)
        self._proven: dict[CollectorId, float] = {}

    def sent(self, answered: int) -> float:
        """Return when (monotonic seconds) the newest own look of that round or before was sent."""
        at = bisect_right(self._rounds, answered) - 1
        return self._sent[at] if at >= 0 else -inf

    def looked(self, look: Look, sent_mono: float) -> None:
        """Take the answer to a look that was sent at that time (monotonic seconds)."""
        proven = {collector: self.sent(answered) for collector, answered in look.beats.items()}
        self._rounds.append(look.round)
        self._sent.append(sent_mono)
        self._waiting.append((look.head, proven))

    def applied(self, at: Position) -> None:
        """Note that all records up to that position are applied."""
        while self._waiting and self._waiting[0][0] <= at:
            for collector, mono in self._waiting.popleft()[1].items():
                self._proven[collector] = max(mono, self._proven.get(collector, -inf))

    def until(self, collector: CollectorId) -> float:
        """Return until when (monotonic seconds) the lists of a collector may be shown."""
        return self._proven.get(collector, -inf) + HOLDS_S


class MatcherClock:
    """A process's knowledge of the matcher's clock, whose ticks are `by` that collector; outlives actors.

    Only newest ticks count, because clocks do not run alike. Times are monotonic seconds.
    """

    def __init__(self) -> None:
        self.by: CollectorId | None = None
        self.until = -inf
        """How long surebets hold after the newest tick."""
        self.ahead_most_s, self._ahead_least_s = inf, -inf
        self._bounds: deque[tuple[float, float]] = deque(maxlen=MAX_TICKS)

    def ticked(self, by: CollectorId, mono: float, sent_mono: float, received_mono: float) -> None:
        """Take a tick at `mono`, made after our look that was `sent_mono`, before it was received."""
        if by != self.by:
            self.by = by
            self._bounds.clear()
        self._bounds.append((mono - received_mono, mono - sent_mono))
        self._ahead_least_s = max([least for least, _ in self._bounds])
        self.ahead_most_s = min([most for _, most in self._bounds])
        self.until = sent_mono + HOLDS_S

    def earliest(self, mono: float) -> float:
        """Return the matcher's time of a moment of ours, at the earliest."""
        return mono + self._ahead_least_s


class Silence:
    """Which collectors' beats stand still, by the looks of one observer."""

    def __init__(self) -> None:
        self._since: dict[CollectorId, tuple[int, float]] = {}

    def looked(self, look: Look, sent_mono: float, now_mono: float) -> dict[CollectorId, int]:
        """Return the collectors that have been silent for `SILENT_S`, each with its beat.

        The look was sent and answered at these times: between the answer that showed a beat first and the
        sending of the one that shows it still.
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
