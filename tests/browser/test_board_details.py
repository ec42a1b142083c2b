"""The details of a match in Chromium: they show the match as it is now, and Back and Esc close them."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.support.browsing import (
    CATCH_THE_SOURCE,
    DERBY,
    LATER,
    NO_STREAM,
    OTHER,
    Complaints,
    OpenContext,
    row_of,
)
from tests.support.systems.feed import Fixture, Offered

pytestmark = pytest.mark.browser

MERGE_TWICE = """async ([first, second, last]) => {
    const { version, fixtures } = await (await fetch("/api/v2/fixtures")).json();
    const idOf = (name) => fixtures.find(({ home }) => home === name).id;
    const merged = (from, to) => ({ id: idOf(from), reason: "merged", version, into: idOf(to) });
    const removed = [merged(second, last), merged(first, second)];
    const data = JSON.stringify({ version, since: version, fixtures: [], removed });
    source.dispatchEvent(new MessageEvent("changes", { data }));
}"""
SPANS = """(text) => [...text.querySelectorAll("bdi")].map((name) => name.getBoundingClientRect().left)"""
CHARTED = replace(DERBY, home="North End")
"""A match that no other test lists: its first price is the first of this test."""
THIRD = Fixture("Third Rovers", "Last City", bwin=(2.5, 3.2, 2.6))
DASH = "\N{EN DASH}"


def test_links_and_lines_of_another_match_go_at_once(site: Offered, page: Page) -> None:
    """They never stand under the title of the next match, even while the answers about it are late."""
    site.offer(DERBY, OTHER)
    page.goto(site.start().base)
    row_of(page, "Home Town").click()
    expect(page.locator("#details-links .listed")).to_have_text(f"Home Town {DASH} Away United")
    expect(page.locator("#lines-table tbody tr")).not_to_have_count(0)

    page.route("**/api/v2/fixtures/*", lambda _: None)  # the page gets no answer
    page.route("**/api/v2/lines?*", lambda _: None)
    row_of(page, "Early Birds").click()

    expect(page.locator("#details-title")).to_have_text(f"Early Birds {DASH} Night Owls")
    expect(page.locator("#details-links li")).to_have_count(0, timeout=1000)
    expect(page.locator("#details-alone")).to_be_empty(timeout=1000)
    expect(page.locator("#details-lines")).to_be_hidden()


def test_links_are_asked_for_again_after_a_change(site: Offered, page: Page) -> None:
    """The content of the links may have changed with the match."""
    leagues = ["Old League"]

    def answer(route: Route) -> None:
        body = route.fetch().json()
        body["links"][0]["league"] = leagues[-1]
        route.fulfill(json=body)

    site.offer(DERBY)
    page.route("**/api/v2/fixtures/*", answer)
    page.goto(site.start().base)
    row_of(page, "Home Town").click()
    expect(page.locator("#details-links")).to_contain_text("Old League")

    leagues.append("New League")
    site.offer(LATER)

    expect(page.locator("#details-links")).to_contain_text("New League")


def test_a_match_that_is_merged_twice_at_once_is_followed(site: Offered, page: Page) -> None:
    """This happens after a lost connection: the details show the match that is there in the end."""
    site.offer(DERBY, OTHER, THIRD)
    page.add_init_script(CATCH_THE_SOURCE)
    page.goto(site.start().base)
    for home in ("Early Birds", "Third Rovers"):
        expect(row_of(page, home)).to_be_visible()  # the service has sent all three matches
    row_of(page, "Home Town").click()

    page.evaluate(MERGE_TWICE, ["Home Town", "Early Birds", "Third Rovers"])

    expect(page.locator("#details-title")).to_have_text(f"Third Rovers {DASH} Last City")
    expect(row_of(page, "Third Rovers")).to_have_attribute("aria-selected", "true")


def test_names_of_another_direction_stand_in_their_order(site: Offered, page: Page) -> None:
    """Home is left of away in the title, in the list of links, and in the row's description."""
    home, away = "نادي الهلال", "הפועל חיפה"
    site.offer(Fixture(home, away, bet365=(2.0, 3.4, 3.9)))
    page.goto(site.start().base)
    row_of(page, home).click()

    for text in ("#details-title", "#details-links .listed"):
        expect(page.locator(text)).to_have_text(f"{home} {DASH} {away}")
        expect(page.locator(f"{text} bdi")).to_have_text([home, away])
        first, second = page.locator(text).evaluate(SPANS)
        assert first < second
    expect(page.locator(".match .who")).to_have_attribute(
        "title", f"\u2068{home}\u2069 {DASH} \u2068{away}\u2069"
    )


