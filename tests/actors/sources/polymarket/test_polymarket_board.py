"""The board of a service on Polymarket, in virtual time: what is shown, when, and what is not."""

from __future__ import annotations

import json
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
from tests.support.builders.polymarket import SOME, league_row, time_text
from tests.support.peers.polymarket import CONFIG, Polymarket
from tests.support.peers.web import Answer, Web, dripping, dropping, hanging, refusing, serving
from tests.support.systems.virtual_service import VirtualService, configured, pass_to
from tests.support.time.virtual import WALL_0

pytestmark = pytest.mark.anyio

HOUR, DAY = 3600.0, 86400.0
SHOWN = (2.0, 3.5714, 4.0)
HTML = serving(b"<html>blocked</html>", headers={"Content-Type": "text/html"})


@asynccontextmanager
async def _open(
    folder: Path, venue: Polymarket, options: str = ""
) -> AsyncIterator[tuple[VirtualService, Web]]:
    web = Web(venue.answer)
    text = CONFIG.replace("[bookmakers", f"{options}\n[bookmakers", 1)
    async with configured(folder, text, web=web) as service:
        await pass_to(5.0)
        yield service, web


def _odds(service: VirtualService) -> dict[str, tuple[float, float, float]]:
    matches = [entry.match for entry in service.entries("polymarket")]
    return {
        str(match.source_match_id): (match.home_price, match.draw_price, match.away_price)
        for match in matches
    }


async def test_matches_of_a_league_are_shown(tmp_path: Path) -> None:
    """Names, league, kick-off, prices and the time of the newest book come from three kinds of answers."""
    venue = Polymarket()
    listed = venue.add("101", start=WALL_0 + HOUR, live=True)
    listed.books["away"] = {"timestamp": "1783961277158"}
    async with _open(tmp_path, venue) as (service, _):
        (match,) = [entry.match for entry in service.entries("polymarket")]
        state = await service.state("polymarket")

    assert ("Home Town", "Away United", "Premier League") == (match.home, match.away, match.league)
    assert (*SHOWN, int(WALL_0 + HOUR)) == (*_odds(service)["101"], match.start_time)
    assert (1783961277.158, True, "live") == (match.source_time, match.in_play, state)


async def test_pages_are_read_to_the_end_before_anything_is_shown(tmp_path: Path) -> None:
    """Markets of one match may be on several pages, in any order."""
    venue = Polymarket(page_size=2)
    for number in range(4):
        venue.add(f"10{number}", f"Home {number}", f"Away {number}", start=WALL_0 + number * HOUR)
    async with _open(tmp_path, venue) as (service, web):
        pages = [request for request in web.requests if request.url.path == "/markets/keyset"]

        assert dict.fromkeys(venue.matches, SHOWN) == _odds(service)
    assert 6 == len(pages)


@pytest.mark.parametrize(
    "broken",
    [HTML, serving(b'{"markets": ['), hanging, dripping, dropping, refusing, serving(b"", 500)],
    ids=["HTML", "cut", "slow", "dripping", "dropped", "refused", "status"],
)
async def test_list_that_is_not_read_to_its_end_shows_nothing(tmp_path: Path, broken: Answer) -> None:
    """If the second page fails, the first alone is no list of matches."""
    venue = Polymarket(page_size=3)
    venue.add("101", start=WALL_0 + HOUR)
    venue.add("102", start=WALL_0 + HOUR)

    async def answer(request: httpx2.Request) -> httpx2.Response:
        return await (broken if "after_cursor" in request.url.params else venue.answer)(request)

    web = Web(answer)
    async with configured(tmp_path, CONFIG, web=web) as service:
        await pass_to(100.0)
        assert {} == _odds(service)
        web.answer = venue.answer
        await pass_to(460.0)

        assert {"101", "102"} == _odds(service).keys()


async def test_markets_that_cannot_be_read_are_counted(tmp_path: Path) -> None:
    """Also where nothing else of their match can be read."""
    venue = Polymarket()
    odd = venue.add("101", start=WALL_0 + HOUR)
    venue.add("102", start=WALL_0 + HOUR)
    odd.every_market(negRisk="true")
    async with _open(tmp_path, venue) as (service, _):
        now = service.system.status.bookmakers[BookmakerId("polymarket")].rejections.now()

        assert {"102": SHOWN} == _odds(service)
    assert {"unreadable": 3} == {str(reason): found.count for reason, found in now.items()}


