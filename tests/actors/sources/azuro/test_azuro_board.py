"""The board of a service on Azuro, in virtual time: which matches and prices are shown, and when."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from actors.core.messages import Scope
from tests.support.peers.azuro import Azuro, condition_of
from tests.support.peers.web import serving
from tests.support.systems.venue import HOUR, counted, gaps, having, odds, opened, times
from tests.support.systems.virtual_service import pass_to
from tests.support.time.virtual import WALL_0

pytestmark = pytest.mark.anyio

SHOWN = (1.81, 3.78, 4.43)
HTML = serving(b"<html>blocked</html>")
_odds = partial(odds, bookmaker="azuro")


async def test_requests_are_a_second_apart_and_by_nearness_of_kick_off(tmp_path: Path) -> None:
    """Odds near a kick-off are asked for every 10 s, other odds every 60 s."""
    venue = Azuro()
    for number in range(2000, 2130):
        venue.add(str(number), f"H {number}", f"A {number}", start=WALL_0 + 300 * HOUR)
    venue.add("1006", start=WALL_0 + HOUR)
    async with opened(tmp_path, venue) as (service, web):
        await pass_to(300.0)

        assert venue.games.keys() == _odds(service).keys()
    assert all(later - at >= 0.999 for at, later in pairwise(web.asked))
    per_minute = [sum(at < start <= at + 60 for start in times(web, "batch")) for at in (120, 180, 240)]
    assert all(6 <= count <= 9 for count in per_minute), per_minute


@pytest.mark.parametrize(
    ("start", "state", "begins"),
    [(-1800.0, "Live", 40.0), (1800.0, "Live", 40.0), (100.0, "Prematch", 100.0), (62.0, "Prematch", 62.0)],
)
@pytest.mark.parametrize("options", ["", "stale_after_s = 300"])
async def test_a_price_in_play_holds_for_10_s(
    tmp_path: Path, start: float, state: str, begins: float, options: str
) -> None:
    """The limit holds also if the list of games, read every two minutes, does not have the kick-off yet."""
    venue, shown = Azuro(), []
    venue.add("1006", start=WALL_0 + start)
    venue.games["1006"]["state"] = state
    config = having(venue.config, options)
    async with opened(tmp_path, venue, config, until=0.0) as (service, web):
        for end in (begins, begins + 10.0):
            await pass_to(end)
            shown.append(_odds(service))
            web.answer = HTML

    assert [{"1006": SHOWN}, {}] == shown


async def test_games_in_play_are_asked_for_every_3_s(tmp_path: Path) -> None:
    """The games are asked for ten times in each half minute; the list of games takes a second of it."""
    venue = Azuro()
    venue.add("1006", start=WALL_0 + HOUR)
    venue.add("1007", start=WALL_0 - HOUR)
    venue.games["1007"]["state"] = "Live"
    async with opened(tmp_path, venue) as (_, web):
        await pass_to(90.0)

        assert {3.0} == {*gaps(times(web, "batch", 20.0))}


HIDDEN = [{**each, "hidden": True} for each in condition_of("1006")["outcomes"]]
STOPPED = [{**each, "state": "Stopped"} for each in condition_of("1006")["outcomes"]]


@pytest.mark.parametrize(
    ("state", "flags"),
    [
        ("Prematch", {"isPrematchEnabled": False}),
        ("Live", {"isLiveEnabled": False}),
        ("Prematch", {"outcomes": HIDDEN}),
        ("Live", {"outcomes": STOPPED}),
    ],
)
async def test_flag_that_a_poll_does_not_repeat_holds(
    tmp_path: Path, state: str, flags: dict[str, Any]
) -> None:
    """The list of conditions sets the flag, until that list has another one."""
    venue, shown = Azuro(), []
    venue.add("1006", start=WALL_0 + HOUR)
    venue.games["1006"]["state"] = state
    venue.result("1006").update(flags)
    async with opened(tmp_path, venue) as (service, _):
        for end in (60.0, 590.0):
            await pass_to(end)
            shown.append(_odds(service))
        counts = counted(service, "azuro")
        venue.result("1006").update(condition_of("1006"))
        await pass_to(640.0)

        assert [{}, {}] == shown
        assert ({"suspended": 1}, {"1006": SHOWN}) == (counts, _odds(service))


async def test_flag_counts_in_the_phase_that_it_is_about(tmp_path: Path) -> None:
    """A condition closed in play leaves when its game is in play, though the poll brings nothing new."""
    venue = Azuro()
    venue.add("1006", start=WALL_0 + 100.0)
    venue.result("1006").update(isLiveEnabled=False)
    async with opened(tmp_path, venue) as (service, _):
        before = _odds(service)
        venue.games["1006"]["state"] = "Live"
        await pass_to(150.0)

        assert ({"1006": SHOWN}, {}) == (before, _odds(service))


async def test_flags_hold_no_longer_than_their_list(tmp_path: Path) -> None:
    """Half an hour after conditions were last listed, no condition counts as open."""
    venue = Azuro()
    venue.add("1006", start=WALL_0 + 5 * HOUR)
    async with opened(tmp_path, venue) as (service, web):
        web.answers["/api/v1/public/market-manager/conditions-by-game-ids"] = HTML
        await pass_to(1700.0)
        before = _odds(service)
        await pass_to(2000.0)

        assert ({"1006": SHOWN}, {}) == (before, _odds(service))


async def test_listed_games_that_are_not_shown_are_counted(tmp_path: Path) -> None:
    """Games are counted by reason, each game once, whether any odds are asked for or not."""
    venue, counts = Azuro(), []
    venue.add("1006", start=WALL_0 + HOUR)
    for number in range(3):
        venue.add(f"200{number}", start=WALL_0 + (HOUR if number else -30 * HOUR))
    venue.conditions["2001"] = venue.conditions["2001"][:1]
    venue.games["2002"]["state"] = "Stopped"
    async with opened(tmp_path, venue) as (service, _):
        counts.append(counted(service, "azuro"))
        venue.games["1006"]["state"] = "Finished"
        for end in (150.0, 400.0):
            await pass_to(end)
            counts.append(counted(service, "azuro"))

    rest = {"no_result": 1, "past": 1, "suspended": 1}
    assert [rest, {**rest, "finished": 1}, {**rest, "finished": 1}] == counts


async def test_condition_that_is_replaced_is_found_again(tmp_path: Path) -> None:
    """The new condition is found within 10 minutes; if two look the same, neither is used."""
    venue = Azuro()
    venue.add("1006", start=WALL_0 + HOUR)
    venue.conditions["1006"].append({**condition_of("1006"), "conditionId": "second"})
    async with opened(tmp_path, venue) as (service, _):
        before = _odds(service)
        del venue.conditions["1006"][1]
        await pass_to(640.0)

        assert ({}, {"1006": SHOWN}) == (before, _odds(service))


async def test_game_that_appears_while_conditions_are_asked_for_is_shown(tmp_path: Path) -> None:
    """The answer lacks the new game, which was not asked for; so it is asked for later."""
    venue = Azuro()
    venue.add("1006", start=WALL_0 + HOUR)

    async def answer(request: httpx2.Request) -> httpx2.Response:
        is_second = anyio.current_time() > HOUR / 6
        if is_second and "1000" not in venue.games:
            venue.add("1000", "Third", "Fourth", start=WALL_0 + HOUR)
        answered = await venue.answer(request)
        if is_second and request.url.path.endswith("conditions-by-game-ids"):
            await anyio.sleep(19.0)  # meanwhile the list of games is read to its end
        return answered

    async with opened(tmp_path, venue, answer=answer, until=700.0) as (service, _):
        assert {"1000": SHOWN, "1006": SHOWN} == _odds(service)


@pytest.mark.parametrize(("without", "is_said"), [(6, False), (7, True)])
async def test_results_that_are_not_found_are_counted(
    tmp_path: Path, without: int, *, is_said: bool
) -> None:
    """If most games lack the expected condition, the venue may have a new kind; no condition is guessed."""
    venue = Azuro()
    for number in range(12):
        venue.add(str(2000 + number), f"H {number}", f"A {number}", start=WALL_0 + HOUR)
        if number < without:
            venue.conditions[str(2000 + number)] = [condition_of(str(number), outcomes=("53", "54", "55"))]
    async with opened(tmp_path, venue) as (service, web):
        await pass_to(300.0)
        error = service.source("azuro").scopes[Scope("games")].last_error

        assert 12 - without == len(_odds(service))
    assert is_said is (f"{without} of 12 games have no condition" in str(error))
    assert 3 == sum("gameState=Live" in str(request.url) for request in web.requests)


async def test_game_that_kicks_off_between_two_lists_stays(tmp_path: Path) -> None:
    """The game is in the list of games before kick-off, then in the list of games in play."""
    venue = Azuro()
    venue.add("1006", start=WALL_0 + HOUR)

    async def answer(request: httpx2.Request) -> httpx2.Response:
        answered = await venue.answer(request)
        if request.url.params.get("gameState") == "Prematch":
            venue.games["1006"]["state"] = "Live"
        return answered

    async with opened(tmp_path, venue, answer=answer, until=15.0) as (service, _):
        (match,) = [entry.match for entry in service.entries("azuro")]

    assert match.in_play is True
