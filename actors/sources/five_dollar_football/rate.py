"""Limits the rate of requests, and divides it among targets. Pure.

A bucket fills evenly and holds a fifth of a window's requests, so that no window, wherever it begins, has
more requests than allowed. The headers of the answers are obeyed as well, because other programs may use
the same key. All durations are in seconds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from math import inf

from msgspec import Struct

from actors.core.clock import Instant
from actors.core.messages import Scope

LIMIT, REMAINING, RESET = "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"
HEADERS = (LIMIT, REMAINING, RESET)
MINUTE_S, HOUR_S = 60.0, 3600.0
BY_HOUR = 5.0  # requests a minute; smaller plans count by the hour
BURST = 0.2  # share of a window's requests that may be sent without a pause
OF_LISTS = 0.8  # largest share of the rate for lists, if there are prices by match
LONGEST_BY_MATCH_S = 300.0  # longest interval of a match; matches beyond that are not requested
FAR_TIMES = 3.0
SPACING_S = 0.1
_WHOLE = re.compile("[0-9]{1,12}").fullmatch


class Rate(Struct, frozen=True):
    """A number of requests in each window of some seconds."""

    requests: float
    window_s: float = MINUTE_S

    @property
    def per_minute(self) -> float:
        """Sustainable requests a minute."""
        return MINUTE_S / self.interval_s

    @property
    def burst(self) -> float:
        """Requests that may be sent without a pause."""
        return max(BURST * self.requests, 1.0)

    @property
    def interval_s(self) -> float:
        """The seconds until one more request may be sent."""
        return self.window_s / max(self.requests - self.burst, self.requests / 2)


def rate_of(per_minute: float) -> Rate:
    """Return the configured rate, counted by the hour if it is small."""
    return Rate(per_minute) if per_minute > BY_HOUR else Rate(per_minute * HOUR_S / MINUTE_S, HOUR_S)


class Gate:
    """Says when a request may be sent; `seen` has the last values of the headers."""

    def __init__(self, rate: Rate) -> None:
        self.rate = rate
        self.longest_s = HOUR_S  # longest known length of a window
        self.seen: dict[str, float | None] = dict.fromkeys(HEADERS)
        self._tokens = rate.burst
        self._kept = rate.burst - 1.0  # room for an earlier process's requests, until headers come
        self._at_mono: float | None = None
        self._last_mono = -inf
        self._open: set[Scope] = set()  # requests in flight
        self._left = inf  # requests left in the window, by the last answer
        self._until_mono = -inf  # end of the spent window

    def set_rate(self, rate: Rate) -> None:
        """Continue with another rate."""
        self.rate = rate
        self._tokens = min(self._tokens, rate.burst)
        self._kept = min(self._kept, rate.burst - 1.0)

    def wait_s(self, now: Instant) -> float:
        """Return the seconds until a request may be sent."""
        self._fill(now)
        waits = [0.0, self._last_mono + SPACING_S - now.mono]
        if (lack := 1.0 + self._kept - self._tokens) > 0.0:
            waits.append(lack * self.rate.interval_s + 0.001)
        if self._left - len(self._open) < 1:
            waits.append(self._until_mono - now.mono)
        return max(waits)

    def on_asked(self, scope: Scope, now: Instant) -> None:
        """Count a request."""
        self._fill(now)
        self._tokens -= 1.0
        self._last_mono = now.mono
        self._open.add(scope)

    def on_answered(self, scope: Scope, headers: Mapping[str, str], now: Instant) -> None:
        """Take the values in an answer's headers."""
        self._open.discard(scope)
        for name in HEADERS:
            self.seen[name] = _whole(headers.get(name), self.seen[name])
        remaining, limit = _whole(headers.get(REMAINING), None), _whole(headers.get(LIMIT), None)
        if limit is not None and 1 <= limit < self.rate.requests and self.rate.window_s <= MINUTE_S:
            self.set_rate(Rate(limit, self.rate.window_s))
        if remaining is None:
            return
        self._kept = 0.0
        self._left = remaining
        reset, at = _whole(headers.get(RESET), None), _date(headers.get("date")) or now.wall
        left_s = inf if reset is None else reset - at
        if not 0 <= left_s <= self.longest_s:
            left_s = min(self.rate.window_s, self.longest_s)
        self._until_mono = now.mono + left_s + 1.0  # the venue's clock has whole seconds

    def pause(self, now: Instant) -> None:
        """Allow no burst, because another process may just have sent requests."""
        self._fill(now)
        self._tokens, self._kept, self._last_mono = min(self._tokens, 0.0), 0.0, now.mono

    def _fill(self, now: Instant) -> None:
        since_s = 0.0 if self._at_mono is None else max(now.mono - self._at_mono, 0.0)
        self._tokens = min(self._tokens + since_s / self.rate.interval_s, self.rate.burst)
        self._at_mono = now.mono
        if now.mono >= self._until_mono:
            self._left = inf


class Need(Struct, frozen=True):
    """The wanted requests: pages of lists with their shortest intervals, and single matches.

    `near` matches are requested `FAR_TIMES` as often as `far` ones, at most every `match_s`.
    """

    lists: Mapping[Scope, tuple[int, float]]
    near: int = 0
    far: int = 0
    match_s: float = MINUTE_S


class Share(Struct, frozen=True):
    """The intervals within a rate: of each list, and of a number of single matches."""

    lists: Mapping[Scope, float]
    near: int = 0
    far: int = 0
    match_s: float = LONGEST_BY_MATCH_S
    per_minute: float = 0.0


def shared(rate: Rate, need: Need) -> Share:
    """Divide a rate: lists first, then as many matches as can be requested often enough.

    A match is requested no more often than the most frequent list, because its prices depend on that list.
    """
    wanted = sum(MINUTE_S * pages / every_s for pages, every_s in need.lists.values())
    most = rate.per_minute * (OF_LISTS if need.near + need.far else 1.0)
    longer = max(wanted / most, 1.0)
    lists = {scope: longer * every_s for scope, (_, every_s) in need.lists.items()}
    rest = rate.per_minute - wanted / longer
    least_s = max(need.match_s, min(lists.values(), default=0.0))
    room = rest * max(LONGEST_BY_MATCH_S, least_s) / MINUTE_S
    near = min(need.near, int(room))
    far = min(need.far, int((room - near) * FAR_TIMES))
    weight = near + far / FAR_TIMES
    match_s = max(least_s, MINUTE_S * weight / rest) if weight else LONGEST_BY_MATCH_S
    return Share(lists, near, far, match_s, wanted / longer + MINUTE_S * weight / match_s)


def _whole(value: str | None, otherwise: float | None) -> float | None:
    return float(value) if value is not None and _WHOLE(value) else otherwise


def _date(value: str | None) -> float | None:
    """Read the Date of an answer as Unix seconds; None if it is missing or unreadable."""
    try:
        return None if value is None else parsedate_to_datetime(value).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
