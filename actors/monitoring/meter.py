"""A meter: rates and quantiles of a histogram over the last one or two minutes. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isinf

from msgspec import Struct

from actors.monitoring.metrics import Count, Timing

WINDOW_S = 60.0


class Summary(Struct, frozen=True):
    """Samples per second, their sizes per second, and quantiles (None without a sample)."""

    count: int
    per_s: float
    sizes_per_s: float
    p50_s: float | None
    p95_s: float | None
    p99_s: float | None


class _Mark(Struct, frozen=True):
    """The counts at the begin of a window (monotonic seconds)."""

    began: float
    counted: Sequence[int]
    size: int


class Meter:
    """Samples of something that takes time and has a size, such as a batch and its changes."""

    def __init__(self, durations: Timing, sizes: Count | None = None) -> None:
        self._durations = durations
        self._sizes = sizes
        self._old: _Mark | None = None
        self._new = self._mark(inf)

    def add(self, took_s: float, size: int, now: float) -> None:
        """Count a sample that ended at `now`, in monotonic seconds."""
        self._rotate(now)
        self._durations.observe(took_s)
        if self._sizes is not None:
            self._sizes.inc(size)

    def summary(self, now: float) -> Summary:
        """Summarise the last one to two minutes before `now`, in monotonic seconds."""
        self._rotate(now)
        since, until = self._old or self._new, self._mark(now)
        counted = [new - old for old, new in zip(since.counted, until.counted, strict=True)]
        total, elapsed_s = counted[-1], max(now - since.began, 1.0)
        quantiles = (_quantile(self._durations.upper_ends, counted, share) for share in (0.5, 0.95, 0.99))
        return Summary(total, total / elapsed_s, (until.size - since.size) / elapsed_s, *quantiles)

    def _rotate(self, now: float) -> None:
        """Start the first window, or the next one if the current window has ended."""
        if isinf(self._new.began):
            self._new = self._mark(now)
        elapsed_s = now - self._new.began
        if elapsed_s >= WINDOW_S:
            self._old = self._new if elapsed_s < 2 * WINDOW_S else None
            self._new = self._mark(now)

    def _mark(self, began: float) -> _Mark:
        return _Mark(began, self._durations.counted(), 0 if self._sizes is None else self._sizes.number)


def _quantile(ends: Sequence[float], counted: Sequence[int], share: float) -> float | None:
    """Return the `share` quantile, interpolated in its bucket as Prometheus' `histogram_quantile` does.

    `counted` has for each of `ends` the number of samples up to it.
    """
    if not counted[-1]:
        return None
    rank = share * counted[-1]
    place = next(place for place, number in enumerate(counted) if number >= rank)
    if isinf(ends[place]):
        return ends[place - 1]
    start, before = (ends[place - 1], counted[place - 1]) if place else (0.0, 0)
    inside = start + (ends[place] - start) * (rank - before) / (counted[place] - before)
    return min(inside, ends[place])  # `inside` may exceed this end by rounding
