"""How prices moved, in the details of a match in Chromium."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.support.browsing import Complaints
from tests.support.systems.feed import Fixture, Offered

pytestmark = pytest.mark.browser

DERBY = Fixture("Home Town", "Away United", bet365=(2.0, 3.4, 3.9), bwin=(2.1, 3.3, 3.9))
OTHER = Fixture("Early Birds", "Night Owls", bet365=(1.5, 4.2, 6.5))
LATER = Fixture("Home Town", "Away United", bet365=(2.2, 3.4, 3.5), bwin=(2.1, 3.3, 3.9))


def _open(site: Offered, page: Page) -> None:
    page.goto(site.start().base)
    page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="Home Town")).click()


def _row(page: Page, name: str) -> Locator:
    return page.locator("#lines-table tr").filter(has=page.locator("th", has_text=name))


def test_the_table_has_what_the_chart_shows(site: Offered, page: Page) -> None:
    """The first price, the present one as the board has it, and what is between them, of each outcome."""
    site.offer(DERBY)
    _open(site, page)
    expect(page.locator("#lines-chart canvas")).to_be_visible()
    expect(_row(page, "Bet365").locator("td")).to_have_text(["2.00", "2.00", "2.00", "2.00", "0.0 %"])

    site.offer(LATER)
    cells = _row(page, "Bet365").locator("td")
    expect(cells).to_have_text(["2.00", "2.20", "2.20", "2.00", "+10.0 %"])

    page.get_by_role("button", name="away win").click()
    expect(cells).to_have_text(["3.90", "3.50", "3.90", "3.50", "\u221210.3 %"])
    expect(page.locator("#lines-since")).to_contain_text("keeps no archive")


def test_an_entry_off_the_board_has_no_present_price(site: Offered, page: Page) -> None:
    """The bookmaker's other entry of the match has; below the row stands since when, and why."""

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
    _open(site, page)

    expect(_row(page, "Bet365").nth(1).locator("td").nth(1)).to_have_text("\N{EN DASH}")
    expect(_row(page, "Bet365").nth(0).locator("td").nth(1)).not_to_have_text("\N{EN DASH}")
    expect(page.locator("#lines-table .note")).to_contain_text("off the board (not listed)")


def test_lines_of_another_match_are_not_shown(site: Offered, page: Page) -> None:
    """However long their own take."""
    site.offer(DERBY, OTHER)
    _open(site, page)
    expect(page.locator("#lines-table tbody tr")).not_to_have_count(0)

    page.route("**/api/v2/lines?*", lambda _: None)  # no answer
    page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="Early Birds")).click()

    expect(page.locator("#details-title")).to_contain_text("Early Birds")
    expect(page.locator("#details-lines")).to_be_hidden()


def test_without_lines_the_details_have_all_else(site: Offered, page: Page, complaints: Complaints) -> None:
    """As where the service is older, or busy."""
    complaints.expected = ("/api/v2/lines",)
    site.offer(DERBY)
    page.route("**/api/v2/lines?*", lambda route: route.fulfill(status=503))
    _open(site, page)

    expect(page.locator("#details-links .listed")).to_be_visible()
    expect(page.locator("#details-lines")).to_be_hidden()
