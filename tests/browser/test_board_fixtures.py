"""The board with two sources in Chromium: one row for a match, its details, surebets and their stakes."""

from __future__ import annotations

import re
import time
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from actors.markets.stakes import StakedLeg, Stakes, stakes
from tests.support.browsing import OWN_STREAM, Complaints, row_of
from tests.support.systems.two_sources import Two

pytestmark = pytest.mark.browser

DASH = "\N{EN DASH}"
TITLE = f"Manchester United {DASH} Fulham"
PLAIN = {"pinnacle": (2.1, 3.4, 3.6), "williamhill": (2.0, 3.5, 3.5), "marathonbet": (2.05, 3.4, 3.7)}
SURE = {**PLAIN, "williamhill": (2.0, 3.9, 3.5), "marathonbet": (2.05, 3.5, 3.9)}
BETTER = {"pinnacle": (2.2, 3.6, 3.85), "williamhill": (2.0, 3.9, 3.5), "marathonbet": (2.05, 3.5, 4.1)}
CUT = """(row) => [...row.querySelectorAll(".team, .surebet, .day")]
    .filter((text) => text.scrollWidth > text.clientWidth)
    .map((text) => text.textContent)"""


def _opened(page: Page, two: Two, query: str = "") -> Locator:
    """Open the page and return the row of the match that both sources list."""
    page.goto(f"{two.service.base}/{query}")
    row = row_of(page, "Manchester United")
    expect(row.locator(".number").last).to_have_text("3.40")
    return row


def test_a_match_of_two_sources_is_one_row(two: Two, page: Page) -> None:
    """All bookmakers stand side by side, and a match that is not linked has a row of its own."""
    two.offer(PLAIN)
    row = _opened(page, two)

    expect(page.locator(".match")).to_have_count(2)
    expect(row.locator(".number")).to_have_text(
        ["2.10", "3.40", "3.60", "2.00", "3.50", "3.50", "2.05", "3.40", "3.70", "2.30", "3.30", "3.40"]
    )
    expect(row.locator(".best")).to_have_text(["2.10", "3.50", "3.70", "2.30"])
    expect(row_of(page, "Leeds").locator(".number")).to_have_text([""] * 9 + ["2.50", "3.30", "2.80"])


def test_collected_prices_are_marked(two: Two, page: Page) -> None:
    """Screen readers hear the mark as well; live prices are best even if a collected price is higher."""
    two.offer(PLAIN)
    row = _opened(page, two)

    name = "Bet365, home win: 2.30, best price, collected"
    expect(row.get_by_role("gridcell", name=name)).to_have_css("background-color", "rgba(0, 0, 0, 0)")
    expect(row.get_by_role("gridcell", name="collected")).to_have_count(3)
    expect(row.locator(".top-where")).to_have_text(["Pinnacle", "William", "Marathon"])
    row.click()
    expect(page.locator("#details-best tbody tr").first).to_contain_text("Pinnacle")
    expect(page.locator("#details-prices tbody tr").last).to_contain_text("Bet365 (collected)")


def test_the_details_say_margin_ages_and_why_it_is_one_match(two: Two, page: Page) -> None:
    """The details are kept in the address, survive a reload, and close with Escape."""
    two.offer(PLAIN)
    _opened(page, two).click()

    expect(page.locator("#details-title")).to_have_text(TITLE)
    margin = 1 / 2.1 + 1 / 3.5 + 1 / 3.7
    expect(page.locator("#details-margin")).to_contain_text(
        f"{(margin - 1) * 100:.2f} % (book sum {margin:.4f})."
    )
    expect(page.locator("#details-prices tbody tr")).to_have_count(4)
    changed, confirmed = (page.locator(f"#details-prices tbody td:nth-child({at})") for at in (5, 6))
    expect(changed).to_have_text([re.compile("^[0-9]+ .+ ago$")] * 4)
    expect(confirmed).to_have_text([re.compile("^[0-9] s ago$")] * 3 + [DASH])
    links = page.locator("#details-links li")
    expect(links).to_have_count(2)
    linked = links.filter(has_text="Compared with")
    expect(linked).to_contain_text("two spellings of one team")
    expect(linked).to_have_attribute("data-rule", "same_names")
    listed = {"api": TITLE, "file": f"Man United {DASH} Fulham"}
    for source, names in listed.items():
        expect(links.filter(has_text=re.compile(f"^{source}:")).locator(".listed")).to_have_text(names)
    (fixture,) = parse_qs(urlsplit(page.url).query)["fixture"]
    page.reload()
    expect(page.locator("#details-title")).to_have_text(TITLE)
    expect(page.locator(".match[aria-selected=true]")).to_have_count(1)
    assert fixture in page.url
    page.locator("#close").focus()
    page.keyboard.press("Escape")
    expect(page.locator("#details")).to_be_hidden()
    assert "" == urlsplit(page.url).query


