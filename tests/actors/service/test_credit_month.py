"""A month of The Odds API in virtual time: 36 leagues, a real plan, and every credit counted.

The peer has a hand-made fixture list and charges one credit a call. The cost of a day and a month, and
whether a league is near a kick-off, are computed from the peer's own records alone.
"""

from __future__ import annotations

import asyncio
import json
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise
from random import Random
from statistics import median
from typing import Any
from urllib.parse import urlsplit

import anyio
import pytest

from actors.board.board import BoardRules
from actors.board.snapshot import Snapshot
from actors.core.messages import BookmakerId, Payload
from actors.pipeline.context import SourceContext
from actors.pipeline.polled_source import SourceActor
from actors.pipeline.schedule import Schedule
from actors.runtime.conflation import merged_deliveries
from actors.runtime.mailbox import Mailbox
from actors.runtime.supervisor import ChildSpec
from actors.sources.the_odds_api.kind import KIND
from actors.sources.the_odds_api.options import TheOddsApiOptions
from actors.sources.the_odds_api.plan import TheOddsApiPlan
from actors.transports.polling import Fetched, Transport, Validators
from tests.support.builders.the_odds_api import API_KEY, event, market
from tests.support.systems.committing import Committing
from tests.support.systems.supervision import source_record, supervised
from tests.support.time.virtual import VirtualClock, VirtualLoop

pytestmark = pytest.mark.timeout(120)

DAY_S = 86_400
DAYS = 31
BEGIN = datetime(2026, 8, 1, tzinfo=UTC)  # a Saturday
LEAGUES = tuple(f"soccer_league_{number:02}" for number in range(36))
LISTED_AHEAD = timedelta(days=10)
LISTED_AFTER = timedelta(hours=2.5)
SATURDAY, SUNDAY, MIDWEEK = 5, 6, (1, 2, 3)

Budget = pytest.mark.parametrize("a_month", [500, pytest.param(20_000, marks=pytest.mark.long)])


@cache
def kick_offs(league: str) -> tuple[datetime, ...]:
    """Return the kick-offs of a league: each weekend, and some evenings in between.

    A weekend's are from 12:30 to 20:00 on both days, those of an evening at 18:45 or 20:00.
    """
    random = Random(league)
    found = []
    for day in range(-1, DAYS + 14):
        date = BEGIN + timedelta(days=day)
        if date.weekday() in {SATURDAY, SUNDAY}:
            slots = [750, 900, 1050, 1200]  # minutes after midnight
            found += [date + timedelta(minutes=one) for one in random.sample(slots, random.randint(1, 4))]
        elif date.weekday() in MIDWEEK and random.random() < 0.2:
            found.append(date + timedelta(minutes=random.choice([1125, 1200])))
    return tuple(sorted(found))


def is_near(league: str, at: datetime) -> bool:
    """Return whether the league has a match in play or within two hours."""
    times = kick_offs(league)
    return bisect_left(times, at - timedelta(hours=2.5)) < bisect_right(times, at + timedelta(hours=2))


