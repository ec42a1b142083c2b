"""Surebets of all markets in one list: its rows, and what a reader can choose and follow."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.browsing import OpenContext
from tests.support.systems.process import Service, service
from tests.support.time.waiting import eventually

pytestmark = pytest.mark.browser

FEED = """
import sys, time

last = None
while True:
    line = open(sys.argv[1]).read()
    print(line if line != last else '{"type":"alive","list":"epl"}', flush=True)
    last = line
    time.sleep(0.2)
"""
CONFIG = """
[server]
drain_s = 0

[surebets]
min_life_s = 0
"""
SOURCE = """
[sources.{name}]
kind = "program"
command = ["{python}", "{feed}", "{listed}"]
markets = ["1x2", "over_under", "asian_handicap", "btts", "double_chance"]

[bookmakers.{name}]
name = "{title}"
source = "{name}"
key = "program"
"""
MINUS = "\N{MINUS SIGN}"
ALL = "?market=any&surebets=1"
ODDS = {
    "alder": {"1x2": (2.5, 3.3, 2.9), "over_under:2.5": (2.08, 1.85), "over_under:3": (2.6, 1.56)},
    "birch": {"1x2": (2.4, 3.4, 3.0), "over_under:2.5": (1.9, 2.02), "over_under:3": (2.45, 1.72)},
}
HANDICAPS = {
    "alder": {"1x2": (1.62, 4.0, 5.3), "asian_handicap:-0.75": (1.92, 2.02)},
    "birch": {"1x2": (1.66, 3.9, 5.2), "asian_handicap:-0.75": (1.84, 2.14)},
}
OUTCOMES = {
    "1x2": ("one", "draw", "two"),
    "over_under": ("over", "under"),
    "asian_handicap": ("home", "away"),
}
WOLVES, UNITED = (
    ("Wolverhampton Wanderers", "Brighton & Hove Albion"),
    ("Manchester United", "Leeds United"),
)


class Feeds:
    """Two bookmakers whose prices a test sets, and a service that lists both bookmakers."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._lists = folder, 0
        self.offer()
        feed = folder / "feed.py"
        feed.write_text(FEED, "utf-8")
        self.config = folder / "all.toml"
        sources = [
            SOURCE.format(
                name=name, title=name.title(), python=sys.executable, feed=feed, listed=folder / name
            )
            for name in ODDS
        ]
        self.config.write_text(CONFIG + "".join(sources), "utf-8")

    def offer(self, **alder: tuple[float, ...]) -> None:
        """List two matches; `alder` replaces prices of bookmaker alder for the first match, by market."""
        for name, usual in ODDS.items():
            first = usual | (
                {key.replace("__", ":"): of for key, of in alder.items()} if name == "alder" else {}
            )
            matches = [_match("m1", WOLVES, first), _match("m2", UNITED, HANDICAPS[name])]
            self._lists += 1
            listed = {"type": "list", "list": "epl", "id": str(self._lists), "matches": matches}
            new = self._folder / f"{name}.new"
            new.write_text(json.dumps(listed), "utf-8")
            new.replace(self._folder / name)


def _match(name: str, teams: tuple[str, str], prices: dict[str, tuple[float, ...]]) -> dict[str, Any]:
    named = {
        market: dict(zip(OUTCOMES[market.partition(":")[0]], odds, strict=True))
        for market, odds in prices.items()
    }
    home, away = teams
    start = "2099-12-05T15:00:00Z"
    about = {
        "match": name,
        "home": home,
        "away": away,
        "league": "England - Premier League",
        "start": start,
    }
    return {**about, "odds": named.pop("1x2"), "markets": named}


@pytest.fixture(scope="module")
def feeds(tmp_path_factory: pytest.TempPathFactory) -> Feeds:
    """Return the prices of both bookmakers."""
    return Feeds(tmp_path_factory.mktemp("feeds"))


@pytest.fixture(scope="module")
def running(feeds: Feeds) -> Iterator[Service]:
    """Run the service for the tests of this file."""
    with service(feeds.config) as running:
        path = "/api/v2/surebets?market=any&weak=1"
        eventually(lambda: running.get(path).json().get("fixtures_count") == 2, "it has the surebets")
        yield running


