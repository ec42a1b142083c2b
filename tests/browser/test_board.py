"""The board in Chromium: prices and their changes, best prices, filters, keyboard, themes, small screen."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.browsing import DERBY, OpenContext, homes, row_of
from tests.support.systems.feed import Fixture, Offered

pytestmark = pytest.mark.browser

NAMES = ("Bet365", "bwin")
EARLY = Fixture("Early Birds", "Grêmio", bet365=(1.5, 4.2, 6.5), time="12:30")
ABROAD = Fixture("FC Süd", "SV Nord", bwin=(3.0, 3.1, 2.5), league="D1")

OVERFLOWING = """() => [...document.querySelectorAll(".price")]
    .filter((cell) => cell.scrollWidth > cell.clientWidth)
    .map((cell) => cell.ariaLabel)"""

UNCOVERED = """() => [...document.querySelectorAll(".when, .who, .top")]
    .filter((cell) => cell.closest(".titles, .match").clientHeight > cell.offsetHeight)
    .map((cell) => cell.textContent)"""


def _price(page: Page, home: str, bookmaker: str, outcome: str) -> Locator:
    name = re.compile(f"^{bookmaker}, {outcome}: ")
    return row_of(page, home).get_by_role("gridcell", name=name)


def test_matches_are_sorted_by_league_and_kick_off(site: Offered, page: Page) -> None:
    """Leagues are sorted by next kick-off, matches by their own; times are local, prices are aligned."""
    site.offer(DERBY, EARLY, ABROAD)
    service = site.start()
    page.goto(service.base)

    expect(page.locator(".body .league-title")).to_have_text(["Premier League (2)", "Bundesliga (1)"])
    expect(homes(page)).to_have_text(["Early Birds", "Home Town", "FC Süd"])
    expect(row_of(page, "Early Birds").locator(".hour")).to_have_text("13:30")
    expect(page.locator("#zone")).to_have_text(re.compile("Europe/Berlin"))
    expect(page.locator(".offer-title")).to_have_text(NAMES)
    expect(row_of(page, "Home Town").locator(".number")).to_have_text(
        ["2.00", "3.40", "3.90", "2.10", "3.30", "3.90"]
    )
    expect(row_of(page, "FC Süd").locator(".number")).to_have_text(["", "", "", "3.00", "3.10", "2.50"])
    expect(page.locator("#simulated")).to_be_hidden()


def test_columns_that_stay_cover_what_runs_behind_them(site: Offered, page: Page) -> None:
    """The columns are as high as their row, in a row of a match and in the row of titles."""
    site.offer(DERBY)
    page.goto(site.start().base)
    expect(row_of(page, "Home Town")).to_be_visible()

    assert [] == page.evaluate(UNCOVERED)


def test_prices_have_one_format(site: Offered, page: Page) -> None:
    """Prices have two decimals, three where needed, and no trailing zeros from 100 on."""
    site.offer(Fixture("Long", "Short", bet365=(1.001, 151.0, 1000.0), bwin=(1.005, 100.5, 999.95)))
    page.goto(site.start().base)

    expect(row_of(page, "Long").locator(".number")).to_have_text(
        ["1.001", "151", "1000", "1.005", "100.5", "999.95"]
    )
    assert [] == page.evaluate(OVERFLOWING)


def test_the_best_price_of_each_outcome_is_marked(site: Offered, page: Page) -> None:
    """Equal best prices are all marked, also for screen readers, and a single offer never is."""
    site.offer(DERBY, EARLY)
    service = site.start()
    page.goto(service.base)

    expect(row_of(page, "Home Town").locator(".best")).to_have_text(["3.40", "3.90", "2.10", "3.90"])
    expect(row_of(page, "Home Town").get_by_role("gridcell", name="best price")).to_have_count(4)
    expect(row_of(page, "Early Birds").locator(".best")).to_have_count(0)


def test_a_changed_price_flashes_and_draws_a_line(site: Offered, page: Page) -> None:
    """A rise and a fall look different, other prices do not flash, and the flash ends after a moment."""
    site.offer(Fixture("Movers", "Shakers", bet365=(2.0, 3.4, 3.9), bwin=(2.1, 3.3, 3.9)))
    service = site.start()
    page.goto(service.base)
    up, down = (_price(page, "Movers", "bwin", what) for what in ("home win", "draw"))
    expect(up).to_have_text("2.10")
    expect(up.locator("path")).to_have_count(0)

    site.offer(Fixture("Movers", "Shakers", bet365=(2.0, 3.4, 3.9), bwin=(2.12, 3.25, 3.9)))

    expect(up).to_have_attribute("data-moved", "up")
    expect(down).to_have_attribute("data-moved", "down")
    expect(page.locator("[data-moved]")).to_have_count(2)
    expect(up).to_have_accessible_name("bwin, home win: 2.12, best price, collected")
    expect(up.locator("path")).to_have_attribute("d", re.compile(r"^M0 9\.0H22\.0V0\.0H44\.0$"))
    expect(page.locator("[data-moved]")).to_have_count(0)


def test_filters_are_kept_in_the_address(site: Offered, page: Page) -> None:
    """Filters by bookmaker, league and text combine and survive a reload, and one button clears them."""
    site.offer(DERBY, EARLY, ABROAD)
    service = site.start()
    page.goto(service.base)
    expect(homes(page)).to_have_count(3)

    page.locator("#which").click()
    page.get_by_role("button", name="Bet365").click()
    page.keyboard.press("Escape")
    expect(homes(page)).to_have_text(["Early Birds", "Home Town"])
    expect(page.locator(".offer-title")).to_have_text(["Bet365"])
    page.get_by_role("combobox", name="League", exact=True).select_option("Premier League")
    page.get_by_label("Search").fill("gremio EARLY")
    expect(homes(page)).to_have_text(["Early Birds"])
    expect(page.locator("#count")).to_have_text("1 of 3 matches")
    asked = {"bookmaker": ["bet365"], "league": [":Premier League"], "q": ["gremio EARLY"]}
    assert asked == parse_qs(urlsplit(page.url).query)

    page.reload()
    expect(homes(page)).to_have_text(["Early Birds"])
    expect(page.locator("#which")).to_contain_text("1 of 2")
    expect(page.locator("#bookmakers [data-bookmaker=bet365]")).to_have_attribute("aria-pressed", "true")
    page.get_by_label("Search").fill("nobody")
    expect(page.locator("#empty")).to_contain_text("No match fits the filter")
    page.get_by_role("button", name="Show everything").click()
    expect(homes(page)).to_have_count(3)
    assert "" == urlsplit(page.url).query


def test_names_are_shown_as_they_are(site: Offered, page: Page) -> None:
    """A team's name is always text, never markup."""
    hostile = "<img src=x onerror=alert(1)>"
    site.offer(Fixture(hostile, "</odds-board>", bet365=(2.0, 3.4, 3.9)))
    service = site.start()
    page.goto(f"{service.base}/?league=<b>&bookmaker=constructor&q=__proto__")
    page.get_by_role("button", name="Show everything").click()

    expect(homes(page)).to_have_text([hostile])
    assert 0 == page.locator("img, odds-board b").count()


