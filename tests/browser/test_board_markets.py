"""Other markets than 1X2 on the board: the chooser, lines, details, and what a price is compared with."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.support.browsing import NO_STREAM, OpenContext
from tests.support.systems import process
from tests.support.systems.feed import Fixture, Offered
from tests.support.systems.process import Service, service
from tests.support.time.waiting import eventually

pytestmark = pytest.mark.browser

MINUS = "\N{MINUS SIGN}"
MARKETS = 'markets = ["1x2", "over_under", "asian_handicap", "btts", "double_chance"]'
NAMES = ["1X2", "Over/under", "Handicap", "Both teams to score", "Double chance"]
ROME = Fixture("Roma", "Bologna", bet365=(2.0, 3.4, 3.9), bwin=(2.1, 3.3, 3.8), league="I1")
CUT = """() => {
    const marks = [...document.querySelectorAll(".match .top-price")];
    const isOver = (cell) => cell.scrollWidth > cell.clientWidth;
    return [marks.length > 4, marks.filter(isOver).map((cell) => cell.textContent)];
}"""


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Run a simulated board with all kinds of markets for the tests of this file."""
    folder = tmp_path_factory.mktemp("markets")
    with service(process.simulated(folder, matches=30, updates_per_s=5.0, source=MARKETS)) as running:
        eventually(lambda: len(_kinds(running)) == len(NAMES), "it has all kinds of markets")
        yield running


def _markets(running: Service) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = running.get("/api/v2/markets").json().get("markets", [])
    return found


def _kinds(running: Service) -> set[str]:
    return {market["kind"] for market in _markets(running)}


def _line(running: Service, kind: str) -> str:
    """Return the market of this kind that most fixtures have."""
    of_kind = [market for market in _markets(running) if market["kind"] == kind]
    return str(max(of_kind, key=lambda market: market["fixtures_count"])["market"])


def _opened(page: Page, running: Service, query: str = "") -> Page:
    page.goto(f"{running.base}/{query}")
    expect(page.locator(".match .number").first).to_have_text(re.compile(r"^[0-9.]+$"))
    return page


def _titles(page: Page) -> Locator:
    return page.locator(".titles .offer").first.locator(".outcome")


def _market_in(page: Page) -> list[str]:
    return parse_qs(urlsplit(page.url).query).get("market", [])


def test_without_other_markets_nothing_says_that_there_are_any(site: Offered, page: Page) -> None:
    """There is no chooser of markets, and the details show no other markets."""
    site.offer(ROME)
    base = site.start().base
    with page.expect_response("**/api/v2/markets"):
        page.goto(base)
    page.locator(".match").click()
    expect(page.locator("#details-links li")).to_have_count(1)

    for hidden in ("#market", "#line", "#details-others", "#market-legend"):
        expect(page.locator(hidden)).to_be_hidden()
    expect(page.locator("#details-market")).to_have_text("Best prices")


def test_each_kind_can_be_chosen(simulated: Service, page: Page) -> None:
    """The keyboard can choose a kind, too; the kind is in the address, and Back leads to the last kind."""
    _opened(page, simulated)
    market = page.get_by_role("combobox", name="Market", exact=True)
    expect(market.get_by_role("option")).to_have_text(NAMES)

    for name, kind, titles in (
        ("Both teams to score", ["btts"], ["Yes", "No"]),
        ("Double chance", ["double_chance"], ["1X", "12", "X2"]),
        ("1X2", [], ["1", "X", "2"]),
    ):
        market.select_option(name)
        expect(_titles(page)).to_have_text(titles)
        expect(page.locator(".match .number").first).not_to_be_empty()
        expect(page.locator("#connection")).to_contain_text("Live")
        expect(page.get_by_role("combobox", name="Line", exact=True)).to_be_hidden()
        assert kind == _market_in(page)
    page.go_back()
    expect(_titles(page)).to_have_text(["1X", "12", "X2"])
    market.focus()
    page.keyboard.press("Home")
    expect(_titles(page)).to_have_text(["1", "X", "2"])


def test_each_row_has_its_main_line(simulated: Service, page: Page) -> None:
    """Prices are named with their line; the handicap of away is the opposite of the handicap of home."""
    _opened(page, simulated)
    page.get_by_role("combobox", name="Market", exact=True).select_option("Handicap")
    expect(_titles(page)).to_have_text(["1", "2"])
    expect(page.locator(".match .number").first).not_to_be_empty()

    marks = page.locator(".match .top-price")
    expect(marks.first).to_have_attribute("data-outcome", re.compile(rf"^1 (0|[+{MINUS}][0-9.]+)$"))
    home, away = (marks.nth(at).get_attribute("data-outcome") or "" for at in (0, 1))
    opposite = {"+": MINUS, MINUS: "+", "0": "0"}[home[2]] + home[3:]
    assert f"2 {opposite}" == away
    cell = page.get_by_role("gridcell", name=re.compile(rf"^Alder, home {re.escape(home[2:])}: [0-9]"))
    expect(cell.first).to_be_attached()
    assert ["asian_handicap:main"] == _market_in(page)
    page.reload()
    expect(marks.first).to_have_attribute("data-outcome", re.compile("^1 "))


