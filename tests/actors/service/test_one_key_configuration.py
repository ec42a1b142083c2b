"""The shipped configuration with one key: Bet365, a prediction market and an on-chain bookmaker."""

from __future__ import annotations

from pathlib import Path

import anyio
import httpx2
import msgspec
import pytest

from tests.support.peers.azuro import Azuro
from tests.support.peers.five_dollar_football import API_KEY, FiveDollarFootball
from tests.support.peers.polymarket import Polymarket
from tests.support.peers.web import Web
from tests.support.source_code import ROOT
from tests.support.systems.virtual_service import configured, pass_to
from tests.support.time.virtual import WALL_0

pytestmark = pytest.mark.anyio

TEXT = (ROOT / "config" / "live.toml").read_text("utf-8").replace("${FIVE_DOLLAR_FOOTBALL_KEY}", API_KEY)
KICK_OFF = WALL_0 + 86_400 - WALL_0 % 86_400 + 14 * 3600
ODDS = ("2.0", "3.5", "3.9")


def _week() -> Web:
    """Return the three venues; each spells the clubs of two matches its own way, and one has a third."""
    five, market, pool = FiveDollarFootball(lambda: WALL_0 + anyio.current_time()), Polymarket(), Azuro()
    five.add(7001, "Leeds", "Hull City", start=KICK_OFF)
    five.add(7002, "Manchester United", "Tottenham", start=KICK_OFF)
    five.add(7003, "Manchester City", "Tottenham U21", start=KICK_OFF)
    market.add("101", "Leeds United FC", "Hull City AFC", start=KICK_OFF)
    market.add("102", "Manchester United FC", "Tottenham Hotspur FC", start=KICK_OFF)
    pool.add("1006", "Leeds United", "Hull City", start=KICK_OFF)
    pool.add("1007", "Manchester United", "Tottenham Hotspur", start=KICK_OFF)
    for name in pool.conditions:
        for outcome, price in zip(pool.result(name)["outcomes"], ODDS, strict=True):
            outcome["odds"] = price

    async def answer(request: httpx2.Request) -> httpx2.Response:
        host = request.url.host
        if host.endswith("polymarket.com"):
            return await market.answer(request)
        return await (pool.answer if host.endswith("onchainfeed.org") else five.answer)(request)

    return Web(answer)


async def test_matches_of_all_three_venues_stand_in_one_row(tmp_path: Path) -> None:
    """Each with its own spelling of the clubs; a match of other teams stays alone."""
    async with configured(tmp_path, TEXT, web=_week()) as service:
        await pass_to(60.0)
        fixtures = msgspec.json.decode((await service.get("/api/v2/fixtures")).body)["fixtures"]

    assert [["azuro", "bet365", "polymarket"], ["azuro", "bet365", "polymarket"], ["bet365"]] == sorted(
        [sorted(entry["id"].partition("_")[0] for entry in fixture["entries"]) for fixture in fixtures]
    )
