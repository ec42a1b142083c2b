"""The credits of The Odds API in virtual time, with a wall clock that is wrong and then corrected.

Days are counted by the true clock, which only the test knows: no UTC day uses more than its credits,
whatever steps the machine's clock makes, and after a correction no credits are lost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import anyio
import pytest

from actors.core.messages import Scope
from actors.sources.the_odds_api.kind import KIND
from actors.sources.the_odds_api.options import TheOddsApiOptions
from tests.support.builders.the_odds_api import API_KEY
from tests.support.systems.scopes import ScopesStage
from tests.support.systems.supervision import supervised
from tests.support.time.virtual import WALL_0

pytestmark = pytest.mark.anyio

HOUR, DAY_S = 3600.0, 86_400.0
CREDITS = 24
LEAGUES = tuple(f"soccer_league_{number}" for number in range(12))
DAYS = 6
MIDNIGHT = DAY_S - WALL_0 % DAY_S  # virtual seconds until the first true midnight (about 3.5 hours)

Shifts = Sequence[tuple[float, float]]
"""Pairs `(virtual seconds, error of the wall clock from that time on)`, in order, beginning with 0."""

SHIFTS: dict[str, Shifts] = {
    "ahead for two hours": [(0, 0), (2 * DAY_S, 30 * DAY_S + 5 * HOUR), (2 * DAY_S + 2 * HOUR, 0)],
    "behind for two hours": [(0, 0), (2 * DAY_S, -30 * DAY_S - 5 * HOUR), (2 * DAY_S + 2 * HOUR, 0)],
    "whole days ahead for an hour": [(0, 0), (2 * DAY_S, 30 * DAY_S), (2 * DAY_S + HOUR, 0)],
    "started years ahead": [(0, 2000 * DAY_S + 7 * HOUR), (3 * HOUR, 0)],
    "started years behind": [(0, -2000 * DAY_S - 7 * HOUR), (3 * HOUR, 0)],
    "an hour ahead before midnight": [
        *((0, 0), (MIDNIGHT + 2 * DAY_S - HOUR / 2, HOUR), (MIDNIGHT + 2 * DAY_S + HOUR / 2, 0))
    ],
    "an hour behind at midnight": [
        *((0, 0), (MIDNIGHT + 2 * DAY_S - HOUR / 2, -HOUR), (MIDNIGHT + 2 * DAY_S + HOUR / 2, 0))
    ],
    "an hour ahead and behind by turns": [
        (turn * 5 * HOUR, (0, HOUR, 0, -HOUR)[turn % 4]) for turn in range(21)
    ],
    "anything, every half hour": [(turn * HOUR / 2, (turn * 7919 % 240) * HOUR) for turn in range(96)]
    + [(48 * HOUR, 0)],
}


async def empty(scope: Scope, before: int) -> bytes:
    """Return an answer without matches, so that no league is near a kick-off."""
    del scope, before
    return b"[]"


async def played(shifts: Shifts) -> ScopesStage:
    """Run a plan of 24 credits a day with a wall clock that has these errors."""
    options = TheOddsApiOptions(kind=KIND.name, api_key=API_KEY, sports=LEAGUES, credits_per_day=CREDITS)
    stage = ScopesStage(KIND, empty, options)
    stage.clock.wall_shift_s = shifts[0][1]
    async with supervised(stage.child):
        for (at, _), (until, shift_s) in pairwise(shifts):
            await anyio.sleep(until - at)
            stage.clock.wall_shift_s = shift_s
        await anyio.sleep(MIDNIGHT + DAYS * DAY_S - 1 - shifts[-1][0])
    return stage


def spent(stage: ScopesStage) -> list[int]:
    """Count the credits of each true UTC day, including the rest of the first one."""
    days = Counter(int((at - MIDNIGHT) // DAY_S) for at, _ in stage.asked)
    return [days[day] for day in range(-1, DAYS)]


@pytest.mark.parametrize("case", SHIFTS)
async def test_a_wrong_clock_neither_adds_nor_loses_credits(case: str) -> None:
    """No true day uses more than its credits, whatever the clock shows; after a correction none is lost.

    The day of a correction within three hours has as many calls as any other; later days have 22 to 24.
    """
    days = spent(await played(SHIFTS[case]))

    assert max(days) <= CREDITS
    assert min(days[4:]) >= CREDITS - 3
    assert case == "anything, every half hour" or min(days[1:]) >= CREDITS - 4


async def test_restart_adds_no_credits() -> None:
    """Spent credits outlive the actor: an actor that crashes at each call spends a day's credits."""
    options = TheOddsApiOptions(kind=KIND.name, api_key=API_KEY, sports=LEAGUES, credits_per_day=CREDITS)

    async def crash(scope: Scope, before: int) -> bytes:
        del scope, before
        raise RuntimeError("a bug")

    stage = ScopesStage(KIND, crash, options)
    async with supervised(stage.child):
        await anyio.sleep(MIDNIGHT + 2 * DAY_S - 1)

    assert 1 < stage.context.status.actor.starts
    assert max(spent(stage)) <= CREDITS


async def test_wait_made_long_by_a_wrong_clock_ends_after_the_correction() -> None:
    """If the clock is hours behind for a short time, the wait does not last until that clock's midnight."""
    options = TheOddsApiOptions(kind=KIND.name, api_key=API_KEY, sports=LEAGUES, credits_per_day=CREDITS)
    stage = ScopesStage(KIND, empty, options)
    plan = stage.schedule.plan
    for _ in range(CREDITS):
        plan.on_asked(plan.targets()[0], stage.clock.now())
    async with supervised(stage.child):
        await anyio.sleep(MIDNIGHT - 60)
        stage.clock.wall_shift_s = -20 * HOUR
        stage.context.refresh.set()  # so the plan reads the clock
        await anyio.sleep(30)
        stage.clock.wall_shift_s = 0.0
        await anyio.sleep(30 + HOUR / 2)

    assert [] != stage.asked
