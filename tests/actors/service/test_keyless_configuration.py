"""The shipped configuration without a key: a file, a prediction market and an on-chain bookmaker."""

from __future__ import annotations

from pathlib import Path

import httpx2
import msgspec
import pytest

from tests.support.builders.football_data import csv_bytes
from tests.support.peers.azuro import Azuro
from tests.support.peers.polymarket import Polymarket
from tests.support.peers.web import Web, refusing, serving
from tests.support.source_code import ROOT
from tests.support.systems.virtual_service import configured, pass_to
from tests.support.time.virtual import WALL_0

pytestmark = pytest.mark.anyio

TEXT = (ROOT / "config" / "live-keyless.toml").read_text("utf-8")
KICK_OFF = WALL_0 + 86_400 - WALL_0 % 86_400 + 14 * 3600  # 14:00 UTC is 15:00 in London


def _week() -> Web:
    """Return the three venues; each spells the clubs of two matches its own way."""
    market, pool = Polymarket(), Azuro()
    file = csv_bytes(
        ("E0", "29/05/2026", "15:00", "Leeds", "Hull", "2.0", "3.5", "3.9"),
        ("E0", "29/05/2026", "15:00", "Man United", "Tottenham", "2.0", "3.5", "3.9"),
    )
    market.add("101", "Leeds United FC", "Hull City AFC", start=KICK_OFF)
    market.add("102", "Manchester United FC", "Tottenham Hotspur FC", start=KICK_OFF)
    pool.add("1006", "Leeds United", "Hull City", start=KICK_OFF)
    pool.add("1007", "Manchester United", "Tottenham Hotspur", start=KICK_OFF)
    for name in pool.conditions:
        for outcome, price in zip(pool.result(name)["outcomes"], ("2.0", "3.5", "3.9"), strict=True):
            outcome["odds"] = price

    async def answer(request: httpx2.Request) -> httpx2.Response:
        host = request.url.host
        if host.endswith("polymarket.com"):
            return await market.answer(request)
        return await (pool.answer if host.endswith("onchainfeed.org") else serving(file))(request)

    return Web(answer)


async def test_matches_of_all_three_venues_stand_in_one_row(tmp_path: Path) -> None:
    """Each with its own spelling of the clubs, and its own label of the league."""
    async with configured(tmp_path, TEXT, web=_week()) as service:
        await pass_to(40.0)
        fixtures = msgspec.json.decode((await service.get("/api/v2/fixtures")).body)["fixtures"]

    assert [["azuro", "bet365", "polymarket"]] * 2 == [
        sorted(entry["id"].partition("_")[0] for entry in fixture["entries"]) for fixture in fixtures
    ]


async def test_without_a_network_nothing_is_shown(tmp_path: Path) -> None:
    """Every source says so."""
    async with configured(tmp_path, TEXT, web=Web(refusing)) as service:
        await pass_to(60.0)
        failing = {name: service.source(name).is_down for name in ("football_data", "polymarket", "azuro")}

        assert [] == service.entries("bet365", "polymarket", "azuro")
        assert {503} == {(await service.get()).status}
    assert {True} == set(failing.values())
