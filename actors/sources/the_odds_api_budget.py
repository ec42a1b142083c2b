"""A budget of credits a day, and how often each sport may be asked for it.

Pure. Credits are counted by UTC day and never overdrawn. What is left of a day is spread over the
rest of it by weight: a second in which a sport is in play or near a kick-off counts `WEIGHT` times a
second in which all its matches are hours or days ahead. So it holds, for every sport,
interval = credits a call x sum over all sports of weighted seconds left / credits left / its weight.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from actors.messages import Scope

DAY_S = 86400.0
WEIGHT = 8.0
NEAR_BEFORE_S = 2 * 3600.0
NEAR_AFTER_S = 2.5 * 3600.0
MIN_HORIZON_S = 6 * 3600.0
"""Late in the day the plan looks at least so far ahead, or what is left would be burnt at midnight."""
START_SHARE = 0.25
"""Share of a day's credits that a process has at least when it starts, however late in the day."""

Windows = tuple[tuple[float, float], ...]
"""When a sport is near: spans of Unix seconds, in order, apart from each other."""


class Pace(Struct, frozen=True):
    """Seconds between two requests for one sport: while it is near a kick-off, and otherwise."""

    near_s: float
    far_s: float


def near_windows(kick_offs: Iterable[int]) -> Windows:
    """Give when a sport with these kick-offs (Unix seconds) is near one."""
    spans: list[tuple[float, float]] = []
    for kick_off in sorted(kick_offs):
        start, end = kick_off - NEAR_BEFORE_S, kick_off + NEAR_AFTER_S
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return tuple(spans)


class Bounds(Struct, frozen=True):
    """The shortest interval that is wanted and the longest that is allowed, as far as calls reach."""

    floor_s: float
    ceiling_s: float


def pace(
    sports: Mapping[Scope, Windows], now: float, horizon_s: float, calls: float, bounds: Bounds
) -> Pace:
    """Spread that many `calls` over `horizon_s` seconds from `now` (Unix seconds), by weight.

    Where the ceiling shortens the longer interval, those that are near get what is left.
    """
    floor_s, ceiling_s = bounds.floor_s, bounds.ceiling_s
    near = sum(_overlap(windows, now, now + horizon_s) for windows in sports.values())
    far = len(sports) * horizon_s - near
    calls = max(calls, 1e-9)
    far_s = (far + WEIGHT * near) / calls
    near_s = far_s / WEIGHT
    if near_s < floor_s:  # they cannot use their share: the others get it
        near_s = floor_s
        far_s = far / max(calls - near / floor_s, 1e-9)
    if far_s > ceiling_s:
        far_s = ceiling_s
        near_s = near / max(calls - far / ceiling_s, 1e-9)
    far_s = max(far_s, floor_s)
    return Pace(min(max(near_s, floor_s), far_s), far_s)


class Ledger:
    """What was spent on the present UTC day. Times are Unix seconds."""

    def __init__(self, per_day: float) -> None:
        self.per_day = per_day
        self._day: float | None = None
        self._spent = 0.0

    @property
    def spent_today(self) -> float:
        """The credits of the day that was looked at last."""
        return self._spent

    def spent(self, now: float) -> float:
        """Give the credits spent today.

        What another process spent before this one began nobody tells: a share of the day is taken.
        """
        day = now // DAY_S
        if self._day is None:
            share = max(until_midnight_s(now) / DAY_S, START_SHARE)
            self._day, self._spent = day, self.per_day * (1.0 - share)
        elif day > self._day:  # a clock put back opens no new day
            self._day, self._spent = day, 0.0
        return self._spent

    def left(self, now: float) -> float:
        """Give the credits that may still be spent today."""
        return max(self.per_day - self.spent(now), 0.0)

    def spend(self, amount: float, now: float) -> None:
        """Count credits; negative ones were given back."""
        self._spent = max(self.spent(now) + amount, 0.0)


def day_pace(
    sports: Mapping[Scope, Windows], now: float, left: float, per_day: float, bounds: Bounds
) -> Pace:
    """Give the pace for the rest of the UTC day, with calls `left` of `per_day`."""
    rest_s = until_midnight_s(now)
    today = pace(sports, now, rest_s, left, bounds)
    if rest_s >= MIN_HORIZON_S:
        return today
    beyond = left + per_day * (MIN_HORIZON_S - rest_s) / DAY_S
    ahead = pace(sports, now, MIN_HORIZON_S, beyond, bounds)
    return Pace(max(today.near_s, ahead.near_s), max(today.far_s, ahead.far_s))


def until_midnight_s(now: float) -> float:
    """Give the seconds until the next UTC day."""
    return DAY_S - now % DAY_S


def window_at(windows: Windows, now: float) -> tuple[float, float] | None:
    """Give the present window or else the next, None when there is none to come."""
    return next((window for window in windows if window[1] > now), None)


def _overlap(windows: Windows, start: float, end: float) -> float:
    return sum(max(min(end, last) - max(start, first), 0.0) for first, last in windows)
