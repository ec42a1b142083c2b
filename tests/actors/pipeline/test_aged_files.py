"""Live prices of a file are as old as the file, also over HTTP; collected prices only show their age."""

from __future__ import annotations

from email.utils import formatdate
from pathlib import Path

import pytest

from tests.support.builders.table import ROW, table
from tests.support.peers.web import Answer, Web, serving
from tests.support.systems.virtual_service import VirtualService, configured, until

pytestmark = pytest.mark.anyio

WALL = 1_796_400_000.0  # 2026-12-04, the day before the match
CONFIG = """
[sources.own]
kind = "table"
url = "http://feed.example/odds.csv"
stale_after_s = 60.0
prices = "{prices}"
home = "Home"
away = "Away"
league = "League"
date = "Date"
time = "Time"
timezone = "Europe/Berlin"
one = "1"
draw = "X"
two = "2"
[bookmakers.mine]
name = "Mine"
source = "own"
key = "mine"
"""


def _written(at: float) -> Answer:
    dates = {"Last-Modified": formatdate(at, usegmt=True), "Date": formatdate(WALL, usegmt=True)}
    return serving(table(ROW).encode(), headers=dates)


def _error(service: VirtualService) -> str | None:
    scopes = service.source("own").scopes.values()
    return next((scope.last_error for scope in scopes if scope.last_error is not None), None)


async def test_live_prices_hold_from_when_their_file_was_written(tmp_path: Path) -> None:
    """The prices leave when the file is too old, although every poll is answered."""
    web = Web(_written(WALL - 20))
    async with configured(tmp_path, CONFIG.format(prices="live"), web=web, wall=WALL) as service:
        await until(service.serving)
        assert web.asked[0] - 20 + 60 == service.snapshot.valid_until
        web.answer = _written(WALL - 60)
        await until(lambda: _error(service))
        told = _error(service)
        await until(lambda: not service.serving())

    assert "its file was written 60 s ago, its prices hold for 60 s" == told


async def test_collected_prices_have_the_age_of_their_file(tmp_path: Path) -> None:
    """The prices stay, and show how old they are."""
    web = Web(_written(WALL - 86_400))
    async with configured(tmp_path, CONFIG.format(prices="collected"), web=web, wall=WALL) as service:
        await until(service.serving)

        assert [WALL - 86_400] == [entry.updated for entry in service.entries("mine")]


async def test_a_file_of_the_future_is_not_believed(tmp_path: Path) -> None:
    """If a clock is wrong, the prices would hold for longer than they may."""
    web = Web(_written(WALL + 3600))
    async with configured(tmp_path, CONFIG.format(prices="live"), web=web, wall=WALL) as service:
        await until(lambda: _error(service))

        assert "its file was written 3600 s after the answer: one of the clocks is wrong" == _error(service)
        assert not service.serving()
