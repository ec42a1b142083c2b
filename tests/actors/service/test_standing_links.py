"""A link that stood for an hour, and the service's suggestion for it."""

from __future__ import annotations

from typing import Any

import anyio
import msgspec
import pytest

from tests.support.systems.virtual_service import ScriptedService, pass_to, running, until

pytestmark = pytest.mark.anyio

HOUR_S = 3600.0
SHEET = "Div,Date,Time,HomeTeam,AwayTeam,B365H,B365D,B365A\nE0,02/05/2099,15:00,{home},Derby,2.0,3.4,4.2\n"


async def _spellings(service: ScriptedService) -> Any:
    return msgspec.json.decode((await service.get("/monitor/abstentions/9")).body)["spellings"]


async def test_a_link_is_suggested_after_an_hour_of_prices_that_agree() -> None:
    """The suggestion has both events, and the time when the linker first looked at them."""
    service = ScriptedService("alder", "birch", tick_s=60.0, poll_interval_s=600.0, stale_after_s=2000.0)
    async with running(service):
        await service.polled("alder", SHEET.format(home="Qwertzy").encode())
        await service.polled("birch", SHEET.format(home="Qwertz").encode())
        await until(lambda: any(service.system.review.standing.long(_later(service))))
        soon = await _spellings(service)
        await pass_to(anyio.current_time() + HOUR_S + 60.0)
        (found,) = await _spellings(service)

    assert [] == soon
    assert ("one_alike", 0.0, 1) == (found["rule"], found["price_gap"], found["gain"])
    assert {"Qwertzy", "Qwertz"} == {found["a"]["home"], found["b"]["home"]}
    assert '[[team]]\nname = "Qwertz"\nalso = ["Qwertzy"]\n' == found["text"]
    assert found["since"] <= service.clock.now().wall - HOUR_S


def _later(service: ScriptedService) -> Any:
    now = service.clock.now()
    return msgspec.structs.replace(now, mono=now.mono + HOUR_S)
