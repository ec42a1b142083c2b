"""The board of a service on Polymarket, in virtual time: requests, matches, and when matches leave."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import anyio
import httpx2
import pytest

from actors.core.messages import BookmakerId, Scope
from actors.markets.market import Kind
from tests.support.builders.polymarket import SOME, league_row
from tests.support.builders.polymarket_lines import BTTS
from tests.support.peers.polymarket import CONFIG, Listed, Polymarket
from tests.support.peers.web import serving
from tests.support.systems.venue import HOUR, counted, having, odds, opened
from tests.support.systems.virtual_service import pass_to
from tests.support.time.virtual import WALL_0

pytestmark = pytest.mark.anyio

DAY = 24 * HOUR
SHOWN = (2.0, 3.5714, 4.0)
_odds = partial(odds, bookmaker="polymarket")
HTML = serving(b"<html>blocked</html>")


async def test_prices_are_of_the_time_of_the_newest_book(tmp_path: Path) -> None:
    """The venue's event says whether the match is in play."""
    venue = Polymarket()
    listed = venue.add("101", start=WALL_0 + HOUR, live=True)
    listed.books["away"] = {"timestamp": "1783961277158"}
    async with opened(tmp_path, venue) as (service, _):
        (match,) = [entry.match for entry in service.entries("polymarket")]

    assert (1783961277.158, True) == (match.source_time, match.in_play)


async def test_cursor_that_repeats_makes_no_list(tmp_path: Path) -> None:
    """A list whose pages go in a circle withdraws nothing: the matches read before it stay."""
    venue = Polymarket(page_size=3)
    venue.add("101", start=WALL_0 + HOUR)
    async with opened(tmp_path, venue) as (service, web):
        circle = venue.page({"tag_id": "82", "sports_market_types": "moneyline", "closed": "false"})
        web.answers["/markets/keyset"] = serving(
            json.dumps({"markets": circle["markets"][:2], "next_cursor": "x"}).encode()
        )
        await pass_to(400.0)
        error = service.source("polymarket").scopes[Scope("epl-markets")].last_error

        assert {"101": SHOWN} == _odds(service)
    assert "does not end" in str(error)


@pytest.mark.parametrize("others", [0, 1])
async def test_answer_that_was_under_way_is_read_by_the_newest_list(tmp_path: Path, others: int) -> None:
    """If books were asked for before a list, they do not restore a match that this list lacks."""
    venue = Polymarket()
    for number in range(1 + others):
        venue.add(f"10{number}", start=WALL_0 + HOUR)

    async def answer(request: httpx2.Request) -> httpx2.Response:
        answered = await venue.answer(request)
        if request.url.path == "/books" and 290.0 < anyio.current_time() < 300.0:
            venue.matches.pop("100", None)
            await anyio.sleep(302.5 - anyio.current_time())
        elif request.url.path == "/books" and anyio.current_time() > 302.0:
            await anyio.sleep(1.0)  # books that the newest list asks for come later
        return answered

    async with opened(tmp_path, venue, answer=answer, until=289.0) as (service, _):
        before = len(_odds(service))
        await pass_to(303.0)

        assert (1 + others, others) == (before, len(_odds(service)))


async def test_venue_whose_last_match_is_over_is_not_live_for_ever(tmp_path: Path) -> None:
    """When no answer comes any more, nothing confirms the empty list after a quarter of an hour."""
    venue, states = Polymarket(), []
    venue.add("101", start=WALL_0 + HOUR)
    async with opened(tmp_path, venue) as (service, web):
        del venue.matches["101"]
        for end in (330.0, 1300.0):
            await pass_to(end)
            states.append((await service.state("polymarket"), len(_odds(service))))
        web.answer = HTML
        await pass_to(2300.0)

        assert set() == service.serving()
    assert [("live", 0)] * 2 == states


