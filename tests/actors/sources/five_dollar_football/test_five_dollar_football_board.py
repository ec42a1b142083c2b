"""The board of a service on 5DollarFootballAPI, in virtual time: which prices are shown, and when."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import anyio
import httpx2
import pytest
from structlog.testing import capture_logs

from actors.core.messages import BookmakerId, Scope
from tests.support.peers.five_dollar_football import (
    API_KEY,
    CONFIG,
    PRICES,
    FiveDollarFootball,
    others,
    result,
)
from tests.support.peers.web import Web, refusing, serving
from tests.support.systems.venue import HOUR, odds, opened
from tests.support.systems.virtual_service import configured, pass_to
from tests.support.time.virtual import WALL_0

pytestmark = pytest.mark.anyio

BOTH = (
    CONFIG.replace("api_key", 'markets = ["1x2", "asian_handicap", "over_under", "btts"]\napi_key')
    + """
[bookmakers.pinnacle]
source = "five"
key = "pinnacle"
"""
)
_odds = partial(odds, bookmaker="bet365")


def _wall() -> float:
    return WALL_0 + anyio.current_time()


def _venue(**options: object) -> FiveDollarFootball:
    return FiveDollarFootball(_wall, **options)  # type: ignore[arg-type]


async def test_matches_are_shown_at_the_newest_price_before_kick_off(tmp_path: Path) -> None:
    """A match is never shown at its opening price, nor at a price that is null."""
    venue = _venue()
    venue.add(7001, start=WALL_0 + HOUR)
    venue.add(7002, "Third", "Fourth", start=WALL_0 + HOUR)
    venue.odds[7002]["bet365"]["1x2"]["closing"] = None
    async with opened(tmp_path, venue) as (service, _):
        assert {"7001": PRICES} == _odds(service)
    assert 0 == venue.refused


@pytest.mark.parametrize("prices", [None, (2.5, 3.1, 2.9)])
async def test_prices_of_before_a_kick_off_end_with_it(
    tmp_path: Path, prices: tuple[float, ...] | None
) -> None:
    """Early prices end whatever comes next: a match in play has prices in play, or none."""
    venue = _venue()
    venue.add(7001, start=WALL_0 + 600.0)
    async with opened(tmp_path, venue) as (service, _):
        await pass_to(599.9)
        before = _odds(service)
        await pass_to(600.1)
        at_once = await service.shown("bet365")
        venue.begin(7001, prices)
        await pass_to(660.0)

        assert ({"7001": PRICES}, []) == (before, at_once)
        assert ({} if prices is None else {"7001": prices}) == _odds(service)


@pytest.mark.parametrize("prices", [None, (2.5, 3.1, 2.9)])
async def test_a_match_that_begins_early_loses_its_prices_of_before(
    tmp_path: Path, prices: tuple[float, ...] | None
) -> None:
    """Early prices leave when the list of matches in play has the match, suspended or not."""
    venue = _venue()
    venue.add(7001, start=WALL_0 + 900.0)
    venue.add(7002, "Third", "Fourth", start=WALL_0 + 900.0)
    async with opened(tmp_path, venue) as (service, _):
        venue.begin(7001, prices)
        await pass_to(120.0)
        shown = {} if prices is None else {"7001": prices}

        assert {**shown, "7002": PRICES} == _odds(service)


async def test_a_price_in_play_is_suspended_where_it_is_null(tmp_path: Path) -> None:
    """The price from before the kick-off is never shown in its place."""
    venue = _venue()
    venue.add(7001, start=WALL_0 - 600.0)
    venue.begin(7001, (1.5, 4.1, 7.5))
    async with opened(tmp_path, venue) as (service, _):
        before = _odds(service)
        venue.begin(7001, None)
        await pass_to(130.0)

        assert ({"7001": (1.5, 4.1, 7.5)}, {}) == (before, _odds(service))


async def test_other_bookmakers_and_markets_are_asked_for_by_match(tmp_path: Path) -> None:
    """The line of a handicap is the home team's; corners, cards and halves are counted by name."""
    venue = _venue(limit=40)
    venue.add(7001, start=WALL_0 + HOUR)
    venue.odds[7001]["bet365"] |= others()
    venue.odds[7001]["pinnacle"] = {"1x2": result((2.2, 3.5, 3.5)), **others(line=-0.75)}
    async with opened(tmp_path, venue, BOTH) as (service, _):
        await pass_to(120.0)
        rejected = service.rejected("pinnacle")

        assert {
            "7001": PRICES,
            "7001 asian_handicap:-0.5": (2.02, 1.82),
            "7001 over_under:2.75": (1.88, 1.96),
            "7001 btts": (1.75, 2.05),
        } == _odds(service)
        assert {"7001": (2.2, 3.5, 3.5), "7001 asian_handicap:-0.75": (2.02, 1.82)}.items() <= odds(
            service, "pinnacle"
        ).items()
    assert {"corners", "cards", "halves"} <= rejected.keys()


