"""After an orderly restart the lists are still on the board; the whole service runs in virtual time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from actors.archive.days.reading import Reader
from actors.archive.folder import Folder
from actors.archive.past import Days
from actors.core.messages import BookmakerId
from actors.markets.market import Kind
from actors.service.settings import load
from tests.support.builders.the_odds_api import LEAGUES, bookmaker_id, config, odds_path
from tests.support.peers.web import Web, serving
from tests.support.systems.virtual_service import VirtualService, events, offered, pass_to, running

pytestmark = pytest.mark.anyio

HOUR = 3600.0
KEY = "B365"
NAME = bookmaker_id(KEY)


MARKETS = """
[sources.world]
kind = "simulated"
matches = 5
updates_per_s = 0.5
markets = ["1x2", "over_under", "btts"]
[bookmakers.alder]
name = "Alder (simulated)"
source = "world"
key = "standard"
"""


@asynccontextmanager
async def _life(folder: Path, web: Web) -> AsyncIterator[VirtualService]:
    """Run a service with an archive within the block, and stop it in an orderly way."""
    text = config(LEAGUES, [KEY], credits_per_day=4)
    (folder / "oddsboard.toml").write_text(f"{text}\n[archive]\npath = '{folder / 'archive'}'\n", "utf-8")
    settings = load(folder / "oddsboard.toml", {})
    service = VirtualService(settings, webs={"api": web}, tick_s=60.0, is_archived=True)
    archive = service.system.archive
    assert archive is not None
    async with running(service):
        yield service
        for _ in range(5):  # the writer's thread does not run here; midnight has passed
            archive.writer.step()
    archive.close(is_orderly=True)


async def test_a_league_whose_next_call_is_hours_away_is_there_at_once(tmp_path: Path) -> None:
    """At the start the budget pays for one of three calls; the two other calls follow 6 and 12 h later."""
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


async def test_a_service_archives_all_markets_that_its_sources_read(tmp_path: Path) -> None:
    """At its end the archive has all entries of each board; the only gap is the stop between the runs."""
    text = f"{MARKETS}[archive]\npath = '{tmp_path / 'archive'}'\n"
    (tmp_path / "oddsboard.toml").write_text(text, "utf-8")
    lasts = []
    for _ in range(2):
        service = VirtualService(load(tmp_path / "oddsboard.toml", {}), is_archived=True)
        system = service.system
        assert system.archive is not None
        async with running(service):
            await pass_to(60)
            boards = [system.markets.published[kind].newest for kind in (Kind.OVER_UNDER, Kind.BTTS)]
            chunks = [chunk for board in boards for chunk in board.books[BookmakerId("alder")].chunks]
            shown = {entry.id: entry.match.odds for chunk in chunks for entry in chunk.entries}
            lasts.append(max(board.version for board in (system.published.newest, *boards)))
        system.archive.close(is_orderly=True)
        folder = Folder.reading(tmp_path / "archive")
        with Reader.open(folder.file(folder.days()[-1]), is_written=False) as reader:
            archived = {of.id: of.entry.match.odds for of in reader.market_entries(lasts[-1]) if of.entry}
            assert (lasts[-1], shown) == (reader.last, archived)
        assert {"over_under", "btts"} == {name.split(" ")[1].split(":")[0] for name in shown}

    days = Days(folder, lambda: None)
    assert ["stopped"] == [gap.reason for gap in days.gaps(days.held())]
    assert lasts[0] < lasts[1]