def test_ages_that_are_not_known_are_not_shown(two: Two, page: Page, complaints: Complaints) -> None:
    """Where `/monitor` is closed, or does not answer, a dash stands in place of the ages."""
    complaints.expected = ("404",)
    two.offer(PLAIN)
    page.route("**/api/v2/fixtures/*/ages", lambda route: route.fulfill(status=404))
    with page.expect_response("**/api/v2/fixtures/*/ages"):
        _opened(page, two).click()

    expect(page.locator("#details-prices tbody td:nth-child(6)")).to_have_text([DASH] * 4)
    expect(page.locator("#details-prices tbody td:nth-child(5)").first).to_contain_text("ago")


def test_ages_are_those_of_the_service(two: Two, page: Page) -> None:
    """A wrong clock of the browser's machine makes no price older or younger."""
    two.offer(PLAIN)
    page.add_init_script(OWN_STREAM)  # a shared worker would use the real time
    page.clock.install(time=time.time() + 3600)
    _opened(page, two).click()

    confirmed = page.locator("#details-prices tbody td:nth-child(6)")
    expect(confirmed).to_have_text([re.compile("^[0-9] s ago$")] * 3 + [DASH])


def test_a_match_of_one_list_says_so(two: Two, page: Page, complaints: Complaints) -> None:
    """The keyboard opens the details; a match that nobody lists is not shown as if it were there."""
    complaints.expected = ("404",)  # the page asks for that match
    two.offer(PLAIN)
    _opened(page, two)
    page.get_by_role("grid").focus()
    page.keyboard.press("End")
    page.keyboard.press("Enter")

    expect(page.locator("#details-title")).to_have_text(f"Leeds {DASH} Everton")
    expect(page.locator("#details-alone")).to_have_text("No other list has it.")
    _opened(page, two, "?fixture=fxnothing")
    expect(page.locator("#details-gone")).to_be_visible()
    expect(page.locator("#details-body")).to_be_hidden()


def test_a_linker_that_does_not_work_is_said(two: Two, page: Page) -> None:
    """The page repeats what `/health` reports about the linker; the rows stay as they are."""
    two.offer(PLAIN)
    _opened(page, two)
    expect(page.locator("#unlinked")).to_be_hidden()
    health = page.request.get(f"{two.service.base}/health").json()
    assert "pass" == health["links"]["status"]
    health["links"]["status"] = "warn"
    page.route("**/health", lambda route: route.fulfill(json=health))
    page.reload()

    expect(page.locator("#unlinked")).to_contain_text("New links are not made now")
    expect(page.locator(".match")).to_have_count(2)
    health["links"]["pending"] = 5000
    page.reload()
    expect(page.locator("#unlinked")).to_contain_text("5,000 matches not yet linked")


