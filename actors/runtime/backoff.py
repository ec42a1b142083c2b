"""Delays before the next attempt: exponential backoff with full jitter, and the restart window. Pure."""

from __future__ import annotations

from collections import deque
from math import inf
from random import Random

BASE_S = 0.5
MIN_CAP_S = 30.0
CALM_S = 60.0  # success for this long resets the count of attempts

MAX_CRASHES = 3
WINDOW_S = 60.0
FIRST_QUARANTINE_S = 60.0
LONGEST_QUARANTINE_S = 900.0
FORGIVEN_AFTER_S = 600.0


class Backoff:
    """Delays between failing attempts: uniform(`least_share`, 1) * min(`cap_s`, `base_s` * 2**n).

    This is "full jitter" where the least share is 0 (Marc Brooker, "Exponential Backoff And Jitter", AWS
    2015).
    """

    def __init__(
        self, cap_s: float, random: Random, *, base_s: float = BASE_S, least_share: float = 0.0
    ) -> None:
        self.cap_s = cap_s
        self._base_s = base_s
        self._least_share = least_share
        self._attempts = 0
        self._random = random
        self._good_since: float | None = None

    def failed(self, now: float) -> float:
        """Count a failed attempt; return the seconds to wait before the next."""
        if self._good_since is not None and now - self._good_since >= CALM_S:
            self._attempts = 0
        self._good_since = None
        longest_s = min(self.cap_s, self._base_s * 2.0 ** min(self._attempts, 32))
        self._attempts += 1
        return self._random.uniform(self._least_share * longest_s, longest_s)

    def succeeded(self, now: float) -> None:
        """Note a success; only `CALM_S` of it resets the count, so a flapping peer keeps its delay."""
        if self._good_since is None:
            self._good_since = now


class RestartWindow:
    """Restart intensity as in OTP: more than `MAX_CRASHES` within `WINDOW_S` lead to a quarantine.

    A crash within `WINDOW_S` after a quarantine starts one twice as long, at most `LONGEST_QUARANTINE_S`.
    `FORGIVEN_AFTER_S` without a crash reset the length.
    """

    def __init__(self) -> None:
        self._crashes: deque[float] = deque()
        self._quarantine_s = FIRST_QUARANTINE_S
        self._readmitted = -inf
        self._last = -inf

    def crashed(self, now: float) -> float | None:
        """Count a crash; return the seconds of quarantine that follow, None for an immediate restart."""
        self._forgive(now)
        self._last = now
        self._crashes.append(now)
        while now - self._crashes[0] > WINDOW_S:
            self._crashes.popleft()
        on_probation = now - self._readmitted <= WINDOW_S
        if len(self._crashes) <= MAX_CRASHES and not on_probation:
            return None
        return self.quarantined(now)

    def quarantined(self, now: float) -> float:
        """Start a quarantine now; return its length in seconds."""
        self._forgive(now)
        length = self._quarantine_s
        self._quarantine_s = min(2 * length, LONGEST_QUARANTINE_S)
        self._readmitted = now + length
        self._crashes.clear()
        return length

    def _forgive(self, now: float) -> None:
        if now - max(self._last, self._readmitted) > FORGIVEN_AFTER_S:
            self._quarantine_s = FIRST_QUARANTINE_S