async def test_cursor_that_repeats_makes_no_list(tmp_path: Path) -> None:
    """A list whose pages go in a circle withdraws nothing: what was read before still holds."""
    venue = Polymarket(page_size=3)
    venue.add("101", start=WALL_0 + HOUR)
    async with _open(tmp_path, venue) as (service, web):
        circle = venue.page({"tag_id": "82", "sports_market_types": "moneyline", "closed": "false"})
        web.answers["/markets/keyset"] = serving(
            json.dumps({"markets": circle["markets"][:2], "next_cursor": "x"}).encode()
        )
        await pass_to(400.0)
        error = service.source("polymarket").scopes[Scope("epl-markets")].last_error

        assert {"101": SHOWN} == _odds(service)
    assert "does not end" in str(error)


@pytest.mark.parametrize(
    ("event", "market"),
    [
        ({"closed": True}, {}),
        ({"ended": True}, {}),
        ({"period": "FT"}, {}),
        ({"period": "VFT"}, {}),
        ({}, {"closed": True}),
        ({}, {"active": False}),
        ({}, {"acceptingOrders": False}),
        ({}, {"enableOrderBook": False}),
        ({}, {"negRisk": False}),
        ({}, {"acceptingOrders": None}),
        ({}, {"sportsMarketType": "spreads"}),
        ({}, {"groupItemThreshold": "2"}),
        ({}, {"marketMetadata": {"opticOddsSelectionLine": "away"}}),
        ({}, {"groupItemTitle": "Home"}),
        ({}, {"clobTokenIds": "[]"}),
        ({}, {"outcomes": '["Yes", "Maybe"]'}),
        ({"title": "Home Town v Away United"}, {}),
        ({"title": "A vs. B vs. C"}, {}),
        ({"startTime": "soon"}, {}),
    ],
    ids=str,
)
async def test_match_in_any_other_state_leaves(
    tmp_path: Path, event: dict[str, Any], market: dict[str, Any]
) -> None:
    """With the next list of matches it is gone, whatever its books still say; other matches stay."""
    venue = Polymarket()
    changing = venue.add("101", start=WALL_0 + HOUR)
    venue.add("102", start=WALL_0 + HOUR)
    async with _open(tmp_path, venue) as (service, _):
        assert {"101", "102"} == _odds(service).keys()
        changing.event.update(event)
        changing.market("home", **market)
        await pass_to(330.0)

        assert {"102"} == _odds(service).keys()


@pytest.mark.parametrize("others", [0, 1])
async def test_match_that_is_no_longer_listed_leaves(tmp_path: Path, others: int) -> None:
    """Its price does not wait until it is stale, also if it was the only match of its day."""
    venue = Polymarket()
    venue.add("101", start=WALL_0 + HOUR)
    for number in range(others):
        venue.add(f"20{number}", start=WALL_0 + HOUR)
    async with _open(tmp_path, venue) as (service, _):
        del venue.matches["101"]
        await pass_to(306.5)

        assert "101" not in _odds(service)
        assert others == len(_odds(service))


@pytest.mark.parametrize("others", [0, 1])
async def test_answer_that_was_under_way_is_read_by_the_newest_list(tmp_path: Path, others: int) -> None:
    """Books that were asked for before a list say nothing of a match that it has no longer."""
    venue = Polymarket()
    for number in range(1 + others):
        venue.add(f"10{number}", start=WALL_0 + HOUR)

    async def answer(request: httpx2.Request) -> httpx2.Response:
        answered = await venue.answer(request)
        if request.url.path == "/books" and 290.0 < anyio.current_time() < 300.0:
            venue.matches.pop("100", None)
            await anyio.sleep(302.5 - anyio.current_time())
        elif request.url.path == "/books" and anyio.current_time() > 302.0:
            await anyio.sleep(1.0)  # what is asked by the newest list comes later
        return answered

    async with configured(tmp_path, CONFIG, web=Web(answer)) as service:
        await pass_to(289.0)
        before = len(_odds(service))
        await pass_to(303.0)

        assert (1 + others, others) == (before, len(_odds(service)))


