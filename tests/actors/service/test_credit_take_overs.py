"""A month of The Odds API in a cluster whose collectors die, are cut off, and lose messages.

Each holder of the source's lease has the real plan and schedule, and clocks of its own. The test plays the
shared server, which keeps the sent state, and the network, which loses messages in either direction.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from random import Random

import msgspec
import pytest

from actors.cluster.liveness import SILENT_S
from actors.core.clock import Instant
from actors.core.messages import Scope
from actors.pipeline.schedule import Schedule, ScheduleState
from actors.sources.the_odds_api.answers import OddsAnswer
from actors.sources.the_odds_api.kind import KIND
from actors.sources.the_odds_api.options import TheOddsApiOptions
from tests.support.builders.the_odds_api import API_KEY

DAY_S, DAYS, CYCLE_S = 86_400, 31, 0.5
BEGIN = datetime(2026, 8, 1, tzinfo=UTC).timestamp()
LEAGUES = tuple(f"soccer_league_{number:02}" for number in range(36))


class _Holder:
    """A collector that has the source's lease, on a machine that was started some time before."""

    def __init__(self, month: _Month) -> None:
        self._month, self._started_s = month, month.random.uniform(0.0, 1e6)
        self.schedule = Schedule(KIND.plan(month.options, ("williamhill",)), month.random)
        self.schedule.share()

    @property
    def now(self) -> Instant:
        return Instant(self._month.at - BEGIN + self._started_s, self._month.at)

    def beat(self) -> None:
        """Send the state of the schedule to the server; the message or the server's answer may be lost."""
        random, sent = self._month.random, self.now.mono
        told = msgspec.msgpack.encode(self.schedule.tell(self.now))
        if random.random() < 0.9:
            self._month.told = told
            if random.random() < 0.9:
                self.schedule.permit(sent + SILENT_S)

    def ask(self) -> float | None:
        """Send all requests that are due; return the seconds until the next, None if the holder dies."""
        schedule, month = self.schedule, self._month
        while (found := schedule.next(self.now)) is not None and found[1] <= 0:
            target, now = found[0], self.now
            before_s = schedule.plan.interval_s(target, now)
            schedule.begin(target, now)
            month.charge(target.scope)
            if month.random.random() < 0.1:  # the holder dies before the answer comes
                month.expect(target.scope, before_s)
                return None
            kick_offs = [int(month.at + month.random.uniform(0, 5) * DAY_S) for _ in range(3)]
            schedule.plan.on_learnt(target, OddsAnswer({}, kick_offs, None), now)
            schedule.succeeded(target, now)
            month.expect(target.scope, min(before_s, schedule.plan.interval_s(target, now)))
        return 60.0 if found is None else found[1]


class _Month:
    """The requests charged on each UTC day, and the requests that were made before they were due."""

    def __init__(self, seed: int, a_month: float) -> None:
        self.random, self.at = Random(seed), BEGIN
        self.options = TheOddsApiOptions(
            kind=KIND.name, api_key=API_KEY, sports=LEAGUES, credits_per_day=a_month / DAYS
        )
        self.told, self.days, self.early = b"", Counter[int](), list[tuple[Scope, float]]()
        self.taken_over = self.lost = 0
        self._due: dict[Scope, tuple[float, float]] = {}

    def charge(self, scope: Scope) -> None:
        self.days[int(self.at // DAY_S)] += 1
        half_s, due = self._due.get(scope, (0.0, self.at))
        if due - self.at > half_s:
            self.early.append((scope, due - self.at))

    def expect(self, scope: Scope, interval_s: float) -> None:
        """Note when a league is due as known now; other leagues' answers may change the plan a little."""
        self._due[scope] = interval_s / 2, self.at + interval_s

    def _take_over(self, cut_off: _Holder | None) -> _Holder:
        """Start a new holder when the old one may not ask any more; until then a cut-off one still asks."""
        until = self.at + SILENT_S
        while cut_off is not None and self.random.random() < 0.5 and self.at < until:
            self.at += self.random.uniform(0.0, CYCLE_S)
            cut_off.ask()
        self.at = max(self.at, until) + self.random.choice([0.0, 5.0, 7200.0])
        new = _Holder(self)
        if self.random.random() < 0.05:
            self.told, self.lost = b"", self.lost + 1
            self._due.clear()
        new.schedule.resume(
            msgspec.msgpack.decode(self.told, type=ScheduleState) if self.told else ScheduleState({}),
            new.now,
        )
        self.taken_over += 1
        return new

    def live(self) -> None:
        """Let the month pass."""
        holder = _Holder(self)
        while self.at < BEGIN + DAYS * DAY_S - 1:
            holder.beat()
            left_s = holder.ask()
            if left_s is None or self.random.random() < 0.03:
                holder = self._take_over(None if left_s is None else holder)
                continue
            idle_s = self.random.choice([left_s, 3600.0]) - CYCLE_S
            self.at += max(min(idle_s, left_s - CYCLE_S), self.random.uniform(0.1, CYCLE_S))


@pytest.mark.parametrize("a_month", [500, pytest.param(5000, marks=pytest.mark.long)])
@pytest.mark.parametrize("seed", range(3))
def test_take_overs_spend_no_more_than_the_plan_allows(a_month: float, seed: int) -> None:
    """Each UTC day and the month stay within their credits, and no request is made early."""
    month = _Month(seed, a_month)
    month.live()

    assert max(month.days.values()) <= a_month / DAYS
    assert month.days.total() <= a_month
    assert [] == month.early
    assert min(month.taken_over, month.lost) > 0
    assert month.days.total() > 0.2 * a_month