async def test_listed_matches_that_are_not_shown_are_counted(tmp_path: Path) -> None:
    """Matches are counted by reason, also in a league for which no prices are asked for."""
    venue = Polymarket()
    venue.leagues.append(league_row("lal", 780))
    venue.add("101", start=WALL_0 + HOUR)
    venue.add("102", start=WALL_0 - 48 * HOUR)
    venue.add("103", start=WALL_0 + 20 * DAY)
    venue.add("104", start=WALL_0 - 6.5 * HOUR, tag="780")
    venue.add("105", start=WALL_0 + HOUR, asks={**SOME, "home": (("0.62", "900"),)})
    async with opened(tmp_path, venue) as (service, _):
        assert {"101": SHOWN} == _odds(service)
        assert {"ahead": 1, "book_sum": 1, "past": 2} == counted(service, "polymarket")


@pytest.mark.parametrize("period", ["FT", "VFT", "ft", "FT OT", "ET", "AET", "PEN"])
async def test_period_after_the_90_minutes_ends_a_match(tmp_path: Path, period: str) -> None:
    """Bets are on the 90 minutes alone; before and during them a match is shown."""
    venue = Polymarket()
    for number, played in enumerate(("NS", "1H", "HT", "2H", None)):
        venue.add(f"10{number}", start=WALL_0 - HOUR, period=played)
    over = venue.add("200", start=WALL_0 - HOUR)
    async with opened(tmp_path, venue) as (service, _):
        before = _odds(service).keys()
        over.event["period"] = period
        await pass_to(330.0)
        (change,) = [batch for batch in service.published if batch.removals][:1]

        assert {*before} - {"200"} == _odds(service).keys()
    assert ("200", "finished") == (change.removals[0].source_match_id, change.removals[0].reason)


async def test_league_that_does_not_exist_is_named(tmp_path: Path) -> None:
    """The error names the configured league, and the leagues that exist."""
    venue = Polymarket()
    venue.leagues.append(league_row("lal", 780, name="La Liga"))
    async with opened(tmp_path, venue, having(venue.config, 'leagues = ["pel"]')) as (service, _):
        error = service.source("polymarket").scopes[Scope("sports")].last_error

    assert "leagues was pel, must be among epl, lal" in str(error)


async def test_every_league_of_football_is_asked_by_its_own_tag(tmp_path: Path) -> None:
    """Tags that several leagues share, and tags of other sports, are not asked for."""
    venue = Polymarket()
    venue.leagues += [
        league_row("lal", 780, name="La Liga 2025", tags="1, 780,306,100350", primaryTagId=306),
        league_row("sea", 101, tags="1,101,306,100350"),
        league_row("nba", 745, tags="1,745,100639"),
        league_row("all", 1, tags="1,100350"),
    ]
    venue.add("101", start=WALL_0 + HOUR, tag="780")
    async with opened(tmp_path, venue) as (service, web):
        tags = {request.url.params["tag_id"] for request in web.requests if "tag_id" in request.url.params}
        (match,) = [entry.match for entry in service.entries("polymarket")]

    assert ({"82", "780", "101"}, "La Liga") == (tags, match.league)


TEXT = having(CONFIG, 'markets = ["1x2", "over_under", "asian_handicap", "btts"]')
_shown = partial(odds, bookmaker="polymarket")
EVEN = (1.923, 1.923)
RESULT = (2.0, 3.5714, 4.0)
EVERY_LINE = {
    "101": RESULT,
    "101 over_under:1.5": EVEN,
    "101 over_under:2.5": EVEN,
    "101 asian_handicap:-1.5": EVEN,
    "101 asian_handicap:1.5": (1.8181, 2.0833),
    "101 btts": EVEN,
}


def _venue() -> tuple[Polymarket, Listed]:
    venue = Polymarket()
    listed = venue.add("101", start=WALL_0 + HOUR)
    for line in (1.5, 2.5):
        listed.line("totals", line)
    listed.line("spreads", -1.5, "home")
    first, second = listed.line("spreads", -1.5, "away")
    listed.line_asks |= {first: (("0.48", "1000"),), second: (("0.55", "1000"),)}
    listed.line(BTTS)
    listed.line("first_half_totals", 0.5)
    return venue, listed


