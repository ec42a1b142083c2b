"""Surebets on the board: by profit, from a least profit on, stakes for people, notifications."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.support.systems.two_sources import Two, two_sources

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
BY_PROFIT = """async (profits) => {
    const { arranged } = await import("/static/arrange.js");
    const matches = profits.map((profit) => ({ key: `fx${profit}`, home: "Home", start: null, profit }));
    const preferences = { leagues: [], matches: ["fx1"] };
    const surebetOf = ({ profit }) => ({ profit });
    const rows = arranged(matches, { by: "profit", leagues: new Map(), preferences, surebetOf });
    return rows.flatMap(({ match }) => match?.profit ?? []);
}"""
ROUNDED = """async ([legs, total, step]) => {
    const { rounded, stakes } = await import("/static/stakes.js");
    return rounded(legs, stakes(legs, total).amounts, step);
}"""


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Two]:
    """Run a service with both sources for the tests of this file."""
    with two_sources(tmp_path_factory.mktemp("two")) as two:
        yield two


def test_surebets_stand_by_profit(two: Two, page: Page) -> None:
    """The best first, whatever is pinned; another order is not to be had."""
    page.goto(f"{two.service.base}/?surebets=1")

    expect(page.get_by_label("Sort")).to_be_disabled()
    assert [3, 2, 1] == page.evaluate(BY_PROFIT, [1, 3, 2])


def test_surebets_below_the_least_profit_are_not_shown(two: Two, page: Page) -> None:
    """The least is remembered, and the filter of surebets alone keeps to it."""
    two.offer(SURE)
    page.goto(f"{two.service.base}/?surebets=1")
    expect(page.locator(".match")).to_have_count(1)

    page.get_by_label("at least").fill("5")
    expect(page.locator("#empty")).to_contain_text("No surebet fits the filter")
    expect(page.locator("#surebet-count")).to_have_text("0")
    page.reload()
    expect(page.get_by_label("at least")).to_have_value("5")
    expect(page.locator("#empty")).to_contain_text("No surebet fits the filter")


def test_stakes_are_rounded_with_what_that_costs(two: Two, page: Page) -> None:
    """Each stake is whole; what is returned at least is that of these stakes."""
    page.goto(two.service.base)
    legs = [
        {"id": f"{at}_m1", "odds": odds, "commission": taken}
        for at, (odds, taken) in enumerate([(2.1, 0), (3.9, 0), (3.9, 0.02)])
    ]

    found = page.evaluate(ROUNDED, [legs, 100, 500])

    assert all(amount % 500 == 0 for amount in found["amounts"])
    home, draw, away = found["amounts"]
    returned = min(home * 2.1, draw * 3.9, away * (1 + 2.9 * 0.98))
    assert (int(returned), int(returned) - sum(found["amounts"])) == (found["returned"], found["gain"])


def test_the_total_and_the_rounding_are_remembered(two: Two, page: Page) -> None:
    """An empty total is asked for, not called too small."""
    two.offer(SURE)
    page.goto(two.service.base)
    page.locator(".match").filter(has=page.locator(".surebet:not(:empty)")).click()
    page.get_by_label("Total").fill("")
    expect(page.locator("#details-returned")).to_contain_text("Enter a total.")
    page.get_by_label("Total").fill("300")
    page.get_by_role("combobox", name="Stakes in").select_option("tens")
    page.reload()

    amounts = page.locator("#details-stakes tbody td:last-child")
    expect(amounts).to_have_text(["150.00", "80.00", "80.00"])
    expect(page.locator("#details-returned")).to_contain_text("a loss of 2.64. Rounding costs")


def test_a_new_surebet_is_notified_once(two: Two, page: Page) -> None:
    """Not those that are there when it is switched on, nor what has only changed its prices."""
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