class Month:
    """The peer and its records: the time and cost of each request, and the lifetime of each answer."""

    def __init__(self, a_month: int) -> None:
        self.asked: dict[str, list[datetime]] = {league: [] for league in LEAGUES}
        self.spent_on: Counter[int] = Counter()
        self.held: dict[str, list[tuple[float, float]]] = {league: [] for league in LEAGUES}
        self.per_day = a_month / DAYS
        self._a_month = a_month
        clock = VirtualClock(BEGIN.timestamp())
        bookmaker = BookmakerId("alder")
        self.context: SourceContext[Any] = SourceContext(
            options=TheOddsApiOptions(
                kind=KIND.name, api_key=API_KEY, sports=LEAGUES, credits_per_day=self.per_day
            ),
            keys={bookmaker: "alder"},
            inboxes={bookmaker: Mailbox(lambda delivery: delivery.scope, merged_deliveries)},
            status=source_record(),
            refresh=asyncio.Event(),
            published=Committing(Snapshot.empty(1, (bookmaker,)), BoardRules(), clock),
            clock=clock,
            random=Random(7),
            record=self._note,
        )
        schedule = Schedule(TheOddsApiPlan(self.context.options, ("alder",)), self.context.random)
        self.child = ChildSpec(
            self.context.status.actor, lambda: SourceActor(KIND, self.context, schedule, self._connect)
        )

    @property
    def spent(self) -> int:
        """The credits that were charged."""
        return self.spent_on.total()

    def intervals(self, league: str, *, near: bool) -> list[float]:
        """Return the seconds between requests for a league, the first of which was made near a kick-off."""
        return [
            (later - earlier).total_seconds()
            for earlier, later in pairwise(self.asked[league])
            if is_near(league, earlier) == near
        ]

    @asynccontextmanager
    async def _connect(self) -> AsyncIterator[Transport]:
        yield self

    async def fetch(self, url: str, validators: Validators) -> Fetched:
        """Charge a credit and return the matches of the next ten days."""
        now = self.context.clock.now()
        at = datetime.fromtimestamp(now.wall, UTC)
        league = urlsplit(url).path.split("/")[-2]
        self.asked[league].append(at)
        self.spent_on[int(now.wall // DAY_S)] += 1
        left = self._a_month - self.spent
        body = _slate(league, *_listed(league, at))
        headers = {"x-requests-remaining": str(max(left, 0)), "x-requests-last": "1"}
        return Fetched(body, len(body), validators, None, now.mono, answered_at=now.wall, headers=headers)

    def _note(self, payload: Payload) -> None:
        self.held[payload.scope].append((payload.received_mono, payload.stale_after_s))


def _listed(league: str, at: datetime) -> tuple[int, int]:
    """Return the numbers of the first and the last match that the API lists at that time."""
    times = kick_offs(league)
    return bisect_left(times, at - LISTED_AFTER), bisect_left(times, at + LISTED_AHEAD)


@cache
def _slate(league: str, first: int, last: int) -> bytes:
    return json.dumps(
        [
            event(
                f"{league}-{number}",
                f"Home {number}",
                f"Away {number}",
                {"alder": [market(f"Home {number}", f"Away {number}", (2.1, 3.4, 3.6))]},
                sport=league,
                kick_off=f"{kick_offs(league)[number]:%Y-%m-%dT%H:%M:%SZ}",
            )
            for number in range(first, last)
        ]
    ).encode()


@cache
def played(a_month: int) -> Month:
    """Return a complete month with that many credits."""

    async def play() -> Month:
        month = Month(a_month)
        async with supervised(month.child):
            await anyio.sleep(DAYS * DAY_S - 1)
        return month

    return anyio.run(play, backend_options={"loop_factory": VirtualLoop})


@Budget
def test_month_never_uses_more_than_its_credits(a_month: int) -> None:
    """Neither a UTC day nor the month exceeds its credits, and there are no errors."""
    month = played(a_month)

    assert max(month.spent_on.values()) <= month.per_day
    assert month.spent <= a_month
    assert (0, month.spent) == (month.context.status.failures_total, month.context.status.payloads)


@Budget
def test_nearly_all_credits_are_used(a_month: int) -> None:
    """By the end of the month nearly all of each day's whole credits are used."""
    assert played(a_month).spent >= 0.9 * int(a_month / DAYS) * DAYS


@Budget
def test_league_near_a_kick_off_is_polled_more_often(a_month: int) -> None:
    """Near a kick-off the median interval is shorter, and an hour has more requests."""
    month = played(a_month)
    near = [one for league in LEAGUES for one in month.intervals(league, near=True)]
    far = [one for league in LEAGUES for one in month.intervals(league, near=False)]
    share = sum(
        is_near(league, BEGIN + timedelta(minutes=15 * quarter))
        for league in LEAGUES
        for quarter in range(DAYS * 96)
    ) / (len(LEAGUES) * DAYS * 96)

    assert median(near) < median(far)
    assert len(near) / share > 1.5 * len(far) / (1 - share)


@Budget
def test_credits_are_not_all_used_at_midnight(a_month: int) -> None:
    """Credits are used throughout the day: no hour of it uses more than a fifth of the month's."""
    hours = Counter(at.hour for asked in played(a_month).asked.values() for at in asked)

    assert {} == {hour: count for hour, count in hours.items() if count > hours.total() / 5}


@pytest.mark.long
@Budget
def test_no_league_is_neglected(a_month: int) -> None:
    """No league waits longer than if all others were near a kick-off: eight times an equal share."""
    month = played(a_month)
    longest_s = 8 * len(LEAGUES) * DAY_S / month.per_day
    end = BEGIN + timedelta(days=DAYS)
    waits = {
        league: max((later - earlier).total_seconds() for earlier, later in pairwise([*asked, end]))
        for league, asked in month.asked.items()
    }

    assert {} == {league: wait_s for league, wait_s in waits.items() if wait_s > longest_s}


@pytest.mark.long
@Budget
def test_no_answer_holds_forever(a_month: int) -> None:
    """No list is confirmed for longer than three of the longest possible intervals."""
    month = played(a_month)
    longest_s = 3 * 8 * len(LEAGUES) * DAY_S / month.per_day
    lasting = [lasts for held in month.held.values() for _, lasts in held]

    assert [] == [lasts for lasts in lasting if lasts > longest_s]


@Budget
def test_remaining_credits_are_shown(a_month: int) -> None:
    """The record has the API's last figures and the credits left for the present day."""
    month = played(a_month)
    quota = month.context.status.quota or {}
    today = month.spent_on[int((BEGIN.timestamp() + DAYS * DAY_S - 1) // DAY_S)]

    assert (a_month - month.spent, 1.0) == (quota["requests_remaining"], quota["credits_last"])
    assert round(month.per_day - today, 3) == quota["credits_left_today"]
