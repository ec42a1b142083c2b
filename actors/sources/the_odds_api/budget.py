"""Divides a budget of credits per UTC day among the sports. Pure.

A day's calls are spread over the seconds of all sports. A near second, in which a sport has a kick-off
soon, counts `WEIGHT` times as much as a far second. So on a busy day a far second gets fewer calls:

    calls per far second = calls a day / (far seconds + WEIGHT x near seconds, of all sports that day)

A sport is due again when its seconds since the last call add up to one call.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from math import inf

from msgspec import Struct

from actors.core.clock import Instant
from actors.core.messages import Scope

DAY_S = 86400.0
MINUTE_S = 60.0
SAME_CLOCK_S = 1.0  # with a larger drift from the monotonic clock, the wall clock counts as set
WEIGHT = 8.0
NEAR_BEFORE_S = 2 * 3600.0
NEAR_AFTER_S = 2.5 * 3600.0
START_SHARE = 0.25  # the least share of a day's credits for a new process, even late in the day
MAX_BOOST = 2.0  # the limit of faster or slower calls, to balance other spending

SPAN_S = 900.0  # credits of this many seconds are handed over as one number

Windows = tuple[tuple[float, float], ...]  # a sport's near times: Unix seconds, ordered, not overlapping


class Rates(Struct, frozen=True):
    """A sport's calls per second on a UTC day: `far`, and `far` times `weight` near a kick-off."""

    far: float
    weight: float


def near_windows(kick_offs: Iterable[int]) -> Windows:
    """Return the near times of a sport with these kick-offs (Unix seconds)."""
    spans: list[tuple[float, float]] = []
    for kick_off in sorted(kick_offs):
        start, end = kick_off - NEAR_BEFORE_S, kick_off + NEAR_AFTER_S
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return tuple(spans)


