"""The board in Chromium: first sight, days, leagues, pins, settings, and how odds are written."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, Route, expect

from tests.support.browsing import NO_STREAM, OWN_STREAM, Complaints, OpenContext, homes
from tests.support.systems.feed import Fixture, Offered

pytestmark = pytest.mark.browser

ROME = Fixture("Roma", "Bologna", bet365=(2.0, 3.4, 3.9), bwin=(2.1, 3.3, 3.8), league="I1")
SECOND = Fixture("Bari", "Pisa", bet365=(2.4, 3.1, 3.2), league="I2", time="12:30")
DERBY = Fixture("Arsenal", "Chelsea", bet365=(1.9, 3.6, 4.2), bwin=(1.95, 3.5, 4.0), time="17:30")
LAYER = """(element, part) => {
    const { zIndex, borderTopWidth } = getComputedStyle(element, part);
    return { layer: zIndex, border: borderTopWidth };
}"""
FRAME_AND_CELL = ((".active", "::after"), (".active .who", None))
OVERFLOWING = """() => [...document.querySelectorAll(".price, .top-figure")]
    .filter((cell) => cell.scrollWidth > cell.clientWidth)
    .map((cell) => cell.textContent)"""
AT_ONCE = """() => {
    window.seen = [];
    const label = document.getElementById("connection");
    new MutationObserver(() => {
        const prices = [...document.querySelectorAll(".match .number, .match .top-figure")];
        seen.push([label.textContent, [...new Set(prices.map((price) => price.textContent))]]);
    }).observe(label, { characterData: true, childList: true, subtree: true });
}"""
SIDES = """(title) => [...title.children].map((part) => part.getBoundingClientRect().left)"""


def _opened(site: Offered, page: Page, *fixtures: Fixture, query: str = "") -> str:
    site.offer(*fixtures)
    base = site.start().base
    page.goto(f"{base}/{query}")
    expect(homes(page)).to_have_count(len(fixtures))
    return base


def test_what_is_being_played_comes_first(site: Offered, page: Page) -> None:
    """A tab in the address shows matches in play alone; elsewhere the row says that its match started."""
    page.add_init_script(OWN_STREAM)  # a shared worker would use the real time
    page.clock.install(time="2099-05-02T14:30:00Z")
    base = _opened(site, page, ROME, DERBY)
    expect(page.locator(".body .league-title")).to_have_text(
        ["In play (1)", "England \N{MIDDLE DOT} Premier League (1)"]
    )
    expect(page.locator(".match .day").first).to_have_text("Serie A")

    page.get_by_role("button", name="In play 1").click()

    expect(homes(page)).to_have_text(["Roma"])
    assert f"{base}/?day=now" == page.url
    expect(page.locator(".match .day")).to_have_text("Serie A")
    page.get_by_role("button", name="Pin Roma").click()
    expect(page.locator(".match .day")).to_have_text("started · Serie A")


@pytest.mark.parametrize("file", ["main.js", "first.js", "board-page.css"])
def test_a_file_that_cannot_be_loaded_is_said_and_tried_again(
    site: Offered, page: Page, complaints: Complaints, file: str
) -> None:
    """The page is loaded again only when the file is there."""
    complaints.expected = ("503", "Failed to load", "dynamically imported", "MIME")
    failing = [True]

    def answer(route: Route) -> None:
        if failing:
            route.fulfill(status=503, json={"code": "overloaded"})
        else:
            route.continue_()

    site.offer(ROME)
    page.route(f"**/static/{file}", answer)
    page.goto(site.start().base)
    said = page.get_by_role("alert")
    expect(said).to_contain_text("could not be loaded")
    with page.expect_response(f"**/static/{file}"):
        page.get_by_role("button", name="Try again").click()
    expect(said).to_be_visible()

    failing.clear()
    page.get_by_role("button", name="Try again").click()

    expect(homes(page)).to_have_text(["Roma"])
    expect(said).to_have_count(0)


def test_without_scripts_the_page_says_what_there_is(site: Offered, context: OpenContext) -> None:
    """Controls that would not work without scripts are hidden."""
    site.offer(ROME)
    page = context(java_script_enabled=False).new_page()
    page.goto(site.start().base)

    expect(page.locator("noscript h2")).to_be_visible()
    expect(page.locator("noscript a").first).to_have_attribute("href", "api/v2/fixtures")
    for name in ("#connection", "#text", "#tools", "odds-board"):
        expect(page.locator(name)).to_be_hidden()


def test_a_filter_is_undone_by_back(site: Offered, page: Page) -> None:
    """Each filter is one step of the history; text that is typed without a pause is one step."""
    base = _opened(site, page, ROME, DERBY)
    page.get_by_role("button", name="Surebets").click()
    expect(page.locator("#empty")).to_contain_text("No surebet")
    page.go_back()
    expect(homes(page)).to_have_count(2)
    page.get_by_label("Search").press_sequentially("roma", delay=200)
    expect(homes(page)).to_have_text(["Roma"])

    page.go_back()

    expect(homes(page)).to_have_count(2)
    expect(page.get_by_label("Search")).to_have_value("")
    assert f"{base}/" == page.url


def test_a_copied_link_shows_the_same_order_and_odds(site: Offered, context: OpenContext) -> None:
    """A reader with other settings sees the sender's order and odds, and keeps these other settings."""
    page = context().new_page()
    _opened(site, page, ROME, DERBY)
    page.get_by_role("combobox", name="Sort").select_option("By time")
    page.get_by_role("button", name="Settings").click()
    page.get_by_role("combobox", name="Odds", exact=True).select_option("Fractional")
    assert {"by": ["time"], "odds": ["fractional"]} == parse_qs(urlsplit(page.url).query)

    other = context().new_page()
    other.goto(page.url)

    expect(other.locator(".body .league-title")).to_have_text(["2 May 2099 (2)"])
    expect(other.locator(".top-figure").first).to_have_text("11/10")
    other.get_by_role("button", name="Pin Roma").click()
    other.goto(site.start().base)
    expect(other.locator(".top-figure").first).to_have_text("2.10")
    expect(other.get_by_role("combobox", name="Sort")).to_have_value("league")


