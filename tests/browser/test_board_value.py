"""The values on the board: what the lists show, and that no old price stays in the lists."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.support.browsing import DERBY, Complaints
from tests.support.systems.feed import Offered

pytestmark = pytest.mark.browser

NAME = '<b>Home</b> & "Town"'
VALUE = {
    "fixture": "fxaaaaaaaaaaaaa",
    "home": NAME,
    "away": "Away United",
    "league": "League",
    "league_id": "x.1",
    "start_time": None,
    "market": "1x2",
    "outcome": "1",
    "id": "bet365_m1",
    "bookmaker": "Bet365",
    "odds": 2.1,
    "net": 2.1,
    "fair": 0.5,
    "ev": 0.05,
    "kelly": 0.0455,
    "confirmed": 0,
    "reference": ["A", "B", "C"],
}
GROUP: dict[str, Any] = {
    "mean_clv": -0.0123,
    "standard_error": 0.004,
    "mean_ev": 0.03,
    "flags": 12,
    "judged": 10,
    "matches": 9,
    "unjudged": {"gap": 2},
}


@pytest.fixture
def opened(site: Offered, page: Page, complaints: Complaints) -> list[dict[str, Any] | None]:
    """Open the page, and answer with the newest values that a test sets; None means no answer."""
    complaints.expected = ("api/v2/value",)
    listed: list[dict[str, Any] | None] = [{"values": [VALUE, {**VALUE, "id": "nobody_m1"}]}]

    def answer(route: Route) -> None:
        given = listed[-1]
        if given is None:
            route.abort()
        else:
            route.fulfill(json=given, headers={"Date": "Thu, 01 Jan 1970 00:00:07 GMT"})

    site.offer(DERBY)
    page.route("**/api/v2/value?market=any", answer)
    page.goto(site.start().base)
    expect(page.get_by_role("rowheader", name="Home Town")).to_be_visible()
    return listed


def _open(page: Page) -> None:
    page.get_by_role("button", name="Value", exact=True).click()


def test_a_value_says_bet_price_and_share(opened: list[dict[str, Any] | None], page: Page) -> None:
    """Only shown bookmakers are listed, names are mere text, and a sentence says that it is no advice."""
    del opened
    _open(page)
    dialog = page.get_by_role("dialog", name="Prices above the fair price")

    expect(dialog).to_contain_text("This is no advice")
    row = dialog.locator("#value-list tbody tr")
    expect(row).to_have_count(1)
    for text in (f"{NAME} \N{EN DASH} Away United", "home win", "2.1", "Bet365", "5.00 %", "Kelly 4.55 %"):
        expect(row).to_contain_text(text)
    expect(row).to_contain_text("confirmed 7 s ago")
    expect(row.get_by_role("link")).to_have_attribute("href", "?fixture=fxaaaaaaaaaaaaa")
    expect(dialog).to_contain_text("Without an archive it is unknown")


def test_values_go_when_they_cannot_be_read_again(opened: list[dict[str, Any] | None], page: Page) -> None:
    """A list that nobody confirms any more is not shown."""
    _open(page)
    rows = page.locator("#value-list tbody tr")
    expect(rows).to_have_count(1)

    opened.append(None)

    expect(page.locator("#value-none")).to_have_text("The values cannot be read now.")
    expect(page.locator("#value-list")).to_be_hidden()
    expect(rows).to_have_count(0)


def test_an_empty_list_says_why(opened: list[dict[str, Any] | None], page: Page) -> None:
    """The reason is the note of the service, such as that too few companies make a consensus."""
    opened.append({"values": [], "note": "name a reference"})
    _open(page)

    expect(page.locator("#value-none")).to_have_text("Name a reference.")


def test_record_says_in_words_that_the_mean_is_not_above_0(
    opened: list[dict[str, Any] | None], page: Page
) -> None:
    """The record has the error of each mean, and how many of how many flags have a closing price."""
    del opened
    record: dict[str, Any] = {"all": GROUP, "by_bookmaker": {"bwin": {**GROUP, "standard_error": None}}}
    record |= {
        "by_age": {"over_1_h": GROUP},
        "by_market": {"1x2": GROUP},
        "note": "the mean is not above 0",
    }
    page.route("**/api/v2/value/record", lambda route: route.fulfill(json=record))
    _open(page)

    expect(page.locator("#value-note")).to_have_text("The mean is not above 0.")
    rows = page.locator("#value-record tbody tr")
    expect(rows.locator("th")).to_have_text(["All", "bwin", "Over 1 h"])
    expect(rows.first.locator("td")).to_have_text(["-1.23 % ± 0.40 %", "3.00 %", "10 of 12"])
    expect(rows.nth(1).locator("td").first).to_have_text("-1.23 %")