async def test_lines_are_shown_beside_the_result(tmp_path: Path) -> None:
    """The lines have the id of the match, and its names, fee, page and least stake."""
    venue, _ = _venue()
    async with opened(tmp_path, venue, TEXT, until=6.0) as (service, _):
        board = service.system.markets.published[Kind.ASIAN_HANDICAP].newest
        entries = [entry for book in board.books.values() for each in book.chunks for entry in each.entries]
        lines = {entry.match.listing for entry in entries}
        terms = {(entry.match.fee_rate, entry.match.max_stake, entry.match.url) for entry in entries}
        (result,) = [entry.match for entry in service.entries("polymarket")]

        assert EVERY_LINE == _shown(service)
    assert {result.listing} == lines
    assert {(0.03, 10.0, result.url)} == terms


@pytest.mark.parametrize(
    ("config", "types", "shown"),
    [
        (CONFIG, {"", "moneyline"}, {"101": RESULT}),
        (TEXT, {"", "moneyline", "totals", "spreads", BTTS}, EVERY_LINE),
    ],
    ids=["results alone", "every kind"],
)
async def test_each_type_is_asked_for_by_its_name(
    tmp_path: Path, config: str, types: set[str], shown: dict[str, tuple[float, ...]]
) -> None:
    """Look-alikes that come nevertheless are counted by their type."""
    venue, _ = _venue()
    async with opened(tmp_path, venue, config, until=12.0) as (service, web):
        found = {request.url.params.get("sports_market_types", "") for request in web.requests}
        counted = service.system.status.bookmakers[BookmakerId("polymarket")].rejected

        assert shown == _shown(service)
        assert (counted["first_half_totals"] > 0) == (config is TEXT)
    assert types == found


async def test_match_that_is_over_takes_its_lines_along(tmp_path: Path) -> None:
    """The lines leave although their own event does not say that it is over."""
    venue, listed = _venue()
    async with opened(tmp_path, venue, TEXT, until=6.0) as (service, _):
        listed.event["ended"] = True
        await pass_to(330.0)

        assert {} == _shown(service)


async def test_lines_of_an_event_that_names_no_match_are_found_by_its_address(tmp_path: Path) -> None:
    """If the event names another match, its lines are not shown."""
    venue, listed = _venue()
    venue.add("102", "Other Town", "Other City", start=WALL_0 + HOUR)
    for market, parent in zip(listed.lines, (None, None, 102, "x", 555, None), strict=True):
        market["events"][0] |= {"parentEventId": parent, "id": f"9{listed.lines.index(market)}"}
    async with opened(tmp_path, venue, TEXT, until=6.0) as (service, _):
        shown = {"101 over_under:1.5", "101 over_under:2.5", "101 asian_handicap:1.5"}

        assert {"101", "102", *shown} == {*_shown(service)}
        assert {"outcome": 1, "no_result": 1} == counted(service, "polymarket")


async def test_lists_of_lines_that_fail_cost_no_result(tmp_path: Path) -> None:
    """A list that fails does not affect lines of another type either."""
    venue, _ = _venue()

    async def answer(request: httpx2.Request) -> httpx2.Response:
        is_broken = request.url.params.get("sports_market_types") == "totals"
        return await (serving(b"{") if is_broken else venue.answer)(request)

    async with opened(tmp_path, venue, TEXT, answer=answer, until=30.0) as (service, _):
        assert {name: odds for name, odds in EVERY_LINE.items() if "over" not in name} == _shown(service)


async def test_lines_of_a_match_are_asked_for_together(tmp_path: Path) -> None:
    """A call has 99 tokens at most, and never a part of a match's lines."""
    venue = Polymarket()
    config = having(CONFIG, 'markets = ["over_under"]')
    for number in range(101, 113):
        listed = venue.add(str(number), f"Home {number}", f"Away {number}", start=WALL_0 + HOUR)
        for half in range(9):
            first, second = listed.line("totals", half + 0.5)
            price = 0.9 - 0.09 * half
            listed.line_asks[first] = ((f"{price:.2f}", "9000"),)
            listed.line_asks[second] = ((f"{1.03 - price:.2f}", "9000"),)
    async with opened(tmp_path, venue, config, until=6.0) as (service, _):
        calls = [tokens for tokens in venue.posted if len(tokens[0]) > 5]
        lines = [name for name in _shown(service) if "over_under" in name]

    assert {90, 36} == {*map(len, calls)}
    assert all(len({token[:3] for token in tokens}) * 18 == len(tokens) for tokens in calls)
    assert 108 == len(lines)