def test_everything_can_be_used_with_the_keyboard(site: Offered, page: Page) -> None:
    """A slash goes to the search, Tab to the list, arrows and End through it, with labels."""
    site.offer(DERBY, EARLY, ABROAD)
    service = site.start()
    page.goto(service.base)
    expect(homes(page)).to_have_count(3)
    grid, search = page.get_by_role("grid"), page.get_by_label("Search")

    page.keyboard.press("/")
    expect(search).to_be_focused()
    page.keyboard.press("Tab")
    expect(grid).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".active")).to_contain_text("Early Birds")
    page.keyboard.press("End")
    expect(page.locator(".active")).to_contain_text("FC Süd")
    named = page.locator(".active").get_attribute("id")
    expect(grid).to_have_attribute("aria-activedescendant", str(named))
    expect(grid).to_have_attribute("aria-rowcount", "6")
    expect(page.locator(".active")).to_have_attribute("aria-rowindex", "6")


def test_the_theme_follows_the_system_unless_chosen(site: Offered, context: OpenContext) -> None:
    """A chosen theme is remembered, also if it is the system's; a last click follows the system again."""
    site.offer(DERBY)
    service = site.start()
    page = context(color_scheme="dark").new_page()
    page.goto(service.base)
    root, button = page.locator("html"), page.get_by_role("button", name="Theme")
    expect(root).to_have_attribute("data-theme", "dark")
    expect(button).to_have_text("Auto")

    button.click()
    page.reload()
    expect(root).to_have_attribute("data-theme", "light")
    expect(page.locator("body")).to_have_css("background-color", "rgb(247, 247, 245)")
    button.click()
    page.emulate_media(color_scheme="light")
    expect(root).to_have_attribute("data-theme", "dark")
    button.click()
    button.click()
    expect(button).to_have_text("Auto")
    expect(root).to_have_attribute("data-theme", "light")


def test_a_phone_shows_cards_that_open_into_all_bookmakers(site: Offered, context: OpenContext) -> None:
    """A card has the best prices, and opens into a line for each bookmaker that offers the match."""
    site.offer(DERBY, ABROAD)
    service = site.start()
    page = context(viewport={"width": 360, "height": 740}, is_mobile=True, has_touch=True).new_page()
    page.goto(service.base)
    derby = row_of(page, "Home Town")

    expect(page.locator("odds-board")).to_have_attribute("data-layout", "stacked")
    expect(derby.locator(".top-figure")).to_have_text(["2.10", "3.40", "3.90"])
    expect(derby.locator(".top-where")).to_have_text(["bwin", "Bet365", "Bet365 +1"])
    expect(page.locator(".offer-name:visible")).to_have_count(0)
    derby.get_by_role("button", name="2 bookmakers").click()
    expect(derby.locator(".offer-name:visible")).to_have_text(NAMES)
    row_of(page, "FC Süd").get_by_role("button", name="1 bookmaker").click()
    expect(row_of(page, "FC Süd").locator(".offer-name:visible")).to_have_text(["bwin"])
    row_of(page, "FC Süd").locator(".hour").click(trial=True)  # fails if another element covers the hour
    widths = page.evaluate("[...document.querySelectorAll('body, odds-board')].map((e) => e.scrollWidth)")
    assert [360, 360] == widths


def test_collected_prices_have_a_notice(site: Offered, page: Page) -> None:
    """Prices of a file are not shown as live, even while the file is confirmed."""
    site.offer(DERBY)
    page.goto(site.start().base)

    expect(page.locator("#collected")).to_have_text(
        "All prices here were collected earlier. They may have changed since."
    )
    expect(page.locator("#bookmakers .state")).to_have_text(["collected", "collected"])
