"""The Odds API after an outage, in virtual time: when it is polled again, and what that costs."""

from __future__ import annotations

import json

import anyio
import pytest

from actors.core.errors import TransportError
from actors.core.messages import Scope
from actors.sources.the_odds_api.kind import KIND
from actors.sources.the_odds_api.options import SPORTS_SCOPE, TheOddsApiOptions
from tests.support.builders.the_odds_api import API_KEY
from tests.support.systems.scopes import ScopesStage, Script
from tests.support.systems.supervision import supervised

pytestmark = pytest.mark.anyio

HOUR = 3600.0
LEAGUES = tuple(f"soccer_league_{number}" for number in range(12))
CATALOGUE = json.dumps([{"key": league, "active": True} for league in LEAGUES]).encode()


def out(since_s: float, until_s: float, error: TransportError) -> Script:
    """Return answers that are valid except during the outage."""

    async def answer(scope: Scope, before: int) -> bytes:
        del before
        if since_s <= anyio.current_time() < until_s:
            raise error
        return CATALOGUE if scope == SPORTS_SCOPE else b"[]"

    return answer


UNSENT = TransportError("no route", reason="connection", is_sent=False)
DENIED = TransportError("status was 401, must be 200", 60.0, status=401)
FAILED = TransportError("status was 502, must be 200", status=502)


async def played(script: Script, seconds: float, credits_per_day: float | None) -> ScopesStage:
    """Run a source of all football for so many seconds."""
    options = TheOddsApiOptions(
        kind=KIND.name, api_key=API_KEY, sports="football", credits_per_day=credits_per_day
    )
    stage = ScopesStage(KIND, script, options)
    async with supervised(stage.child):
        await anyio.sleep(seconds)
    return stage


@pytest.mark.long
@pytest.mark.parametrize("credits_per_day", [None, 240.0])
@pytest.mark.parametrize("error", [UNSENT, DENIED, FAILED], ids=["unsent", "denied", "failed"])
async def test_list_of_sports_is_fetched_soon_after_an_outage(
    error: TransportError, credits_per_day: float | None
) -> None:
    """The list of sports is free and needed first: it is fetched within ten minutes after any outage."""
    back = 12 * HOUR
    stage = await played(out(0, back, error), back + 600, credits_per_day)

    assert [] != [at for at in stage.times(SPORTS_SCOPE) if at >= back]


async def test_attempts_in_an_outage_stay_within_the_credits() -> None:
    """Answers of a failing peer may be charged, so its attempts stay within the day's credits."""
    stage = await played(out(0.1 * HOUR, 12 * HOUR, FAILED), 12 * HOUR, 240.0)
    asked = [scope for _, scope in stage.asked if scope != SPORTS_SCOPE]

    assert len(LEAGUES) <= len(asked) <= 240
