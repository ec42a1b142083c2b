"""Random lives of the venues without a key: the board follows them through changes and failures.

Each step changes some matches, perhaps while answers fail. What is shown meanwhile was on offer before or
is now; once answers come again, the board is what an independent reading of the venue says.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import httpx2
import pytest

from tests.support.oracles import azuro_reading, polymarket_reading
from tests.support.peers import azuro, polymarket
from tests.support.peers.web import Answer, Web, dropping, hanging, refusing, serving
from tests.support.systems.virtual_service import VirtualService, configured, pass_to
from tests.support.time.virtual import WALL_0

pytestmark = pytest.mark.anyio

STEPS, SHARE = 3, 0.3
PAUSE_S = 320.0  # the longest after too many requests, and some seconds
FAULTS = (serving(b"<html>"), serving(b"", 429), serving(b"", 500), hanging, dropping, refusing)
KICK_OFF = WALL_0 + 72 * 3600
SIZES = ("1", "50", "4000")
Odds = dict[str, tuple[float, ...]]
Change = Callable[[str], None]


class Life:
    """A venue whose answers may fail."""

    def __init__(self, answer: Answer, random: Random) -> None:
        self.is_faulty = False
        self._answer = answer
        self._random = random

    async def answer(self, request: httpx2.Request) -> httpx2.Response:
        """Answer, or fail: by a fault, or with a part of the answer."""
        if self.is_faulty and self._random.random() < SHARE:
            if self._random.random() < 0.8:
                return await self._random.choice(FAULTS)(request)
            whole = await (await self._answer(request)).aread()
            return await serving(whole[: self._random.randrange(len(whole))])(request)
        return await self._answer(request)


def _azuro(random: Random) -> tuple[Answer, Change, Callable[[], Odds]]:
    venue = azuro.Azuro(seed=random.randrange(1000))
    for number in range(6):
        venue.add(f"100{number}", f"Home {number}", f"Away {number}", start=KICK_OFF)

    def change(part: str) -> None:
        azuro_reading.change(venue, random.choice([*venue.games]), part, random.choice)

    return venue.answer, change, lambda: azuro_reading.expected(venue)


def _polymarket(random: Random) -> tuple[Answer, Change, Callable[[], Odds]]:
    venue = polymarket.Polymarket(seed=random.randrange(1000), page_size=random.randrange(2, 30))
    for number in range(6):
        venue.add(f"10{number}", f"Home {number}", f"Away {number}", start=KICK_OFF)

    def change(part: str) -> None:
        name = random.choice([*venue.matches])
        if part == "states":
            polymarket_reading.change(venue, name, random.choice)
        else:
            asks = venue.matches[name].asks
            asks[random.choice([*asks])] = [
                ("0.9", "9000"),
                (f"0.{random.randrange(300, 420)}", random.choice(SIZES)),
            ]

    def expected() -> Odds:
        return {name: tuple(map(float, odds)) for name, odds in polymarket_reading.expected(venue).items()}

    return venue.answer, change, expected


def _shown(service: VirtualService, name: str) -> Odds:
    matches = [entry.match for entry in service.entries(name)]
    return {
        str(match.source_match_id): (match.home_price, match.draw_price, match.away_price)
        for match in matches
    }


LIVES: dict[str, tuple[Any, str, tuple[str, ...], float]] = {
    "azuro": (_azuro, azuro.CONFIG, azuro_reading.PARTS, 800.0),
    "polymarket": (_polymarket, polymarket.CONFIG, ("states", "prices"), 360.0),
}
"""How to make each venue, its configuration, what changes together, and in how many seconds it is read."""


async def _live(folder: Path, name: str, seed: int) -> None:
    random = Random(seed)
    make, config, parts, read_s = LIVES[name]
    answer, change, expected = make(random)
    life, now = Life(answer, random), 60.0
    async with configured(folder, config, web=Web(life.answer)) as service:
        await pass_to(now)
        assert expected() == _shown(service, name)
        for _ in range(STEPS):
            before, part = expected(), random.choice(parts)
            for _ in range(random.randrange(1, 5)):
                change(part)
            offered = before.items() | expected().items()
            life.is_faulty = is_faulty = random.random() < 0.5
            for _ in range(random.randrange(1, 6)):
                now += random.uniform(1.0, 150.0)
                await pass_to(now)
                assert _shown(service, name).items() <= offered
            life.is_faulty = False
            now += read_s + PAUSE_S * is_faulty
            await pass_to(now)
            assert expected() == _shown(service, name)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", ["azuro", "polymarket"])
async def test_the_board_follows_the_venue(tmp_path: Path, name: str, seed: int) -> None:
    """Nothing is shown that is closed, settled, hidden, or of a list that was not read to its end."""
    await _live(tmp_path, name, seed)


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(100, 120))
@pytest.mark.parametrize("name", ["azuro", "polymarket"])
async def test_the_board_follows_the_venue_through_many_lives(tmp_path: Path, name: str, seed: int) -> None:
    """The same with many more."""
    await _live(tmp_path, name, seed)