async def test_venue_whose_last_match_is_over_is_not_live_for_ever(tmp_path: Path) -> None:
    """When no answer comes any more, nothing vouches for the empty list after a quarter of an hour."""
    venue, states = Polymarket(), []
    venue.add("101", start=WALL_0 + HOUR)
    async with _open(tmp_path, venue) as (service, web):
        del venue.matches["101"]
        for end in (330.0, 1300.0):
            await pass_to(end)
            states.append((await service.state("polymarket"), len(_odds(service))))
        web.answer = HTML
        await pass_to(2300.0)

        assert set() == service.serving()
    assert [("live", 0)] * 2 == states


@pytest.mark.parametrize(
    ("start", "changed", "grade", "not_shown"),
    [
        (None, {}, "pass", {}),
        (-48 * HOUR, {}, "pass", {"past": 1}),
        (20 * DAY, {}, "pass", {"ahead": 1}),
        (-HOUR, {"ended": True}, "pass", {"finished": 1}),
        (HOUR, {"title": "Home Town"}, "warn", {"outcome": 1}),
    ],
)
async def test_venue_that_lists_nothing_to_be_shown_is_live(
    tmp_path: Path, start: float | None, changed: dict[str, Any], grade: str, not_shown: dict[str, int]
) -> None:
    """For as long as it answers; a warning says that it lists what cannot be shown."""
    venue, found = Polymarket(), []
    venue.leagues.append(league_row("lal", 780))
    if start is not None:
        venue.add("101", start=WALL_0 + start).event.update(changed)
    async with _open(tmp_path, venue) as (service, _):
        for end in (6.0, 1300.0):
            await pass_to(end)
            check = msgspec.json.decode((await service.get("/health")).body)["checks"]["polymarket"]
            said = [check[name] for name in ("state", "status", "matches", "not_shown")]
            found.append((said, (await service.get()).status))

    assert [(["live", grade, 0, not_shown], 200)] * 2 == found


async def test_one_league_that_lists_nothing_says_nothing_of_the_others(tmp_path: Path) -> None:
    """Without the prices of those a venue is not live, whatever else it lists."""
    venue = Polymarket()
    venue.leagues.append(league_row("lal", 780))
    venue.add("101", start=WALL_0 + HOUR)
    web = Web(venue.answer)
    web.answers["/books"] = HTML
    async with configured(tmp_path, CONFIG, web=web) as service:
        await pass_to(1000.0)

        assert set() == service.serving()


async def test_listed_matches_that_are_not_shown_are_counted(tmp_path: Path) -> None:
    """By reason, also those of a league of which nothing is asked for."""
    venue = Polymarket()
    venue.leagues.append(league_row("lal", 780))
    venue.add("101", start=WALL_0 + HOUR)
    venue.add("102", start=WALL_0 - 48 * HOUR)
    venue.add("103", start=WALL_0 + 20 * DAY)
    venue.add("104", start=WALL_0 - 6.5 * HOUR, tag="780")
    venue.add("105", start=WALL_0 + HOUR, asks={**SOME, "home": (("0.62", "900"),)})
    async with _open(tmp_path, venue) as (service, _):
        record = service.system.status.bookmakers[BookmakerId("polymarket")]
        book = service.snapshot.books[record.id]

        assert {"101": SHOWN} == _odds(service)
        assert {"ahead": 1, "book_sum": 1, "past": 2} == record.rejections.counts(book.scopes)


@pytest.mark.parametrize("period", ["FT", "VFT", "ft", "FT OT", "ET", "AET", "PEN"])
async def test_period_after_the_90_minutes_ends_a_match(tmp_path: Path, period: str) -> None:
    """Bets are on these alone; before and during them a match is shown."""
    venue = Polymarket()
    for number, played in enumerate(("NS", "1H", "HT", "2H", None)):
        venue.add(f"10{number}", start=WALL_0 - HOUR, period=played)
    over = venue.add("200", start=WALL_0 - HOUR)
    async with _open(tmp_path, venue) as (service, _):
        before = _odds(service).keys()
        over.event["period"] = period
        await pass_to(330.0)
        (change,) = [batch for batch in service.published if batch.removals][:1]

        assert {*before} - {"200"} == _odds(service).keys()
    assert ("200", "finished") == (change.removals[0].source_match_id, change.removals[0].reason)


