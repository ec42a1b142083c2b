"""Surebets on the board: by profit, from a least profit on, stakes for people, notifications."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.support.browsing import OpenContext
from tests.support.systems.two_sources import Two

pytestmark = pytest.mark.browser

PLAIN = {"pinnacle": (2.1, 3.4, 3.6), "williamhill": (2.0, 3.5, 3.5), "marathonbet": (2.05, 3.4, 3.7)}
SURE = {**PLAIN, "williamhill": (2.0, 3.9, 3.5), "marathonbet": (2.05, 3.5, 3.9)}
NOTED = """
window.noted = [];
window.Notification = class {
    static requestPermission = async () => "granted";
    constructor(title) {
        window.noted.push(title);
    }
};
"""
STAKE = re.compile(r"^7[0-9]\.[0-9]{2}$")
UNCOVERED = """(badge) => {
    const { left, top, width, height } = badge.getBoundingClientRect();
    const at = (part) => document.elementFromPoint(left + part * width, top + height / 2);
    return [0.1, 0.5, 0.95].map((part) => at(part) === badge);
}"""


def test_surebets_below_the_least_profit_are_not_shown(two: Two, page: Page) -> None:
    """The least profit is remembered and holds in the filter of surebets; the order cannot be chosen."""
    two.offer(SURE)
    page.goto(f"{two.service.base}/?surebets=1")
    expect(page.locator(".match")).to_have_count(1)
    expect(page.get_by_label("Sort")).to_be_disabled()

    page.get_by_label("at least").fill("5")
    expect(page.locator("#empty")).to_contain_text("No surebet fits the filter")
    expect(page.locator("#surebet-count")).to_have_text("0")
    page.reload()
    expect(page.get_by_label("at least")).to_have_value("5")
    expect(page.locator("#empty")).to_contain_text("No surebet fits the filter")


def test_the_total_and_the_rounding_are_remembered(two: Two, page: Page) -> None:
    """For an empty total the page asks for a total; it does not call the total too small."""
    two.offer(SURE)
    page.goto(two.service.base)
    page.locator(".match").filter(has=page.locator(".surebet:not(:empty)")).click()
    page.get_by_label("Total").fill("")
    expect(page.locator("#details-returned")).to_contain_text("Enter a total.")
    page.get_by_label("Total").fill("300")
    page.get_by_role("combobox", name="Stakes in").select_option("tens")
    page.reload()

    expect(page.get_by_role("combobox", name="Stakes in")).to_have_value("10")
    expect(page.get_by_label("Total")).to_have_value("300")
    expect(page.locator("#details-returned")).to_have_text(
        "Returns at least 230.52 for 230.00, a gain of 0.52. Rounding costs 1.61."
    )
    page.get_by_label("Total").fill("7")
    expect(page.locator("#details-returned")).to_contain_text("Stakes in these steps may lose.")


def test_the_list_of_surebets_has_legs_stakes_and_ages(two: Two, page: Page) -> None:
    """Stakes are for the reader's total; ages are those of the last confirmations."""
    two.offer(SURE)
    page.goto(f"{two.service.base}/?surebets=1")
    legs = page.locator(".match .leg")
    expect(legs.locator(".odds")).to_have_text(["2.10", "3.90", "3.90"])
    expect(legs.locator(".at")).to_have_text(["Pinnacle", "William Hill", "Marathon (takes 2\xa0%)"])

    page.get_by_role("button", name="Surebets").click()
    expect(page.locator(".match .price").first).to_be_visible()
    page.get_by_role("button", name="Surebets").click()
    page.get_by_label("stakes for").fill("300")

    expect(legs.locator(".stake")).to_have_text([re.compile(r"^1[45][0-9]\.[0-9]{2}$"), *[STAKE] * 2])
    expect(page.locator(".gain")).to_have_text(re.compile(r"^[0-9.]+ for 300\.00$"))
    ages = page.locator(".match .age span")
    expect(ages.first).to_have_text(re.compile("^stands for [0-9]+ "))
    expect(ages.nth(1)).to_have_text(re.compile("^confirmed [0-9]+ s ago$"))
    expect(ages.nth(2)).to_have_text(re.compile("left, or more$|^confirmed again since$"))
    page.locator(".match").click()
    expect(page.get_by_label("Total")).to_have_value("300")


@pytest.mark.parametrize("width", [700, 1280])
def test_nothing_covers_the_badge_of_a_surebet(two: Two, context: OpenContext, width: int) -> None:
    """A click on the gain opens the details, and pins nothing."""
    two.offer(SURE)
    page = context(viewport={"width": width, "height": 700}).new_page()
    page.goto(two.service.base)
    badge = page.locator(".match .surebet:not(:empty)")
    expect(badge).to_be_visible()

    assert [True, True, True] == badge.evaluate(UNCOVERED)


def test_a_new_surebet_is_notified_once(two: Two, page: Page) -> None:
    """Surebets that were there before the switch was on, and changed prices, are not notified."""
    two.offer(SURE)
    page.add_init_script(NOTED)
    page.goto(two.service.base)
    expect(page.locator("#surebet-count")).to_have_text("1")
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("Notify me").check()
    two.offer(PLAIN)
    expect(page.locator("#surebet-count")).to_have_text("0")

    two.offer(SURE)

    expect(page.locator("#surebet-count")).to_have_text("1")
    assert ["Manchester United \N{EN DASH} Fulham"] == [
        title.partition(" on ")[2] for title in page.evaluate("noted")
    ]
