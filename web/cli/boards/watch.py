"""`oddsboard watch`: shows a running service's prices in the terminal, over its restarts, until Ctrl+C."""

from __future__ import annotations

import argparse
import contextlib
import sys
from typing import Any

import anyio
from rich.console import Console
from rich.live import Live

from actors.core.errors import ConfigError
from actors.service.settings import is_colourless
from web import client
from web.cli.boards.get import notes, talking
from web.cli.boards.screen import Screen
from web.cli.terminal import run_until_interrupted
from web.client import clock
from web.client.values import Fixture
from web.server.lifecycle import Exit

DRAWN_EVERY_S = 0.5
SEVERAL = {"main", "any"}


def run(given: argparse.Namespace) -> Exit:
    """Show prices until Ctrl+C.

    Raises: ServiceUnreachableError if the service refuses the request; KeyboardInterrupt.
    """
    market = given.market or "1x2"
    if "," in market or market in SEVERAL:
        raise ConfigError(f"--market was {market!r}, must be one market, such as over_under:main")
    asked = client.fixtures(league=given.league, market=given.market, bookmaker=given.bookmaker)
    with talking(given.url):
        run_until_interrupted(lambda: _watch(asked, given, market))
    return Exit.STOPPED


async def _watch(asked: client.ListCall[Any, Fixture], given: argparse.Namespace, market: str) -> None:
    console = Console(no_color=is_colourless() or None, highlight=False, markup=False)
    async with client.AsyncClient(given.url) as service, service.board(asked) as board:
        screen = Screen(board, given.url, market, is_best=given.best, bookmaker=given.bookmaker)
        if not console.is_terminal:
            async for event in board:
                sys.stdout.writelines(f"{line}\n" for line in screen.take(event, clock.now()))
                sys.stdout.flush()
            return
        with Live(console=console, screen=True, auto_refresh=False) as live:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_draw, screen, live)
                try:
                    async for event in board:
                        for _ in screen.take(event, clock.now()):
                            pass
                        if isinstance(event, client.Connected):
                            tasks.start_soon(_note, screen, service)
                except client.OddsboardError as error:
                    refused = error
                tasks.cancel_scope.cancel()
        raise refused


async def _note(screen: Screen, service: client.AsyncClient) -> None:
    """Show which prices are no offers; if the service does not answer, it is asked after the next cut."""
    with contextlib.suppress(client.OddsboardError):
        screen.notes = [*notes(await service.get(client.health()))]


async def _draw(screen: Screen, live: Live) -> None:
    while True:
        live.update(screen.render(clock.now(), live.console.height), refresh=True)
        await anyio.sleep(DRAWN_EVERY_S)
