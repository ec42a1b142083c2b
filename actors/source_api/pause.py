"""Pauses all requests to a venue that answers 429 (too many requests) or not in time. Pure."""

from __future__ import annotations

from math import inf

from actors.core.clock import Instant
from actors.core.errors import SourceError, TransportError

MAX_PAUSE_S = 300.0
TOO_MANY = 429


class Pause:
    """A source's pause: `least_s` seconds at first, then twice as long each time."""

    def __init__(self, least_s: float) -> None:
        self._least_s = least_s
        self._lasts_s, self._until_mono = 0.0, -inf

    def left_s(self, now: Instant) -> float:
        """Return the remaining seconds of the pause."""
        return max(self._until_mono - now.mono, 0.0)

    def on_answered(self) -> None:
        """Make the next pause the shortest again."""
        self._lasts_s = 0.0

    def on_failed(self, error: SourceError, now: Instant) -> None:
        """Pause after a 429 or a timeout, at least for the time that the venue asks for."""
        if isinstance(error, TransportError) and (error.status == TOO_MANY or error.reason == "timeout"):
            self._lasts_s = min(max(2 * self._lasts_s, self._least_s), MAX_PAUSE_S)
            self._until_mono = now.mono + max(self._lasts_s, error.retry_after_s or 0.0)
