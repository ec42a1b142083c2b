"""A pause of all requests to a venue that has too many: it says so, or does not answer in time. Pure."""

from __future__ import annotations

from math import inf

from actors.core.clock import Instant
from actors.core.errors import SourceError, TransportError

MAX_PAUSE_S = 300.0
TOO_MANY = 429


class Pause:
    """The pause of a source, of `least_s` seconds at first, then twice as long each time."""

    def __init__(self, least_s: float) -> None:
        self._least_s = least_s
        self._lasts_s, self._until_mono = 0.0, -inf

    def left_s(self, now: Instant) -> float:
        """Return the seconds that are left of it."""
        return max(self._until_mono - now.mono, 0.0)

    def on_answered(self) -> None:
        """Begin with the shortest pause again."""
        self._lasts_s = 0.0

    def on_failed(self, error: SourceError, now: Instant) -> None:
        """Pause if the error says that there were too many requests; at least as long as asked for."""
        if isinstance(error, TransportError) and (error.status == TOO_MANY or error.reason == "timeout"):
            self._lasts_s = min(max(2 * self._lasts_s, self._least_s), MAX_PAUSE_S)
            self._until_mono = now.mono + max(self._lasts_s, error.retry_after_s or 0.0)