async def test_all_markets_in_play_come_with_the_list(tmp_path: Path) -> None:
    """The list of matches in play has all markets of Bet365."""
    venue = _venue(limit=40)
    venue.add(7001, start=WALL_0 - 600.0)
    venue.odds[7001]["bet365"] |= others("inplay")
    venue.begin(7001, (1.5, 4.1, 7.5))
    async with opened(tmp_path, venue, BOTH) as (service, _):
        assert {"7001", "7001 asian_handicap:-0.5", "7001 over_under:2.75", "7001 btts"} == odds(
            service, "bet365"
        ).keys()


async def test_a_price_by_match_is_no_newer_than_what_is_known_of_its_kick_off(tmp_path: Path) -> None:
    """A match begins early without a price in play, so its odds by match do not show that it has begun."""
    venue = _venue(limit=40)
    venue.add(7001, start=WALL_0 + 900.0)
    venue.odds[7001]["pinnacle"] = {"1x2": result((2.2, 3.5, 3.5))}

    async def answer(request: httpx2.Request) -> httpx2.Response:
        return await (refusing if "/fixtures?" in str(request.url) else venue.answer)(request)

    async with opened(tmp_path, venue, BOTH) as (service, web):
        venue.begin(7001, None)
        web.answer, began_mono, since = answer, anyio.current_time(), len(venue.asked)
        vouched = []
        while found := service.entries("pinnacle"):
            book = service.snapshot.books[BookmakerId("pinnacle")]
            vouched.append(book.lists[found[0].scope].confirmed_mono)
            await pass_to(anyio.current_time() + 1.0)
        ended_mono = anyio.current_time()

    assert [url for url in venue.asked[since:] if "/odds?" in url]
    assert max(vouched) <= began_mono
    assert ended_mono - began_mono <= 61.0  # three polls


async def test_a_match_that_was_played_unseen_loses_its_prices_by_match(tmp_path: Path) -> None:
    """The match is moved forward, begins and ends while matches in play cannot be listed."""
    venue = _venue(limit=40)
    venue.add(7001, start=WALL_0 + 30 * HOUR)
    venue.odds[7001]["pinnacle"] = {"1x2": result((2.2, 3.5, 3.5))}

    async def answer(request: httpx2.Request) -> httpx2.Response:
        is_by_match = "/7001/odds?" in str(request.url)
        is_ahead = int(request.url.params.get("start_time", 0)) > _wall()
        is_answered = is_by_match or (is_over and not is_ahead)
        return await (venue.answer if is_answered else refusing)(request)

    is_over, shown = False, []
    async with opened(tmp_path, venue, BOTH) as (service, web):
        before = odds(service, "pinnacle")
        web.answer = answer
        venue.move(7001, WALL_0 + 100.0)
        venue.fixtures[7001]["status"] = "finished"
        await pass_to(760.0)
        is_over = True
        for at in range(840, 1200, 20):
            await pass_to(float(at))
            shown.append(odds(service, "pinnacle"))

    assert {"7001"} == before.keys()
    assert [{}] * len(shown) == shown


async def test_any_price_in_play_tells_that_a_match_has_begun(tmp_path: Path) -> None:
    """The price may be of any bookmaker and market, and may come before a list has the match in play."""
    venue = _venue(limit=40)
    for name in (7001, 7002):
        venue.add(name, f"Home {name}", f"Away {name}", start=WALL_0 + 900.0)
        venue.odds[name]["pinnacle"] = {"1x2": result((2.2, 3.5, 3.5))}
    venue.odds[7001]["bet365"] |= {"corner_line": others("inplay")["corner_line"]}
    async with opened(tmp_path, venue, BOTH) as (service, _):
        assert [["7002"], ["7002"]] == [[*odds(service, of)] for of in ("bet365", "pinnacle")]


async def test_only_the_leagues_that_are_asked_for_are_shown(tmp_path: Path) -> None:
    """The option names leagues by id or by name."""
    venue = _venue()
    venue.add(7001, start=WALL_0 + HOUR)
    venue.add(7002, "Third", "Fourth", start=WALL_0 + HOUR, league={"id": 61, "name": "La Liga"})
    venue.add(7003, "Fifth", "Sixth", start=WALL_0 + HOUR, league={"id": 78, "name": "Bundesliga"})
    config = CONFIG.replace("api_key", 'leagues = [61, "premier league"]\napi_key')
    async with opened(tmp_path, venue, config) as (service, _):
        assert {"7001", "7002"} == _odds(service).keys()


async def test_a_list_that_changes_between_two_pages_loses_no_match(tmp_path: Path) -> None:
    """After each first page one of its matches is moved to a later day, so the next page begins later."""
    venue = _venue(limit=60)
    for name in range(7001, 7131):
        venue.add(name, f"Home {name}", f"Away {name}", start=WALL_0 + HOUR + name)
    async with opened(tmp_path, venue) as (service, _):
        await pass_to(200.0)
        seen = _odds(service).keys()
        venue.changes = [partial(venue.move, moved, WALL_0 + 300 * HOUR) for moved in range(7001, 7011)]
        lost = set()
        for second in range(200, 1400, 5):
            await pass_to(float(second))
            lost |= {*seen} - _odds(service).keys()

        assert 130 == len(seen)
        assert {str(name) for name in range(7001, 7011)} == lost
        assert not venue.changes