def test_the_count_stands_behind_the_name_of_a_league(site: Offered, page: Page) -> None:
    """The count also stands behind a name that is written from right to left."""
    _opened(site, page, ROME)

    def answer(route: Route) -> None:
        body = route.fetch().json()
        body["fixtures"][0].update(league="ליגת העל", league_id="isr.1", country=None)
        route.fulfill(json=body)

    page.add_init_script(NO_STREAM)
    page.route("**/api/v2/fixtures", answer)
    page.reload()

    title = page.locator(".body .league-title")
    expect(title).to_have_text("ליגת העל (1)")
    expect(title.locator("bdi")).to_have_text("ליגת העל")
    name, number = title.evaluate(SIDES)
    assert name < number


def test_old_prices_go_in_the_same_frame_in_which_they_are_called_old(
    site: Offered, context: OpenContext
) -> None:
    """After a sleep, no frame says that there is no connection and still shows a price."""
    page = context().new_page()
    page.add_init_script(OWN_STREAM)
    page.clock.install(time="2099-05-02T10:00:00Z")
    _opened(site, page, ROME)
    expect(page.locator("#connection")).to_contain_text("Live")
    page.route("**/*", lambda _: None)  # the page gets no answer any more
    page.evaluate(AT_ONCE)

    page.clock.fast_forward(40_000)

    expect(page.locator("#connection")).to_contain_text("No connection")
    seen = page.evaluate("seen")
    gone = [prices for label, prices in seen if label.startswith("No connection")]
    assert gone
    assert all(prices == ["\N{EN DASH}"] for prices in gone)


def test_a_league_has_its_country_and_its_id_in_the_address(site: Offered, page: Page) -> None:
    """If leagues of several countries have one label, it means the league of the clubs' country."""
    _opened(site, page, ROME, DERBY)
    expect(page.locator(".body .league-title")).to_have_text(
        ["England · Premier League (1)", "Italy · Serie A (1)"]
    )

    page.get_by_role("combobox", name="League", exact=True).select_option("England · Premier League")

    expect(homes(page)).to_have_text(["Arsenal"])
    assert {"league": ["eng.1"]} == parse_qs(urlsplit(page.url).query)


def test_pinned_leagues_and_matches_stand_on_top(site: Offered, page: Page) -> None:
    """Pins are remembered, and are not in the address."""
    _opened(site, page, ROME, SECOND, DERBY)
    expect(homes(page)).to_have_text(["Arsenal", "Roma", "Bari"])

    page.get_by_role("button", name="Pin Italy · Serie B").click()
    page.get_by_role("button", name="Pin Roma").click()
    page.reload()

    expect(page.locator(".body .league-title")).to_have_text(
        ["Pinned (1)", "Italy · Serie B (1)", "England · Premier League (1)"]
    )
    expect(homes(page)).to_have_text(["Roma", "Bari", "Arsenal"])
    assert "" == urlsplit(page.url).query


def test_a_match_is_pinned_with_the_keyboard(site: Offered, page: Page) -> None:
    """The key P pins the row that the arrows have reached, and unpins it."""
    _opened(site, page, ROME, DERBY)
    page.get_by_role("grid").focus()
    page.keyboard.press("End")

    page.keyboard.press("p")
    expect(page.locator(".body .league-title").first).to_have_text("Pinned (1)")
    expect(homes(page)).to_have_text(["Roma", "Arsenal"])
    page.keyboard.press("p")
    expect(homes(page)).to_have_text(["Arsenal", "Roma"])