def test_a_bookmakers_page_is_a_link_that_tells_it_nothing(site: Offered, page: Page) -> None:
    """The link opens in a tab of its own; an address that is not https is no link."""
    pages = ["https://some.example/7", "javascript:alert(1)"]

    def answer(route: Route) -> None:
        body = route.fetch().json()
        for entry, url in zip(body["fixtures"][0]["entries"], pages, strict=True):
            entry["url"] = url
        route.fulfill(json=body)

    site.offer(DERBY)
    page.add_init_script(NO_STREAM)
    page.route("**/api/v2/fixtures", answer)
    page.goto(site.start().base)
    row_of(page, "Home Town").click()

    link = page.locator("#details-prices a")
    expect(link).to_have_text(["Bet365 (collected)"])
    expect(link).to_have_attribute("href", pages[0])
    expect(link).to_have_attribute("rel", "noopener noreferrer")
    expect(link).to_have_attribute("target", "_blank")


@pytest.mark.parametrize("width", [320, 360, 390, 1280])
def test_long_names_are_no_wider_than_the_details(site: Offered, context: OpenContext, width: int) -> None:
    """A name without a space is broken into lines; the button that closes the details stays in view."""
    site.offer(
        Fixture("Home" + "w" * 90, "Away" + "m" * 90, bet365=(1001, 101.5, 1.012), bwin=(980, 99, 1.01))
    )
    page = context(viewport={"width": width, "height": 740}).new_page()
    page.goto(site.start().base)
    page.locator(".match").click()
    expect(page.locator("#details-links li")).to_have_count(1)

    details = page.locator("#details")
    assert details.evaluate("(element) => element.clientWidth") == details.evaluate(
        "(element) => element.scrollWidth"
    )
    page.locator("#close").click()
    expect(details).to_be_hidden()


def test_back_closes_the_details_and_forward_opens_them(site: Offered, page: Page) -> None:
    """All matches opened one after the other are one step of the history; filters set meanwhile stay."""
    site.offer(DERBY, OTHER)
    page.goto(site.start().base)
    row_of(page, "Home Town").click()
    row_of(page, "Early Birds").click()
    opened = page.url
    page.get_by_label("Search").fill("birds")
    expect(page.locator("#count")).to_have_text("1 of 2 matches")

    page.go_back()
    expect(page.locator("#details")).to_be_hidden()
    assert "q=birds" == urlsplit(page.url).query
    page.go_forward()
    expect(page.locator("#details-title")).to_contain_text("Early Birds")
    assert "fixture=" in opened
    page.go_back()
    expect(page.locator("#details")).to_be_hidden()
    page.go_back()
    page.wait_for_url("about:blank")


def test_filters_set_beside_the_details_stay_when_their_button_closes_them(
    site: Offered, page: Page
) -> None:
    """The filters stay after the button as they stay after Back."""
    site.offer(DERBY, OTHER)
    page.goto(site.start().base)
    row_of(page, "Early Birds").click()
    page.get_by_label("Search").fill("birds")
    expect(page.locator("#count")).to_have_text("1 of 2 matches")
    page.locator("#close").click()

    expect(page.locator("#details")).to_be_hidden()
    expect(page.locator("#count")).to_have_text("1 of 2 matches")
    page.wait_for_url("**/?q=birds")


