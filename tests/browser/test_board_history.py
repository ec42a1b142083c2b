"""The address of the board and the browser's history: Back and Esc close the details."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.support.systems.feed import Fixture, Offered

pytestmark = pytest.mark.browser

DERBY = Fixture("Home Town", "Away United", bet365=(2.0, 3.4, 3.9), bwin=(2.1, 3.3, 3.9))
OTHER = Fixture("Early Birds", "Night Owls", bet365=(1.5, 4.2, 6.5))


def _row(page: Page, home: str) -> None:
    page.get_by_role("row").filter(has=page.get_by_role("rowheader", name=home)).click()


def test_back_closes_the_details_and_forward_opens_them(site: Offered, page: Page) -> None:
    """One step for all matches looked at one after the other; filters set meanwhile stay."""
    site.offer(DERBY, OTHER)
    page.goto(site.start().base)
    _row(page, "Home Town")
    _row(page, "Early Birds")
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
    """As they do after Back."""
    site.offer(DERBY, OTHER)
    page.goto(site.start().base)
    _row(page, "Early Birds")
    page.get_by_label("Search").fill("birds")
    expect(page.locator("#count")).to_have_text("1 of 2 matches")
    page.locator("#close").click()

    expect(page.locator("#details")).to_be_hidden()
    expect(page.locator("#count")).to_have_text("1 of 2 matches")
    page.wait_for_url("**/?q=birds")


def test_escape_closes_the_details_wherever_the_focus_is(site: Offered, page: Page) -> None:
    """Also on the list, on no element, and in a search that is empty; it leaves no step in the history."""
    site.offer(DERBY, OTHER)
    base = site.start().base
    page.goto(base)
    for place in ("odds-board", "body", "#text"):
        _row(page, "Home Town")
        expect(page.locator("#details")).to_be_visible()
        page.locator(place).evaluate("(place) => (document.activeElement.blur(), place.focus())")
        page.keyboard.press("Escape")
        expect(page.locator("#details")).to_be_hidden()
        page.wait_for_url(f"{base}/")

    page.go_back()
    assert "about:blank" == page.url


def test_a_shared_address_opens_the_details(site: Offered, page: Page) -> None:
    """Closing them stays on the board, though there is nothing to go back to."""
    site.offer(DERBY, OTHER)
    base = site.start().base
    page.goto(base)
    _row(page, "Home Town")
    shared = page.url
    page.goto("about:blank")

    page.goto(shared)
    expect(page.locator("#details-title")).to_contain_text("Home Town")
    page.locator("#close").click()

    expect(page.locator("#details")).to_be_hidden()
    page.wait_for_url(f"{base}/")
