"""When to try again: capped exponential delay with full jitter, and the restart window.

Pure: time comes in as monotonic seconds, randomness as a `random.Random`. The formula is "full
jitter" (Marc Brooker, "Exponential Backoff And Jitter", AWS 2015): uniform(0, min(cap, base * 2**n)).
"""

from __future__ import annotations

from collections import deque
from random import Random

BASE_S = 0.5
MIN_CAP_S = 30.0
CALM_S = 60.0
"""Seconds of success after which the attempts count from zero again."""

MAX_CRASHES = 3
WINDOW_S = 60.0
FIRST_QUARANTINE_S = 60.0
LONGEST_QUARANTINE_S = 900.0
FORGIVEN_AFTER_S = 600.0


class Backoff:
    """Delays between failing attempts; `cap_s` bounds them."""

    def __init__(self, cap_s: float, random: Random) -> None:
        self.attempts = 0
        self.cap_s = cap_s
        self._random = random
        self._good_since: float | None = None

    def failed(self, now: float) -> float:
        """Count a failed attempt and give the seconds to wait before the next."""
        if self._is_calm(now):
            self.attempts = 0
        self._good_since = None
        longest = min(self.cap_s, BASE_S * 2.0 ** min(self.attempts, 32))
        self.attempts += 1
        return self._random.uniform(0.0, longest)

    def succeeded(self, now: float) -> None:
        """Note a success; only `CALM_S` of it forget the failures, so that flapping keeps its delay."""
        if self._good_since is None:
            self._good_since = now
        if self._is_calm(now):
            self.attempts = 0

    def _is_calm(self, now: float) -> bool:
        return self._good_since is not None and now - self._good_since >= CALM_S


class RestartWindow:
    """Restart intensity as in OTP: too many crashes within a sliding window, and then quarantine.

    After a quarantine one crash within `WINDOW_S` is enough for the next, twice as long, up to
    `LONGEST_QUARANTINE_S`; `FORGIVEN_AFTER_S` without a crash starts anew.
    """

    def __init__(self) -> None:
        self._crashes: deque[float] = deque()
        self._quarantine_s = FIRST_QUARANTINE_S
        self._readmitted: float | None = None
        self._last: float | None = None

    def crashed(self, now: float) -> float | None:
        """Count a crash; give the seconds of quarantine that follow, None for an immediate restart."""
        self._forgive(now)
        self._last = now
        self._crashes.append(now)
        while now - self._crashes[0] > WINDOW_S:
            self._crashes.popleft()
        on_probation = self._readmitted is not None and now - self._readmitted <= WINDOW_S
        if len(self._crashes) <= MAX_CRASHES and not on_probation:
            return None
        return self.quarantined(now)

    def quarantined(self, now: float) -> float:
        """Start a quarantine now and give its length in seconds; the next is twice as long."""
        self._forgive(now)
        length = self._quarantine_s
        self._quarantine_s = min(2 * length, LONGEST_QUARANTINE_S)
        self._readmitted = now + length
        self._crashes.clear()
        return length

    def _forgive(self, now: float) -> None:
        calm_since = max(self._last or 0.0, self._readmitted or 0.0)
        if now - calm_since > FORGIVEN_AFTER_S:
            self._quarantine_s = FIRST_QUARANTINE_S
            self._readmitted = None