async def test_requests_stay_within_the_rate_of_the_key(tmp_path: Path) -> None:
    """The source asks for the key's rate, and keeps it in every window, with all kinds of requests."""
    venue = _venue(limit=30)
    for name in range(7001, 7071):
        venue.add(name, f"Home {name}", f"Away {name}", start=WALL_0 + 1000.0 + 60 * (name - 7000))
        venue.odds[name]["pinnacle"] = {"1x2": result((2.2, 3.5, 3.5))}
    async with opened(tmp_path, venue, BOTH, tick_s=60.0) as (service, _):
        await pass_to(900.0)
        quota = service.source("five").quota

    assert 0 == venue.refused
    assert 18 <= 60 * len(venue.times) / 900.0 <= 30
    assert quota is not None
    assert (24.0, 30.0) == (quota["requests_per_minute"], quota["rate_limit"])


async def test_requests_of_another_program_count(tmp_path: Path) -> None:
    """The other program spends the rest of each window; the source then waits for the next window."""
    venue = _venue(limit=10)
    venue.add(7001, start=WALL_0 + HOUR)

    async def answer(request: httpx2.Request) -> httpx2.Response:
        used = sum(at > _wall() - 60.0 for at in venue.times)
        venue.times += [_wall()] * (venue.limit - 1 - used)
        return await venue.answer(request)

    async with configured(tmp_path, CONFIG, web=Web(answer)) as service:
        await pass_to(600.0)

        assert {"7001": PRICES} == _odds(service)
    assert 0 == venue.refused


@pytest.mark.parametrize(
    ("options", "changed", "scope", "said"),
    [
        ({}, ("invented_key", "another_key"), "status", "status was 401, must be 200: invalid_key"),
        (
            {"has_odds": False, "plan": "free"},
            ("", ""),
            "list.near",
            "not in your plan free: the list of matches of the next two hours (free: five",
        ),
        ({}, ("api_key", "leagues = [4711]\napi_key"), "list.near", "the venue has no league 4711"),
    ],
)
async def test_a_refusal_is_told_in_words(
    tmp_path: Path, options: dict[str, object], changed: tuple[str, str], scope: str, said: str
) -> None:
    """Errors and the log name the refused key, plan or league, and never the key's text."""
    venue = _venue(**options)
    venue.add(7001, start=WALL_0 + HOUR)
    with capture_logs() as logs:
        async with opened(tmp_path, venue, CONFIG.replace(*changed, 1), until=20.0) as (service, _):
            error, asked = service.source("five").scopes[Scope(scope)].last_error or "", len(venue.asked)
            await pass_to(59.0)

            assert {} == _odds(service)
    assert said in error
    assert [entry for entry in logs if entry["event"] in {"source.down", "scope.lost"}]
    assert (
        len(venue.asked) <= asked + 3
    )  # no request is repeated for a minute; some lists were still to be asked for
    assert "fb_live" not in f"{error} {logs}"


@pytest.mark.parametrize("status", [200, 400, 401, 403, 404, 429, 500])
async def test_a_key_that_an_answer_repeats_is_shown_nowhere(tmp_path: Path, status: int) -> None:
    """The key is neither in the log nor in the answers that describe the source."""
    error = {"type": "t", "code": API_KEY, "message": f"{API_KEY} is wrong", "request_id": API_KEY}
    echo = serving(json.dumps({"success": 0, "error": error}).encode(), status, {"X-Key": API_KEY})
    with capture_logs() as logs:
        async with configured(tmp_path, CONFIG, web=Web(echo)) as service:
            await pass_to(200.0)
            told = [(await service.get(path)).body.decode() for path in ("/health", "/monitor")]

    assert "status" in told[0]
    assert "fb_live" not in f"{told} {logs}"


async def test_other_bookmakers_than_those_of_the_plan_are_asked_for_twice_an_hour(tmp_path: Path) -> None:
    """The plan's own odds are shown; a refusal of other bookmakers costs no request for each match."""
    venue = _venue(limit=40, own=("bet365",))
    for name in range(7001, 7009):
        venue.add(name, f"Home {name}", f"Away {name}", start=WALL_0 + 3 * HOUR + name)
    async with opened(tmp_path, venue, BOTH) as (service, _):
        await pass_to(1700.0)
        errors = [each.last_error or "" for each in service.source("five").scopes.values()]

        assert 8 == len(_odds(service))
    assert 2 == len([url for url in venue.asked if "/odds?" in url])
    assert [text for text in errors if "not in your plan pro: odds by match of bet365, pinnacle" in text]
