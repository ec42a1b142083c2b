"""The board of a service on Azuro, in virtual time: what is shown, when, and what is not."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import httpx2
import msgspec
import pytest

from actors.core.messages import BookmakerId, Scope
from tests.support.peers.azuro import CONFIG, Azuro, condition_of
from tests.support.peers.web import Answer, Web, dropping, hanging, serving
from tests.support.systems.virtual_service import VirtualService, configured, pass_to
from tests.support.time.virtual import WALL_0

pytestmark = pytest.mark.anyio

HOUR = 3600.0
SHOWN = (1.81, 3.78, 4.43)
GAMES = "/api/v1/public/market-manager/games-by-filters"
HTML = serving(b"<html>blocked</html>")


@asynccontextmanager
async def _open(folder: Path, venue: Azuro) -> AsyncIterator[tuple[VirtualService, Web]]:
    web = Web(venue.answer)
    async with configured(folder, CONFIG, web=web) as service:
        await pass_to(15.0)
        yield service, web


def _odds(service: VirtualService) -> dict[str, tuple[float, float, float]]:
    matches = [entry.match for entry in service.entries("azuro")]
    return {
        str(match.source_match_id): (match.home_price, match.draw_price, match.away_price)
        for match in matches
    }


def _times(web: Web, path: str) -> list[float]:
    timed = zip(web.asked, web.requests, strict=True)
    return [at for at, request in timed if request.url.path.endswith(path)]


async def test_games_are_shown_at_the_odds_of_their_result(tmp_path: Path) -> None:
    """Home, draw and away are the outcomes 29, 30 and 31, in whatever order they come."""
    venue = Azuro()
    venue.add("1006", start=WALL_0 + HOUR)
    venue.add("1007", "Third", "Fourth", start=WALL_0 + HOUR)
    venue.games["1007"]["state"] = "Live"
    async with _open(tmp_path, venue) as (service, _):
        found = {str(entry.match.source_match_id): entry.match for entry in service.entries("azuro")}

        assert {"1006": SHOWN, "1007": SHOWN} == _odds(service)
    first = found["1006"]
    assert ("Home Town", "Away United", "England: Premier League") == (first.home, first.away, first.league)
    assert (int(WALL_0 + HOUR), False, True) == (first.start_time, first.in_play, found["1007"].in_play)


async def test_requests_are_a_second_apart_and_by_nearness_of_kick_off(tmp_path: Path) -> None:
    """Odds near a kick-off every 10 s, others every 60 s."""
    venue = Azuro()
    for number in range(2000, 2130):
        venue.add(str(number), f"H {number}", f"A {number}", start=WALL_0 + 300 * HOUR)
    venue.add("1006", start=WALL_0 + HOUR)
    async with _open(tmp_path, venue) as (service, web):
        await pass_to(300.0)

        assert venue.games.keys() == _odds(service).keys()
    assert all(later - at >= 0.999 for at, later in pairwise(web.asked))
    per_minute = [sum(at < start <= at + 60 for start in _times(web, "batch")) for at in (120, 180, 240)]
    assert all(6 <= count <= 9 for count in per_minute), per_minute


@pytest.mark.parametrize(
    ("start", "state", "begins"),
    [(-1800.0, "Live", 40.0), (1800.0, "Live", 40.0), (100.0, "Prematch", 100.0), (62.0, "Prematch", 62.0)],
)
@pytest.mark.parametrize("options", ["", "stale_after_s = 300"])
async def test_a_price_in_play_holds_for_10_s(
    tmp_path: Path, start: float, state: str, begins: float, options: str
) -> None:
    """Also if the list of games, which is read every two minutes, does not say yet that it has begun."""
    venue, shown = Azuro(), []
    venue.add("1006", start=WALL_0 + start)
    venue.games["1006"]["state"] = state
    web, text = Web(venue.answer), CONFIG.replace("[bookmakers", f"{options}\n[bookmakers", 1)
    async with configured(tmp_path, text, web=web) as service:
        for end in (begins, begins + 10.0):
            await pass_to(end)
            shown.append(_odds(service))
            web.answer = HTML

    assert [{"1006": SHOWN}, {}] == shown


async def test_games_in_play_are_asked_for_every_3_s(tmp_path: Path) -> None:
    """Ten times in each half minute; the list of games takes a second of it."""
    venue = Azuro()
    venue.add("1006", start=WALL_0 + HOUR)
    venue.add("1007", start=WALL_0 - HOUR)
    venue.games["1007"]["state"] = "Live"
    async with _open(tmp_path, venue) as (_, web):
        await pass_to(90.0)
        gaps = {round(later - at, 3) for at, later in pairwise(_times(web, "batch")) if at > 20.0}

    assert {3.0} == gaps


@pytest.mark.parametrize(
    "game",
    [
        {"state": "Stopped"},
        {"state": "Finished"},
        {"state": "Canceled"},
        {"sport": {"slug": "tennis"}},
        {"participants": [{"name": "Home Town"}]},
        {"participants": [{"name": "Home Town"}, {"name": " "}]},
        {"startsAt": "soon"},
    ],
    ids=str,
)
async def test_game_in_any_other_state_leaves(tmp_path: Path, game: dict[str, Any]) -> None:
    """With the next list of games; the others stay."""
    venue = Azuro()
    venue.add("1006", start=WALL_0 + HOUR)
    venue.add("1007", start=WALL_0 + HOUR)
    async with _open(tmp_path, venue) as (service, _):
        assert {"1006", "1007"} == _odds(service).keys()
        venue.games["1006"].update(game)
        await pass_to(150.0)

        assert {"1007": SHOWN} == _odds(service)


async def test_game_that_cannot_be_read_is_counted(tmp_path: Path) -> None:
    """Wherever it is in the lists; with the next list that is read it is over."""
    venue = Azuro()
    venue.add("1006", start=WALL_0 + HOUR)
    venue.add("1007", start=WALL_0 + HOUR)
    venue.add("1008", start=WALL_0 + 48 * HOUR)
    venue.games["1006"]["startsAt"] = int(WALL_0 + HOUR)
    async with _open(tmp_path, venue) as (service, _):
        record = service.system.status.bookmakers[BookmakerId("azuro")]
        assert {"1007", "1008"} == _odds(service).keys()
        assert {"unreadable": 1} == {
            str(reason): found.count for reason, found in record.rejections.now().items()
        }
        venue.games["1006"]["startsAt"] = str(int(WALL_0 + HOUR))
        await pass_to(200.0)

        assert {"1006", "1007", "1008"} == _odds(service).keys()
        assert {} == record.rejections.now()


@pytest.mark.parametrize("others", [0, 1])
async def test_game_that_is_no_longer_listed_leaves(tmp_path: Path, others: int) -> None:
    """Also if it was the only one of its day."""
    venue = Azuro()
    venue.add("1006", start=WALL_0 + HOUR)
    for number in range(others):
        venue.add(f"200{number}", start=WALL_0 + HOUR)
    async with _open(tmp_path, venue) as (service, _):
        del venue.games["1006"]
        await pass_to(145.0)

        assert ("1006" not in _odds(service), others) == (True, len(_odds(service)))


@pytest.mark.parametrize(
    "result",
    [
        *({"state": state} for state in ("Stopped", "Resolved", "Canceled", "Removed", "Created")),
        {"hidden": True},
        {"isPrematchEnabled": False},
        {"conditionId": "other"},
        {"game": {"gameId": "1007"}},
        {"outcomes": condition_of("1006", ("1", "15.84", "2"))["outcomes"]},
        {"outcomes": condition_of("1006", ("-2", "nan", "1e3"))["outcomes"]},
        {"outcomes": condition_of("1006", outcomes=("29", "30", "32"))["outcomes"]},
        {"outcomes": condition_of("1006")["outcomes"][:2]},
        {"outcomes": [{**each, "state": "Stopped"} for each in condition_of("1006")["outcomes"]]},
        {"outcomes": [{**each, "hidden": True} for each in condition_of("1006")["outcomes"]]},
    ],
    ids=str,
)
async def test_condition_in_any_other_state_leaves_at_once(tmp_path: Path, result: dict[str, Any]) -> None:
    """With the next poll of odds that says so, though it keeps its last odds."""
    venue = Azuro(repeats=True)
    venue.add("1006", start=WALL_0 + HOUR)
    venue.add("1007", start=WALL_0 + HOUR)
    async with _open(tmp_path, venue) as (service, _):
        venue.result("1006").update(result)
        await pass_to(27.0)

        assert {"1007": SHOWN} == _odds(service)


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
    """It is as the list of conditions has it, until that list says otherwise."""
    venue, shown = Azuro(), []
    venue.add("1006", start=WALL_0 + HOUR)
    venue.games["1006"]["state"] = state
    venue.result("1006").update(flags)
    async with _open(tmp_path, venue) as (service, _):
        for end in (60.0, 590.0):
            await pass_to(end)
            shown.append(_odds(service))
        counts = service.system.status.bookmakers[BookmakerId("azuro")].rejections.counts()
        venue.result("1006").update(condition_of("1006"))
        await pass_to(640.0)

        assert [{}, {}] == shown
        assert ({"suspended": 1}, {"1006": SHOWN}) == (counts, _odds(service))


async def test_flag_counts_in_the_phase_that_it_is_about(tmp_path: Path) -> None:
    """A condition that is closed in play leaves when its game is, though the poll says nothing new."""
    venue = Azuro()
    venue.add("1006", start=WALL_0 + 100.0)
    venue.result("1006").update(isLiveEnabled=False)
    async with _open(tmp_path, venue) as (service, _):
        before = _odds(service)
        venue.games["1006"]["state"] = "Live"
        await pass_to(150.0)

        assert ({"1006": SHOWN}, {}) == (before, _odds(service))


async def test_flags_hold_no_longer_than_their_list(tmp_path: Path) -> None:
    """Half an hour after conditions were last listed, nothing says that they are open."""
    venue = Azuro()
    venue.add("1006", start=WALL_0 + 5 * HOUR)
    async with _open(tmp_path, venue) as (service, web):
        web.answers["/api/v1/public/market-manager/conditions-by-game-ids"] = HTML
        await pass_to(1700.0)
        before = _odds(service)
        await pass_to(2000.0)

        assert ({"1006": SHOWN}, {}) == (before, _odds(service))


async def test_listed_games_that_are_not_shown_are_counted(tmp_path: Path) -> None:
    """By reason, whether anything is asked for or not; each once."""
    venue, counts = Azuro(), []
    venue.add("1006", start=WALL_0 + HOUR)
    for number in range(3):
        venue.add(f"200{number}", start=WALL_0 + (HOUR if number else -30 * HOUR))
    venue.conditions["2001"] = venue.conditions["2001"][:1]
    venue.games["2002"]["state"] = "Stopped"
    async with _open(tmp_path, venue) as (service, _):
        record = service.system.status.bookmakers[BookmakerId("azuro")]
        counts.append(record.rejections.counts(service.snapshot.books[record.id].scopes))
        venue.games["1006"]["state"] = "Finished"
        for end in (150.0, 400.0):
            await pass_to(end)
            counts.append(record.rejections.counts(service.snapshot.books[record.id].scopes))

    rest = {"no_result": 1, "past": 1, "suspended": 1}
    assert [rest, {**rest, "finished": 1}, {**rest, "finished": 1}] == counts


@pytest.mark.parametrize(
    ("listed", "grade", "not_shown"),
    [
        ("nothing", "pass", {}),
        ("long past", "pass", {"past": 1}),
        ("without a result", "warn", {"no_result": 1}),
        ("stopped", "warn", {"suspended": 1}),
    ],
)
async def test_venue_that_lists_nothing_to_be_shown_is_live(
    tmp_path: Path, listed: str, grade: str, not_shown: dict[str, int]
) -> None:
    """For as long as it answers; a warning says that it lists what cannot be shown."""
    venue, found = Azuro(), []
    if listed != "nothing":
        venue.add("1006", start=WALL_0 + (-30 * HOUR if listed == "long past" else HOUR))
    if listed == "without a result":
        venue.conditions["1006"] = venue.conditions["1006"][:1]
    if listed == "stopped":
        venue.games["1006"]["state"] = "Stopped"
    async with _open(tmp_path, venue) as (service, _):
        for end in (16.0, 800.0):
            await pass_to(end)
            check = msgspec.json.decode((await service.get("/health")).body)["checks"]["azuro"]
            said = [check[name] for name in ("state", "status", "matches", "not_shown")]
            found.append((said, (await service.get()).status))

    assert [(["live", grade, 0, not_shown], 200)] * 2 == found


async def test_venue_whose_games_wait_for_their_conditions_is_not_live(tmp_path: Path) -> None:
    """Whether it has anything on offer is not known yet."""
    venue = Azuro()
    venue.add("1006", start=WALL_0 + HOUR)
    web = Web(venue.answer)
    web.answers["/api/v1/public/market-manager/conditions-by-game-ids"] = HTML
    async with configured(tmp_path, CONFIG, web=web) as service:
        await pass_to(200.0)

        assert set() == service.serving()


async def test_live_game_needs_a_condition_that_is_open_in_play(tmp_path: Path) -> None:
    """It was open before the match."""
    venue = Azuro(repeats=True)
    venue.add("1006", start=WALL_0 - HOUR)
    venue.games["1006"]["state"] = "Live"
    venue.result("1006").update(isPrematchEnabled=False)
    async with _open(tmp_path, venue) as (service, _):
        assert {"1006": SHOWN} == _odds(service)
        venue.result("1006").update(isPrematchEnabled=True, isLiveEnabled=False)
        await pass_to(27.0)

        assert {} == _odds(service)


async def test_condition_that_is_replaced_is_found_again(tmp_path: Path) -> None:
    """Within 10 minutes; of two that look the same none is taken."""
    venue = Azuro()
    venue.add("1006", start=WALL_0 + HOUR)
    venue.conditions["1006"].append({**condition_of("1006"), "conditionId": "second"})
    async with _open(tmp_path, venue) as (service, _):
        before = _odds(service)
        del venue.conditions["1006"][1]
        await pass_to(640.0)

        assert ({}, {"1006": SHOWN}) == (before, _odds(service))


async def test_game_that_appears_while_conditions_are_asked_for_is_shown(tmp_path: Path) -> None:
    """What is not in that answer was not asked for, so it is still to be asked for."""
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

    async with configured(tmp_path, CONFIG, web=Web(answer)) as service:
        await pass_to(700.0)

        assert {"1000": SHOWN, "1006": SHOWN} == _odds(service)


@pytest.mark.parametrize(("without", "is_said"), [(6, False), (7, True)])
async def test_results_that_are_not_found_are_counted(
    tmp_path: Path, without: int, *, is_said: bool
) -> None:
    """If most games have none, the venue may have another condition for it now; none is guessed."""
    venue = Azuro()
    for number in range(12):
        venue.add(str(2000 + number), f"H {number}", f"A {number}", start=WALL_0 + HOUR)
        if number < without:
            venue.conditions[str(2000 + number)] = [condition_of(str(number), outcomes=("53", "54", "55"))]
    async with _open(tmp_path, venue) as (service, web):
        await pass_to(300.0)
        error = service.source("azuro").scopes[Scope("games")].last_error

        assert 12 - without == len(_odds(service))
    assert is_said is (f"{without} of 12 games have no condition" in str(error))
    assert 3 == sum("gameState=Live" in str(request.url) for request in web.requests)


async def test_kick_off_that_moves_is_shown(tmp_path: Path) -> None:
    """A postponed match stays under its id."""
    venue = Azuro()
    venue.add("1006", start=WALL_0 + HOUR)
    async with _open(tmp_path, venue) as (service, _):
        venue.games["1006"]["startsAt"] = str(int(WALL_0 + 72 * HOUR))
        await pass_to(150.0)
        (match,) = [entry.match for entry in service.entries("azuro")]

    assert int(WALL_0 + 72 * HOUR) == match.start_time


@pytest.mark.parametrize("broken", [HTML, serving(b'{"games": ['), hanging, dropping, serving(b"", 500)])
@pytest.mark.parametrize("state", ["Prematch", "Live"])
async def test_list_that_is_not_read_to_its_end_shows_nothing(
    tmp_path: Path, broken: Answer, state: str
) -> None:
    """Both states are needed, before anything is shown."""
    venue = Azuro()
    venue.add("1006", start=WALL_0 + HOUR)

    async def answer(request: httpx2.Request) -> httpx2.Response:
        is_broken = request.url.params.get("gameState") == state
        return await (broken if is_broken else venue.answer)(request)

    async with configured(tmp_path, CONFIG, web=Web(answer)) as service:
        await pass_to(200.0)

        assert {} == _odds(service)


async def test_game_that_kicks_off_between_two_lists_stays(tmp_path: Path) -> None:
    """It is in the list of those before the match, then in that of those in play."""
    venue = Azuro()
    venue.add("1006", start=WALL_0 + HOUR)

    async def answer(request: httpx2.Request) -> httpx2.Response:
        answered = await venue.answer(request)
        if request.url.params.get("gameState") == "Prematch":
            venue.games["1006"]["state"] = "Live"
        return answered

    async with configured(tmp_path, CONFIG, web=Web(answer)) as service:
        await pass_to(15.0)
        (match,) = [entry.match for entry in service.entries("azuro")]

    assert match.in_play is True


@pytest.mark.parametrize("path", ["games-by-filters", "condition-batch"])
async def test_prices_are_withdrawn_when_answers_stop(tmp_path: Path, path: str) -> None:
    """Odds near a kick-off hold for 30 s, a list of games for 10 minutes."""
    venue = Azuro()
    venue.add("1006", start=WALL_0 + HOUR)
    async with _open(tmp_path, venue) as (service, web):
        web.answers[f"/api/v1/public/market-manager/{path}"] = HTML
        await pass_to(601.0 if path.startswith("games") else 46.0)

        assert {} == _odds(service)


async def test_a_list_holds_from_the_request_for_its_first_page(tmp_path: Path) -> None:
    """What it says may be as old as that, however long its pages take."""
    venue = Azuro()
    venue.add("1006", start=WALL_0 + HOUR)

    async def slow(request: httpx2.Request) -> httpx2.Response:
        answered = await venue.answer(request)
        if request.url.params.get("gameState") == "Prematch":
            await anyio.sleep(15.0)
        return answered

    web = Web(slow)
    async with configured(tmp_path, CONFIG, web=web) as service:
        await pass_to(40.0)
        before = _odds(service)
        web.answers[GAMES] = HTML
        await pass_to(min(_times(web, GAMES)) + 600.0)

        assert ({"1006": SHOWN}, {}) == (before, _odds(service))


async def test_games_that_kicked_off_long_ago_are_not_asked_for(tmp_path: Path) -> None:
    """They are over, whatever the list says."""
    venue = Azuro()
    venue.add("1006", start=WALL_0 - 7 * HOUR)
    async with _open(tmp_path, venue) as (_, web):
        assert [] == _times(web, "condition-batch")


async def test_refusals_for_too_many_requests_pause_everything(tmp_path: Path) -> None:
    """Twice as long each time."""
    venue = Azuro()
    venue.add("1006", start=WALL_0 + HOUR)
    async with _open(tmp_path, venue) as (_, web):
        web.answer = serving(b"", 429)
        await pass_to(200.0)
        times = [at for at in web.asked if at > 15.0]

    assert [10.0, 20.0, 40.0, 80.0] == [round(later - at, 3) for at, later in pairwise(times)][:4]
