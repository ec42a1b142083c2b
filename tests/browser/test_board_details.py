"""The details of a match in Chromium: they are those of the match shown, as it is now."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.support.browsing import CATCH_THE_SOURCE, NO_STREAM, OpenContext
from tests.support.systems.feed import Fixture, Offered

pytestmark = pytest.mark.browser

DERBY = Fixture("Home Town", "Away United", bet365=(2.0, 3.4, 3.9), bwin=(2.1, 3.3, 3.9))
LATER = Fixture("Home Town", "Away United", bet365=(2.2, 3.4, 3.5), bwin=(2.3, 3.3, 3.5))
OTHER = Fixture("Early Birds", "Night Owls", bet365=(1.5, 4.2, 6.5))
MERGE_TWICE = """async ([first, second, last]) => {
    const { version, fixtures } = await (await fetch("/api/v2/fixtures")).json();
    const idOf = (name) => fixtures.find(({ home }) => home === name).id;
    const merged = (from, to) => ({ id: idOf(from), reason: "merged", version, into: idOf(to) });
    const removed = [merged(second, last), merged(first, second)];
    const data = JSON.stringify({ version, since: version, fixtures: [], removed });
    source.dispatchEvent(new MessageEvent("changes", { data }));
}"""
SPANS = """(text) => [...text.querySelectorAll("bdi")].map((name) => name.getBoundingClientRect().left)"""
THIRD = Fixture("Third Rovers", "Last City", bwin=(2.5, 3.2, 2.6))
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


def test_a_match_that_is_merged_twice_at_once_is_followed(site: Offered, page: Page) -> None:
    """As after a lost connection: the details are those of the match that is there in the end."""
    site.offer(DERBY, OTHER, THIRD)
    page.add_init_script(CATCH_THE_SOURCE)
    page.goto(site.start().base)
    for home in ("Early Birds", "Third Rovers"):
        expect(_match(page, home)).to_be_visible()  # the server has them all
    _match(page, "Home Town").click()

    page.evaluate(MERGE_TWICE, ["Home Town", "Early Birds", "Third Rovers"])

    expect(page.locator("#details-title")).to_have_text(f"Third Rovers {DASH} Last City")
    expect(_match(page, "Third Rovers")).to_have_attribute("aria-selected", "true")


def test_names_of_another_direction_stand_in_their_order(site: Offered, page: Page) -> None:
    """Home is left of away in the title, in what is listed, and in the row's description."""
    home, away = "نادي الهلال", "הפועל חיפה"
    site.offer(Fixture(home, away, bet365=(2.0, 3.4, 3.9)))
    page.goto(site.start().base)
    _match(page, home).click()

    for text in ("#details-title", "#details-links .listed"):
        expect(page.locator(text)).to_have_text(f"{home} {DASH} {away}")
        expect(page.locator(f"{text} bdi")).to_have_text([home, away])
        first, second = page.locator(text).evaluate(SPANS)
        assert first < second
    expect(page.locator(".match .who")).to_have_attribute(
        "title", f"\u2068{home}\u2069 {DASH} \u2068{away}\u2069"
    )


def test_a_bookmakers_page_is_a_link_that_tells_it_nothing(site: Offered, page: Page) -> None:
    """It opens beside the board; an address that is not https is no link."""
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
    _match(page, "Home Town").click()

    link = page.locator("#details-prices a")
    expect(link).to_have_text(["Bet365 (collected)"])
    expect(link).to_have_attribute("href", pages[0])
    expect(link).to_have_attribute("rel", "noopener noreferrer")
    expect(link).to_have_attribute("target", "_blank")


@pytest.mark.parametrize("width", [320, 360, 390, 1280])
def test_long_names_are_no_wider_than_the_details(site: Offered, context: OpenContext, width: int) -> None:
    """A name without a space is broken; the button that closes them stays in view."""
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
