"""The alerts that rules would have sent while a recording was made."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.recordings.alerts import replay_lines
from actors.recordings.reader import open_sources
from actors.service.registry import kind_named
from actors.service.settings import load
from tests.actors.alerts.test_engine import HIGH, LOW, PRICE, SERVICE, SOURCE
from tests.support.builders.football_data import sheet
from tests.support.peers.web import Web, serving
from tests.support.systems.virtual_service import KEY, configured, pass_to

pytestmark = pytest.mark.anyio


async def test_a_replay_tells_what_the_rules_would_have_told(tmp_path: Path) -> None:
    """Each alert is a line with its time, its rule and its title; the last line counts the alerts."""
    web, out = Web(serving(sheet(KEY, LOW))), tmp_path / "out"
    async with configured(tmp_path, SERVICE, web=web, out=out):
        await pass_to(15)
        for number, prices in enumerate((HIGH, LOW), 1):
            web.answer = serving(sheet(KEY, prices))
            await pass_to(15 + 20 * number)
    config = tmp_path / "oddsboard.toml"
    config.write_text(SERVICE + PRICE + SOURCE, "utf-8")

    first, second, last = replay_lines(open_sources(out, kind_named), load(config, {}).alert)

    assert first.startswith("2026-05-28T20:27:")
    assert first.endswith("Z draw firing: Home 1 - Away 1: X at Alder is 3.6, was 3.4")
    assert second.endswith("Z draw resolved: Home 1 - Away 1: X at Alder is now only 3.4, was 3.6")
    assert "2 alerts of 1 rules; of sources or links, not played: 1" == last
