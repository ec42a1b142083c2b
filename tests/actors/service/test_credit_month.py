"""A month of The Odds API in virtual time: 36 leagues, a real plan, and every credit counted.

The peer has a hand-made fixture list and charges one credit a call. The cost of a day and a month, and
whether a league is near a kick-off, are computed from the peer's own records alone.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections import Counter
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise
from random import Random
from statistics import median

import anyio
import pytest

from actors.core.messages import Scope
from actors.sources.the_odds_api.kind import KIND
from actors.sources.the_odds_api.options import TheOddsApiOptions
from tests.support.builders.the_odds_api import API_KEY, event
from tests.support.systems.scopes import ScopesStage
from tests.support.systems.supervision import supervised
from tests.support.time.virtual import WALL_0, VirtualLoop

pytestmark = pytest.mark.timeout(120)

DAY_S = 86_400
DAYS = 31
PLAYED = {500: DAYS, 20_000: 8}
"""Days that are played, by the credits of the month: with many credits eight days are enough."""
BEGIN = datetime(2026, 8, 1, tzinfo=UTC)  # a Saturday
LEAGUES = tuple(f"soccer_league_{number:02}" for number in range(36))
LISTED_AHEAD = timedelta(days=10)
LISTED_AFTER = timedelta(hours=2.5)
SATURDAY, SUNDAY, MIDWEEK = 5, 6, (1, 2, 3)

Budget = pytest.mark.parametrize("a_month", [500, pytest.param(20_000, marks=pytest.mark.long)])


@cache
def kick_offs(league: str) -> tuple[datetime, ...]:
    """Return the kick-offs of a league: each weekend, and some evenings in between.

    Kick-offs at a weekend are from 12:30 to 20:00 on both days, kick-offs in an evening at 18:45 or 20:00.
    """
    random = Random(league)
    found = []
    for day in range(-1, DAYS + 14):
        date = BEGIN + timedelta(days=day)
        if date.weekday() in {SATURDAY, SUNDAY}:
            slots = [750, 900, 1050, 1200]  # minutes after midnight
            found += [
                date + timedelta(minutes=number) for number in random.sample(slots, random.randint(1, 4))
            ]
        elif date.weekday() in MIDWEEK and random.random() < 0.2:
            found.append(date + timedelta(minutes=random.choice([1125, 1200])))
    return tuple(sorted(found))


def is_near(league: str, at: datetime) -> bool:
    """Return whether the league has a match in play or within two hours."""
    times = kick_offs(league)
    return bisect_left(times, at - timedelta(hours=2.5)) < bisect_right(times, at + timedelta(hours=2))


@cache
def _slate(league: str, first: int, last: int) -> bytes:
    times = kick_offs(league)[first:last]
    listed = [
        event(f"m{first + at}", "Home", "Away", {}, sport=league, kick_off=f"{time:%Y-%m-%dT%H:%M:%SZ}")
        for at, time in enumerate(times)
    ]
    return json.dumps(listed).encode()


async def listed(league: Scope, before: int) -> bytes:
    """Return the matches of a league that the API lists now: the matches of the next ten days."""
    del before
    at, times = _moment(anyio.current_time()), kick_offs(league)
    return _slate(league, bisect_left(times, at - LISTED_AFTER), bisect_left(times, at + LISTED_AHEAD))


def _moment(at_s: float) -> datetime:
    return BEGIN + timedelta(seconds=at_s)


@cache
def played(a_month: int) -> ScopesStage:
    """Return the source after some days of a month that has so many credits."""

    async def play() -> ScopesStage:
        budget = a_month / DAYS
        options = TheOddsApiOptions(kind=KIND.name, api_key=API_KEY, sports=LEAGUES, credits_per_day=budget)
        stage = ScopesStage(KIND, listed, options)
        stage.clock.wall_shift_s = BEGIN.timestamp() - WALL_0
        async with supervised(stage.child):
            await anyio.sleep(PLAYED[a_month] * DAY_S - 1)
        return stage

    return anyio.run(play, backend_options={"loop_factory": VirtualLoop})


def intervals(stage: ScopesStage, *, near: bool) -> list[float]:
    """Return the seconds between requests for a league, the first being near (or far from) a kick-off."""
    return [
        later - earlier
        for league in LEAGUES
        for earlier, later in pairwise(stage.times(league))
        if is_near(league, _moment(earlier)) == near
    ]


@Budget
def test_month_uses_nearly_all_of_its_credits_and_never_more(a_month: int) -> None:
    """The limits of each UTC day and of the month are kept, and no request fails."""
    stage = played(a_month)
    days = Counter((BEGIN.timestamp() + at) // DAY_S for at, _ in stage.asked)  # rounded like the clock
    status = stage.context.status

    assert max(days.values()) <= a_month / DAYS
    assert len(stage.asked) <= a_month * PLAYED[a_month] / DAYS
    assert len(stage.asked) >= 0.9 * int(a_month / DAYS) * PLAYED[a_month]
    assert (0, len(stage.asked)) == (status.failures_total, status.payloads.number)


@Budget
def test_league_near_a_kick_off_is_polled_more_often(a_month: int) -> None:
    """Near a kick-off the median interval is shorter, and an hour has more requests."""
    near, far = (intervals(played(a_month), near=flag) for flag in (True, False))
    quarters = [
        is_near(league, _moment(900 * at)) for league in LEAGUES for at in range(PLAYED[a_month] * 96)
    ]
    share = sum(quarters) / len(quarters)

    assert median(near) < median(far)
    assert len(near) / share > 1.5 * len(far) / (1 - share)


@Budget
def test_credits_are_not_all_used_at_midnight(a_month: int) -> None:
    """Credits are used throughout the day: no hour of it uses more than a fifth of the month's."""
    hours = Counter(at % DAY_S // 3600 for at, _ in played(a_month).asked)

    assert {} == {hour: count for hour, count in hours.items() if count > hours.total() / 5}
