"""A restart in order leaves lists on the board; the whole service runs in virtual time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from actors.service.settings import load
from tests.support.builders.the_odds_api import LEAGUES, bookmaker_id, config, odds_path
from tests.support.peers.web import Web, serving
from tests.support.systems.virtual_service import VirtualService, events, offered, pass_to, running

pytestmark = pytest.mark.anyio

HOUR = 3600.0
KEY = "B365"
NAME = bookmaker_id(KEY)


@asynccontextmanager
async def _life(folder: Path, web: Web) -> AsyncIterator[VirtualService]:
    """Run a service with an archive within the block, and end it in order."""
    text = config(LEAGUES, [KEY], credits_per_day=4)
    (folder / "oddsboard.toml").write_text(f"{text}\n[archive]\npath = '{folder / 'archive'}'\n", "utf-8")
    settings = load(folder / "oddsboard.toml", {})
    service = VirtualService(settings, webs={"api": web}, tick_s=60.0, is_archived=True)
    archive = service.system.archive
    assert archive is not None
    async with running(service):
        yield service
        for _ in range(5):  # its thread does not run, and midnight has passed
            archive.writer.step()
    archive.close(is_orderly=True)


async def test_a_league_whose_next_call_is_hours_away_is_there_at_once(tmp_path: Path) -> None:
    """A budget pays for one of three calls at a start, and for the others 6 and 12 h later."""
    web = Web()
    for league in LEAGUES:
        web.answers[odds_path(league)] = serving(events(offered(league, sport=league)))
    async with _life(tmp_path, web) as service:
        await pass_to(1 * HOUR)
        first = [entry.id for entry in service.entries(NAME)]
        await pass_to(13 * HOUR)
    calls = len(web.asked)
    async with _life(tmp_path, web) as service:
        at_once = [entry.id for entry in service.entries(NAME)]
        await pass_to(14 * HOUR)
        later = [entry.id for entry in service.entries(NAME)]

    every = [f"{NAME}_{league}" for league in LEAGUES]
    assert (every[:1], 3, every, every, 4) == (first, calls, at_once, later, len(web.asked))