def _after(web: Web, path: str, second: float) -> list[float]:
    timed = zip(web.asked, web.requests, strict=True)
    return [at for at, request in timed if request.url.path == path and at > second]


@pytest.mark.parametrize(
    "asks",
    [
        {"home": SOME["home"], "draw": SOME["draw"]},
        {**SOME, "away": ()},
        {**SOME, "away": (("0.25", "39.9"),)},
        {**SOME, "away": (("0.25", "1e3"),)},
        {**SOME, "away": (("0.25", "100"), ("-0.1", "100"))},
        {**SOME, "away": (("0.25", "100"), ("1.5", "100"))},
        {"home": (("0.999", "900"),), "draw": (("0.001", "90000"),), "away": (("0.001", "90000"),)},
        {"home": (("0.99", "900"),), "draw": (("0.004", "90000"),), "away": (("0.006", "90000"),)},
        {"home": (("0.99", "900"),), "draw": (("0.99", "900"),), "away": (("0.99", "900"),)},
    ],
    ids=["no book", "no asks", "too little", "power", "negative", "above 1", "settled", "decided", "empty"],
)
async def test_match_without_three_offers_leaves_at_once(tmp_path: Path, asks: dict[str, Any]) -> None:
    """A match near its kick-off is asked for every 5 s."""
    venue = Polymarket()
    changing = venue.add("101", start=WALL_0 + HOUR)
    venue.add("102", start=WALL_0 + HOUR)
    async with _open(tmp_path, venue) as (service, _):
        changing.asks = asks
        await pass_to(11.0)

        assert {"102": SHOWN} == _odds(service)


async def test_kick_off_that_moves_is_shown(tmp_path: Path) -> None:
    """A postponed match stays under its id."""
    venue = Polymarket()
    listed = venue.add("101", start=WALL_0 + HOUR)
    async with _open(tmp_path, venue) as (service, _):
        listed.event["startTime"] = time_text(WALL_0 + 72 * HOUR)
        await pass_to(330.0)
        (match,) = [entry.match for entry in service.entries("polymarket")]

    assert int(WALL_0 + 72 * HOUR) == match.start_time


async def test_book_of_another_market_is_not_taken(tmp_path: Path) -> None:
    """Token and condition of a book must both be those of the question."""
    venue = Polymarket()
    venue.add("101", start=WALL_0 + HOUR).books["home"] = {"market": "0x999"}
    venue.add("102", start=WALL_0 + HOUR)
    async with _open(tmp_path, venue) as (service, _):
        assert {"102"} == _odds(service).keys()


@pytest.mark.parametrize(
    ("hours", "interval_s"), [(-2.4, 5.0), (0.0, 5.0), (1.9, 5.0), (3.0, 30.0), (300.0, 30.0)]
)
async def test_books_are_asked_for_by_nearness_of_kick_off(
    tmp_path: Path, hours: float, interval_s: float
) -> None:
    """From 2 h before a kick-off to 2.5 h after it every 5 s, else every 30 s."""
    venue = Polymarket()
    venue.add("101", start=WALL_0 + hours * HOUR)
    async with _open(tmp_path, venue) as (_, web):
        await pass_to(200.0)
        times = _after(web, "/books", 0.0)

    assert {interval_s} == {round(later - at, 3) for at, later in pairwise(times)}


@pytest.mark.parametrize("start", [WALL_0 + 14.1 * DAY, WALL_0 - 6.1 * HOUR])
async def test_matches_beyond_the_horizon_are_not_asked_for(tmp_path: Path, start: float) -> None:
    """Neither those after 14 days, nor those that must be over."""
    venue = Polymarket()
    venue.add("101", start=start)
    async with _open(tmp_path, venue) as (_, web):
        assert [] == _after(web, "/books", 0.0)


async def test_a_call_has_at_most_99_tokens(tmp_path: Path) -> None:
    """More matches of a day are asked for in several calls, and each list is complete by itself."""
    venue = Polymarket()
    for number in range(100, 180):
        venue.add(str(number), f"Home {number}", f"Away {number}", start=WALL_0 + HOUR)
    async with _open(tmp_path, venue) as (service, _):
        sizes = sorted(map(len, venue.posted[:3]))

        assert venue.matches.keys() == _odds(service).keys()
    assert [42, 99, 99] == sizes