def test_escape_closes_the_details_wherever_the_focus_is(site: Offered, page: Page) -> None:
    """Escape works on the list, on no element, and in an empty search; it leaves no step of history."""
    site.offer(DERBY, OTHER)
    base = site.start().base
    page.goto(base)
    for place in ("odds-board", "body", "#text"):
        row_of(page, "Home Town").click()
        expect(page.locator("#details")).to_be_visible()
        page.locator(place).evaluate("(place) => (document.activeElement.blur(), place.focus())")
        page.keyboard.press("Escape")
        expect(page.locator("#details")).to_be_hidden()
        page.wait_for_url(f"{base}/")

    page.go_back()
    assert "about:blank" == page.url


def test_a_shared_address_opens_the_details(site: Offered, page: Page) -> None:
    """When the details are closed, the page stays on the board, though there is no step to go back to."""
    site.offer(DERBY, OTHER)
    base = site.start().base
    page.goto(base)
    row_of(page, "Home Town").click()
    shared = page.url
    page.goto("about:blank")

    page.goto(shared)
    expect(page.locator("#details-title")).to_contain_text("Home Town")
    page.locator("#close").click()

    expect(page.locator("#details")).to_be_hidden()
    page.wait_for_url(f"{base}/")


def _line(page: Page, name: str) -> Locator:
    return page.locator("#lines-table tr").filter(has=page.locator("th", has_text=name))


def test_the_table_has_what_the_chart_shows(site: Offered, page: Page) -> None:
    """Each outcome has its first and its present price, its highest, its lowest, and the change."""
    site.offer(CHARTED)
    page.goto(site.start().base)
    row_of(page, "North End").click()
    expect(page.locator("#lines-chart canvas")).to_be_visible()
    expect(_line(page, "Bet365").locator("td")).to_have_text(["2.00", "2.00", "2.00", "2.00", "0.0 %"])

    site.offer(replace(CHARTED, bet365=LATER.bet365))
    cells = _line(page, "Bet365").locator("td")
    expect(cells).to_have_text(["2.00", "2.20", "2.20", "2.00", "+10.0 %"])

    page.get_by_role("button", name="away win").click()
    expect(cells).to_have_text(["3.90", "3.50", "3.90", "3.50", "\u221210.3 %"])
    expect(page.locator("#lines-since")).to_contain_text("keeps no archive")


def test_an_entry_off_the_board_has_no_present_price(site: Offered, page: Page) -> None:
    """The bookmaker's other entry has a present price; a note says since when this one is off, and why."""

    def answer(route: Route) -> None:
        body = route.fetch().json()
        (line,) = [each for each in body["lines"] if each["bookmaker"] == "bet365"]
        prices, now = {"1": 2.5, "X": 3.0, "2": 3.1}, body["to_time"]
        price = {"version": None, "time": now - 600, "odds": prices}
        gone = {"version": 1, "time": now - 60, "absent": "removed", "reason": "not_listed"}
        left = {"id": "bet365_former", "points": [price, gone], "first_seen": price, "newest": gone}
        body["lines"].append(line | left)
        route.fulfill(json=body)

    site.offer(DERBY)
    page.route("**/api/v2/lines?*", answer)
    page.goto(site.start().base)
    row_of(page, "Home Town").click()

    expect(_line(page, "Bet365").nth(1).locator("td").nth(1)).to_have_text("\N{EN DASH}")
    expect(_line(page, "Bet365").nth(0).locator("td").nth(1)).not_to_have_text("\N{EN DASH}")
    expect(page.locator("#lines-table .note")).to_contain_text("off the board (not listed)")


def test_without_lines_the_details_have_all_else(site: Offered, page: Page, complaints: Complaints) -> None:
    """The lines are missing if the service is older, or busy; the details show the rest."""
    complaints.expected = ("/api/v2/lines",)
    site.offer(DERBY)
    page.route("**/api/v2/lines?*", lambda route: route.fulfill(status=503))
    page.goto(site.start().base)
    row_of(page, "Home Town").click()

    expect(page.locator("#details-links .listed")).to_be_visible()
    expect(page.locator("#details-lines")).to_be_hidden()
