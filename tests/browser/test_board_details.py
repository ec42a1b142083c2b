"""The details of a match in Chromium: they are those of the match shown, as it is now."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.support.systems.offered import Fixture, Offered

pytestmark = pytest.mark.browser

DERBY = Fixture("Home Town", "Away United", bet365=(2.0, 3.4, 3.9), bwin=(2.1, 3.3, 3.9))
LATER = Fixture("Home Town", "Away United", bet365=(2.2, 3.4, 3.5), bwin=(2.3, 3.3, 3.5))
OTHER = Fixture("Early Birds", "Night Owls", bet365=(1.5, 4.2, 6.5))
DASH = "\N{EN DASH}"


def _match(page: Page, home: str) -> Locator:
    return page.get_by_role("row").filter(has=page.get_by_role("rowheader", name=home))


def test_links_of_another_match_go_at_once(site: Offered, page: Page) -> None:
    """They never stand under the title of another match, however long its own take."""
    site.offer(DERBY, OTHER)
    page.goto(site.start().base)
    _match(page, "Home Town").click()
    expect(page.locator("#details-links .listed")).to_have_text(f"Home Town {DASH} Away United")

    page.route("**/api/v2/fixtures/*", lambda _: None)  # no answer
    _match(page, "Early Birds").click()

    expect(page.locator("#details-title")).to_have_text(f"Early Birds {DASH} Night Owls")
    expect(page.locator("#details-links li")).to_have_count(0, timeout=1000)
    expect(page.locator("#details-alone")).to_be_empty(timeout=1000)


def test_links_are_asked_for_again_after_a_change(site: Offered, page: Page) -> None:
    """What they say may have changed with the match."""
    leagues = ["Old League"]

    def answer(route: Route) -> None:
        body = route.fetch().json()
        body["links"][0]["league"] = leagues[-1]
        route.fulfill(json=body)

    site.offer(DERBY)
    page.route("**/api/v2/fixtures/*", answer)
    page.goto(site.start().base)
    _match(page, "Home Town").click()
    expect(page.locator("#details-links")).to_contain_text("Old League")

    leagues.append("New League")
    site.offer(LATER)

    expect(page.locator("#details-links")).to_contain_text("New League")