async def test_without_a_list_of_matches_nothing_is_shown_after_15_minutes(tmp_path: Path) -> None:
    """Names and states come only from there, however fresh the books are."""
    venue = Polymarket()
    venue.add("101", start=WALL_0 + HOUR)
    async with _open(tmp_path, venue) as (service, web):
        web.answers["/markets/keyset"] = HTML
        await pass_to(880.0)
        before = _odds(service)
        await pass_to(901.0)

        assert ({"101": SHOWN}, {}) == (before, _odds(service))


async def test_a_list_holds_from_the_request_for_its_first_page(tmp_path: Path) -> None:
    """What it says may be as old as that, however long its pages take."""
    venue = Polymarket(page_size=2)
    venue.add("101", start=WALL_0 + HOUR)

    async def slow(request: httpx2.Request) -> httpx2.Response:
        answered = await venue.answer(request)
        if request.url.path == "/markets/keyset" and "after_cursor" not in request.url.params:
            await anyio.sleep(15.0)
        return answered

    web = Web(slow)
    async with configured(tmp_path, CONFIG, web=web) as service:
        await pass_to(40.0)
        before = _odds(service)
        web.answers["/markets/keyset"] = HTML
        await pass_to(min(_after(web, "/markets/keyset", 0.0)) + 900.0)

        assert ({"101": SHOWN}, {}) == (before, _odds(service))


@pytest.mark.parametrize("broken", [HTML, serving(b"[", 200), serving(b"{}"), hanging, serving(b"", 502)])
async def test_prices_are_withdrawn_when_books_stop(tmp_path: Path, broken: Answer) -> None:
    """Near a kick-off prices hold for 15 s."""
    venue = Polymarket()
    venue.add("101", start=WALL_0 + HOUR)
    async with _open(tmp_path, venue) as (service, web):
        web.answers["/books"] = broken
        await pass_to(25.0)

        assert {} == _odds(service)


@pytest.mark.parametrize(
    ("headers", "pauses"), [({}, [5.0, 10.0, 20.0, 40.0]), ({"Retry-After": "120"}, [120.0, 120.0])]
)
async def test_refusals_for_too_many_requests_pause_everything(
    tmp_path: Path, headers: dict[str, str], pauses: list[float]
) -> None:
    """For as long as the venue says, else twice as long each time."""
    venue = Polymarket()
    venue.add("101", start=WALL_0 + HOUR)
    async with _open(tmp_path, venue) as (_, web):
        web.answer, web.answers = serving(b"", 429, headers), {}
        await pass_to(250.0)
        times = [at for at in web.asked if at > 5.0]

    gaps = [later - at for at, later in pairwise(times)]
    assert pauses == [round(gap, 3) for gap in gaps[: len(pauses)]]


async def test_league_that_does_not_exist_is_named(tmp_path: Path) -> None:
    """An error names what is configured, and what there is."""
    venue = Polymarket()
    venue.leagues.append(league_row("lal", 780, name="La Liga"))
    async with _open(tmp_path, venue, 'leagues = ["pel"]') as (service, _):
        error = service.source("polymarket").scopes[Scope("sports")].last_error

    assert "leagues was pel, must be among epl, lal" in str(error)


async def test_every_league_of_football_is_asked_by_its_own_tag(tmp_path: Path) -> None:
    """Tags that several leagues have, and leagues of other sports, are not asked for."""
    venue = Polymarket()
    venue.leagues += [
        league_row("lal", 780, name="La Liga 2025", tags="1, 780,306,100350", primaryTagId=306),
        league_row("sea", 101, tags="1,101,306,100350"),
        league_row("nba", 745, tags="1,745,100639"),
        league_row("all", 1, tags="1,100350"),
    ]
    venue.add("101", start=WALL_0 + HOUR, tag="780")
    async with _open(tmp_path, venue) as (service, web):
        tags = {request.url.params["tag_id"] for request in web.requests if "tag_id" in request.url.params}
        (match,) = [entry.match for entry in service.entries("polymarket")]

    assert ({"82", "780", "101"}, "La Liga") == (tags, match.league)