def test_a_line_can_be_chosen(simulated: Service, page: Page) -> None:
    """The chosen line is then the line of every row; a copied address shows the same line."""
    key = _line(simulated, "over_under")
    line = key.partition(":")[2]
    _opened(page, simulated, "?market=over_under:main")

    page.get_by_role("combobox", name="Line", exact=True).select_option(key)
    expect(
        page.locator(f".match .top-price:not([data-outcome='O {line}'], [data-outcome='U {line}'])")
    ).to_have_count(0)
    expect(page.locator(".match .top-price").first).to_have_attribute("data-outcome", f"O {line}")
    assert [key] == _market_in(page)
    page.reload()

    expect(page.get_by_role("combobox", name="Line", exact=True)).to_have_value(key)
    expect(page.get_by_role("combobox", name="Market", exact=True)).to_have_value("over_under:main")


def test_details_have_the_other_markets(simulated: Service, page: Page) -> None:
    """A button shows all prices of another market instead, and the keyboard stays in the details."""
    _opened(page, simulated).locator(".match").last.click()  # a match in play may have decided markets
    others = page.locator("#details-others")
    expect(others.locator("thead th:first-child")).to_have_text(NAMES[1:])

    button = others.get_by_role("button", name=re.compile("^Show all prices of Over.under [0-9.]+$")).first
    line = button.text_content()
    button.click()

    expect(page.locator("#details-market")).to_have_text(f"Best prices: Over/under {line}")
    expect(page.locator("#details-best tbody th").first).to_have_text(f"over {line}")
    expect(page.locator("#details-prices thead th")).to_have_text(
        ["Bookmaker", "Over", "Under", "Changed", "Confirmed"]
    )
    expect(others.locator("thead th").filter(has_text="1X2")).to_have_count(1)
    expect(page.locator("#details")).to_be_focused()
    assert [f"over_under:{line}"] == _market_in(page)


def test_pinned_matches_are_pinned_on_each_market(simulated: Service, page: Page) -> None:
    """A pin belongs to the match, not to its prices."""
    _opened(page, simulated).locator(".match").last.click()
    page.get_by_role("button", name="★ Match").click()
    title = page.locator("#details-title").text_content()

    page.get_by_role("combobox", name="Market", exact=True).select_option("Double chance")

    expect(page.locator(".body .league-title").first).to_contain_text("Pinned (1)")
    expect(page.locator("#details-title")).to_have_text(title or "")


def test_boards_of_two_markets_follow_both(simulated: Service, context: OpenContext) -> None:
    """Each board shows its own prices live; after quick changes the last chosen market is shown."""
    browser = context()
    first, second = (browser.new_page() for _ in range(2))
    _opened(first, simulated)
    _opened(second, simulated, "?market=btts")
    for page, titles in ((first, ["1", "X", "2"]), (second, ["Yes", "No"])):
        expect(_titles(page)).to_have_text(titles)
        expect(page.locator(".number [data-moved], [data-moved]").first).to_be_attached()
        expect(page.locator("#connection")).to_contain_text("Live")

    market = second.get_by_role("combobox", name="Market", exact=True)
    for name in ("1X2", "Handicap", "Both teams to score", "1X2"):
        market.select_option(name)

    expect(_titles(second)).to_have_text(["1", "X", "2"])
    expect(second.locator(".match .number").nth(2)).not_to_be_empty()
    expect(second.locator("#connection")).to_contain_text("Live")


@pytest.mark.parametrize("kind", ["over_under:main", "asian_handicap:main", "double_chance"])
def test_lines_and_prices_fit_on_a_phone(simulated: Service, context: OpenContext, kind: str) -> None:
    """No part of a best price is cut, not even in the longest form of odds."""
    page = context(viewport={"width": 360, "height": 740}).new_page()
    _opened(page, simulated, f"?market={kind}")
    page.evaluate("document.fonts.ready")

    assert [True, []] == page.evaluate(CUT)


@pytest.mark.parametrize("width", [360, 1280])
def test_a_handicap_in_play_says_which_goals_count(
    simulated: Service, context: OpenContext, width: int
) -> None:
    """The row says so beside its line, in place of best prices, and the details say so as well."""
    page = context(viewport={"width": width, "height": 740}).new_page()
    page.add_init_script(NO_STREAM)
    page.route(re.compile("api/v2/fixtures[?]market"), _in_play)
    _opened(page, simulated, "?market=asian_handicap:main")

    row = page.locator(".match").first
    expect(row.locator(".remark")).to_have_text("Only goals after the bet count.")
    expect(row.locator(".top-price").first).to_have_attribute("data-outcome", re.compile("^1 "))
    expect(row.locator(".top-figure")).to_have_text(["", ""])
    expect(row.locator(".best")).to_have_count(0)
    row.click()
    expect(page.locator("#details-margin")).to_contain_text("In play a handicap counts only goals after")


def _in_play(route: Route) -> None:
    answer = route.fetch()
    body = answer.json()
    for fixture in body.get("fixtures", ()):
        fixture |= {"in_play": True, "in_play_rule": "from_now", "best": {"home": None, "away": None}}
    route.fulfill(response=answer, json=body)