def _rows(page: Page) -> Locator:
    return page.locator(".match.sure")


def _opened(page: Page, running: Service, query: str = ALL) -> Page:
    page.goto(f"{running.base}/{query}")
    expect(_rows(page)).to_have_count(3)
    return page


def test_each_line_has_a_row_with_its_market_and_weak_ones_are_the_last(
    running: Service, page: Page
) -> None:
    """A surebet of two legs shows no third leg; a weak surebet says its least gain and its usual gain."""
    _opened(page, running)

    expect(page.locator(".of-market")).to_have_text(
        [", Over/under 2.5", f", Handicap {MINUS}0.75", ", Over/under 3"]
    )
    expect(page.locator(".body .league-title")).to_have_text([re.compile("by profit"), re.compile("^Weak")])
    weak = _rows(page).last
    expect(weak.locator(".surebet")).to_have_text("0.00 %")
    expect(weak.locator(".usual")).to_have_text("usually 3.52 %")
    expect(weak.locator(".leg:visible .outcome")).to_have_text(["O 3", "U 3"])
    expect(weak.locator(".stake").first).to_have_text(re.compile(r"^[0-9]+\.[0-9]{2}$"))
    expect(page.locator("#surebet-count")).to_have_text("2")
    expect(page.locator("#count")).to_have_text("3 surebets")


def test_all_markets_are_offered_with_the_surebets_alone(running: Service, page: Page) -> None:
    """Back leads to the previous market; without the filter of surebets the market is the usual one."""
    page.goto(running.base)
    market = page.get_by_role("combobox", name="Market", exact=True)
    expect(market.get_by_role("option", name="All markets")).to_have_count(0)
    page.get_by_role("button", name="Surebets").click()
    expect(market.get_by_role("option").first).to_have_text("All markets")

    market.select_option("All markets")
    expect(_rows(page)).to_have_count(3)
    assert page.url.endswith(ALL)
    page.go_back()
    expect(market).to_have_value("1x2")
    page.go_forward()
    expect(_rows(page)).to_have_count(3)
    page.get_by_role("button", name="Surebets").click()
    expect(page.locator(".match:not(.sure)")).to_have_count(2)
    assert "any" not in page.url
    page.goto(f"{running.base}/?market=any")
    expect(page.locator(".match:not(.sure)")).to_have_count(2)


def test_details_are_of_the_line_of_the_row(running: Service, page: Page) -> None:
    """The keyboard opens the details; their address shows the same line, and Back closes them."""
    _opened(page, running)
    page.locator("odds-board").focus()
    for _ in range(2):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")

    expect(page.locator("#details-market")).to_have_text("Best prices: Over/under 2.5")
    expect(page.locator("#details-profit")).to_contain_text("whatever the result")
    expect(page.locator("#details-prices tbody tr")).to_have_count(2)
    expect(page.locator("#details-others")).to_contain_text("All prices")
    expect(page.locator("#details-prices")).to_contain_text("s ago")
    page.reload()
    expect(page.locator("#details-market")).to_have_text("Best prices: Over/under 2.5")
    page.get_by_role("button", name="Show all prices of 1X2").click()
    expect(page.locator("#details-market")).to_have_text("Best prices")
    expect(page.get_by_role("combobox", name="Market", exact=True)).to_have_value("1x2")
    page.go_back()
    expect(page.locator("#details")).to_be_hidden()