class Calendar:
    """Spreads the calls of each day, as far as kick-offs are known.

    On a day on which a sport would wait longer than `ceiling_s`, near sports get fewer calls.
    """

    def __init__(self, sports: Mapping[Scope, Windows], calls_a_day: float, ceiling_s: float) -> None:
        self._sports = sports
        self._calls = calls_a_day
        self._ceiling_s = ceiling_s
        last = max((window[-1][1] for window in sports.values() if window), default=-DAY_S)
        self._known_until = (last // DAY_S + 1) * DAY_S  # the end of a UTC day
        self._rates: dict[float, Rates] = {}

    def rates(self, day: float) -> Rates:
        """Return the rates of a day; days are counted from the Unix epoch."""
        if day * DAY_S >= self._known_until:
            return Rates(self._calls / (len(self._sports) * DAY_S), WEIGHT)
        if day not in self._rates:
            near = self._near_s(day * DAY_S, (day + 1) * DAY_S)
            far = len(self._sports) * DAY_S - near
            affordable = (self._calls * self._ceiling_s - far) / near if near else WEIGHT
            weight = max(min(WEIGHT, affordable), 1.0)
            self._rates[day] = Rates(self._calls / (far + weight * near), weight)
        return self._rates[day]

    def boost(self, now: float, left: float) -> float:
        """Return the factor for the rates of the rest of the day, with `left` calls left."""
        end = (now // DAY_S + 1) * DAY_S
        rates = self.rates(now // DAY_S)
        near = self._near_s(now, end)
        needed = rates.far * (len(self._sports) * (end - now) + (rates.weight - 1.0) * near)
        return min(max(left / needed, 1 / MAX_BOOST), MAX_BOOST) if needed else 1.0

    def interval_s(self, windows: Windows, now: float, boost: float = 1.0) -> float:
        """Return the seconds from `now` until a sport with these windows is due again."""
        gained, at = 0.0, now
        while at < self._known_until:
            day = at // DAY_S
            rates = self.rates(day)
            start, end = next((window for window in windows if window[1] > at), (inf, inf))
            until = min((day + 1) * DAY_S, start if at < start else end, self._known_until)
            rate = rates.far * (rates.weight if at >= start else 1.0)
            rate *= boost if day == now // DAY_S else 1.0
            if gained + rate * (until - at) >= 1.0:
                return at + (1.0 - gained) / rate - now
            gained += rate * (until - at)
            at = until
        rate = self._calls / (len(self._sports) * DAY_S) * (boost if at == now else 1.0)
        return at + (1.0 - gained) / rate - now

    def _near_s(self, start: float, end: float) -> float:
        windows = chain.from_iterable(self._sports.values())
        return sum(max(min(end, last) - max(start, first), 0.0) for first, last in windows)


class Spending(Struct, frozen=True, array_like=True):
    """The content of a ledger for another process: the ledger's age, and credits with their ages.

    Ages are in seconds, because other machines have other clocks. A delay on the way only makes spending
    look later than it was, never earlier.
    """

    age_s: float
    spent: tuple[tuple[float, float], ...]


class Ledger:
    """The credits spent on the present UTC day.

    Credits are kept by the monotonic clock; the wall clock decides each time which credits were spent
    today. For a day after the wall clock was set, both the new and the old time must allow a call, so that
    no day is overdrawn.
    """

    def __init__(self, per_day: float) -> None:
        self.per_day = per_day
        self.start_credits = START_SHARE * per_day
        self.left = per_day  # the rest of today's credits, as of the last method call
        self._spent: dict[int, tuple[float, float]] = {}  # by monotonic minute: last time and credits
        self._start_mono: float | None = None
        self._trusted = 0.0  # wall minus monotonic time, before the wall clock was set
        self._trusted_mono = -inf
        self._days: tuple[_Day, ...] = ()
        self._days_at: Instant | None = None

    def left_to_spread(self, now: Instant) -> float:
        """Return the rest of the credits by the wall clock alone, for planning the rest of its day."""
        self._look(now)
        return max(self.per_day - self._days[0].spent, 0.0)

    def wait_s(self, needed: float, now: Instant) -> float:
        """Return the seconds until `needed` credits are available: 0, or the time to midnight."""
        self._look(now)
        return max((day.left_s for day in self._days if self.per_day - day.spent < needed), default=0.0)

    def spend(self, amount: float, now: Instant, of: float | None = None) -> None:
        """Count spent credits; negative credits are a refund. `of` is the time of spending (monotonic)."""
        at = now.mono if of is None else of
        minute = int(at // MINUTE_S)
        if minute in self._spent or of is None:
            last, spent = self._spent.get(minute, (at, 0.0))
            self._spent[minute] = (max(last, at), spent + amount)
        self._days_at = None
        self._look(now)

    def carried(self, reserved: float, now: Instant) -> Spending:
        """Return the counted credits, plus `reserved` credits that may be spent soon, as spent now."""
        self._look(now)
        spans: dict[int, tuple[float, float]] = {}
        for last, spent in (*self._spent.values(), (now.mono, reserved)):
            before = spans.get(int(last // SPAN_S), (last, 0.0))
            spans[int(last // SPAN_S)] = (max(last, before[0]), spent + before[1])
        age_s = 0.0 if self._start_mono is None else now.mono - self._start_mono
        return Spending(age_s, tuple([(now.mono - last, spent) for last, spent in spans.values() if spent]))

    def resume(self, spending: Spending | None, now: Instant) -> None:
        """Continue another ledger's counts; if they are lost (None), this day's credits count as spent."""
        found = Spending(0.0, ((0.0, self.per_day),)) if spending is None else spending
        self._start_mono = now.mono - found.age_s
        self._spent.clear()
        for age_s, spent in sorted(found.spent, reverse=True):
            last = now.mono - age_s
            before = self._spent.get(int(last // MINUTE_S), (last, 0.0))
            self._spent[int(last // MINUTE_S)] = (max(last, before[0]), spent + before[1])
        self._days_at = None
        self._look(now)

    def _look(self, now: Instant) -> None:
        """Compute today's spending, once for each moment."""
        if now == self._days_at:
            return
        if self._start_mono is None:
            self._start_mono = now.mono
        while self._spent and (oldest := next(iter(self._spent))) * MINUTE_S < now.mono - 2 * DAY_S:
            del self._spent[oldest]
        offset_s = now.wall - now.mono
        if abs(offset_s - self._trusted) <= SAME_CLOCK_S or now.mono - self._trusted_mono >= DAY_S:
            self._trusted, self._trusted_mono = offset_s, now.mono
        clocks = (now.wall, now.mono + self._trusted)
        self._days = tuple(self._day(self._start_mono, now.mono, wall) for wall in clocks)
        self._days_at = now
        self.left = max(self.per_day - max(0.0, *(day.spent for day in self._days)), 0.0)

    def _day(self, start_mono: float, mono: float, wall: float) -> _Day:
        """Return the day of a clock that shows `wall`, with a guess at what an earlier process spent."""
        midnight = mono - wall % DAY_S
        # A little more than the day, because the two clocks are read at slightly different moments.
        own = sum(spent for last, spent in self._spent.values() if last >= midnight - SAME_CLOCK_S)
        share = max(1.0 - max(start_mono - midnight, 0.0) / DAY_S, START_SHARE)
        return _Day(DAY_S - wall % DAY_S, own + self.per_day * (1.0 - share))


class _Day(Struct, frozen=True):
    """The present day by a clock: its remaining seconds, and the spent credits."""

    left_s: float
    spent: float
