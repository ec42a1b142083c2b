"""5DollarFootballAPI: no price is shown that the venue did not have then; old lists and random lives."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import httpx2
import pytest

from tests.support.peers.five_dollar_football import CONFIG, FiveDollarFootball, result
from tests.support.peers.web import Web, refusing
from tests.support.simulation.five_dollar_life import run
from tests.support.systems.venue import odds
from tests.support.systems.virtual_service import VirtualService, configured, pass_to
from tests.support.time.virtual import WALL_0

pytestmark = pytest.mark.anyio

FAR = 9000.0
TEXT = CONFIG + '\n[bookmakers.pinnacle]\nsource = "five"\nkey = "pinnacle"\n'
BOOKMAKERS = ("bet365", "pinnacle")


def _shown(service: VirtualService) -> set[tuple[str, str]]:
    return {(name, match) for name in BOOKMAKERS for match in odds(service, name)}


@asynccontextmanager
async def _day_read_once(folder: Path) -> AsyncIterator[tuple[VirtualService, FiveDollarFootball]]:
    """Yield a service with matches of later that day; the day's list cannot be read any more."""
    venue, is_read = FiveDollarFootball(lambda: WALL_0 + anyio.current_time(), limit=40), True
    for name in (7001, 7002):
        venue.add(name, f"Home {name}", f"Away {name}", start=WALL_0 + FAR)
        venue.odds[name]["pinnacle"] = {"1x2": result((2.2, 3.5, 3.5))}

    async def answer(request: httpx2.Request) -> httpx2.Response:
        span = int(request.url.params.get("end_time", 0)) - int(request.url.params.get("start_time", 0))
        return await (refusing if span > FAR and not is_read else venue.answer)(request)

    async with configured(folder, TEXT, web=Web(answer)) as service:
        await pass_to(60.0)
        assert 4 == len(_shown(service))
        is_read = False
        yield service, venue


async def _never_again(service: VirtualService, match: str, first_s: int = 160) -> None:
    """Check that the match is not shown while the older list still counts."""
    for second in range(first_s, 1800, 20):
        await pass_to(float(second))
        assert not [each for each in _shown(service) if each[1] == match], f"second {second}"


@pytest.mark.parametrize(
    ("moved_s", "is_begun", "status", "later", "before"),
    [
        pytest.param(70.0, True, "in_play", "finished", {"7002"}, id="begun and ended"),
        pytest.param(900.0, False, "finished", "finished", {"7002"}, id="off"),
        pytest.param(900.0, False, "unknown", "unknown", {"7002"}, id="unknown"),
        pytest.param(
            158.0, False, "scheduled", "scheduled", {"7001", "7002"}, id="its new kick-off passes"
        ),
    ],
)
async def test_a_match_that_was_moved_is_not_to_come_at_its_old_kick_off(
    tmp_path: Path, moved_s: float, *, is_begun: bool, status: str, later: str, before: set[str]
) -> None:
    """The list for the new kick-off has the match's state; the list for its day is older."""
    async with _day_read_once(tmp_path) as (service, venue):
        venue.move(7001, WALL_0 + moved_s)
        if is_begun:
            venue.begin(7001, None)
        venue.fixtures[7001]["status"] = status
        await pass_to(150.0)
        shown = {name for _, name in _shown(service)}
        venue.fixtures[7001]["status"] = later

        await _never_again(service, "7001")
    assert before == shown


async def test_a_match_does_not_come_back_when_another_of_its_kick_off_begins(tmp_path: Path) -> None:
    """The list for that kick-off is then shown again, without the two matches."""
    async with _day_read_once(tmp_path) as (service, venue):
        venue.begin(7001, None)
        await pass_to(200.0)  # with no match near, the list in play is read every two minutes
        venue.fixtures[7001]["status"] = "finished"
        await pass_to(400.0)
        left = {name for _, name in _shown(service)}
        venue.begin(7002, None)

        await _never_again(service, "7001", 410)
    assert {"7002"} == left


async def test_a_list_that_is_read_later_counts_again(tmp_path: Path) -> None:
    """A match that was in play by mistake is upcoming again when later lists say so."""
    venue = FiveDollarFootball(lambda: WALL_0 + anyio.current_time(), limit=40)
    venue.add(7001, start=WALL_0 + 3600.0)
    async with configured(tmp_path, TEXT, web=Web(venue.answer)) as service:
        venue.begin(7001, None)
        await pass_to(60.0)
        then = _shown(service)
        venue.fixtures[7001]["status"] = "scheduled"
        await pass_to(120.0)

        assert (set(), {("bet365", "7001")}) == (then, _shown(service))


def test_no_price_that_the_venue_had_not_is_shown(tmp_path: Path, *, is_long: bool, is_whole: bool) -> None:
    """Matches begin, end and move, pages shift, other programs use the rate, the plan loses its odds."""
    done = [run(seed, tmp_path) for seed in range(100 if is_whole else 20 if is_long else 3)]

    assert sum(each["shown"] for each in done)
    assert sum(each["failed"] for each in done)