def test_surebets_are_a_filter_with_stakes_for_a_total(two: Two, page: Page) -> None:
    """The stakes are exact to the cent; a match that is no surebet any more leaves immediately."""
    two.offer(SURE)
    row = _opened(page, two)
    page.get_by_role("button", name="Surebets").click()
    expect(page.locator(".match")).to_have_count(1)
    book_sum = 1 / 2.1 + 1 / 3.9 + 1 / (1 + 2.9 * 0.98)
    expect(row.locator(".surebet")).to_have_text(f"{(1 / book_sum - 1) * 100:.2f} %")
    assert {"surebets": ["1"]} == parse_qs(urlsplit(page.url).query)

    row.click()
    assert [] == row.evaluate(CUT)
    page.get_by_label("Total").fill("250.55")

    divided = stakes((StakedLeg("a", 2.1), StakedLeg("b", 3.9), StakedLeg("c", 3.9, 0.02)), 25_055)
    assert isinstance(divided, Stakes)
    expect(page.locator("#details-stakes tbody tr")).to_contain_text(
        ["Pinnacle", "William Hill", "Marathon (takes 2 %)"]
    )
    amounts = page.locator("#details-stakes tbody td:last-child")
    expect(amounts).to_have_text([f"{amount / 100:.2f}" for amount in divided.amounts])
    expect(page.locator("#details-returned")).to_contain_text(
        f"Returns at least {divided.returned / 100:.2f}"
    )
    for total, said in (("0.05", "may lose"), ("-5", "Enter a total"), ("", "Enter a total")):
        page.get_by_label("Total").fill("250.55")
        expect(page.locator("#details-returned")).to_contain_text("Returns at least")
        page.get_by_label("Total").fill(total)
        expect(page.locator("#details-returned")).to_contain_text(said)
    two.offer(PLAIN)
    expect(page.locator("#empty")).to_contain_text("No surebet fits the filter")
    expect(page.locator("#details-surebet")).to_be_hidden()


def test_best_prices_and_surebets_are_those_of_the_chosen_bookmakers(two: Two, page: Page) -> None:
    """This holds in the row and in the details; when all bookmakers are shown again, all of them count."""
    two.offer(BETTER)
    row = _opened(page, two)
    of_all = 1 / 2.2 + 1 / 3.9 + 1 / (1 + 3.1 * 0.98)
    expect(row.locator(".surebet")).to_have_text(f"{(1 / of_all - 1) * 100:.2f} %")
    row.click()
    page.locator("#which").click()
    for name in ("Pinnacle", "William Hill"):
        page.locator("#bookmakers").get_by_role("button", name=name).click()

    of_two = 1 / 2.2 + 1 / 3.9 + 1 / 3.85
    expect(row.locator(".best")).to_have_text(["2.20", "3.85", "3.90"])
    expect(row.locator(".surebet")).to_have_text(f"{(1 / of_two - 1) * 100:.2f} %")
    margin = page.locator("#details-margin")
    expect(margin).to_contain_text(f"of the chosen bookmakers: {(of_two - 1) * 100:.2f} %")
    expect(page.locator("#details-best tbody tr").last).to_contain_text("Pinnacle")
    expect(page.locator("#details-profit")).to_contain_text(f"(book sum {of_two:.4f})")
    staked = page.locator("#details-stakes tbody tr")
    expect(staked).to_contain_text(["Pinnacle", "William Hill", "Pinnacle"])
    page.locator("#bookmakers").get_by_role("button", name="William Hill").click()
    expect(row.locator(".surebet")).to_be_empty()
    expect(page.locator("#surebet-count")).to_have_text("0")
    page.locator("#bookmakers").get_by_role("button", name="Pinnacle").click()
    expect(row.locator(".surebet")).to_have_text(f"{(1 / of_all - 1) * 100:.2f} %")


def test_a_surebet_is_not_shown_when_the_connection_is_lost(
    two: Two, page: Page, complaints: Complaints
) -> None:
    """Its mark, its stakes and its row in the filter go; the prices beside them are not live either."""
    complaints.expected = ("net::ERR",)
    two.offer(SURE)
    page.clock.install()
    row = _opened(page, two)
    row.click()
    expect(row.locator(".surebet")).not_to_be_empty()
    expect(page.locator("#details-surebet")).to_be_visible()

    page.route("**/*", lambda route: route.abort())
    page.context.set_offline(True)
    page.clock.fast_forward(16_000)

    expect(page.locator("odds-board")).to_have_attribute("data-trust", "doubtful")
    expect(page.locator(".surebet:not(:empty)")).to_have_count(0)
    expect(page.locator("#details-surebet")).to_be_hidden()
    expect(page.locator("#surebet-count")).to_have_text("0")
    expect(page.locator("#details-margin")).to_be_empty()
    figure = page.locator("#details-prices td.figure").first
    expect(figure).to_have_css("text-decoration-line", "line-through")
    page.get_by_role("button", name="Surebets").click()
    expect(page.locator("#empty")).to_contain_text("Not connected")
    expect(page.locator(".match:visible")).to_have_count(0)
    page.clock.fast_forward(31_000)
    expect(figure).to_have_text(DASH)