def test_the_row_of_the_keyboard_has_a_frame_all_around(site: Offered, page: Page) -> None:
    """The frame also lies over the cells that stay in view when other cells scroll."""
    site.offer(Fixture("Home Town", "Away United", bet365=(2.0, 3.4, 3.9), bwin=(2.1, 3.3, 3.9)))
    page.goto(site.start().base)
    expect(page.locator(".match")).to_have_count(1)
    page.get_by_role("grid").focus()
    page.keyboard.press("End")

    frame, cell = (page.locator(name).evaluate(LAYER, arg=part) for name, part in FRAME_AND_CELL)
    assert frame["border"] == "2px"
    assert int(frame["layer"]) > int(cell["layer"])


def test_matches_of_a_day_are_sorted_by_time(site: Offered, page: Page) -> None:
    """The day is in the address, the order is remembered; without a match of the day the page says so."""
    _opened(site, page, ROME, SECOND, DERBY)

    page.get_by_role("combobox", name="Sort").select_option("By time")
    page.get_by_role("button", name="2 May 2099").click()
    page.reload()

    expect(homes(page)).to_have_text(["Bari", "Roma", "Arsenal"])
    expect(page.locator(".body .league-title")).to_have_text(["2 May 2099 (3)"])
    page.get_by_role("button", name="Today").click()
    expect(page.locator("#empty")).to_contain_text("No match fits the filter")
    assert {"day": ["today"], "by": ["time"]} == parse_qs(urlsplit(page.url).query)


def test_a_few_of_many_bookmakers_are_chosen_quickly(site: Offered, page: Page) -> None:
    """One click hides all, and one click moves one to the top; if none is shown, the page says so."""
    _opened(site, page, ROME)
    page.get_by_role("button", name="Settings").click()
    page.get_by_role("button", name="Move bwin to the top").click()
    page.get_by_role("button", name="Hide all").click()
    expect(page.locator("#overall")).to_have_text("No bookmaker is shown.")

    page.get_by_label("Bet365", exact=True).check()
    page.get_by_label("bwin", exact=True).check()

    expect(page.locator(".offer-title")).to_have_text(["bwin", "Bet365"])


def test_hidden_bookmakers_are_not_reckoned_with(site: Offered, page: Page) -> None:
    """Only shown bookmakers make best prices, in the reader's order; a button adds them to the address."""
    _opened(site, page, ROME)
    expect(page.locator(".top-figure")).to_have_text(["2.10", "3.40", "3.90"])
    page.get_by_role("button", name="Settings").click()
    page.get_by_role("button", name="Move bwin up").click()
    page.keyboard.press("Escape")
    expect(page.locator(".offer-title")).to_have_text(["bwin", "Bet365"])

    page.get_by_role("button", name="Settings").click()
    page.get_by_label("bwin", exact=True).uncheck()
    page.keyboard.press("Escape")
    page.reload()

    expect(page.locator(".offer-title")).to_have_text(["Bet365"])
    expect(page.locator("#bookmakers .name")).to_have_text(["Bet365"])
    expect(page.locator(".best")).to_have_count(0)
    assert "" == urlsplit(page.url).query
    page.get_by_role("button", name="Settings").click()
    page.get_by_role("button", name="Put them into the address").click()
    assert {"bookmaker": ["bet365"]} == parse_qs(urlsplit(page.url).query)


@pytest.mark.parametrize("width", [360, 1280])
def test_fractions_fit_into_their_cells(site: Offered, context: OpenContext, width: int) -> None:
    """The longest fractions fit as well, beside each other and among the best prices."""
    fixture = Fixture("Roma", "Bologna", bet365=(3.12, 3.11, 2.61), bwin=(1.001, 1001, 1000), league="I1")
    page = context(viewport={"width": width, "height": 740}).new_page()
    page.add_init_script(
        "localStorage.setItem('oddsboard.preferences', JSON.stringify({odds: 'fractional'}))"
    )
    _opened(site, page, fixture)

    assert [] == page.evaluate(OVERFLOWING)


def test_odds_and_times_are_written_as_set(site: Offered, page: Page) -> None:
    """The setting is used in rows, best prices and details, and is remembered."""
    _opened(site, page, ROME)
    expect(page.locator(".hour")).to_have_text("16:00")
    page.get_by_role("button", name="Settings").click()
    page.get_by_role("combobox", name="Odds", exact=True).select_option("Fractional")
    page.get_by_role("combobox", name="Times in").select_option("Asia/Tokyo")
    page.keyboard.press("Escape")
    page.reload()

    expect(page.locator(".number").first).to_have_text("1/1")
    expect(page.locator(".top-figure").first).to_have_text("11/10")
    expect(page.locator(".hour")).to_have_text("23:00")
    page.locator(".match").click()
    expect(page.locator("#details-best td.figure").first).to_have_text("11/10")
    expect(page.locator("#zone")).to_contain_text("Asia/Tokyo")