WAYS = {
    "back": lambda page: page.go_back(),
    "button": lambda page: page.locator("#close").click(),
    "escape": lambda page: page.keyboard.press("Escape"),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_list_is_of_all_markets_again_after_details_of_another(
    running: Service, page: Page, way: str
) -> None:
    """This holds however the details are closed; Forward leads to the market that they showed."""
    _opened(page, running)
    _rows(page).first.click()
    page.get_by_role("button", name="Show all prices of 1X2").click()
    expect(page.get_by_role("combobox", name="Market", exact=True)).to_have_value("1x2")
    WAYS[way](page)

    expect(page.locator("#details")).to_be_hidden()
    expect(_rows(page)).to_have_count(3)
    assert page.url.endswith(ALL)
    page.go_forward()
    expect(page.locator("#details-market")).to_have_text("Best prices")
    page.go_back()
    expect(_rows(page)).to_have_count(3)


@pytest.mark.parametrize("way", WAYS)
def test_a_market_chosen_beside_details_stays_when_they_are_closed(
    running: Service, page: Page, way: str
) -> None:
    """The market stays as any other filter does."""
    page.goto(running.base)
    page.locator(".match").first.click()
    expect(page.locator("#details-prices tbody tr")).to_have_count(2)
    page.get_by_role("combobox", name="Market", exact=True).select_option("Over/under")
    page.locator("#details").focus()
    WAYS[way](page)

    expect(page.locator("#details")).to_be_hidden()
    expect(page.get_by_role("combobox", name="Market", exact=True)).to_have_value("over_under:main")
    eventually(
        lambda: page.evaluate("location.search") == "?market=over_under%3Amain", "the address has it"
    )


def test_the_details_of_a_weak_surebet_say_when_it_gains_nothing(running: Service, page: Page) -> None:
    """The text on its stakes also says that all of them may come back."""
    _opened(page, running)
    _rows(page).last.click()

    expect(page.locator("#details-profit")).to_contain_text(
        "0.00 % if all stakes come back, 3.52 % after every other result"
    )
    said = re.compile("^Usually returns .*After one result all stakes come back")
    expect(page.locator("#details-returned")).to_have_text(said)


def test_a_line_leaves_alone_and_comes_back(feeds: Feeds, running: Service, page: Page) -> None:
    """When a line leaves the list, the other lines of its match stay."""
    _opened(page, running)
    feeds.offer(**{"over_under__2.5": (1.9, 1.85)})
    expect(page.locator(".of-market")).to_have_text([f", Handicap {MINUS}0.75", ", Over/under 3"])
    feeds.offer(**{"over_under__2.5": (1.9, 1.85), "over_under__3": (2.3, 1.56)})
    expect(page.locator(".of-market")).to_have_text([f", Handicap {MINUS}0.75"])

    feeds.offer()
    expect(_rows(page)).to_have_count(3)


def test_a_surebet_below_the_least_profit_is_none_of_all_either(running: Service, page: Page) -> None:
    """The least profit hides a weak surebet too, because a weak surebet gains nothing for certain."""
    _opened(page, running)
    page.get_by_label("at least").fill("1.5")

    expect(page.locator(".of-market")).to_have_text([", Over/under 2.5"])


@pytest.mark.parametrize(
    ("width", "is_opened"), [(320, False), (390, False), (700, False), (1280, False), (1280, True)]
)
def test_nothing_of_a_row_is_cut(
    running: Service, context: OpenContext, width: int, *, is_opened: bool
) -> None:
    """No market, bookmaker, price, stake or age is cut, and rows do not cover each other."""
    page = _opened(context(viewport={"width": width, "height": 900}).new_page(), running)
    if is_opened:
        _rows(page).first.click()
        expect(page.locator("#details")).to_be_visible()
    cut = page.evaluate(
        """() => [...document.querySelectorAll(".of-market, .leg span, .age span, .gains span")]
            .filter((part) => part.scrollWidth > part.clientWidth + 1 && part.clientWidth > 1
                && getComputedStyle(part).display !== "inline")
            .map((part) => `${part.className} ${part.textContent}`)"""
    )
    tops = page.evaluate(
        """() => [...document.querySelectorAll(".body [aria-rowindex]")]
            .map((row) => row.getBoundingClientRect())
            .toSorted((a, b) => a.top - b.top)
            .map(({ top, bottom }) => [Math.round(top), Math.round(bottom)])"""
    )
    inside = page.evaluate(
        """() => [...document.querySelectorAll(".sure")].flatMap((row) => [...row.querySelectorAll("span")]
            .filter((part) => part.getBoundingClientRect().bottom > row.getBoundingClientRect().bottom + 1)
            .map((part) => part.textContent))"""
    )

    assert ([], []) == (cut, inside)
    assert all(bottom <= top for (_, bottom), (top, _) in pairwise(tops))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
