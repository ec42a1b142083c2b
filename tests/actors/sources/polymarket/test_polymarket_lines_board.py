"""The lines of a service on Polymarket, in virtual time: what is asked for, shown, and when it leaves."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import httpx2
import pytest

from actors.core.messages import BookmakerId
from actors.markets.market import Kind
from tests.support.builders.polymarket_lines import BTTS
from tests.support.peers.polymarket import CONFIG, Listed, Polymarket
from tests.support.peers.web import serving
from tests.support.systems.venue import HOUR, counted, having, odds, opened
from tests.support.systems.virtual_service import pass_to
from tests.support.time.virtual import WALL_0

pytestmark = pytest.mark.anyio

TEXT = having(CONFIG, 'markets = ["1x2", "over_under", "asian_handicap", "btts"]')
_shown = partial(odds, bookmaker="polymarket")
EVEN = (1.923, 1.923)
RESULT = (2.0, 3.5714, 4.0)
SHOWN = {
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
    """Under the id of the match, with its names, fee, page and least stake."""
    venue, _ = _venue()
    async with opened(tmp_path, venue, TEXT, until=6.0) as (service, _):
        board = service.system.markets.published[Kind.ASIAN_HANDICAP].newest
        entries = [entry for book in board.books.values() for each in book.chunks for entry in each.entries]
        lines = {entry.match.listing for entry in entries}
        terms = {(entry.match.fee_rate, entry.match.max_stake, entry.match.url) for entry in entries}
        (result,) = [entry.match for entry in service.entries("polymarket")]

        assert SHOWN == _shown(service)
    assert {result.listing} == lines
    assert {(0.03, 10.0, result.url)} == terms


async def test_without_the_option_results_alone_are_asked_for(tmp_path: Path) -> None:
    """And with it the same of them."""
    venue, _ = _venue()
    async with opened(tmp_path, venue, until=6.0) as (service, web):
        types = {request.url.params.get("sports_market_types", "") for request in web.requests}

        assert {"101": RESULT} == _shown(service)
    assert {"", "moneyline"} == types
    assert {3} == {*map(len, venue.posted)}


async def test_each_type_is_asked_for_by_its_name(tmp_path: Path) -> None:
    """Look-alikes that come all the same are counted by theirs."""
    venue, _ = _venue()
    async with opened(tmp_path, venue, TEXT, until=6.0) as (service, web):
        types = {request.url.params.get("sports_market_types", "") for request in web.requests}
        await pass_to(12.0)
        counted = service.system.status.bookmakers[BookmakerId("polymarket")].rejected

        assert counted["first_half_totals"] > 0
    assert {"", "moneyline", "totals", "spreads", BTTS} == types


async def test_match_that_is_over_takes_its_lines_along(tmp_path: Path) -> None:
    """Though their own event does not say so."""
    venue, listed = _venue()
    async with opened(tmp_path, venue, TEXT, until=6.0) as (service, _):
        listed.event["ended"] = True
        await pass_to(330.0)

        assert {} == _shown(service)


async def test_lines_of_an_event_that_names_no_match_are_found_by_its_address(tmp_path: Path) -> None:
    """If it names another match, they are not shown."""
    venue, listed = _venue()
    venue.add("102", "Other Town", "Other City", start=WALL_0 + HOUR)
    for market, parent in zip(listed.lines, (None, None, 102, "x", 555, None), strict=True):
        market["events"][0] |= {"parentEventId": parent, "id": f"9{listed.lines.index(market)}"}
    async with opened(tmp_path, venue, TEXT, until=6.0) as (service, _):
        shown = {"101 over_under:1.5", "101 over_under:2.5", "101 asian_handicap:1.5"}

        assert {"101", "102", *shown} == {*_shown(service)}
        assert {"outcome": 1, "no_result": 1} == counted(service, "polymarket")


async def test_lists_of_lines_that_fail_cost_no_result(tmp_path: Path) -> None:
    """Nor do those of another type."""
    venue, _ = _venue()

    async def answer(request: httpx2.Request) -> httpx2.Response:
        is_broken = request.url.params.get("sports_market_types") == "totals"
        return await (serving(b"{") if is_broken else venue.answer)(request)

    async with opened(tmp_path, venue, TEXT, answer=answer, until=30.0) as (service, _):
        assert {name: odds for name, odds in SHOWN.items() if "over" not in name} == _shown(service)


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
