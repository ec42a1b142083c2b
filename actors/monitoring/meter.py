"""A meter: how long something took and how often it happened lately, in fixed memory.

Pure. Durations are counted in logarithmic buckets, so a quantile is right to within a fifth.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from math import inf, log2

from msgspec import Struct

WINDOW_S = 60.0
BUCKETS_PER_DOUBLING = 4
SHORTEST_S = 1e-6
BUCKETS = 40 * BUCKETS_PER_DOUBLING  # to twelve days; the last also counts what is longer


class Summary(Struct, frozen=True):
    """Samples and their sizes a second, and the quantiles, None without a sample."""

    count: int
    per_s: float
    sizes_per_s: float
    p50_s: float | None
    p95_s: float | None
    p99_s: float | None


class Meter:
    """Samples of something that takes time and has a size, such as a batch and its changes."""

    def __init__(self) -> None:
        self._old: _Window | None = None
        self._new = _Window(inf)

    def add(self, took_s: float, size: int, now: float) -> None:
        """Count a sample that ended at `now`, in monotonic seconds."""
        self._rotate(now)
        place = int(BUCKETS_PER_DOUBLING * log2(max(took_s, SHORTEST_S) / SHORTEST_S))
        window = self._new
        window.counts[min(place, BUCKETS - 1)] += 1
        window.size += size

    def summary(self, now: float) -> Summary:
        """Summarise the last one to two minutes before `now`, in monotonic seconds."""
        self._rotate(now)
        windows = [self._new] if self._old is None else [self._old, self._new]
        counts = [sum(both) for both in zip(*(window.counts for window in windows), strict=True)]
        total, elapsed_s = sum(counts), max(now - windows[0].began, 1.0)
        size = sum(window.size for window in windows)
        quantiles = (_quantile(counts, total, share) for share in (0.5, 0.95, 0.99))
        return Summary(total, total / elapsed_s, size / elapsed_s, *quantiles)

    def _rotate(self, now: float) -> None:
        """Begin with the first sample or summary; begin another window when this window has ended."""
        self._new.began = min(self._new.began, now)
        elapsed_s = now - self._new.began
        if elapsed_s >= WINDOW_S:
            self._old = self._new if elapsed_s < 2 * WINDOW_S else None
            self._new = _Window(now)


class _Window:
    def __init__(self, began: float) -> None:
        self.began = began
        self.counts = [0] * BUCKETS
        self.size = 0


def _quantile(counts: list[int], total: int, share: float) -> float | None:
    """Return the upper end of the bucket that holds the sample at that share of all."""
    if not total:
        return None
    place = bisect_left(list(accumulate(counts)), share * total)
    return float(SHORTEST_S * 2 ** ((place + 1) / BUCKETS_PER_DOUBLING))
