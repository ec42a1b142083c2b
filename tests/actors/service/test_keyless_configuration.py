"""The shipped configurations with one key or none: a bookmaker, a prediction market and an on-chain one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import anyio
import httpx2
import msgspec
import pytest

from tests.support.builders.football_data import csv_bytes
from tests.support.peers.azuro import Azuro
from tests.support.peers.five_dollar_football import API_KEY, FiveDollarFootball
from tests.support.peers.polymarket import Polymarket
from tests.support.peers.web import Answer, Web, serving
from tests.support.source_code import ROOT
from tests.support.systems.virtual_service import configured, pass_to
from tests.support.time.virtual import WALL_0

pytestmark = pytest.mark.anyio

TEXT = (ROOT / "config" / "live-keyless.toml").read_text("utf-8")
ONE_KEY = (ROOT / "config" / "live.toml").read_text("utf-8").replace("${FIVE_DOLLAR_FOOTBALL_KEY}", API_KEY)
KICK_OFF = WALL_0 + 86_400 - WALL_0 % 86_400 + 14 * 3600  # 14:00 UTC is 15:00 in London
ODDS = ("2.0", "3.5", "3.9")


def _week(first: Answer) -> Web:
    """Return the three venues; each spells the clubs of two matches its own way."""
    market, pool = Polymarket(), Azuro()
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
        return await (pool.answer if host.endswith("onchainfeed.org") else first)(request)

    return Web(answer)


def _file() -> Answer:
    teams = ("Leeds", "Hull"), ("Man United", "Tottenham")
    return serving(csv_bytes(*(("E0", "29/05/2026", "15:00", *pair, *ODDS) for pair in teams)))


def _five() -> Answer:
    """Return an API that lists a third match, between other teams of these clubs."""
    five = FiveDollarFootball(lambda: WALL_0 + anyio.current_time())
    five.add(7001, "Leeds", "Hull City", start=KICK_OFF)
    five.add(7002, "Manchester United", "Tottenham", start=KICK_OFF)
    five.add(7003, "Manchester City", "Tottenham U21", start=KICK_OFF)
    return five.answer


@pytest.mark.parametrize(
    ("text", "first", "alone"),
    [(TEXT, _file, []), (ONE_KEY, _five, [["bet365"]])],
    ids=["keyless", "one key"],
)
async def test_matches_of_all_three_venues_stand_in_one_row(
    tmp_path: Path, text: str, first: Callable[[], Answer], alone: list[list[str]]
) -> None:
    """Each venue has its own spelling of clubs and league; other teams of these clubs stay alone."""
    async with configured(tmp_path, text, web=_week(first())) as service:
        await pass_to(60.0)
        fixtures = msgspec.json.decode((await service.get("/api/v2/fixtures")).body)["fixtures"]

    assert [["azuro", "bet365", "polymarket"]] * 2 + alone == sorted(
        sorted(entry["id"].partition("_")[0] for entry in fixture["entries"]) for fixture in fixtures
    )
